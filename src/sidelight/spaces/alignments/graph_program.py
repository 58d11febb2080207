"""The best alignment of two graphs (thesis Eq. 5.6 to 5.8): by bounds and branching, or by an integer program.

If the first graph is a forest, such as a dependency tree, `graph_kernels` nearly always finds the best alignment and
proves it. Otherwise there is an integer program, whose rows are built once and scored again, without the closed
choices.

Columns: h[a, c], word a of the first graph with word c of the second, and h[e, f], edge e with edge f; unmapped words
and edges have no columns; their scores are subtracted from those of mapped ones. Rows:

    words      Σ_c h[a, c] <= 1, Σ_a h[a, c] <= 1, and >= 1 where a word must be mapped
    edges      Σ_f h[e, f] <= 1, and >= 1 where an edge must be mapped
    support    Σ_{f from c} h[e, f] <= h[a, c] for e from a, the same for where edges go to, and for f instead of e
               (Eq. 5.8 has this for single edges; summed up the relaxation is tighter, with fewer rows)
    presence   h[a, c] + h[b, d] − h[e, f] <= 1, for e = (a, b), f = (c, d)

The last rows are needed only for edges with a negative score, since any other edge is mapped whenever possible. The
words determine the edges, so only the columns of words need to be integers. If a graph has no edges, this is an
assignment problem, and is solved as one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.spaces.alignments.forest_kernels import Pair, forest, hubs_of
from sidelight.spaces.alignments.graph_kernels import best_alignment
from sidelight.spaces.alignments.local_matching import best_matching, local_matching
from sidelight.spaces.highs import LinearProgram, Optimum, solve

CLOSE = 1e-6
NODES, NODES_A_SECOND = 500, 2000  # of branching; what is open after so many the program finds sooner


class Mapped(NamedTuple):
    """An alignment that was found, and what is proved about it."""

    choices: Ids | None  # [words and edges of the first graph]; None if there is none
    value: float
    bound: float  # an upper bound of all alignments


class _Rows(NamedTuple):
    """The rows of a program."""

    starts: Ints  # [R + 1]
    columns: Ints
    weights: Floats
    low: Floats  # [R]
    high: Floats
    always: int  # rows before those of presence


@dataclass(frozen=True, eq=False)
class GraphProgram:
    """Two graphs, by their numbers of words and the words that edges come from and go to, none of them twice."""

    words: tuple[int, int]
    edges: tuple[Ints, Ints]  # [E, 2]

    @cached_property
    def rows(self) -> _Rows:
        """The rows of the integer program."""
        return _rows_of(self.words, self.edges)

    @cached_property
    def mapped(self) -> Ints:
        """By the choices of two words: 1 + the edge of the second graph between them, or 0. # [words + 1, words + 1]"""
        table = np.zeros((self.words[1] + 1, self.words[1] + 1), dtype=np.int64)
        table[self.edges[1][:, 0] + 1, self.edges[1][:, 1] + 1] = 1 + np.arange(len(self.edges[1]))
        return table

    @cached_property
    def pair(self) -> Pair | None:
        """The graphs as bounds need them, if the first is a forest."""
        words, (one, two) = self.words[0], self.edges
        tree, hubs = np.zeros((words, 4), dtype=np.int64), np.zeros((2 * words, 2), dtype=np.int64)
        edge_hubs = np.full((len(one), 2), -1, dtype=np.int64)
        if not forest(words, one, tree):
            return None
        return Pair(tree, hubs[: hubs_of(words, one, hubs, edge_hubs)], edge_hubs, two + 1, self.mapped)

    def choices_of(self, words: Ints) -> Ids:
        """The choices of words, 0 or 1 + a word of the second graph, and those of edges, which follow from them."""
        one = self.edges[0]
        edges = self.mapped[words[one[:, 0]], words[one[:, 1]]] if len(one) else np.zeros(0, np.int64)
        return np.concatenate([words, edges]).astype(np.int32)

    def admits(self, choices: Ids, *, all_words: bool) -> bool:
        """Whether choices are an alignment."""
        first, second = self.words
        words = choices[:first].astype(np.int64)
        used = words[words > 0]
        if np.any(choices > np.repeat([second, len(self.edges[1])], [first, len(self.edges[0])])):
            return False
        if len(np.unique(used)) < len(used) or (all_words and len(used) < min(first, second)):
            return False
        return bool(np.array_equal(self.choices_of(words), choices))

    def best(self, scores: Floats, *, all_words: bool, exact: bool, seconds: float) -> Mapped:
        """The best alignment for scores [slots, K], some −inf; if not `exact`, one that a relaxation leads to."""
        if not (len(self.edges[0]) and len(self.edges[1])):
            return self._matched(scores, all_words)
        if self.pair is None:
            return self._programmed(scores, all_words, exact, seconds)
        nodes = 0 if not exact else int(min(NODES, seconds * NODES_A_SECOND))
        first, open_ = self._bounded(scores, all_words, nodes)
        if first.bound == first.value or not exact:
            return first
        left = np.array(scores)
        left[: self.words[0], : self.words[1] + 1][open_ == 0] = -math.inf
        try:
            other = self._programmed(left, all_words, exact, seconds)  # the better ones, if there are any
        except Intractable:  # out of time, with nothing that is open
            if first.choices is None:
                raise
            return first
        best = other if other.value > first.value else first
        return Mapped(best.choices, best.value, min(first.bound, max(best.value, other.bound)))

    def _bounded(self, scores: Floats, all_words: bool, nodes: int) -> tuple[Mapped, Bytes]:
        """Solve by bounds and branching; also returns the choices of words that a better alignment could have."""
        assert self.pair is not None
        first, second = self.words
        words, open_ = np.zeros(first, np.int64), np.ones((first, second + 1), np.uint8)
        needed, every = min(first, second) if all_words else 0, all_words and second <= first
        own = np.array(scores)
        if all_words and first <= second:
            own[:first, 0] = -math.inf
        value, bound = best_alignment(self.pair, own, needed, every, nodes, words, open_)
        return Mapped(self.choices_of(words) if value > -math.inf else None, value, bound), open_

    def _programmed(self, scores: Floats, all_words: bool, exact: bool, seconds: float) -> Mapped:
        """Solve by the linear relaxation, which is rounded if not `exact`, and by branching if it is fractional.

        If time runs out before the relaxation is solved, use matchings of words.
        """
        program = self._scored(scores, all_words)
        if program is None:
            return Mapped(None, -math.inf, -math.inf)
        began = time.monotonic()
        try:
            optimum = solve(program, integer=False, seconds=seconds)
        except Intractable:
            matching = self._with_words(self._likely(None, scores, all_words), scores)
            if matching.choices is None:
                raise
            return matching._replace(bound=max(matching.value, float(scores.max(axis=1).sum())))
        left = max(0.0, seconds - (time.monotonic() - began))
        if optimum.point is None:
            return Mapped(None, -math.inf, -math.inf)
        bound, words = optimum.value, self._words(optimum)
        if words is None and not exact:
            words = self._likely(optimum, scores, all_words)
        if words is None:
            words, bound = self._branched(program, optimum, scores, all_words, left)
        return self._with_words(words, scores)._replace(bound=bound)

    def _matched(self, scores: Floats, all_words: bool) -> Mapped:
        """The best alignment where no edge can be mapped: a matching of words."""
        table = scores[: self.words[0], : self.words[1] + 1]
        matching = self._with_words(best_matching(table, all_words=all_words), scores)
        fits = matching.choices is not None and self.admits(matching.choices, all_words=all_words)
        return matching if fits else Mapped(None, -math.inf, -math.inf)

    def _with_words(self, words: Ints | None, scores: Floats) -> Mapped:
        """The alignment of these words, as if it were the best."""
        value = self._worth(words, scores)
        if words is None or value == -math.inf:
            return Mapped(None, -math.inf, -math.inf)
        return Mapped(self.choices_of(words), value, value)

    def _branched(
        self, program: LinearProgram, relaxed: Optimum, scores: Floats, all_words: bool, seconds: float
    ) -> tuple[Ints | None, float]:
        """The choices of words by branching, and a bound; if time ran out, the better of them and of likely ones."""
        try:
            optimum = solve(program, integer=True, seconds=seconds)
        except Intractable:
            words = self._likely(relaxed, scores, all_words)
            if words is None:
                raise
            return words, relaxed.value
        if optimum.point is None:
            return None, -math.inf
        words, bound = self._words(optimum), min(optimum.bound, relaxed.value)
        if bound > optimum.value + CLOSE * (1.0 + abs(optimum.value)):
            likely = self._likely(relaxed, scores, all_words)
            if self._worth(likely, scores) > self._worth(words, scores):
                words = likely
        return words, bound

    def _likely(self, relaxed: Optimum | None, scores: Floats, all_words: bool) -> Ints | None:
        """The better of the rounded relaxation, if there is one, and of what matchings of words lead to."""
        rounded = None if relaxed is None else self._rounded(relaxed, scores, all_words)
        local = local_matching(scores, self.edges[0], self.mapped, all_words=all_words)
        if local is not None and not self.admits(self.choices_of(local), all_words=all_words):
            local = None
        return max((rounded, local), key=lambda words: self._worth(words, scores))

    def _worth(self, words: Ints | None, scores: Floats) -> float:
        if words is None:
            return -math.inf
        choices = self.choices_of(words)
        return float(scores[np.arange(len(choices)), choices].sum())

    def _scored(self, scores: Floats, all_words: bool) -> LinearProgram | None:
        """The program with these scores; None if a slot has no choice at all."""
        (first, second), count = self.words, len(self.edges[1])
        if np.any(scores.max(axis=1, initial=-math.inf) == -math.inf):
            return None
        nothing = scores[:, 0]
        least = np.where(nothing > -math.inf, nothing, 0.0)
        gain = np.concatenate(
            [
                (scores[:first, 1 : second + 1] - least[:first, None]).ravel(),
                (scores[first:, 1 : count + 1] - least[first:, None]).ravel(),
            ]
        )
        there = gain > -math.inf
        needed = nothing == -math.inf
        low = self.rows.low.copy()
        low[:first] = np.maximum(needed[:first], all_words and first <= second)
        low[first : first + second] = all_words and second <= first
        low[first + second : first + second + len(needed) - first] = needed[first:]
        edges = slice(first * second, None)
        kept = np.flatnonzero(~there[edges] | (np.where(there[edges], gain[edges], 0.0) < 0.0))
        return self._with_presence(np.where(there, gain, 0.0), float(least.sum()), there, low, kept)

    def _with_presence(
        self, gain: Floats, constant: float, there: NDArray[np.bool_], low: Floats, needed: Ints
    ) -> LinearProgram:
        """The rows that count always, and those of presence that do here, which have three entries each."""
        own = self.rows
        end = int(own.starts[own.always])
        entries = (end + 3 * needed[:, None] + np.arange(3)).ravel()
        rows = np.concatenate([np.arange(own.always), own.always + needed])
        words = self.words[0] * self.words[1]
        return LinearProgram(
            gain=gain,
            constant=constant,
            upper=there.astype(np.float64),
            whole=np.arange(len(gain)) < words,
            starts=np.concatenate([own.starts[: own.always], end + 3 * np.arange(len(needed) + 1)]),
            columns=np.concatenate([own.columns[:end], own.columns[entries]]),
            weights=np.concatenate([own.weights[:end], own.weights[entries]]),
            low=low[rows],
            high=own.high[rows],
        )

    def _words(self, optimum: Optimum) -> Ints | None:
        """The choices of words, where they are whole."""
        assert optimum.point is not None
        first, second = self.words
        point = optimum.point[: first * second].reshape(first, second)
        if np.abs(point - np.round(point)).max(initial=0.0) > CLOSE:
            return None
        return np.where(point.max(axis=1, initial=0.0) > 0.5, 1 + point.argmax(axis=1), 0)

    def _rounded(self, optimum: Optimum, scores: Floats, all_words: bool) -> Ints | None:
        """The matching that agrees most with a fractional point; None if its choices are not open."""
        from scipy.optimize import linear_sum_assignment

        assert optimum.point is not None
        first, second = self.words
        point = optimum.point[: first * second].reshape(first, second)
        nothing = np.full((first, first), -2.0)
        nothing[np.diag_indices(first)] = -1.0 if all_words else 1.0 - point.sum(axis=1)
        right = linear_sum_assignment(np.hstack([point, nothing]), maximize=True)[1]
        words = np.where(right < second, right + 1, 0)
        choices = self.choices_of(words)
        open_ = np.isfinite(scores[np.arange(len(choices)), choices]).all()
        return words if open_ and self.admits(choices, all_words=all_words) else None


