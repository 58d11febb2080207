"""A trained predictor: a structure and its weights, with the objective and the gap of each training round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids
from sidelight.core.file_contents import list_of
from sidelight.core.records import Round
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.inference.proofs import warn_of_early_ends
from sidelight.objective.batch import Batch
from sidelight.objective.companion_likelihood import soft_maxima
from sidelight.spaces import Paths, Transitions
from sidelight.spaces.space import Proving
from sidelight.structures import LabelSet
from sidelight.structures.segment_structure import SegmentStructure
from sidelight.structures.segments import Span
from sidelight.structures.structure import InputRows, Structure

Point = list[float | int | None]  # number of the round, objective, gap
MOST_POINTS = 200  # in a file
HEAVIEST = 1e100  # sums of larger weights would overflow


def point_of(record: Round) -> Point:
    """The stored values of a round; for learners that count mistakes, these are the objective."""
    return [record.number, record.mistakes if record.objective is None else record.objective, record.gap]


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most as many points as keep a file small, including the first and the last.

    >>> numbers = [number for number, _, _ in thinned([[k, None, None] for k in range(1000)])]
    >>> len(numbers), numbers[:3], numbers[-1]
    (200, [0, 5, 10], 999)
    """
    if len(points) <= MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(k * step)] for k in range(MOST_POINTS)]


def history_in(values: Mapping[str, Any]) -> list[Point]:
    """The history in a file; empty for older files. Raises `ModelFileError` for an invalid history."""
    points = list_of(values, "history") if "history" in values else []
    for point in points:
        if not isinstance(point, list) or len(point) != 3 or not all(_is_amount(one) for one in point):
            raise ModelFileError("the history of training is not a list of rounds")
    return [*points]


