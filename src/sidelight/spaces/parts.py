"""Candidates for local parts: single tokens with their labels, and chunks of tokens with their labelings.

The admitted outputs of a sequence are the product over its parts. A chunk's labelings form a trie; a token's nodes are
the nodes of its part's trie at its depth, so for a part of one token they are just its candidate labels. A path either
follows a node of every part to the end (it stays inside), or at some token takes a label that its node does not
continue with (it leaves that part). So a Viterbi over

    (node, no part left yet),  (node, some earlier part left),  (label, this part left)

finds the best output inside, the best outside, and counts the parts that a path leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import offsets_of, taken
from sidelight.parallel import shards, threads
from sidelight.spaces.chains.chain import AnyCost, ChainScores, ChainSpace, Paths, Transitions
from sidelight.spaces.part_kernels import parts_left, unlike_targets, viterbi_parts


class Labelings(NamedTuple):
    """The candidate labelings of a chunk that begins at token `first` of a batch."""

    first: int
    labels: Ids  # [K, length]


@dataclass(frozen=True, slots=True)
class Parts:
    """The tries of all parts of a batch, token by token."""

    admitted: Bytes  # [T, L] labels that some labeling of the token's part has there
    node_ptr: Ints  # [T + 1] first node of each token
    node_label: Ids  # [M]
    node_parent: Ids  # [M] which of the nodes of the token before, or -1 where a part begins

    @classmethod
    def of(cls, admitted: Bytes, chunks: Sequence[Labelings]) -> Parts:
        """Single tokens with their candidate labels, except in chunks.

        >>> chunk = Labelings(0, np.array([[0, 1], [1, 1]], dtype=np.int32))
        >>> parts = Parts.of(np.ones((3, 2), dtype=np.uint8), [chunk])
        >>> np.diff(parts.node_ptr).tolist(), parts.node_parent.tolist()
        ([2, 2, 2], [-1, -1, 0, 1, -1, -1])
        """
        admitted = admitted.copy()
        nodes: list[tuple[list[int], list[int]] | None] = [None] * len(admitted)
        for first, labels in chunks:
            level: dict[tuple[int, ...], int] = {(): -1}
            for depth in range(labels.shape[1]):
                prefixes = sorted({tuple(row[: depth + 1]) for row in labels.tolist()})
                names = [prefix[-1] for prefix in prefixes]
                nodes[first + depth] = (names, [level[prefix[:-1]] for prefix in prefixes])
                level = {prefix: number for number, prefix in enumerate(prefixes)}
                admitted[first + depth] = 0
                admitted[first + depth, names] = 1
        for t, node_lists in enumerate(nodes):
            if node_lists is None:
                names = np.flatnonzero(admitted[t]).tolist()
                nodes[t] = (names, [-1] * len(names))
        known = [node_lists for node_lists in nodes if node_lists is not None]
        ptr = offsets_of([len(names) for names, _ in known])
        label = np.array([name for names, _ in known for name in names], dtype=np.int32)
        parent = np.array([number for _, parents in known for number in parents], dtype=np.int32)
        return cls(admitted, ptr, label, parent)

    def part(self, first: int, last: int) -> Parts:
        """The tokens first..last alone; they must not cut a chunk."""
        a, b = int(self.node_ptr[first]), int(self.node_ptr[last])
        ptr = self.node_ptr[first : last + 1] - a
        return Parts(self.admitted[first:last], ptr, self.node_label[a:b], self.node_parent[a:b])

    def take(self, tokens: Ints) -> Parts:
        """Some of the tokens, in order; they must not cut a chunk."""
        ptr, picked = taken(self.node_ptr, tokens)
        return Parts(self.admitted[tokens], ptr, self.node_label[picked], self.node_parent[picked])

    def left(self, starts: Ints, labels: Ids) -> Floats:
        """The number of parts that the labels of each sequence leave. # [N]"""
        out = np.zeros(len(starts) - 1)
        parts_left(starts, self.node_ptr, self.node_label, self.node_parent, labels, out)
        return out

    def begins(self) -> NDArray[np.bool_]:
        """Whether a part begins at each token; a token without candidates is a separate part. # [T]"""
        begins = np.ones(len(self.node_ptr) - 1, dtype=np.bool_)
        some = np.diff(self.node_ptr) > 0
        begins[some] = self.node_parent[self.node_ptr[:-1][some]] < 0
        return begins

    def unlike(self, starts: Ints, targets: Ids) -> Floats:
        """1 for every node that ends a part with other labels than the targets, 0 for other nodes. # [M]"""
        out = np.zeros(len(self.node_label))
        unlike_targets(starts, self.node_ptr, self.node_label, self.node_parent, targets, out)
        return out