def _rows_of(words: tuple[int, int], edges: tuple[Ints, Ints]) -> _Rows:
    first, second = words
    one, two = edges
    cells = np.arange(first * second).reshape(first, second)
    pairs = first * second + np.arange(len(one) * len(two)).reshape(len(one), len(two))
    blocks = [
        _sums(cells, pairs, words, edges),
        *(_support(pairs, one[:, end], two[:, end], cells) for end in (0, 1)),
        *(_support(pairs.T, two[:, end], one[:, end], cells.T) for end in (0, 1)),
    ]
    e, f = (index.ravel() for index in np.indices(pairs.shape))
    three = np.stack([cells[one[e, 0], two[f, 0]], cells[one[e, 1], two[f, 1]], pairs.ravel()], axis=1)
    always = sum(len(block[0]) for block in blocks)
    lengths = np.concatenate([*(block[0] for block in blocks), np.full(len(three), 3)])
    high = np.concatenate([*(block[3] for block in blocks), np.ones(len(three))])
    return _Rows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([*(block[1] for block in blocks), three.ravel()]).astype(np.int64),
        np.concatenate([*(block[2] for block in blocks), np.tile([1.0, 1.0, -1.0], len(three))]),
        np.full(len(high), -math.inf),
        high,
        always,
    )


