"""Contrastive estimation: learning from inputs by contrast with their neighbours (Smith and Eisner 2005).

The loss of an input x with neighbourhood N(x), which holds x itself, is

    −log [ Σ_{y admitted} exp w·Φ(x, y)  /  Σ_{x' in N(x)} Σ_{y in space(x')} exp w·Φ(x', y) ].

The admitted outputs may be all of space(x) (if only the input is known), candidates, or one gold labeling. A tag
dictionary is the `admitted` mask of the space itself: it applies to the numerator and the denominator, and a token that
moves keeps its candidates. `LikelihoodProblem` sums the terms with the regulariser, alone or together with supervised
terms.

Tokens keep their features when they move, so every token is scored once, in whatever number of neighbours it occurs.

For chains of second order and other structures, each neighbour is a separate input made of the input's tokens with
their features. So any space with sums works, but a token is scored once per neighbour.

Neighbourhoods:

    transpose             one pair of adjacent tokens swapped
    delete                one token left out
    delete_or_transpose   both of these
    shuffle               tokens in random order, `copies` times
    swaps                 any number of adjacent pairs swapped, no token twice

Every neighbourhood holds the input itself. It is a set of reorderings, not of inputs: swapping two equal words counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.errors import Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.rows import Rows, offsets_of, taken
from sidelight.objective.batch import Batch
from sidelight.objective.expected_features import Edges, Expected, FeatureTerms, WeightedFeatures, add_log_sums, held
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.objective.scorers.chain_scorer import chain_batch, chain_of
from sidelight.parallel import shards, threads
from sidelight.spaces import Space, Transitions, sums
from sidelight.spaces.chains import chain_sum_kernels as kernels
from sidelight.spaces.chains.chain import ChainScores, ChainSpace, check_feasible
from sidelight.spaces.chains.chain_scaled_kernels import exp_moves
from sidelight.spaces.chains.chain_sums import Beliefs, MaskedChain, ScoresFrom, beliefs, log_sums
from sidelight.spaces.chains.swaps import swap_beliefs, swap_log_sums

Token = TypeVar("Token")

KINDS = ("transpose", "delete", "delete_or_transpose", "shuffle", "swaps")


def orders(length: int, kind: str, *, copies: int = 10, rng: np.random.Generator | None = None) -> list[list[int]]:
    """The reorderings of an input of some length, as positions; the first is the input itself.

    `copies` and `rng` belong to "shuffle". There are exponentially many "swaps": list them for short inputs only.

    >>> orders(3, "transpose")
    [[0, 1, 2], [1, 0, 2], [0, 2, 1]]
    >>> len(orders(3, "delete_or_transpose")), len(orders(4, "swaps"))
    (6, 5)
    """
    if kind not in KINDS:
        raise ValueError(f"the neighbourhood is {kind!r}; there are {', '.join(KINDS)}")
    same = list(range(length))
    neighbours = [same]
    if kind in ("delete", "delete_or_transpose") and length > 1:
        neighbours += [same[:t] + same[t + 1 :] for t in range(length)]
    if kind in ("transpose", "delete_or_transpose"):
        neighbours += [[*same[:t], t + 1, t, *same[t + 2 :]] for t in range(length - 1)]
    if kind == "shuffle":
        if rng is None:
            raise ValueError("shuffled neighbours need rng")
        neighbours += [[int(t) for t in rng.permutation(length)] for _ in range(copies)]
    if kind == "swaps":
        neighbours = [[]]
        shorter: list[list[int]] = []
        for t in range(length):
            longer = [[*order, t] for order in neighbours] + [[*order, t, t - 1] for order in shorter]
            shorter, neighbours = neighbours, longer
    return neighbours


def neighbours(
    x: Sequence[Token], kind: str, *, copies: int = 10, rng: np.random.Generator | None = None
) -> list[list[Token]]:
    """The neighbours of an input, itself first, for extracting their features again.

    >>> neighbours("abc", "delete")
    [['a', 'b', 'c'], ['b', 'c'], ['a', 'c'], ['a', 'b']]
    """
    return [[x[t] for t in order] for order in orders(len(x), kind, copies=copies, rng=rng)]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Reorderings of the inputs of a batch, listed."""

    ptr: Ints  # [N + 1] first reordering of each input
    starts: Ints  # [M + 1] first token of each reordering
    tokens: Ints  # [Σ lengths] token of the batch that stands there

    @classmethod
    def of(cls, starts: Ints, kind: str, *, copies: int = 10, rng: np.random.Generator | None = None) -> Neighbours:
        """The neighbours of a batch whose inputs begin at `starts`."""
        listed: dict[int, tuple[Ints, Ints]] = {}
        lengths, tokens, counts = [], [], []
        for first, length in zip(starts[:-1], np.diff(starts)):
            key = int(length)
            if kind == "shuffle" or key not in listed:
                neighbours = orders(key, kind, copies=copies, rng=rng)
                flat = np.array([t for order in neighbours for t in order], dtype=np.int64)
                listed[key] = np.array([len(order) for order in neighbours], dtype=np.int64), flat
            lengths.append(listed[key][0])
            tokens.append(listed[key][1] + first)
            counts.append(len(listed[key][0]))
        none = [np.zeros(0, dtype=np.int64)]
        return cls(offsets_of(counts), offsets_of(np.concatenate(lengths or none)), np.concatenate(tokens or none))

    def part(self, lo: int, hi: int, first: int) -> Neighbours:
        """Those of the inputs lo..hi, whose tokens begin at `first`."""
        a, b = self.ptr[lo], self.ptr[hi]
        p, q = self.starts[a], self.starts[b]
        return Neighbours(self.ptr[lo : hi + 1] - a, self.starts[a : b + 1] - p, self.tokens[p:q] - first)

    def rows(self, rows: Rows) -> Rows:
        """The neighbours as inputs of their own; tokens keep the features they had."""
        indptr, picked = taken(rows.indptr, self.tokens)
        values = rows.values[picked] if len(rows.values) else rows.values
        return Rows(self.starts, indptr, rows.indices[picked], values, rows.dense[self.tokens])


