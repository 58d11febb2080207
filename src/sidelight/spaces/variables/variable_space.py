"""The outputs of inputs whose decisions are variables: a choice for each, of the labels of its kind.

    score(y) = Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w]

Masks speak of single variables, so every admitted choice goes with every other. The best output is found by elimination
(`elimination`), or where its tables would be too large by a linear or integer program; sums, samples and what is
believed of pairs by elimination alone, and raise `Intractable` if it takes too much.

The columns of the program are z[v, l] of variables and e[v, w, i, j] of scored pairs, with Σ_l z[v, l] = 1, Σ_j e[v, w,
i, j] = z[v, i] and Σ_i e[v, w, i, j] = z[w, j]. Its relaxation is the local polytope, which is not exact where pairs go
around in circles.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.rows import offsets_of, taken
from sidelight.features.structured.variable_features import Variables, VariableScores
from sidelight.rules.columns import InputColumns, columns_of
from sidelight.spaces.chains.chain import AnyCost, Paths, check_feasible
from sidelight.spaces.highs import LinearProgram, solve
from sidelight.spaces.outside import Outside
from sidelight.spaces.variables.elimination import Scope, believed, eliminated, log_sum, plan_of, sampled

CLOSE = 1e-6


def variable_program(columns: InputColumns, gain: Floats, *, constant: float = 0.0) -> LinearProgram:
    """The program of all outputs, with the scores of all columns; excluded columns are fixed at 0."""
    rows: list[Ints] = [np.arange(first, last) for first, last in pairwise(columns.offsets)]
    count = len(rows)
    weights: list[Floats] = [np.ones(len(row)) for row in rows]
    for (first, second), place in columns.edges.items():
        shape = columns.size(first), columns.size(second)
        cells = np.arange(place, place + math.prod(shape)).reshape(shape)
        for variable, block in ((first, cells), (second, cells.T)):
            rows += [np.append(line, columns.offsets[variable] + label) for label, line in enumerate(block)]
            weights += [np.append(np.ones(block.shape[1]), -1.0)] * len(block)
    possible = gain > -math.inf
    sums = np.zeros(len(rows))
    sums[:count] = 1.0
    return LinearProgram(
        gain=np.where(possible, gain, 0.0),
        constant=constant,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < columns.offsets[-1],
        starts=np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64),
        columns=np.concatenate(rows).astype(np.int64),
        weights=np.concatenate(weights),
        low=sums,
        high=sums,
    )


def best_by_program(tables: Mapping[tuple[int, ...], Floats], sizes: tuple[int, ...]) -> tuple[Ids, float]:
    """The best labels, where tables are of every variable, in their order, and then of pairs; −inf if none are.

    The linear relaxation is enough where it is whole.
    """
    columns = columns_of(sizes, [(scope[0], scope[1]) for scope in tables if len(scope) == 2])
    program = variable_program(columns, np.concatenate([table.ravel() for table in tables.values()]))
    optimum = solve(program, integer=False)
    if optimum.point is not None:
        nodes = optimum.point[: columns.offsets[-1]]
        if np.abs(nodes - np.round(nodes)).max(initial=0.0) > CLOSE:
            optimum = solve(program, integer=True)
    if optimum.point is None:
        return np.zeros(len(sizes), np.int32), -math.inf
    labels = [int(optimum.point[first:last].argmax()) for first, last in pairwise(columns.offsets)]
    value = sum(float(table[tuple([labels[v] for v in scope])]) for scope, table in tables.items())
    return np.array(labels, np.int32), value


Tables = dict[Scope, Floats]  # of every variable, in their order, then of pairs


class VariableBeliefs(NamedTuple):
    """Beliefs about the outputs of a batch, each times a price."""

    log_sums: Floats  # [N]
    slots: Floats  # [V, K]
    tables: tuple[Floats, ...]  # of each pair type, summed over pairs


@dataclass(frozen=True, slots=True)
class VariableSpace:
    """All outputs of a batch, less what a mask excludes."""

    variables: Variables
    kinds: tuple[int, ...]  # how many labels each has
    pair_kinds: tuple[tuple[int, int], ...]  # the kinds of the two variables of each pair type
    mask: Bytes | None = None  # [V, K]

    @property
    def starts(self) -> Ints:
        return self.variables.starts

    @property
    def n_labels(self) -> int:
        """K: the labels of all kinds."""
        return sum(self.kinds)

    @property
    def admitted(self) -> Bytes:
        """Which choices each variable has. # [V, K]"""
        kind_of = np.repeat(np.arange(len(self.kinds)), self.kinds)
        own = np.asarray(self.variables.kinds[:, None] == kind_of, dtype=np.uint8)
        return own if self.mask is None else np.asarray(own & self.mask)

    def inside(self, admitted: Bytes) -> VariableSpace:
        """The outputs within candidate sets of variables."""
        both = admitted if self.mask is None else self.mask & admitted
        return replace(self, mask=np.ascontiguousarray(both, dtype=np.uint8))

    def outside(self, admitted: Bytes) -> Outside:
        """The outputs in which at least one variable leaves its candidate set."""
        others = 1 - self.admitted  # choices of other kinds are not there to be left to
        return Outside.of(self, np.asarray(admitted | others, dtype=np.uint8))

    def part(self, lo: int, hi: int) -> VariableSpace:
        """The space of the inputs lo..hi alone."""
        here = slice(int(self.starts[lo]), int(self.starts[hi]))
        return replace(self, variables=self.variables.part(lo, hi), mask=None if self.mask is None else self.mask[here])

    def take(self, which: Ints) -> VariableSpace:
        """The space of some of the inputs."""
        slots = taken(self.starts, which)[1]
        return replace(self, variables=self.variables.take(which), mask=None if self.mask is None else self.mask[slots])

    def best(
        self,
        scores: VariableScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best output of each input, with its cost added where one is given.

        With `rng`, ties are broken at random, variable by variable. Raises `Infeasible` if the mask leaves none.
        """
        block = scores.block(0, len(self.variables.kinds))
        targets = np.empty(0) if cost is None else self.score(scores, cost.targets)
        if cost is not None:
            cost.add_to(block, 0)
        labels, values = np.empty(len(block), dtype=np.int32), np.empty(len(self.variables))
        for i, (here, tables, sizes) in enumerate(self.each(replace(scores, slots=block))):
            choices, values[i] = _best(tables, sizes, rng)
            labels[here] = choices + self._first[self.variables.kinds[here]]
        check_feasible(values)
        return Paths(labels, values, targets)

    def score(self, scores: VariableScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of a given output of each input. # [N]"""
        own = scores.slots[np.arange(len(labels)), labels]
        both = np.zeros(len(self.variables.pairs))
        one, other = self.variables.places
        inside = labels - self._first[self.variables.kinds]
        for sort, table in enumerate(scores.tables):
            mine = self.variables.pairs[:, 0] == sort
            both[mine] = table[inside[one[mine]], inside[other[mine]]]
        return _sums(own, self.starts) + _sums(both, self.variables.pair_starts)

    def admits(self, labels: Ids) -> Bytes:
        """Whether each input's output is in the space. # [N] of 0 and 1"""
        wrong = (self.admitted[np.arange(len(labels)), labels] == 0).astype(np.float64)
        return np.asarray(_sums(wrong, self.starts) == 0, dtype=np.uint8)

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether the mask leaves each input any output. # [N]"""
        closed = (self.admitted.max(axis=1, initial=0) == 0).astype(np.float64)
        return np.asarray(_sums(closed, self.starts) == 0)

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """An output of each input, uniformly at random from the space. # [V]"""
        open_ = self.admitted
        check_feasible(np.where(self.feasible(), 0.0, -math.inf))
        ranks = np.floor(rng.random(len(open_)) * open_.sum(axis=1))
        return np.asarray((np.cumsum(open_, axis=1) > ranks[:, None]).argmax(axis=1), dtype=np.int32)

    def zero_scores(self) -> VariableScores:
        shapes = [(self.kinds[one], self.kinds[other]) for one, other in self.pair_kinds]
        return VariableScores(
            np.zeros((len(self.variables.kinds), self.n_labels)), tuple(np.zeros(shape) for shape in shapes)
        )

    def k_best(self, scores: VariableScores, k: int, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        """The k best outputs [k, V] and their scores [k, N]; labels -1 and score -inf if there are fewer."""
        labels = np.full((k, len(self.variables.kinds)), -1, dtype=np.int32)
        values = np.full((k, len(self.variables)), -math.inf)
        for i, (here, tables, sizes) in enumerate(self.each(scores)):
            for rank, (choices, value) in enumerate(_k_best(tables, sizes, k)):
                labels[rank, here] = choices + self._first[self.variables.kinds[here]]
                values[rank, i] = value
        return labels, values

    def log_sums(self, scores: VariableScores, *, n_jobs: int | None = None) -> Floats:
        """log Σ exp(score) of every input. # [N]"""
        sums = np.array([log_sum(tables, sizes) for _, tables, sizes in self.each(scores)])
        check_feasible(sums)
        return sums

    def beliefs(
        self, scores: VariableScores, *, prices: Floats | None = None, n_jobs: int | None = None
    ) -> VariableBeliefs:
        """Probabilities of choices and of pairs of choices, times the price of each input."""
        first, pairs = self._first, self.variables.pairs
        slots = np.zeros((len(self.variables.kinds), self.n_labels))
        zero, sums = self.zero_scores(), np.empty(len(self.variables))
        for i, (here, tables, sizes) in enumerate(self.each(scores)):
            shares, sums[i] = believed(tables, sizes)
            check_feasible(sums[i : i + 1])
            price = 1.0 if prices is None else float(prices[i])
            for v, kind in enumerate(self.variables.kinds[here]):
                slots[here.start + v, first[kind] : first[kind + 1]] = price * shares[v,]
            for sort, one, other in pairs[self._pairs_of(i)].tolist():
                belief = shares[one, other] if one < other else shares[other, one].T
                zero.tables[sort][:] += price * belief
        return VariableBeliefs(sums, slots, zero.tables)

    def marginals(self, scores: VariableScores, *, n_jobs: int | None = None) -> Floats:
        """p(y_v = choice). # [V, K]"""
        return self.beliefs(scores).slots

    def sample(self, scores: VariableScores, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """An output of every input, drawn exactly from p. # [V]"""
        labels = np.empty(len(self.variables.kinds), dtype=np.int32)
        for here, tables, sizes in self.each(scores):
            labels[here] = sampled(tables, sizes, rng) + self._first[self.variables.kinds[here]]
        return labels

    @property
    def _first(self) -> Ints:
        """The first choice of each kind, and K. # [kinds + 1]"""
        return offsets_of(self.kinds)

    def _pairs_of(self, i: int) -> slice:
        return slice(int(self.variables.pair_starts[i]), int(self.variables.pair_starts[i + 1]))

    def each(self, scores: VariableScores) -> Iterator[tuple[slice, Tables, tuple[int, ...]]]:
        """For every input: its variables, its tables (-inf if the mask excludes a choice), and their sizes."""
        block = scores.slots if self.mask is None else np.where(self.mask != 0, scores.slots, -math.inf)
        first, bounds = self._first.tolist(), self.starts.tolist()
        kinds, pairs = self.variables.kinds.tolist(), self.variables.pairs.tolist()
        for i in range(len(self.variables)):
            here = slice(bounds[i], bounds[i + 1])
            own = kinds[here]
            tables: Tables = {(v,): block[here.start + v, first[kind] : first[kind + 1]] for v, kind in enumerate(own)}
            for sort, one, other in pairs[self._pairs_of(i)]:
                scope = (one, other) if one < other else (other, one)
                table = scores.tables[sort] if one < other else scores.tables[sort].T
                tables[scope] = tables[scope] + table if scope in tables else table
            yield here, tables, tuple([self.kinds[kind] for kind in own])


def _best(tables: Tables, sizes: tuple[int, ...], rng: np.random.Generator | None) -> tuple[Ids, float]:
    if plan_of(tuple(tables), sizes).tractable:
        labels, value, _ = eliminated(tables, sizes, rng=rng)
        return labels, value
    if rng is not None:
        raise Intractable("random ties need elimination, whose tables would be too large here; leave random_ties out")
    return best_by_program(tables, sizes)


def _k_best(tables: Tables, sizes: tuple[int, ...], k: int) -> Iterator[tuple[Ids, float]]:
    """The k best, one after another (Lawler 1972): removing an output leaves sets of outputs that agree with it on the
    first variables and differ at the next one; each set has its own best output.
    """
    waiting: list[tuple[float, int, list[int], Tables, int]] = []  # of each set: its best, its tables, what is fixed
    numbers = itertools.count()

    def add(within: Tables, fixed: int) -> None:
        labels, value = _best(within, sizes, None)
        if value > -math.inf:
            heapq.heappush(waiting, (-value, next(numbers), labels.tolist(), within, fixed))

    add(tables, 0)
    for _ in range(k):
        if not waiting:
            return
        worth, _, labels, within, fixed = heapq.heappop(waiting)
        yield np.array(labels, np.int32), -worth
        for v in range(fixed, len(sizes)):
            other = dict(within)
            other[v,] = np.where(np.arange(sizes[v]) == labels[v], -math.inf, within[v,])
            add(other, v)
            within = {**within, (v,): np.where(np.arange(sizes[v]) == labels[v], within[v,], -math.inf)}


def _sums(amounts: Floats, starts: Ints) -> Floats:
    """Sums of pieces between offsets, of which some may be empty."""
    pieces = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.bincount(pieces, amounts, minlength=len(starts) - 1).astype(np.float64)