Block = tuple[Ints, Ints, Floats, Floats]  # lengths of rows, columns, weights, upper limits


def _sums(cells: Ints, pairs: Ints, words: tuple[int, int], edges: tuple[Ints, Ints]) -> Block:
    """Words and edges are mapped once at most."""
    columns = np.concatenate([cells.ravel(), cells.T.ravel(), pairs.ravel()])
    lengths = np.repeat([words[1], words[0], len(edges[1])], [words[0], words[1], len(edges[0])])
    return lengths, columns, np.ones(len(columns)), np.ones(len(lengths))


def _support(pairs: Ints, one: Ints, two: Ints, cells: Ints) -> Block:
    """Σ over edges f that end at c of h[e, f] <= h[a, c], a the same end of e: a row of every e and every such c."""
    ends, which = np.unique(two, return_inverse=True)
    if not pairs.size:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0), np.zeros(0)
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which)
    lengths = np.tile(counts + 1, len(one))
    firsts = np.concatenate([[0], np.cumsum(lengths)])[:-1].reshape(len(one), len(ends))
    columns, weights = np.empty(int(lengths.sum()), np.int64), np.ones(int(lengths.sum()))
    columns[firsts] = cells[one][:, ends]
    weights[firsts] = -1.0
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns[firsts[:, which[order]] + 1 + within] = pairs[:, order]
    return lengths, columns, weights, np.zeros(len(lengths))
