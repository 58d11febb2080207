"""`LatentClassifier`: binary decisions by the best structure of an input, learned from binary answers alone."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import is_among, positive, real_numbers, shown, whole
from sidelight.core.records import Round
from sidelight.errors import DataError, NotFitted
from sidelight.estimators.base_estimator import Estimator
from sidelight.estimators.predictor import Predictor
from sidelight.evidence import Companion
from sidelight.learners.lclr import METHODS, Lclr
from sidelight.models.model import Model
from sidelight.objective.structure import PlainStructure


class Judgement(NamedTuple):
    """An answer, +1 or −1, its score, and the structure that it is based on."""

    answer: int
    score: float
    output: Any


class LatentClassifier(Estimator):
    """Learning over constrained latent representations, LCLR (thesis chapter 5), and its two baselines.

    A `Predictor` with the learner "lclr" whose inputs and outputs are answers. The two can read each other's files.

    Parameters:

    - structure: the structure that decisions are based on, such as `structures.letters.CharacterAlignment()`.
    - method: "lclr" (Algorithms 10 and 11), "lclr_approximate" (Algorithm 12, for `rounds` rounds) or "two_stage"
      (Alignment+Learning: the structures that `start` finds, and an SVM over them).
    - start: initial weights from prior knowledge [weights of the structure]; None for those of the structure, if it has
      any, or zeros. LCLR runs from the two-stage weights and from `start`, and keeps the result with the lower
      objective.
    - C: the price of a unit of loss; loss: "squared_hinge", "hinge" or "logistic".
    - tolerance: the relative duality gap of a convex problem; decrease: LCLR stops when a completion lowers the
      objective by less than this, relatively.

    After `fit`: `model_`, `rounds_` (the records of the run that was kept), `objective_` (Eq. 5.3).
    """

    def __init__(
        self,
        structure: PlainStructure[Any, Any],
        *,
        method: str = "lclr",
        start: Floats | None = None,
        C: float = 1.0,
        loss: str = "squared_hinge",
        tolerance: float = 0.01,
        decrease: float = 1e-5,
        rounds: int = 10,
        seed: int = 0,
    ) -> None:
        self.structure = structure
        self.method = method
        self.start = start
        self.C = C
        self.loss = loss
        self.tolerance = tolerance
        self.decrease = decrease
        self.rounds = rounds
        self.seed = seed

    def fit(self, xs: Sequence[Any], zs: Sequence[Any], *, sample_weight: Floats | None = None) -> Self:
        """Learn from inputs and answers +1 or −1."""
        learner = self._learner()
        weights = np.ones(len(xs)) if sample_weight is None else real_numbers("sample_weight", sample_weight)
        if not len(xs) == len(zs) == len(weights):
            problem = f"{len(xs)} inputs have {len(zs)} answers and {len(weights)} weights"
            raise DataError(problem, remedy="give one answer for each input")
        predictor = Predictor(
            self.structure,
            learner=learner,
            loss=self.loss,
            prices={"companion": self.C},
            tolerance=self.tolerance,
            decrease=self.decrease,
            seed=self.seed,
        )
        if self.start is not None:
            predictor.begin_with(self._first(xs))
        predictor.fit([Companion(x, z, weight=weight) for x, z, weight in zip(xs, zs, weights.tolist())])
        last = predictor.rounds_[-1]
        self.rounds_: list[Round] = [one for one in predictor.rounds_ if one.restart == last.restart]
        self.model_, self.objective_ = predictor.model_, last.objective
        return self

    def judge(self, xs: Sequence[Any]) -> list[Judgement]:
        """For every input the answer, its score, and the structure that it is based on."""
        model = self._fitted()
        rows = model.prepare(xs)
        answers = zip(model.judge(rows).tolist(), model.predict(rows))
        return [Judgement(1 if score >= 0 else -1, score, output) for score, output in answers]

    def decision_function(self, xs: Sequence[Any]) -> Floats:
        """The score of the best structure of each input; good if at least 0. # [N]"""
        return self._fitted().judge(xs)

    def predict(self, xs: Sequence[Any]) -> list[int]:
        """+1 for good inputs, −1 for bad ones."""
        return [1 if score >= 0 else -1 for score in self.decision_function(xs)]

    def score(self, xs: Sequence[Any], zs: Sequence[Any]) -> float:
        """The share of right answers."""
        return float(np.mean(np.array(self.predict(xs)) == np.asarray(zs)))

    @property
    def weights_(self) -> Floats:
        """The weights of the decision."""
        model = self._fitted()
        return model.weights if model.decision is None else model.decision

    def save(self, path: str | Path) -> None:
        """Write the model to a file, which `Predictor` and the command line can also read."""
        from sidelight.models.model_file import save_model

        save_model(self._fitted(), path)

    def load(self, path: str | Path) -> Self:
        """An estimator with the model of a file that was saved with a structure of the same class; may raise
        `ModelFileError`.
        """
        self.model_ = Predictor(self.structure).load(path).model_
        return self

    def _learner(self) -> Lclr:
        """The learner, after checking the parameters that it has under other names."""
        if not is_among(self.method, METHODS):
            raise ValueError(f"method is {shown(self.method)}; give one of {', '.join(METHODS)}")
        positive("C", self.C)
        whole("rounds", self.rounds, least=1)
        return Lclr(method=self.method, repeats=self.rounds)

    def _first(self, xs: Sequence[Any]) -> Floats:
        """The initial weights; raises ValueError if they do not fit the structure."""
        first, size = np.asarray(self.start, dtype=np.float64), deepcopy(self.structure).batch(xs[:1]).scorer.size
        if first.shape != (size,) or not np.all(np.isfinite(first)):
            raise ValueError(f"first weights have the shape {first.shape}, or are not finite; give {size:,} numbers")
        return first

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFitted("this LatentClassifier has not been fitted; call fit first")
        return self.model_

    def _fit_in_words(self) -> list[tuple[str, str]]:
        if not hasattr(self, "rounds_"):
            return []
        return [("objective", f"{self.objective_:.6g}"), ("rounds", f"{len(self.rounds_):,}")]
