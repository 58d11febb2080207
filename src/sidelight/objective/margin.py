"""The terms of margin objectives over chains and classes.

With price C and power p, a term costs C · max(0, value)^p, or with the logistic loss C · log(1 + exp(value)), where
value is

    target     max_h  Δ(h, y) + w·Φ(x, h) − w·Φ(x, y)          Gold, or a completed output in its place
    negative   max_h  1 + w·Φ_B(x, h)                           Companion(−1)
    positive          1 − w·Φ_B(x, ĥ)                           Companion(+1), ĥ the completed output

and Φ_B(x, h) is Φ(x, h) / κ(x) with a constant threshold feature beside it (J-LIS, Eq. 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.features.counts import SparseRows, difference_rows, stacked
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, scores
from sidelight.objective.batch_terms import BatchTerms
from sidelight.objective.cuts import Cuts, Terms, Worst
from sidelight.spaces import AnyCost, ChainSpace, Paths, Space, Transitions, space_of


@dataclass(frozen=True, slots=True)
class ChainBatch:
    """Inputs of one kind of evidence: their features, and the outputs they may have."""

    rows: Rows
    space: Space
    layout: Layout
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.layout.order == 2 and isinstance(self.space, ChainSpace):
            raise ValueError("the layout has order 2, the space order 1; make the batch with ChainBatch.of")

    @classmethod
    def of(
        cls, rows: Rows, layout: Layout, *, allowed: Transitions | None = None, n_jobs: int | None = None
    ) -> ChainBatch:
        """Inputs with all outputs of the layout's order that the allowed transitions leave."""
        return cls(rows, space_of(rows.starts, layout.n_labels, order=layout.order, allowed=allowed), layout, n_jobs)

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, lo: int, hi: int) -> ChainBatch:
        """The inputs lo..hi alone."""
        return replace(self, rows=self.rows.part(lo, hi), space=self.space.part(lo, hi))

    def take(self, which: Ints) -> ChainBatch:
        """Some of the inputs."""
        return replace(self, rows=self.rows.take(which), space=self.space.take(which))

    def best(self, weights: Floats, *, cost: AnyCost | None = None, rng: np.random.Generator | None = None) -> Paths:
        """The best output of each input, with its cost added where one is given."""
        return self.space.best(scores(self.rows, self.layout, weights), cost=cost, rng=rng, n_jobs=self.n_jobs)

    def score(self, weights: Floats, labels: Ids) -> Floats:
        """The score of a given output of each input. # [N]"""
        return self.space.score(scores(self.rows, self.layout, weights), labels, n_jobs=self.n_jobs)

    def differences(
        self, which: Ints, plus: Ids, minus: Ids | None, *, scales: Floats, thresholds: Floats
    ) -> SparseRows:
        """scale · (Φ(x, plus) − Φ(x, minus)) and the threshold feature, for some of the inputs."""
        return difference_rows(
            self.rows,
            self.layout,
            which=which,
            plus=plus,
            minus=minus,
            scales=scales,
            thresholds=thresholds,
            n_jobs=self.n_jobs,
        )


@dataclass(frozen=True, slots=True)
class TargetTerms(BatchTerms):
    """max over outputs of cost and score, against the score of a target."""

    batch: ChainBatch
    cost: AnyCost
    prices: Floats

    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""
        starts = self.batch.rows.starts
        cost = self.cost.part(int(starts[lo]), int(starts[hi]))
        return TargetTerms(self.batch.part(lo, hi), cost, self.prices[lo:hi])

    def worst(self, weights: Floats) -> Worst:
        paths = self.batch.best(weights, cost=self.cost)
        return Worst(paths.values - paths.targets, paths.labels)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        size = len(which)
        targets = self.cost.targets
        slopes = self.batch.differences(which, worst.outputs, targets, scales=np.ones(size), thresholds=np.zeros(size))
        return Cuts(which, slopes, self.cost.of(self.batch.rows.starts, worst.outputs)[which])

    def with_targets(self, targets: Ids) -> TargetTerms:
        return replace(self, cost=self.cost.with_targets(targets))