SHARD_TOKENS = 512  # tokens of inputs: each may occur in as many neighbours as its input has tokens


@dataclass(frozen=True, slots=True)
class Swaps:
    """Every input with any of its adjacent pairs swapped, no token twice; summed as a lattice."""

    def part(self, lo: int, hi: int, first: int) -> Swaps:
        return self

    def log_sums(self, space: ChainSpace, scores: ChainScores, *, n_jobs: int | None = None) -> Floats:
        return swap_log_sums(space, scores, n_jobs=n_jobs)

    def beliefs(self, space: ChainSpace, scores: ChainScores, prices: Floats, *, n_jobs: int | None = None) -> Beliefs:
        return swap_beliefs(space, scores, prices=prices, n_jobs=n_jobs)


@dataclass(frozen=True, slots=True)
class Listed:
    """Neighbours one by one."""

    neighbours: Neighbours

    def part(self, lo: int, hi: int, first: int) -> Listed:
        return Listed(self.neighbours.part(lo, hi, first))

    def log_sums(self, space: ChainSpace, scores: ChainScores, *, n_jobs: int | None = None) -> Floats:
        return self._sums(space, scores, None, n_jobs).log_sums

    def beliefs(self, space: ChainSpace, scores: ChainScores, prices: Floats, *, n_jobs: int | None = None) -> Beliefs:
        return self._sums(space, scores, prices, n_jobs)

    def _sums(self, space: ChainSpace, scores: ChainScores, prices: Floats | None, n_jobs: int | None) -> Beliefs:
        if space.left_out is not None:
            raise Intractable("neighbours are summed within candidate labels, not outside of them")
        chain = MaskedChain.of(space, scores, None, 1.0)
        exps = exp_moves(*chain.moves)
        starts, size = space.starts, space.n_labels
        values = np.empty(len(starts) - 1)
        tokens = np.zeros((0 if prices is None else int(starts[-1]), size))

        def run(shard: tuple[int, int]) -> tuple[Floats, Floats, Floats, int]:
            lo, hi = shard
            first, last = int(starts[lo]), int(starts[hi])
            mine = self.neighbours.part(lo, hi, first)
            block = chain.block(lo, hi)
            count = len(mine.starts) - 1
            sums, moves = np.empty(count), np.zeros((size, size))
            start, end, slow = np.zeros(size), np.zeros(size), 0
            moved = block[mine.tokens]
            kernels.log_sums(mine.starts, 0, count, moved, *chain.moves, exps, sums)
            values[lo:hi] = grouped_log_sums(mine.ptr, sums)
            if prices is not None and np.all(values[lo:hi] > -np.inf):
                shares = shares_of(mine.ptr, sums, values[lo:hi], prices[lo:hi])
                head, tail = (mine.starts, 0, count, moved, *chain.moves), (shares, sums, moves)
                if slow := kernels.beliefs(*head, exps, *tail):
                    kernels.log_beliefs(*head, *tail)
                # a neighbour without a labeling keeps its scores
                moved[np.repeat(shares == 0.0, np.diff(mine.starts))] = 0.0
                start, end = moved[mine.starts[:-1]].sum(0), moved[mine.starts[1:] - 1].sum(0)
                _fold(mine.tokens, moved, tokens[first:last])
            return moves, start, end, slow

        parts = threads(run, shards(starts, tokens=SHARD_TOKENS), n_jobs=n_jobs)
        check_feasible(values)
        edges = Edges.none(size)
        for moves, start, end, _ in parts:  # in the order of the shards, so that threads do not matter
            edges.transitions[:] += moves
            edges.start[:] += start
            edges.end[:] += end
        return Beliefs(values, tokens, edges.transitions, edges.start, edges.end, sum(slow for *_, slow in parts))