@dataclass(frozen=True, slots=True)
class _PartCost:
    """A cost of whole parts, against targets that are within the candidates."""

    targets: Ids  # [T]
    parts: Parts

    def part(self, first: int, last: int) -> Self:
        """The cost of the tokens first..last alone."""
        return replace(self, targets=self.targets[first:last], parts=self.parts.part(first, last))

    def take(self, slots: Ints) -> Self:
        """The cost of some tokens alone."""
        return replace(self, targets=self.targets[slots], parts=self.parts.take(slots))

    def with_targets(self, targets: Ids) -> Self:
        """The same cost against other targets."""
        return replace(self, targets=targets)

    def add_to(self, block: Floats, first: int) -> None:
        """Raises `Intractable`: the cost does not decompose over tokens; a `PartSpace` counts it by itself."""
        raise Intractable("a cost of chunks needs a space of chunks")


@dataclass(frozen=True, slots=True)
class PartLoss(_PartCost):
    """One for every part whose labels are not those of the targets: its 0/1 loss."""

    def of(self, starts: Ints, labels: Ids) -> Floats:
        """The cost of each sequence's labels. # [N]"""
        begins = self.parts.begins()
        begins[starts[:-1]] = True
        firsts = np.flatnonzero(begins)
        wrong = np.logical_or.reduceat(labels != self.targets, firsts)
        inputs = np.searchsorted(starts, firsts, side="right") - 1
        return np.bincount(inputs, wrong, minlength=len(starts) - 1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class PartLeavingCost(_PartCost):
    """One for every part whose labels leave its candidates (Δ_min of CLLP's Eq. 8 where parts are chunks)."""

    def of(self, starts: Ints, labels: Ids) -> Floats:
        """The cost of each sequence's labels. # [N]"""
        return self.parts.left(starts, labels)


@dataclass(frozen=True, slots=True)
class PartSpace:
    """The labelings of a batch inside its parts' candidates, or those that leave at least one part."""

    labelings: ChainSpace  # sequences and allowed transitions
    parts: Parts
    leaves: bool = False

    @property
    def starts(self) -> Ints:
        return self.labelings.starts

    @property
    def n_labels(self) -> int:
        return self.labelings.n_labels

    @property
    def allowed(self) -> Transitions | None:
        return self.labelings.allowed

    def inside(self, admitted: Bytes) -> PartSpace:
        raise Intractable("candidates for chunks cannot be limited again; give all candidates at once")

    def outside(self, admitted: Bytes) -> PartSpace:
        raise Intractable("candidates for chunks cannot be limited again; give all candidates at once")

    def part(self, lo: int, hi: int) -> PartSpace:
        """The space of the sequences lo..hi alone."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        return replace(self, labelings=self.labelings.part(lo, hi), parts=self.parts.part(first, last))

    def take(self, which: Ints) -> PartSpace:
        """The space of some of the sequences."""
        tokens = taken(self.starts, which)[1]
        return replace(self, labelings=self.labelings.take(which), parts=self.parts.take(tokens))

    def best(
        self,
        scores: ChainScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """As `ChainSpace.best`; ties go to the first node found, and random ones raise `Intractable`."""
        if rng is not None:
            raise Intractable("ties between labelings of chunks are not broken at random")
        paths = self._paths(scores, cost, n_jobs)
        if not np.all(paths.values > -np.inf):
            where = int(np.flatnonzero(~(paths.values > -np.inf))[0])
            raise Infeasible(f"sequence {where}: the allowed transitions and candidate labelings leave no labeling")
        return paths

    def score(self, scores: ChainScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of a given labeling of each sequence. # [N]"""
        return self.labelings.score(scores, labels, n_jobs=n_jobs)

    def admits(self, labels: Ids) -> Bytes:
        """Whether each sequence's labeling is in the space. # [N] of 0 and 1"""
        left = self.parts.left(self.starts, labels) > 0
        fits: Bytes = self.labelings.admits(labels) & (left == self.leaves).astype(np.uint8)
        return fits

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether any labeling is left to each sequence. # [N]"""
        return self._paths(self.labelings.zero_scores(), None, n_jobs).values > -np.inf

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """A labeling of each sequence at random: the best under random scores. # [T]"""
        zero = self.labelings.zero_scores()
        return self.best(replace(zero, tokens=rng.normal(size=zero.tokens.shape)), n_jobs=n_jobs).labels

    def _paths(self, scores: ChainScores, cost: AnyCost | None, n_jobs: int | None) -> Paths:
        starts, parts = self.starts, self.parts
        labels = np.empty(int(starts[-1]), dtype=np.int32)
        values = np.empty(len(starts) - 1)
        transition, start, end = self.labelings.masked(scores)
        leaving = 1.0 if isinstance(cost, PartLeavingCost | PartLoss) else 0.0
        extra = parts.unlike(starts, cost.targets) if isinstance(cost, PartLoss) else np.zeros(len(parts.node_label))
        nodes = parts.node_ptr, parts.node_label, parts.node_parent, extra

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first = int(starts[lo])
            block = scores.block(first, int(starts[hi]))
            if cost is not None and not leaving:
                cost.add_to(block, first)
            arguments = (starts, lo, hi, block, transition, start, end, *nodes)
            viterbi_parts(*arguments, leaving, self.leaves, labels, values)

        threads(run, shards(starts), n_jobs=n_jobs)
        targets = np.empty(0) if cost is None else self.score(scores, cost.targets, n_jobs=n_jobs)
        return Paths(labels, values, targets)
