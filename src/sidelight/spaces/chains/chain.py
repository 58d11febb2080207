"""The labelings of a batch of sequences, and the best of them under linear scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import NO_FLOATS, Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import taken
from sidelight.parallel import shards, threads
from sidelight.spaces.chains import chain_kernels as kernels


class ChainScores(Protocol):
    """Scores of the parts of a batch of chains; token scores are computed block by block."""

    @property
    def transition(self) -> Floats:  # [L, L] from, to
        ...

    @property
    def start(self) -> Floats:  # [L]
        ...

    @property
    def end(self) -> Floats:  # [L]
        ...

    def block(self, first: int, last: int) -> Floats:
        """A fresh array [last - first, L] of scores of label l at tokens first..last."""
        ...


@dataclass(frozen=True, slots=True)
class GivenScores:
    """Scores that a caller hands in as arrays."""

    tokens: Floats  # [T, L]
    transition: Floats
    start: Floats
    end: Floats

    def block(self, first: int, last: int) -> Floats:
        return np.array(self.tokens[first:last], dtype=np.float64, order="C")


class AnyCost(Protocol):
    """A cost that is added to the scores of outputs, relative to a target for each token."""

    @property
    def targets(self) -> Ids:  # [T]
        ...

    def part(self, first: int, last: int) -> AnyCost:
        """The cost of the tokens first..last alone."""
        ...

    def take(self, slots: Ints) -> AnyCost:
        """The cost of some tokens alone."""
        ...

    def with_targets(self, targets: Ids) -> AnyCost:
        """The same cost against other targets."""
        ...

    def add_to(self, block: Floats, first: int) -> None:
        """Add the cost of every label to the scores of the tokens from `first` on."""
        ...

    def of(self, starts: Ints, labels: Ids) -> Floats:
        """The cost of each sequence's labels. # [N]"""
        ...


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost that decomposes over tokens: costs[target, label], times a weight per token if given."""

    targets: Ids  # [T]
    costs: Floats  # [L, L]
    token_weights: Floats = field(default_factory=lambda: NO_FLOATS)  # [T] or empty

    def part(self, first: int, last: int) -> Cost:
        """The cost of the tokens first..last alone."""
        weights = self.token_weights[first:last] if len(self.token_weights) else self.token_weights
        return Cost(self.targets[first:last], self.costs, weights)

    def take(self, slots: Ints) -> Cost:
        """The cost of some tokens alone."""
        weights = self.token_weights[slots] if len(self.token_weights) else self.token_weights
        return Cost(self.targets[slots], self.costs, weights)

    def with_targets(self, targets: Ids) -> Cost:
        """The same cost against other targets."""
        return replace(self, targets=targets)

    def add_to(self, block: Floats, first: int) -> None:
        """Add the cost of every label to the scores of the tokens from `first` on."""
        kernels.add_costs(block, first, self.targets, self.costs, self.token_weights)

    def of(self, starts: Ints, labels: Ids) -> Floats:
        """The cost of each sequence's labels. # [N]"""
        per_token = self.costs[self.targets, labels]
        if len(self.token_weights):
            per_token = per_token * self.token_weights
        return np.add.reduceat(per_token, starts[:-1]) if len(labels) else np.zeros(len(starts) - 1)


@dataclass(frozen=True, slots=True)
class LeavingCost:
    """One for every token whose label leaves its candidates, whatever the target among them (Δ_min of CLLP's Eq. 8)."""

    targets: Ids  # [T]
    admitted: Bytes  # [T, L]

    def part(self, first: int, last: int) -> LeavingCost:
        """The cost of the tokens first..last alone."""
        return LeavingCost(self.targets[first:last], self.admitted[first:last])

    def take(self, slots: Ints) -> LeavingCost:
        """The cost of some tokens alone."""
        return LeavingCost(self.targets[slots], self.admitted[slots])

    def with_targets(self, targets: Ids) -> LeavingCost:
        """The same cost against other targets."""
        return replace(self, targets=targets)

    def add_to(self, block: Floats, first: int) -> None:
        """Add the cost of every label to the scores of the tokens from `first` on."""
        block += self.admitted[first : first + len(block)] == 0

    def of(self, starts: Ints, labels: Ids) -> Floats:
        """The cost of each sequence's labels. # [N]"""
        left = 1.0 - self.admitted[np.arange(len(labels)), labels]
        return np.add.reduceat(left, starts[:-1]) if len(labels) else np.zeros(len(starts) - 1)


class Paths(NamedTuple):
    """One labeling per sequence."""

    labels: Ids  # [T]
    values: Floats  # [N] score, and cost if one was added
    targets: Floats  # [N] score of the cost's targets, or empty without a cost


