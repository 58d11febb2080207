"""What outputs a model has and how they are scored: chains and single classes, segments, or variables; all but weights.

All make the features of inputs (`rows`), which can be taken in parts, and of these a `Batch`; learners and predictions
know no more of a structure than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sidelight.arrays import Floats
from sidelight.errors import DataError
from sidelight.features import Extractor
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.features.segment_rows import SegmentedRows, SegmentLayout
from sidelight.features.segments import SegmentExtractor
from sidelight.features.variables import VariableLayout, VariableRows
from sidelight.objective.batch import Batch
from sidelight.objective.chain_scorer import chain_batch
from sidelight.objective.segment_scorer import segment_batch
from sidelight.objective.variable_scorer import variable_batch
from sidelight.spaces import Transitions
from sidelight.structures.segments import SegmentScheme
from sidelight.structures.variables import PairType, VariableReader, read_variables

AnyRows = Rows | SegmentedRows | VariableRows


class FeaturedStructure(Protocol):
    """A structure with the features of its inputs and the places of weights: what a model keeps, all but weights."""

    @property
    def extractor(self) -> Extractor:
        """Features of tokens."""
        ...

    @property
    def layout(self) -> Layout | SegmentLayout | VariableLayout:
        """Where weights live."""
        ...

    @property
    def sequences(self) -> bool:
        """Whether an output is a list of labels; else it is one label."""
        ...

    @property
    def allowed(self) -> Transitions | None:
        """The transitions between labels that may be, where not all may."""
        ...

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Any:
        """The features of inputs."""
        ...

    def batch(self, rows: Any, *, n_jobs: int | None = None) -> Batch:
        """Features with the space of outputs."""
        ...

    def moved(self, weights: Floats, before: FeaturedStructure) -> Floats:
        """The weights of a structure that had as many features or fewer; raises `DataError` for any other."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ChainStructure:
    """A label for every token, or for the one token that an input of a classifier is."""

    extractor: Extractor
    layout: Layout
    sequences: bool = True
    allowed: Transitions | None = None

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        return self.extractor.rows(xs, n_jobs=n_jobs)

    def batch(self, rows: Rows, *, n_jobs: int | None = None) -> Batch:
        return chain_batch(rows, self.layout, allowed=self.allowed, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: FeaturedStructure) -> Floats:
        if not isinstance(before, ChainStructure) or before.layout.grown(self.layout.n_attributes) != self.layout:
            raise _unlike()
        found = self.layout.zeros()
        found[: len(weights)] = weights
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SegmentStructure:
    """A tiling with labelled segments (Sarawagi and Cohen 2004), given as token labels."""

    scheme: SegmentScheme
    extractor: Extractor
    segments: SegmentExtractor
    layout: SegmentLayout

    @property
    def sequences(self) -> bool:
        return True

    @property
    def allowed(self) -> None:
        return None

    @property
    def max_length(self) -> int:
        """The most tokens of a segment."""
        return self.segments.max_length

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> SegmentedRows:
        return SegmentedRows(self.extractor.rows(xs, n_jobs=n_jobs), self.segments.rows(xs, n_jobs=n_jobs))

    def batch(self, rows: SegmentedRows, *, n_jobs: int | None = None) -> Batch:
        reading = self.scheme.reading(self.max_length)
        return segment_batch(rows.tokens, rows.segments, self.layout, reading, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: FeaturedStructure) -> Floats:
        if not isinstance(before, SegmentStructure) or before.scheme.tokens != self.scheme.tokens:
            raise _unlike()
        old, new = before.layout, self.layout
        if old.tokens.grown(new.tokens.n_attributes) != new.tokens or before.max_length != self.max_length:
            raise _unlike()
        found = new.zeros()
        found[: old.tokens.size] = old.token_weights(weights)
        new.segment_weights(found)[: old.n_attributes] = old.segment_weights(weights)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class VariableStructure:
    """A label for every variable, of its kind, scored one by one and in pairs."""

    reader: VariableReader
    types: tuple[PairType, ...]
    extractor: Extractor
    layout: VariableLayout

    @property
    def sequences(self) -> bool:
        return True

    @property
    def allowed(self) -> None:
        return None

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> VariableRows:
        variables, _, attributes = read_variables(self.reader, xs, self.types)
        return VariableRows(self.extractor.rows(attributes, n_jobs=n_jobs), variables)

    def batch(self, rows: VariableRows, *, n_jobs: int | None = None) -> Batch:
        return variable_batch(rows.attributes, rows.variables, self.layout, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: FeaturedStructure) -> Floats:
        if not isinstance(before, VariableStructure) or before.types != self.types:
            raise _unlike()
        if before.layout.grown(self.layout.n_attributes) != self.layout:
            raise _unlike()
        found = self.layout.zeros()
        found[: len(weights)] = weights
        return found


def _unlike() -> DataError:
    return DataError("the new evidence does not fit the model", remedy="use the same labels and kind of features")