def _is_amount(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


class Found(NamedTuple):
    """The best outputs of some inputs."""

    labels: Ids  # [T]
    values: Floats  # [N]
    proved: NDArray[np.bool_] | None  # [N] None if outputs always are the best


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained model: predicts the outputs of a structure."""

    structure: Structure
    weights: Floats
    size_by: str = "tokens"  # κ(x) of companion decisions: "tokens", "one" or "function"
    about: dict[str, Any] = field(default_factory=dict)  # how it was trained, for people
    temperature: float = 0.0  # τ of companion decisions: 0 for the best output's score, else a soft maximum
    decision: Floats | None = None  # weights of companion decisions, if they differ from those that find outputs

    @property
    def labels(self) -> LabelSet:
        """The names of choices."""
        return self.structure.labels

    @property
    def extractor(self) -> Any:
        """The features of tokens, for structures that have them."""
        return self._of_structure("extractor")

    @property
    def layout(self) -> Any:
        """The layout of weights, for structures that have one."""
        return self._of_structure("layout")

    @property
    def sequences(self) -> bool:
        """Whether an output is a list of labels; else it is one label."""
        return bool(getattr(self.structure, "sequences", True))

    @property
    def allowed(self) -> Transitions | None:
        """The allowed transitions, if not all are allowed."""
        return getattr(self.structure, "allowed", None)

    @property
    def segmental(self) -> SegmentStructure:
        """The structure of a segment model; raises `DataError` for other models."""
        if not isinstance(self.structure, SegmentStructure):
            raise DataError("the model labels no segments", remedy="use that of a SegmentTagger")
        return self.structure

    def prepare(self, xs: Any, *, n_jobs: int | None = -1) -> Any:
        """The features of inputs, for repeated use; features are returned unchanged."""
        rows = xs if isinstance(xs, InputRows) else self.structure.rows(xs, n_jobs=n_jobs)
        empty = np.flatnonzero(rows.lengths == 0)
        if len(empty):
            raise DataError(f"input {int(empty[0])} has no tokens", remedy="leave empty inputs out")
        return rows

    def batch(self, xs: Any, *, n_jobs: int | None = -1) -> Batch:
        """Inputs or prepared features with the space of their outputs."""
        return self.structure.batch(self.prepare(xs, n_jobs=n_jobs), n_jobs=n_jobs)

    def paths(self, xs: Any, *, n_jobs: int | None = -1) -> Paths:
        """Best outputs as numbers, and their scores."""
        return self._best(self.batch(xs, n_jobs=n_jobs))

    def found(self, xs: Any, *, n_jobs: int | None = -1) -> Found:
        """Best outputs as numbers, their scores, and which of them are proved optimal."""
        batch = self.batch(xs, n_jobs=n_jobs)
        if not isinstance(batch.space, Proving):
            return Found(*self._best(batch)[:2], None)
        solved = batch.space.solved(batch.scores(self.weights), n_jobs=n_jobs)
        return Found(solved.choices, solved.values, solved.gaps == 0.0)

    def predict(self, xs: Any, *, n_jobs: int | None = -1) -> list[Any]:
        """The best output of each input; warns (`sidelight.errors.NotProved`) if time ran out for some."""
        outputs, proved = self.answers(xs, n_jobs=n_jobs)
        warn_of_early_ends(proved)
        return outputs

    def answers(self, xs: Any, *, n_jobs: int | None = -1) -> tuple[list[Any], NDArray[np.bool_] | None]:
        """The outputs of `predict`, and which of them are proved optimal (None: all)."""
        rows = self.prepare(xs, n_jobs=n_jobs)
        best = self.found(rows, n_jobs=n_jobs)
        return self.structure.outputs(rows, best.labels), best.proved

    def predict_segments(self, xs: Any, *, n_jobs: int | None = -1) -> list[list[Span]]:
        """The segments (first token, last token, label) of each input, which tile it.

        Without a scheme, the pieces of a run longer than the maximum length are joined to one segment.
        """
        return self.segmental.scheme.spans_of(self.predict(xs, n_jobs=n_jobs))

    def judge(self, xs: Any, *, sizes: Sequence[float] | None = None, n_jobs: int | None = -1) -> Floats:
        """The companion decision: above 0 if the best output is good enough, max w·Φ_B. # [N]

        Models that learned from answers by likelihood have a soft maximum (`objective.companion_likelihood`).
        `sizes` are the κ(x) of the inputs; they are required if the model was trained with a function as `size`.
        """
        rows = self.prepare(xs, n_jobs=n_jobs)
        batch = self.batch(rows, n_jobs=n_jobs)
        if sizes is None and self.size_by == "function":
            raise DataError("the model was trained with a function as size", remedy="give sizes=[…] to judge")
        if sizes is not None:
            divisors = np.asarray(sizes, dtype=np.float64)
        else:
            own = np.asarray(getattr(rows, "sizes", rows.lengths), dtype=np.float64)
            divisors = own if self.size_by == "tokens" else np.ones(len(batch))
        if not len(batch):
            return np.zeros(0)
        if self.decision is not None:
            best = batch.score(self.decision, batch.best(self.weights).labels)
        else:
            best = self._soft_maxima(batch) if self.temperature > 0 else batch.best(self.weights).values
        decisions: Floats = best / divisors + self.threshold
        return decisions

    @property
    def threshold(self) -> float:
        """The weight of the constant feature of companion decisions; 0 without companion evidence."""
        return float((self.weights if self.decision is None else self.decision)[0])

    def _best(self, batch: Batch) -> Paths:
        return batch.best(self.weights) if len(batch) else Paths(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))

    def _soft_maxima(self, batch: Batch) -> Floats:
        scores = batch.scores(self.weights / self.temperature)
        return soft_maxima(batch.space, scores, self.temperature, n_jobs=batch.n_jobs)

    def _of_structure(self, name: str) -> Any:
        function = getattr(self.structure, name, None)
        if function is None:
            raise DataError(f"a model of {self.structure.outputs_are} has no {name}", remedy="use that of a Tagger")
        return function


def model_of(fitted: Any) -> Model:
    """The model of a fitted `Tagger`, `Classifier` or `SegmentTagger`; a model is returned unchanged.

    Raises `NotFitted` for an unfitted estimator, and `DataError` for objects without such a model.
    """
    model = getattr(fitted, "model_", fitted)
    if isinstance(model, Model):
        return model
    name = type(fitted).__name__
    if hasattr(fitted, "fit") and not hasattr(fitted, "model_") and not hasattr(fitted, "first"):
        raise NotFitted(f"this {name} has not been fitted; call fit first")
    remedy = "give a Tagger, a Classifier, a SegmentTagger or a model; of CoTraining, first_ or second_"
    raise DataError(f"a {name} has no weights of features", remedy=remedy)