@dataclass(frozen=True, slots=True)
class Transitions:
    """Which labels may follow which, begin and end a sequence."""

    between: Bytes  # [L, L]
    start: Bytes  # [L]
    end: Bytes  # [L]

    def masked(self, transition: Floats, start: Floats, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Scores of transitions, starts and ends, -inf where they are not allowed."""
        return (
            np.where(self.between != 0, transition, -np.inf),
            np.where(self.start != 0, start, -np.inf),
            np.where(self.end != 0, end, -np.inf),
        )


def closed_moves(allowed: Transitions | None, size: int) -> Floats:
    """-inf where a transition, start (row L) or end (row L + 1) is not allowed, else 0. # [L + 2, L]"""
    open_moves = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    return np.vstack(open_moves if allowed is None else allowed.masked(*open_moves))


@dataclass(frozen=True, slots=True)
class ChainSpace:
    """All label sequences of a batch, less what masks exclude."""

    starts: Ints  # [N + 1] first token of each sequence
    n_labels: int
    allowed: Transitions | None = None
    admitted: Bytes | None = None  # [T, L]
    left_out: Bytes | None = None  # [T, L] at least one token must leave these

    def inside(self, admitted: Bytes) -> ChainSpace:
        """The labelings within per-token candidate sets."""
        both = admitted if self.admitted is None else self.admitted & admitted
        return replace(self, admitted=np.ascontiguousarray(both, dtype=np.uint8))

    def outside(self, admitted: Bytes) -> ChainSpace:
        """The labelings in which at least one token leaves its candidate set."""
        if self.left_out is not None:
            raise Intractable("outputs outside two sets of candidates are not looked for")
        return replace(self, left_out=np.ascontiguousarray(admitted, dtype=np.uint8))

    def part(self, lo: int, hi: int) -> ChainSpace:
        """The space of the sequences lo..hi alone, without copying masks."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        return replace(
            self,
            starts=self.starts[lo : hi + 1] - first,
            admitted=None if self.admitted is None else self.admitted[first:last],
            left_out=None if self.left_out is None else self.left_out[first:last],
        )

    def take(self, which: Ints) -> ChainSpace:
        """The space of some of the sequences."""
        starts, tokens = taken(self.starts, which)
        return replace(
            self,
            starts=starts,
            admitted=None if self.admitted is None else self.admitted[tokens],
            left_out=None if self.left_out is None else self.left_out[tokens],
        )

    def best(
        self,
        scores: ChainScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best labeling of each sequence, with its cost added where one is given.

        With `rng`, ties are broken uniformly at random. Raises `Infeasible` if the masks leave no labeling.
        """
        paths = self._paths(scores, cost, rng, n_jobs)
        check_feasible(paths.values)
        return paths

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether the masks leave each sequence any labeling. # [N]"""
        return self._paths(self.zero_scores(), None, None, n_jobs).values > -np.inf

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """A labeling of each sequence, uniformly at random from the space. # [T]"""
        return self.best(self.zero_scores(), rng=rng, n_jobs=n_jobs).labels

    def zero_scores(self) -> GivenScores:
        size = self.n_labels
        tokens = np.broadcast_to(0.0, (int(self.starts[-1]), size))
        return GivenScores(tokens, np.zeros((size, size)), np.zeros(size), np.zeros(size))

    def _paths(
        self, scores: ChainScores, cost: AnyCost | None, rng: np.random.Generator | None, n_jobs: int | None
    ) -> Paths:
        labels = np.empty(int(self.starts[-1]), dtype=np.int32)
        values = np.empty(len(self.starts) - 1)
        targets = np.empty(0 if cost is None else len(values))
        transition, start, end = self.masked(scores)
        seeds = None if rng is None else rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first = int(self.starts[lo])
            block = scores.block(first, int(self.starts[hi]))
            if cost is not None:
                moves = scores.transition, scores.start, scores.end
                kernels.path_scores(self.starts, lo, hi, block, *moves, cost.targets, targets)
                cost.add_to(block, first)
            if self.admitted is not None:
                kernels.close_labels(block, first, self.admitted)
            if self.left_out is not None:
                arguments = (self.starts, lo, hi, block, transition, start, end, self.left_out, labels, values)
                kernels.viterbi_outside(*arguments)
            elif seeds is not None:
                kernels.viterbi_random_ties(self.starts, lo, hi, block, transition, start, end, seeds, labels, values)
            else:
                kernels.viterbi(self.starts, lo, hi, block, transition, start, end, labels, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return Paths(labels, values, targets)

    def score(self, scores: ChainScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of a given labeling of each sequence. # [N]"""
        values = np.empty(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            block = scores.block(int(self.starts[lo]), int(self.starts[hi]))
            arguments = (self.starts, lo, hi, block, scores.transition, scores.start, scores.end, labels, values)
            kernels.path_scores(*arguments)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return values

    def admits(self, labels: Ids) -> Bytes:
        """Whether each sequence's labeling is in the space. # [N] of 0 and 1"""
        zeros = self.zero_scores()
        scores = GivenScores(zeros.tokens, *self.masked(zeros))
        fits = self.score(scores, labels) > -np.inf
        if self.admitted is not None and len(labels):
            per_token = self.admitted[np.arange(len(labels)), labels]
            fits &= np.minimum.reduceat(per_token, self.starts[:-1]) > 0
        if self.left_out is not None and len(labels):
            stays = self.left_out[np.arange(len(labels)), labels]
            fits &= np.minimum.reduceat(stays, self.starts[:-1]) == 0
        return fits.astype(np.uint8)

    def masked(self, scores: ChainScores) -> tuple[Floats, Floats, Floats]:
        """Transition, start and end scores, -inf where they are not allowed."""
        moves = scores.transition, scores.start, scores.end
        return moves if self.allowed is None else self.allowed.masked(*moves)


def check_feasible(values: Floats) -> None:
    """Raise `Infeasible` for the first sequence whose best value, or log-sum, is -inf."""
    if not np.all(values > -np.inf):
        where = int(np.flatnonzero(~(values > -np.inf))[0])
        raise Infeasible(f"sequence {where}: the allowed transitions and candidate labels leave no labeling")
