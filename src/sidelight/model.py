"""A trained predictor: labels, features and weights, nothing of how it was trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.arrays import Floats, by_position
from sidelight.errors import DataError
from sidelight.features import Extractor, Matrix
from sidelight.features.inputs import check_sequences, matrix_of
from sidelight.features.layout import Layout
from sidelight.features.segment_rows import SegmentLayout
from sidelight.objective.batch import Batch
from sidelight.objective.companion_likelihood import soft_maxima
from sidelight.spaces import Paths, Transitions
from sidelight.structure import AnyRows, FeaturedStructure, SegmentStructure
from sidelight.structures import LabelSet
from sidelight.structures.segments import Span


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Predicts the outputs of a structure: label sequences, single labels, or segmentations as labels of tokens."""

    labels: LabelSet
    structure: FeaturedStructure
    weights: Floats
    size_by: str = "tokens"  # κ(x) of companion decisions: "tokens", "one" or "function"
    about: dict[str, Any] = field(default_factory=dict)  # how it was trained, for people
    temperature: float = 0.0  # τ of companion decisions: 0 for the best output's score, else a soft maximum

    @property
    def extractor(self) -> Extractor:
        """Features of tokens."""
        return self.structure.extractor

    @property
    def layout(self) -> Layout | SegmentLayout:
        """Where weights live."""
        found = self.structure.layout
        assert isinstance(found, Layout | SegmentLayout)  # models of variables are `JointModel`s
        return found

    @property
    def sequences(self) -> bool:
        """Whether an output is a list of labels; else it is one label."""
        return self.structure.sequences

    @property
    def allowed(self) -> Transitions | None:
        """The transitions that may be, where not all may."""
        return self.structure.allowed

    @property
    def segmental(self) -> SegmentStructure:
        """The structure of a model of segments; raises `DataError` where it is none."""
        if not isinstance(self.structure, SegmentStructure):
            raise DataError("the model labels no segments", remedy="use that of a SegmentTagger")
        return self.structure

    def prepare(self, xs: Sequence[Any], *, n_jobs: int | None = -1) -> AnyRows:
        """The features of inputs, for use more than once."""
        found: AnyRows = self.structure.rows(as_sequences(xs, sequences=self.sequences), n_jobs=n_jobs)
        return found

    def batch(self, xs: Sequence[Any] | AnyRows, *, n_jobs: int | None = -1) -> Batch:
        """Inputs or prepared features with the space of their outputs."""
        rows = xs if isinstance(xs, AnyRows) else self.prepare(xs, n_jobs=n_jobs)
        empty = np.flatnonzero(rows.lengths == 0)
        if len(empty):
            raise DataError(f"input {int(empty[0])} has no tokens", remedy="leave empty inputs out")
        return self.structure.batch(rows, n_jobs=n_jobs)

    def paths(self, xs: Sequence[Any] | AnyRows, *, n_jobs: int | None = -1) -> Paths:
        """Best outputs as numbers, and their scores."""
        batch = self.batch(xs, n_jobs=n_jobs)
        return Paths(np.zeros(0, np.int32), np.zeros(0), np.zeros(0)) if not len(batch) else batch.best(self.weights)

    def predict(self, xs: Sequence[Any] | AnyRows, *, n_jobs: int | None = -1) -> list[Any]:
        """The best output of each input: a list of labels, or one label."""
        batch = self.batch(xs, n_jobs=n_jobs)
        if not len(batch):
            return []
        names = self.labels.decode(batch.best(self.weights).labels)
        if not self.sequences:
            return names
        bounds = batch.starts.tolist()
        return [names[a:b] for a, b in pairwise(bounds)]

    def predict_segments(self, xs: Sequence[Any] | AnyRows, *, n_jobs: int | None = -1) -> list[list[Span]]:
        """The segments (first token, last token, label) of each input, which tile it.

        Without a scheme the pieces of a run that is longer than the greatest length are one segment.
        """
        return self.segmental.scheme.spans_of(self.predict(xs, n_jobs=n_jobs))

    def judge(
        self, xs: Sequence[Any] | AnyRows, *, sizes: Sequence[float] | None = None, n_jobs: int | None = -1
    ) -> Floats:
        """The companion decision: above 0 where the best output is good enough, max w·Φ_B. # [N]

        Models that learned from answers by likelihood have a soft maximum (`objective.companion_likelihood`).
        `sizes` are the κ(x) of the inputs; a model that was trained with a function of its own needs them.
        """
        batch = self.batch(xs, n_jobs=n_jobs)
        if sizes is None and self.size_by == "function":
            raise DataError("the model was trained with a size of its own", remedy="give sizes=[…] to judge")
        if sizes is not None:
            divisors = np.asarray(sizes, dtype=np.float64)
        else:
            divisors = batch.lengths.astype(np.float64) if self.size_by == "tokens" else np.ones(len(batch))
        if not len(batch):
            return np.zeros(0)
        best = self._soft_maxima(batch) if self.temperature > 0 else batch.best(self.weights).values
        decisions: Floats = best / divisors + self.weights[0]
        return decisions

    def _soft_maxima(self, batch: Batch) -> Floats:
        given = batch.scores(self.weights / self.temperature)
        return soft_maxima(batch.space, given, self.temperature, n_jobs=batch.n_jobs)


