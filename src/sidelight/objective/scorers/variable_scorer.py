"""The features of variables: their attributes, and a table for each type of pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import is_listed, is_number, shown
from sidelight.errors import DataError
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import Rows, check_values, offsets_of
from sidelight.features.structured.variable_features import (
    VariableLayout,
    Variables,
    VariableScores,
    add_variable_parts,
    variable_differences,
    variable_scores,
)
from sidelight.objective.batch import Batch, LinearFeatures
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.spaces.variables.variable_space import VariableBeliefs, VariableSpace


@dataclass(frozen=True, slots=True)
class VariableScorer(LinearFeatures):
    """Attributes of variables, labels, and pairs of labels."""

    rows: Rows
    variables: Variables
    layout: VariableLayout

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def is_binary(self) -> bool:
        return self.rows.is_binary

    def part(self, lo: int, hi: int) -> VariableScorer:
        return replace(self, rows=self.rows.part(lo, hi), variables=self.variables.part(lo, hi))

    def take(self, which: Ints) -> VariableScorer:
        return replace(self, rows=self.rows.take(which), variables=self.variables.take(which))

    def scores(self, weights: Floats) -> VariableScores:
        return variable_scores(self.rows, self.layout, weights)

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        return variable_differences(self.rows, self.variables, self.layout, differences)

    def add_gradient(self, weights: Floats, parts: VariableBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        add_variable_parts(self.rows, self.layout, parts.slots, parts.tables, gradient)


def variable_batch(rows: Rows, variables: Variables, layout: VariableLayout, *, n_jobs: int | None = None) -> Batch:
    """Inputs with all outputs of their variables."""
    space = VariableSpace(variables, layout.kinds, layout.pairs)
    return Batch(VariableScorer(rows, variables, layout), space, n_jobs)


def attribute_scorer(
    names: FeatureNames,
    starts: Ints,  # [N + 1]
    kinds: Ids,  # [V]
    sizes: Sequence[int],  # labels of each kind
    attributes: Sequence[Any],  # of each variable: names, {name: value}, or an array of numbers
) -> VariableScorer:
    """The scorer of variables without pairs, whose attributes are names, names with values, or columns of numbers.

    New names get numbers unless `names` is closed; columns are called by theirs.
    """
    widths: dict[int, Ids] = {}
    places: list[Any] = []
    values: list[Any] = []
    for own in attributes:
        if isinstance(own, np.ndarray) and own.ndim == 1 and own.dtype.kind in "fiub":
            if len(own) not in widths:
                widths[len(own)] = np.array([names.place(str(column)) for column in range(len(own))], dtype=np.int32)
            places.append(widths[len(own)])
            values.append(own)
        else:
            own_attributes = named_attributes(own)
            places.append([names.place(name) for name in own_attributes])
            values.append(list(own_attributes.values()))
    flat = np.concatenate([np.zeros(0, np.int32), *places]).astype(np.int32)
    numbers = np.concatenate([np.zeros(0), *values]).astype(np.float64)
    check_values("attributes", numbers)
    known = flat > 0
    lengths = np.add.reduceat(np.append(known, False), offsets_of([len(own) for own in places])[:-1], dtype=np.int64)
    lengths[[len(own) == 0 for own in places]] = 0
    numbers = numbers[known]
    rows = Rows(
        starts,
        offsets_of(lengths),
        flat[known] - 1,
        np.zeros(0) if np.all(numbers == 1.0) else numbers,
        np.zeros((len(places), 0), dtype=np.float32),
    )
    variables = Variables(starts, kinds, np.zeros(len(starts), dtype=np.int64), np.zeros((0, 3), dtype=np.int32))
    return VariableScorer(rows, variables, VariableLayout(tuple(sizes), (), len(names.places)))


def named_attributes(features: Any) -> Mapping[str, float]:
    """The attributes of a variable with their values; raises `DataError` if they are neither names nor numbers.

    >>> named_attributes(["word=on", "short"])
    {'word=on': 1.0, 'short': 1.0}
    """
    attributes = features if isinstance(features, Mapping) else None
    if attributes is None and is_listed(features) and all(isinstance(name, str) for name in features):
        attributes = dict.fromkeys(features, 1.0)
    if attributes is None or not all(isinstance(name, str) and is_number(value) for name, value in attributes.items()):
        problem = f"the features of a variable are {shown(features)}"
        raise DataError(problem, remedy="give a list of names, {name: number}, or an array of numbers")
    return attributes