def grouped_log_sums(ptr: Ints, values: Floats) -> Floats:
    """log Σ exp of the values of each group. # [N]"""
    tops = np.maximum.reduceat(values, ptr[:-1]) if len(values) else np.zeros(0)
    tops = np.where(np.isfinite(tops), tops, 0.0)
    with np.errstate(divide="ignore"):
        return tops + np.log(np.add.reduceat(np.exp(values - np.repeat(tops, np.diff(ptr))), ptr[:-1]))


def shares_of(ptr: Ints, values: Floats, totals: Floats, prices: Floats) -> Floats:
    """price · exp(value − total of its group). # [M]"""
    counts = np.diff(ptr)
    return np.repeat(prices, counts) * np.exp(values - np.repeat(totals, counts))


@kernel
def _fold(places: Ints, values: Floats, out: Floats) -> None:
    """out[place] += value, row by row."""
    for k in range(places.shape[0]):
        row, more = out[places[k]], values[k]
        for label in range(row.shape[0]):
            row[label] += more[label]


@dataclass(frozen=True, slots=True)
class ContrastiveTerms(FeatureTerms):
    """Inputs against their neighbours; gold labels, candidates besides those of the space, or neither may be known."""

    features: WeightedFeatures
    space: ChainSpace
    prices: Floats  # [N]
    neighbourhood: Swaps | Listed
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, L]

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log of the input's share in its neighbourhood. # [N]"""
        scores = self.features.scores(weights)
        return self.neighbourhood.log_sums(self.space, scores, n_jobs=n_jobs) - self._known(scores, n_jobs)

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · Φ(x, gold)."""
        if self.targets is not None:
            known = LikelihoodTerms(self.features, self.space, self.prices, targets=self.targets)
            known.add_gold(gradient, n_jobs=n_jobs)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (features expected in the neighbourhood − those expected of what is admitted).

        Returns Σ price · (log-sum of the neighbourhood − log-sum of the admitted), the latter left out where gold is
        known.
        """
        scores = self.features.scores(weights)
        expected = Expected.none(self.features, gradient, n_jobs)
        for number, block in enumerate(self.features.blocks):
            part = self.space.part(block.lo, block.hi)
            prices = self.prices[block.lo : block.hi]
            here = held(ScoresFrom(scores, block.first), part, n_jobs=n_jobs)
            around = self.neighbourhood.part(block.lo, block.hi, block.first)
            near = around.beliefs(part, here, prices, n_jobs=n_jobs)
            if self.targets is not None:
                expected.add(number, prices, near)
                continue
            inside = part if self.admitted is None else part.inside(self.admitted[block.first : block.last])
            expected.add(number, prices, near, beliefs(inside, here, prices=prices, n_jobs=n_jobs))
        return expected.total()

    def _known(self, scores: ChainScores, n_jobs: int | None) -> Floats:
        if self.targets is not None:
            return self.space.score(scores, self.targets, n_jobs=n_jobs)
        inside = self.space if self.admitted is None else self.space.inside(self.admitted)
        return log_sums(inside, scores, n_jobs=n_jobs)


