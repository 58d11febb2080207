"""`Predictor`: the estimator for outputs of any structure, including your own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.records import Callback
from sidelight.data.checks import check_weight, trouble
from sidelight.errors import DataError, ModelFileError
from sidelight.estimators.base_estimator import labelled
from sidelight.estimators.taggers import LearningEstimator
from sidelight.evidence import Companion, Evidence, gold
from sidelight.models.model import Model
from sidelight.recipes import Recipe, recipe_of
from sidelight.rules import Rule
from sidelight.specs.settings import Settings
from sidelight.structures.own_structure import Own, OwnStructure
from sidelight.structures.structure import Declared, InputRows

USUAL: dict[str, Any] = {"features": None, "labels": None, "scheme": None, "metric": None, "allowed": None}
USUAL |= {"bias": True, "order": 1, "states": None, "rules": (), "rules_in": "prediction", "inference": "auto"}


class StructuredEstimator(LearningEstimator):
    """The base of estimators whose outputs are defined by a structure, and not labels of tokens or classes."""

    _sequences = False  # the structure defines inputs and outputs
    _chooses = False
    rules: Sequence[Rule] = ()
    inference = "auto"
    metric = None

    def score(self, xs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of slots whose choice is right, between 0 and 1, of inputs and outputs or of Gold in evidence."""
        xs, y = labelled(xs, y)
        model = self._fitted()
        rows = model.prepare(xs, n_jobs=self.n_jobs)
        right = model.structure.choices(rows, y) == model.structure.choices(rows, self.predict(xs))
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(right, weights=np.repeat(weights, rows.lengths)))

    def _measured(self, xs: Any, ys: Any) -> float:
        return self.score(xs, ys)

    def _outputs(self) -> Declared:
        """The kind of outputs."""
        raise NotImplementedError

    def _settings(self, **others: Any) -> Settings:
        """The parameters, checked; what chains have besides is as usual."""
        own = {**USUAL, **{name: value for name, value in self.get_params(deep=False).items() if name in KNOWN}}
        parameters = {**own, **others}
        return Settings(
            sequences=True, outputs=self._outputs(), **{**parameters, "learner": recipe_of(parameters["learner"])}
        )

    def _inputs(self, xs: Any) -> Any:
        if isinstance(xs, InputRows):
            return xs
        if isinstance(xs, str | bytes | Mapping) or not isinstance(xs, Iterable):
            raise DataError(f"{type(xs).__name__} instead of a list of inputs", remedy="give a list of inputs")
        return list(xs)

    def _clamped(self, clamp: Any) -> Any:
        return clamp

    def _evidence(self, evidence: Any, y: Any, sample_weight: Any) -> list[Evidence]:
        """A list of evidence; raises `DataError` for other values. Outputs are checked when they are encoded."""
        pieces: list[Any] = list(evidence)
        if y is not None:
            pieces = list(gold(pieces, y, weight=1.0 if sample_weight is None else sample_weight))
        elif sample_weight is not None:
            raise ValueError("sample_weight goes with fit(xs, ys); evidence has its own weights")
        if not pieces:
            raise DataError("no evidence", remedy="give at least one example")
        for i, piece in enumerate(pieces):
            if not isinstance(piece, Evidence):
                remedy = "wrap the input in Gold, Partial, Candidates, Companion or Unlabeled, or give outputs too"
                raise DataError(f"evidence {i} is a {type(piece).__name__}", remedy=remedy)
            check_weight(piece, i)
            if isinstance(piece, Companion) and piece.z not in (1, -1):
                raise trouble(piece, i, problem=f"the answer {piece.z!r}", remedy="answer +1 or -1")
        return pieces

    def load(self, path: str | Path) -> Self:  # type: ignore[override]
        """Load the model of a file, which contains neither functions nor parameters; raises `ModelFileError`."""
        raise NotImplementedError


KNOWN = frozenset(Settings.__slots__)


class Predictor(StructuredEstimator):
    """Learns the outputs of any structure (docs/add_a_structure.md).

    - structure: has `batch(xs)`, `encode(x, y)` and `decode(x, choices)`; for partial outputs, candidates and clamps
      also `admitted(x, y)`. `fit` works on a copy. Features in its `names` (`FeatureNames`) grow during the fit, and
      are fixed afterwards.
    - learner: any learner whose requirements the structure meets. Best outputs alone are enough for "jlis" (with Gold
      alone a structural SVM), "structural_svm" with all solvers but exponentiated gradient, "latent_svm",
      "transductive_svm", "perceptron", "passive_aggressive", "arow", and for "cllp" and "mms" with `initial="random"`.
      The others say what is missing.
    - cost: {(right, predicted): cost} of choices, by their numbers; class_weight: {choice: weight}.

    The other parameters are those of `Tagger`. Outputs are what the structure decodes; `predict_marginals` gives arrays
    [slots, choices].
    """

    structure: Any

    def __init__(
        self,
        structure: Any,
        *,
        learner: str | Recipe = "jlis",
        loss: str = "squared_hinge",
        prices: Mapping[str, float] | None = None,
        cost: Mapping[tuple[Any, Any], float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        size: str | Callable[[Any], float] | None = None,
        tolerance: float = 0.01,
        violation: float = 1e-3,
        decrease: float | None = None,
        max_rounds: int | None = None,
        max_completions: int | None = None,
        patience: int = 5,
        random_ties: bool = False,
        warm_start: bool = False,
        freeze_vocabulary: bool = False,
        n_jobs: int | None = -1,
        place: Any = None,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        verbose: int = 0,
        checkpoint: str | Path | None = None,
    ) -> None:
        self._keep(locals())

    def _outputs(self) -> Own:
        missing = [name for name in ("batch", "encode", "decode") if not callable(getattr(self.structure, name, None))]
        if missing or isinstance(self.structure, type):
            what = f"has no {missing[0]}" if missing else "is a class"
            remedy = "give a structure as docs/add_a_structure.md has one"
            raise DataError(f"the structure {self.structure!r} {what}", remedy=remedy)
        return Own(self.structure)

    def begin_with(self, weights: Floats) -> Self:
        """Start fits from these weights, which a structure may derive from prior knowledge."""
        self.warm_start, self.model_ = True, Model(OwnStructure(self.structure, 1, len(weights)), weights)
        return self

    def load(self, path: str | Path) -> Self:  # type: ignore[override]
        """Load the model of a file that was saved with a structure of the same class and arguments.

        Raises `ModelFileError` if the file is not a model, or has another kind of model.
        """
        from sidelight.models.model_file import load_model

        model = load_model(path, structure=self._outputs().plain)
        if not isinstance(model.structure, OwnStructure):
            other = model.structure.outputs_are
            raise ModelFileError("not the model of a Predictor", file=path, remedy=f"use the estimator of {other}")
        self.model_ = model
        self._keep_penalties([])
        return self


__all__ = ["Predictor"]
