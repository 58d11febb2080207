"""A problem over variables in the form for elimination: tables of scores, with local clauses added, and the other
clauses.

A clause about too many variables for a table is left out of elimination; this is correct if the best output obeys it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded, Reached
from sidelight.inference.lattices.prefixes import Prefixes
from sidelight.inference.problem import VariableProblem
from sidelight.rules.columns import InputColumns, columns_of, signature
from sidelight.rules.expr import Expr
from sidelight.rules.lowering.tables import degree_table
from sidelight.spaces.highs import LinearProgram
from sidelight.spaces.variables.elimination import Scope, eliminated, plan_of
from sidelight.spaces.variables.variable_space import variable_program

MOST_CLAUSE_CELLS = 20_000  # of the table of one clause


class ClauseShape:
    """A clause up to the names of its variables, which determines its table, and one clause of this shape."""

    __slots__ = ("cells", "key", "order", "says", "scope")

    def __init__(self, says: Expr, penalty: float, sizes: Sequence[int]) -> None:
        seen: dict[int, int] = {}
        key = signature(says, seen)
        self.says, self.order = says, tuple(seen)
        self.scope: Scope = tuple(sorted(seen))
        shape = tuple(sizes[v] for v in seen)
        self.cells = math.prod(shape)
        self.key = key, shape, tuple(seen[v] for v in self.scope), penalty

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClauseShape) and self.key == other.key


@lru_cache(maxsize=1024)
def clause_worth(clause: ClauseShape) -> Floats:
    """The penalty table of a clause, with its variables in ascending order."""
    _, shape, axes, penalty = clause.key
    broken = degree_table(clause.says, clause.order, shape)
    worth = np.where(broken > 0, -math.inf, 0.0) if penalty == math.inf else -penalty * broken
    return np.array(worth.transpose(axes), order="C")


class Factors(Folded):
    """Tables over one variable and over two, and clauses about others."""

    method = plain_method = "elimination"
    lazy = False  # so the plan is the same for all inputs of one structure
    tries_a_star = False

    def __init__(self, problem: VariableProblem, *, names: Sequence[str] = (), fold: bool = True) -> None:
        clauses = problem.clauses
        prices = [clause.penalty for clause in clauses]
        super().__init__([clause.says for clause in clauses], [clause.rule for clause in clauses], prices, names)
        self.sizes = problem.sizes
        self._held: dict[Scope, Floats] = {(v,): scores for v, scores in enumerate(problem.scores)}
        self._held |= dict(zip(problem.pairs, problem.pair_scores))
        self._shapes = [ClauseShape(says, price, self.sizes) for says, price in zip(self.says, prices)]
        for k, shape in enumerate(self._shapes):
            if not shape.scope:
                self.constant -= float(clause_worth(shape))
            elif fold and shape.scope in self._held:
                self._held[shape.scope] = self._held[shape.scope] + clause_worth(shape)
            else:
                self.counters.append(k)

    @property
    def length(self) -> int:
        return len(self.sizes)

    @cached_property
    def columns(self) -> InputColumns:
        return columns_of(self.sizes, [(scope[0], scope[1]) for scope in self._held if len(scope) == 2])

    def tables(self) -> tuple[Sequence[Floats], Mapping[tuple[int, int], Floats]]:
        own = [self._held[(v,)] for v in range(len(self.sizes))]
        return own, {(scope[0], scope[1]): table for scope, table in self._held.items() if len(scope) == 2}

    def best(self) -> tuple[Ids, float]:
        return eliminated(self._held, self.sizes)[:2]

    def best_with(self, bonus: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        blocks = np.split(bonus, self.columns.starts[1:-1])
        own = self._held if scored else {s: np.where(t > -math.inf, 0.0, t) for s, t in self._held.items()}
        added = {scope: table + block.reshape(table.shape) for (scope, table), block in zip(own.items(), blocks)}
        return eliminated(added, self.sizes)[:2]

    def maximum(self, bonus: Floats) -> tuple[Ids, float, Ints]:
        starts = np.array(self.columns.starts[:-1], np.int64)  # of every variable and every pair: its first column
        if self._wide or not self.columns.edges:
            total = self._flat + bonus
            ones = starts + np.array([block.argmax() for block in np.split(total, starts[1:])], np.int64)
            labels = ones[: len(self.sizes)] - starts[: len(self.sizes)]
            return labels.astype(np.int32), float(total[ones].sum()), ones
        labels, value = self.best_with(bonus)
        pairs = [labels[v] * self.sizes[w] + labels[w] for v, w in self.columns.edges]
        return labels, value, starts + np.concatenate([labels, np.array(pairs, np.int64)])

    def ties(self) -> LinearProgram | None:
        if not self._wide:
            return None
        return self.program().rows_from(len(self.sizes))  # each variable still has exactly one label

    def path_value(self, labels: Ids) -> float:
        known = labels.tolist()
        return sum(float(table[tuple([known[v] for v in scope])]) for scope, table in self._held.items())

    def under(self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None) -> Reached:
        tables = dict(self._held)
        wide = [k for k in clauses if self._shapes[k].cells > MOST_CLAUSE_CELLS]
        for k in clauses:
            shape = self._shapes[k]
            if shape.cells <= MOST_CLAUSE_CELLS:
                before = tables.get(shape.scope)
                tables[shape.scope] = clause_worth(shape) if before is None else before + clause_worth(shape)
        labels, value, cells = eliminated(tables, self.sizes)
        if value - self.constant == -math.inf:
            return Reached(None, -math.inf, -math.inf, len(self.sizes))
        if self.broken(labels, wide):
            raise Intractable("the best output breaks a clause about too many variables; use the integer program")
        return Reached(labels, value - self.constant, -math.inf, cells)

    def best_first(
        self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None, tighten: int = 0
    ) -> tuple[Reached, bool]:
        return self._prefixes(clauses).best_first(most_nodes)

    def beam(self, *, width: int, look_ahead: bool = True) -> tuple[Reached, str]:
        return self._prefixes(self.counters).beam(width), "beam search"

    def program(self) -> LinearProgram:
        return variable_program(self.columns, self._flat, constant=-self.constant)

    @cached_property
    def _flat(self) -> Floats:
        """The scores of all columns."""
        return np.concatenate([table.ravel() for table in self._held.values()])

    @cached_property
    def _wide(self) -> bool:
        """Whether elimination is too expensive even without clauses."""
        return not plan_of(tuple(self._held), self.sizes).tractable

    def _prefixes(self, clauses: Sequence[int]) -> Prefixes:
        own, pairs = self.tables()
        return Prefixes.of(own, pairs, [(self.says[k], self.prices[k]) for k in clauses], self.constant)
