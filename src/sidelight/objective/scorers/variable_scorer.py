"""The features of variables: their attributes, and a table for each type of pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.counts import SparseRows
from sidelight.features.rows import Rows
from sidelight.features.structured.variable_features import (
    VariableLayout,
    Variables,
    VariableScores,
    add_variable_parts,
    variable_differences,
    variable_scores,
)
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.linear import LinearFeatures
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

    def counts(
        self, which: Ints, plus: Ids, minus: Ids | None, scales: Floats, thresholds: Floats, n_jobs: int | None
    ) -> SparseRows:
        return variable_differences(
            self.rows,
            self.variables,
            self.layout,
            which=which,
            plus=plus,
            minus=minus,
            scales=scales,
            thresholds=thresholds,
        )

    def add_gradient(self, weights: Floats, parts: VariableBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        add_variable_parts(self.rows, self.layout, parts.slots, parts.tables, gradient)


def variable_batch(rows: Rows, variables: Variables, layout: VariableLayout, *, n_jobs: int | None = None) -> Batch:
    """Inputs with all outputs of their variables."""
    space = VariableSpace(variables, layout.kinds, layout.pairs)
    return Batch(VariableScorer(rows, variables, layout), space, n_jobs)