def as_sequences(xs: Any, *, sequences: bool) -> Sequence[Any]:
    """Inputs as the extractors take them: for classes every input is a sequence of one token.

    Raises `DataError` where an input is a string, which would be read letter by letter, or an array of numbers.
    """
    if isinstance(xs, Matrix):
        return xs
    if hasattr(xs, "shape") and len(xs.shape) == 2:  # a scipy matrix or a numpy array
        if sequences:
            raise DataError(
                "a matrix does not say where sequences begin", remedy="wrap it: sidelight.Matrix(matrix, lengths=…)"
            )
        if getattr(xs, "dtype", np.dtype(float)).kind not in "biuf":
            remedy = "give rows of numbers, lists of words, or dicts of features"
            raise DataError(f"the inputs are an array of {xs.dtype}", remedy=remedy)
        ones = np.ones(xs.shape[0], dtype=np.int64)
        return Matrix(xs, lengths=ones) if hasattr(xs, "tocsr") else Matrix(dense=xs, lengths=ones)
    if isinstance(xs, str | bytes | Mapping | Set) or not _can_be_listed(xs):
        wanted = "lists of tokens" if sequences else "lists of words, or dicts of features"
        raise DataError(f"{type(xs).__name__} in the place of all inputs", remedy=f"give a list of {wanted}")
    if not sequences:
        xs = list(xs)
        if (rows := matrix_of(xs)) is not None:
            return rows
    given = [_plain(i, x, sequences) for i, x in enumerate(xs)]
    if sequences:
        check_sequences(given)
    return given if sequences or (given and _is_matrix_row(given[0])) else [[x] for x in given]


def _plain(i: int, x: Any, sequences: bool) -> Any:
    """An input as it is, or the list of strings that an array or a Series holds."""
    x = by_position(x)
    if isinstance(x, str):
        wanted = "a list of tokens" if sequences else "a list of words, or a dict of features"
        raise DataError(f"input {i} is a string", remedy=f"give {wanted}; split() makes words of it")
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "UO":
            raise DataError(f"input {i} is an array of numbers", remedy="sidelight.Matrix takes rows of numbers")
        return x.tolist()
    return x


def _can_be_listed(xs: Any) -> bool:
    """Whether it can be gone through; an array of no dimension says that it can, and cannot."""
    return isinstance(xs, Iterable) and getattr(xs, "shape", None) != ()


def _is_matrix_row(x: Any) -> bool:
    from sidelight.features import MatrixSequence

    return isinstance(x, MatrixSequence)
