"""Outputs that are not chains: variables with labels of their own, scored one by one and in pairs, under rules.

    max_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(y)      over y with d_k(y) = 0 where ρ_k is infinite

Entities and relations are such outputs (Roth and Yih 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.arrays import Floats
from sidelight.errors import DataError
from sidelight.inference.problem import Clause, Problem


@dataclass(frozen=True, slots=True, eq=False)
class VariableProblem(Problem):
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
        found = sum(float(scores[label]) for scores, label in zip(self.scores, labels))
        return found + sum(float(table[labels[v], labels[w]]) for (v, w), table in zip(self.pairs, self.pair_scores))
