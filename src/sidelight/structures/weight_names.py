"""Names of the weights of structures: the meaning and the label of each position in a weight vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.features import Extractor
from sidelight.features.layout import Layout
from sidelight.features.segments.segment_features import SegmentExtractor
from sidelight.features.structured.variable_features import VariableLayout
from sidelight.structures.labels.label_sets import LabelSet

Named = tuple[str, str, Any]  # part ("feature", "transition", …), name, and label, None for the threshold


THRESHOLD: Named = ("threshold", "", None)


def label_words(label: Any) -> str:
    """A label for display: if labels belong to kinds of variables, the kind comes first.

    >>> label_words("N"), label_words(("relation", "none"))
    ('N', 'relation none')
    """
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)


@dataclass(frozen=True, slots=True)
class TokenWeightNames:
    """Names of the weights of chains, classes and segments."""

    labels: LabelSet
    layout: Layout
    extractor: Extractor
    sequences: bool
    segments: SegmentExtractor | None = None  # its weights follow those of the layout

    def label_of(self) -> Ints:
        layout, size = self.layout, self.layout.n_labels
        more = 0 if self.segments is None else self.segments.n_attributes * size
        labels = np.arange(layout.size + more, dtype=np.int64)
        labels[0] = -1
        for begin, end, width in (
            (layout.start_at, layout.end_at, layout.columns),
            (layout.end_at, layout.dense_at, size),
            (layout.dense_at, layout.size, layout.columns),
            (layout.size, len(labels), size),
        ):
            labels[begin:end] = (labels[begin:end] - begin) % width + size - width
        return labels

    def named(self, place: int) -> Named:
        layout, names = self.layout, list(self.labels.names)
        size, columns = layout.n_labels, layout.columns
        if place < layout.start_at:
            return THRESHOLD
        if place < layout.end_at:
            return "start" if self.sequences else "bias", "", names[place - layout.start_at + size - columns]
        if place < layout.transition_at:
            return "end", "", names[place - layout.end_at]
        if place < layout.second_at:
            before, number = divmod(place - layout.transition_at, size)
            return "transition", str(names[before]), names[number]
        if place < layout.dense_at:
            pair, number = divmod(place - layout.second_at, size)
            first, second = divmod(pair, size)
            return "second-order transition", f"{names[first]} {names[second]}", names[number]
        if place < layout.emission_at:
            row, column = divmod(place - layout.dense_at, columns)
            return "dense", str(row), names[column + size - columns]
        if place < layout.size:
            attribute, column = divmod(place - layout.emission_at, columns)
            return "feature", self.extractor.name(attribute), names[column + size - columns]
        assert self.segments is not None
        attribute, number = divmod(place - layout.size, size)
        return "segment feature", self.segments.name(attribute), names[number]


@dataclass(frozen=True, slots=True)
class VariableWeightNames:
    """Names of the weights of variables: the weights of a pair of labels belong to the second label."""

    labels: LabelSet
    layout: VariableLayout
    extractor: Extractor
    types: Sequence[str]

    def label_of(self) -> Ints:
        layout, labels = self.layout, np.arange(self.layout.size, dtype=np.int64) - 1
        at = layout.tables_at
        for sort, (_, other) in enumerate(layout.pairs):
            here = slice(int(at[sort]), int(at[sort + 1]))
            labels[here] = layout.first[other] + np.arange(here.stop - here.start) % layout.kinds[other]
        rest = labels[layout.attributes_at :]
        rest[:] = np.arange(len(rest)) % layout.n_labels
        return labels

    def named(self, place: int) -> Named:
        layout, names = self.layout, self.labels.names
        if place == 0:
            return THRESHOLD
        if place <= layout.n_labels:
            return "bias", "", names[place - 1]
        if place < layout.attributes_at:
            sort = int(np.searchsorted(layout.tables_at, place, side="right")) - 1
            one, other = layout.pairs[sort]
            first, second = divmod(place - int(layout.tables_at[sort]), layout.kinds[other])
            before = names[int(layout.first[one]) + first][1]
            return "pair", f"{self.types[sort]}: {before}", names[int(layout.first[other]) + second]
        attribute, number = divmod(place - layout.attributes_at, layout.n_labels)
        return "feature", self.extractor.name(attribute), names[number]


@dataclass(frozen=True, slots=True)
class FeatureWeightNames:
    """Names of the weights of users' structures, whose features belong to no label."""

    labels: LabelSet
    size: int
    names: Sequence[str]  # of all but the first, or none

    def label_of(self) -> Ints:
        return np.full(self.size, -1, dtype=np.int64)

    @property
    def hashed(self) -> bool:
        """Whether features have numbers instead of names."""
        return not self.names

    def named(self, place: int) -> Named:
        if place == 0:
            return THRESHOLD
        return "feature", self.names[place - 1] if self.names else f"number {place}", None


@dataclass(frozen=True, slots=True)
class ChoiceWeightNames:
    """Names of the weights of users' structures with a weight for every attribute and choice: threshold, biases,
    attributes.
    """

    labels: LabelSet
    names: Sequence[str]  # of attributes

    def label_of(self) -> Ints:
        count = len(self.labels)
        return np.concatenate([[-1], np.tile(np.arange(count, dtype=np.int64), 1 + len(self.names))])

    def named(self, place: int) -> Named:
        if place == 0:
            return THRESHOLD
        row, choice = divmod(place - 1, len(self.labels))
        label = self.labels.names[choice]
        return ("bias", "", label) if row == 0 else ("feature", self.names[row - 1], label)


WeightNames = TokenWeightNames | VariableWeightNames | FeatureWeightNames | ChoiceWeightNames