@dataclass(frozen=True, slots=True)
class NegativeTerms(BatchTerms):
    """No output of these inputs may score above the threshold."""

    batch: ChainBatch
    sizes: Floats  # [N] κ(x)
    prices: Floats

    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""
        return NegativeTerms(self.batch.part(lo, hi), self.sizes[lo:hi], self.prices[lo:hi])

    def worst(self, weights: Floats) -> Worst:
        paths = self.batch.best(weights)
        return Worst(1.0 + paths.values / self.sizes + weights[0], paths.labels)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        ones = np.ones(len(which))
        slopes = self.batch.differences(which, worst.outputs, None, scales=1.0 / self.sizes[which], thresholds=ones)
        return Cuts(which, slopes, ones)


@dataclass(frozen=True, slots=True)
class PositiveTerms:
    """The completed output of each of these inputs should score above the threshold: one cut each."""

    slopes: SparseRows
    prices: Floats

    def __len__(self) -> int:
        return len(self.slopes)

    def parts(self) -> list[tuple[int, Terms]]:
        return []  # their one cut is in the working set from the start

    def worst(self, weights: Floats) -> Worst:
        return Worst(1.0 + self.slopes.dot(weights), None)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        return Cuts(which, self.slopes.take(which), np.ones(len(which)))


def positive_terms(batch: ChainBatch, labels: Ids, sizes: Floats, prices: Floats) -> PositiveTerms:
    """The terms of positive companion examples whose outputs have been completed."""
    which = np.arange(len(batch), dtype=np.int64)
    slopes = batch.differences(which, labels, None, scales=-1.0 / sizes, thresholds=-np.ones(len(batch)))
    return PositiveTerms(slopes, prices)


@dataclass(frozen=True, slots=True)
class SilentTerms:
    """Places in the numbering for terms that do not count yet."""

    count: int
    prices: Floats

    @classmethod
    def like(cls, count: int) -> SilentTerms:
        return cls(count, np.zeros(count))

    def __len__(self) -> int:
        return self.count

    def parts(self) -> list[tuple[int, Terms]]:
        return []

    def worst(self, weights: Floats) -> Worst:
        return Worst(np.full(self.count, -1.0), None)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        raise AssertionError("terms that do not count have no cuts")


class StackedTerms:
    """Several kinds of terms under one numbering."""

    def __init__(self, parts: Sequence[Terms]) -> None:
        self.kinds = list(parts)
        self.firsts = np.cumsum([0, *(len(part) for part in self.kinds)])
        self.prices = np.concatenate([part.prices for part in self.kinds]) if self.kinds else np.zeros(0)

    def __len__(self) -> int:
        return int(self.firsts[-1])

    def parts(self) -> list[tuple[int, Terms]]:
        return [(int(first) + lo, part) for first, terms in zip(self.firsts, self.kinds) for lo, part in terms.parts()]

    def worst(self, weights: Floats) -> Worst:
        found = [part.worst(weights) for part in self.kinds]
        return Worst(np.concatenate([one.values for one in found]) if found else np.zeros(0), found)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        pieces = []
        for part, found, first, last in zip(self.kinds, worst.outputs, self.firsts[:-1], self.firsts[1:]):
            mine = which[(which >= first) & (which < last)] - first
            if len(mine) == 0:
                continue
            cuts = part.cuts(found, mine)
            pieces.append(Cuts(cuts.terms + first, cuts.slopes, cuts.offsets))
        if not pieces:
            return Cuts(np.zeros(0, dtype=np.int64), stacked([]), np.zeros(0))
        return Cuts(
            np.concatenate([piece.terms for piece in pieces]),
            stacked([piece.slopes for piece in pieces]),
            np.concatenate([piece.offsets for piece in pieces]),
        )
