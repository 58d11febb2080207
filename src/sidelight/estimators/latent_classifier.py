"""`LatentClassifier`: yes or no, by the best structure that an input has, learned from yes and no alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import amount, is_among, positive, shown, whole
from sidelight.core.records import Round
from sidelight.errors import NotFitted
from sidelight.estimators.base_estimator import Estimator
from sidelight.objective.cuts import POWERS
from sidelight.objective.decisions import Decisions, decisions
from sidelight.objective.structure import PlainStructure, first_weights_of, sizes_of
from sidelight.rounds.lclr import HeldLearner, lclr_learner
from sidelight.rounds.margin import MarginLearner, MarginOptions

METHODS = ("lclr", "lclr_approximate", "two_stage")


class Judgement(NamedTuple):
    """An answer, +1 or −1, how sure it is, and the structure that it rests on."""

    answer: int
    score: float
    output: Any


class LatentClassifier(Estimator):
    """Learning over constrained latent representations, LCLR (thesis chapter 5), and its two baselines.

    Parameters:

    - structure: what decisions rest on, such as `structures.letters.CharacterAlignment()`.
    - method: "lclr" (Algorithms 10 and 11), "lclr_approximate" (Algorithm 12, for `rounds` rounds) or "two_stage"
      (Alignment+Learning: the structures that `start` finds, and an SVM over them).
    - start: first weights [weights of the structure], from what is known beforehand; None for those of the structure,
      if it has any, or zeros. LCLR runs from the weights of the two stages and from `start` itself, and keeps what ends
      with the lower objective.
    - C: the price of a unit of loss; loss: "squared_hinge", "hinge" or "logistic".
    - tolerance: the relative duality gap of a convex problem; decrease: LCLR ends when a completion lowers the
      objective by less, relatively.

    After `fit`: `weights_`, `rounds_` (the records of what was kept), `objective_` (Eq. 5.3).
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
        self._check()
        data = decisions(self.structure, xs, zs, C=self.C, weights=sample_weight)
        given = first_weights_of(self.structure) if self.start is None else self.start
        start = np.zeros(data.size) if given is None else np.asarray(given, dtype=np.float64)
        options = MarginOptions(
            power=POWERS[self.loss], tolerance=self.tolerance, decrease=self.decrease, seed=self.seed
        )
        self.first_ = start
        found = [self._run(learner, data) for learner in self._learners(data, start, options)]
        self.objective_, self.weights_, self.rounds_ = min(found, key=lambda one: one[0])
        return self

    def judge(self, xs: Sequence[Any]) -> list[Judgement]:
        """The answer for every input, its score and the structure that it rests on."""
        weights = self._weights()
        batch = self.structure.batch(xs)
        finding = self.first_ if self.method == "two_stage" else weights
        choices = batch.best(finding).labels
        scores = batch.score(weights, choices) / sizes_of(self.structure, xs, batch) + weights[0]
        return [
            Judgement(1 if score >= 0 else -1, score, self.structure.decode(x, choices[first:last]))
            for x, score, first, last in zip(xs, scores.tolist(), batch.starts[:-1], batch.starts[1:])
        ]

    def decision_function(self, xs: Sequence[Any]) -> Floats:
        """How good the best structure of each input is; good from 0 on. # [N]"""
        return np.array([one.score for one in self.judge(xs)])

    def predict(self, xs: Sequence[Any]) -> list[int]:
        """+1 for good inputs, −1 for bad ones."""
        return [one.answer for one in self.judge(xs)]

    def score(self, xs: Sequence[Any], zs: Sequence[Any]) -> float:
        """The share of right answers."""
        return float(np.mean(np.array(self.predict(xs)) == np.asarray(zs)))

    def _learners(self, data: Decisions, start: Floats, options: MarginOptions) -> list[MarginLearner | HeldLearner]:
        once = MarginOptions(power=options.power, tolerance=options.tolerance, seed=options.seed, max_rounds=1)
        if self.method == "two_stage":
            return [HeldLearner.fresh(data, start, once, name="two_stage")]
        if self.method == "lclr_approximate":
            many = MarginOptions(
                power=options.power, tolerance=options.tolerance, seed=options.seed, max_rounds=self.rounds
            )
            return [HeldLearner.fresh(data, start, many)]
        second = HeldLearner.fresh(data, start, once, name="two_stage")
        second.round()
        return [lclr_learner(data, first, options) for first in (second.weights, start)]

    @staticmethod
    def _run(learner: MarginLearner | HeldLearner, data: Decisions) -> tuple[float, Floats, list[Round]]:
        records = list(learner.run())
        weights = np.array(learner.finish())
        return data.objective(weights, power=learner.options.power), weights, records

    def _check(self) -> None:
        for name, names in (("method", METHODS), ("loss", tuple(POWERS))):
            if not is_among(getattr(self, name), names):
                raise ValueError(f"{name} is {shown(getattr(self, name))}; give one of {', '.join(names)}")
        positive("C", self.C)
        amount("tolerance", self.tolerance)
        amount("decrease", self.decrease)
        whole("rounds", self.rounds, least=1)
        whole("seed", self.seed, least=0)

    def _weights(self) -> Floats:
        if not hasattr(self, "weights_"):
            raise NotFitted("this LatentClassifier has not been fitted; call fit first")
        return self.weights_

    def _fit_in_words(self) -> list[tuple[str, str]]:
        if not hasattr(self, "weights_"):
            return []
        return [("objective", f"{self.objective_:.6g}"), ("rounds", f"{len(self.rounds_):,}")]
