"""The terms of margin objectives, over outputs of any structure.

With price C and power p, a term costs C · max(0, value)^p, or with the logistic loss C · log(1 + exp(value)), where
value is

    target     max_h  Δ(h, y) + w·Φ(x, h) − w·Φ(x, y)          Gold, or a completed output in its place
    negative   max_h  1 + w·Φ_B(x, h)                           Companion(−1)
    positive          1 − w·Φ_B(x, ĥ)                           Companion(+1), ĥ the completed output

and Φ_B(x, h) is Φ(x, h) / κ(x) with a constant threshold feature beside it (J-LIS, Eq. 5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner
from sidelight.features.counts import SparseRows, stacked
from sidelight.objective.batch import Batch
from sidelight.objective.cuts import Cuts, Terms, Worst
from sidelight.parallel import shards
from sidelight.spaces import AnyCost

BLOCK_TOKENS = 8192  # number of tokens that a solver processes between two updates of the weights


class BatchTerms(ABC):
    """The base of margin terms; each kind has its batch, and defines `part`."""

    __slots__ = ()

    batch: Batch

    def __len__(self) -> int:
        return len(self.batch)

    def parts(self) -> list[tuple[int, Terms]]:
        """Blocks of terms, each with the number of its first."""
        return [(lo, self.part(lo, hi)) for lo, hi in shards(self.batch.starts, tokens=BLOCK_TOKENS)]

    @abstractmethod
    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""


@dataclass(frozen=True, slots=True)
class TargetTerms(BatchTerms):
    """max over outputs of cost and score, against the score of a target."""

    batch: Batch
    cost: AnyCost
    prices: Floats

    def part(self, lo: int, hi: int) -> TargetTerms:
        """The terms lo..hi alone."""
        starts = self.batch.starts
        cost = self.cost.part(int(starts[lo]), int(starts[hi]))
        return TargetTerms(self.batch.part(lo, hi), cost, self.prices[lo:hi])

    def worst(self, weights: Floats) -> Worst:
        paths = self.batch.best(weights, cost=self.cost)
        return Worst(paths.values - paths.targets, paths.labels)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        slopes = self.batch.differences(which, worst.outputs, self.cost.targets, scales=np.ones(len(which)))
        return Cuts(which, slopes, self.offsets(worst.outputs)[which])

    def offsets(self, outputs: Ids) -> Floats:
        """The costs of outputs beyond those of their targets, independent of the weights. # [N]"""
        charged = self.batch.charges(outputs) - self.batch.charges(self.cost.targets)
        return self.cost.of(self.batch.starts, outputs) - charged

    def with_targets(self, targets: Ids) -> TargetTerms:
        return replace(self, cost=self.cost.with_targets(targets))


@dataclass(frozen=True, slots=True)
class SummedTerms(TargetTerms):
    """Target terms that can sum their cuts."""

    def total(self, outputs: Ids, scales: Floats) -> tuple[float, Floats]:
        """Σ_i scale_i · (offset_i, slope_i) of the cuts that some outputs give."""
        offset = inner(scales, self.offsets(outputs))
        return offset, self.batch.linear.summed(outputs, self.cost.targets, scales)

    def check_outputs(self, outputs: Ids, scales: Floats) -> None:
        """Raise `ModelFileError` for values that `total` cannot use."""
        space = self.batch.space
        arrays: dict[str, NDArray[Any]] = {"outputs": outputs, "scales": scales}
        array_of(arrays, "outputs", np.int32, [int(space.starts[-1])], low=0, high=space.n_labels - 1)
        array_of(arrays, "scales", np.float64, [len(self.batch)], low=0.0)


@dataclass(frozen=True, slots=True)
class NegativeTerms(BatchTerms):
    """No output of these inputs may score above the threshold."""

    batch: Batch
    sizes: Floats  # [N] κ(x)
    prices: Floats

    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""
        return NegativeTerms(self.batch.part(lo, hi), self.sizes[lo:hi], self.prices[lo:hi])

    def worst(self, weights: Floats) -> Worst:
        paths = self.batch.best(weights)
        return Worst(1.0 + paths.values / self.sizes + weights[0], paths.labels)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        ones, charged = np.ones(len(which)), self.batch.charges(worst.outputs)
        slopes = self.batch.differences(which, worst.outputs, None, scales=1.0 / self.sizes[which], thresholds=ones)
        return Cuts(which, slopes, 1.0 - (charged / self.sizes)[which])


@dataclass(frozen=True, slots=True)
class PositiveTerms:
    """The completed output of each of these inputs should score above the threshold: one cut each."""

    slopes: SparseRows
    offsets: Floats  # [N] 1, and what the completed outputs are charged
    prices: Floats

    def __len__(self) -> int:
        return len(self.slopes)

    def parts(self) -> list[tuple[int, Terms]]:
        return []  # their one cut is in the working set from the start

    def worst(self, weights: Floats) -> Worst:
        return Worst(self.offsets + self.slopes.dot(weights), None)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        return Cuts(which, self.slopes.take(which), self.offsets[which])


def positive_terms(batch: Batch, labels: Ids, sizes: Floats, prices: Floats) -> PositiveTerms:
    """The terms of positive companion examples whose outputs have been completed."""
    which = np.arange(len(batch), dtype=np.int64)
    slopes = batch.differences(which, labels, None, scales=-1.0 / sizes, thresholds=-np.ones(len(batch)))
    return PositiveTerms(slopes, 1.0 + batch.charges(labels) / sizes, prices)


@dataclass(frozen=True, slots=True)
class SilentTerms:
    """Placeholders in the numbering for terms that do not count yet."""

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
        parts = [part.worst(weights) for part in self.kinds]
        return Worst(np.concatenate([one.values for one in parts]) if parts else np.zeros(0), parts)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        pieces = []
        for part, part_worst, first, last in zip(self.kinds, worst.outputs, self.firsts[:-1], self.firsts[1:]):
            mine = which[(which >= first) & (which < last)] - first
            if len(mine) == 0:
                continue
            cuts = part.cuts(part_worst, mine)
            pieces.append(Cuts(cuts.terms + first, cuts.slopes, cuts.offsets))
        if not pieces:
            return Cuts(np.zeros(0, dtype=np.int64), stacked([]), np.zeros(0))
        return Cuts(
            np.concatenate([piece.terms for piece in pieces]),
            stacked([piece.slopes for piece in pieces]),
            np.concatenate([piece.offsets for piece in pieces]),
        )