@dataclass(frozen=True, slots=True)
class ListedContrastiveTerms(FeatureTerms):
    """Inputs without gold labels against their neighbours."""

    features: FullFeatures
    space: Space  # of the inputs
    prices: Floats  # [N]
    ptr: Ints  # [N + 1] first neighbour of each input
    around: FullFeatures  # of the neighbours
    neighbours: Space
    admitted: Bytes | None = None  # [T, L] what is known of the input itself

    @classmethod
    def of(
        cls,
        batch: Batch,
        prices: Floats,
        listed: Neighbours,
        *,
        allowed: Transitions | None = None,
        dictionary: Bytes | None = None,
        admitted: Bytes | None = None,
    ) -> ListedContrastiveTerms:
        """Terms of a batch of chains; a `dictionary` [T, L] has the possible labels of a token at any position.

        Neighbours that have no labeling add nothing to a sum, and are left out.
        """
        scorer = chain_of(batch)
        rows = listed.rows(scorer.rows)
        space, near = batch.space, chain_batch(rows, scorer.layout, allowed=allowed).space
        if dictionary is not None:
            space, near = space.inside(dictionary), near.inside(np.ascontiguousarray(dictionary[listed.tokens]))
        there = near.feasible(n_jobs=batch.n_jobs)
        possible = np.flatnonzero(there)
        ptr = offsets_of(there.astype(np.int64))[listed.ptr]  # [N + 1]
        own = FullFeatures.of(scorer.rows, scorer.layout, n_jobs=batch.n_jobs)
        around = FullFeatures.of(rows.take(possible), scorer.layout, n_jobs=batch.n_jobs)
        return cls(own, space, prices, ptr, around, near.take(possible), admitted)

    @property
    def known(self) -> Space:
        """The outputs of the inputs that are admitted."""
        return self.space if self.admitted is None else self.space.inside(self.admitted)

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log of the input's share in its neighbourhood. # [N]"""
        own = sums.log_sums(self.known, self.features.scores(weights), n_jobs=n_jobs)
        return grouped_log_sums(self.ptr, self._log_sums(weights, n_jobs)) - own

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """Adds nothing: no gold labels are known."""

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (features expected in the neighbourhood − those expected of what is admitted).

        Returns Σ price · loss.
        """
        values = self._log_sums(weights, n_jobs)
        totals = grouped_log_sums(self.ptr, values)
        shares = shares_of(self.ptr, values, totals, self.prices)
        add_log_sums(self.around, self.neighbours, shares, weights, gradient, n_jobs=n_jobs)
        own = add_log_sums(self.features, self.known, -self.prices, weights, gradient, n_jobs=n_jobs)
        return float(self.prices @ totals) + own

    def _log_sums(self, weights: Floats, n_jobs: int | None) -> Floats:
        """The log-sum of every neighbour. # [M]"""
        return sums.log_sums(self.neighbours, self.around.scores(weights), n_jobs=n_jobs)
