"""Outputs that are not chains: variables with labels of their own, scored one by one and in pairs, under rules.

    max_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(y)      over y with d_k(y) = 0 where ρ_k is infinite

Entities and relations are such outputs (Roth and Yih 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.arrays import Floats
from sidelight.errors import DataError
from sidelight.features.structured.variable_features import VariableScores
from sidelight.inference.problem import Clause, RuledProblem
from sidelight.spaces.variables.variable_space import VariableSpace


@dataclass(frozen=True, slots=True, eq=False)
class VariableProblem(RuledProblem):
    """Scores of variables and pairs of variables, and clauses; −inf where a label is not allowed."""

    scores: tuple[Floats, ...]  # [labels of v] for each variable v
    pairs: tuple[tuple[int, int], ...] = ()  # v < w, each at most once
    pair_scores: tuple[Floats, ...] = ()  # [labels of v, labels of w] for each pair
    clauses: tuple[Clause, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.pairs)) < len(self.pairs) or not all(0 <= v < w < len(self.scores) for v, w in self.pairs):
            raise DataError("pairs of variables are v < w, each once", remedy="order and merge them")
        if [table.shape for table in self.pair_scores] != [(self.sizes[v], self.sizes[w]) for v, w in self.pairs]:
            raise DataError("the scores of a pair are [labels of v, labels of w]", remedy="give one table per pair")

    @property
    def length(self) -> int:
        return len(self.scores)

    @property
    def n_labels(self) -> int:
        """The most labels of a variable."""
        return max(self.sizes, default=0)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(scores) for scores in self.scores)

    def score(self, labels: Sequence[int]) -> float:
        score = sum(float(scores[label]) for scores, label in zip(self.scores, labels))
        return score + sum(float(table[labels[v], labels[w]]) for (v, w), table in zip(self.pairs, self.pair_scores))


@dataclass(frozen=True, slots=True, eq=False)
class VariableBatchScores:
    """Scores of a batch of variables, −inf where the space admits nothing; a view of one input at a time."""

    problems: tuple[VariableProblem, ...]  # without clauses

    @classmethod
    def of(cls, scores: VariableScores, space: VariableSpace) -> VariableBatchScores:
        problems = []
        for _, tables, sizes in space.each(scores):
            own = tuple(tables[v,] for v in range(len(sizes)))
            pairs = [scope for scope in tables if len(scope) == 2]
            problems.append(VariableProblem(own, tuple(pairs), tuple(tables[scope] for scope in pairs)))
        return cls(tuple(problems))
