"""What all scorers share whose scores are weights times features: a structure's file has only what is its own."""

from __future__ import annotations

from typing import Self

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.counts import Differences, SparseRows


class FullWeights:
    """Scores under all weights that a structure has."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """How many weights there are."""
        raise NotImplementedError

    def take(self, which: Ints) -> Self:
        """The features of some of the inputs."""
        raise NotImplementedError

    def part(self, lo: int, hi: int) -> Self:
        return self.take(np.arange(lo, hi))

    def curvature(self, prices: Floats, lengths: Ints, share: float) -> Floats:
        """Nothing is guessed. # [size]"""
        return np.zeros(self.size)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout: themselves."""
        return weights

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout: all of them."""
        return full


class LinearFeatures(FullWeights):
    """A `LinearScorer` that is made of `size`, `is_binary`, `take`, `scores` and `counts`."""

    __slots__ = ()

    @property
    def null_label(self) -> bool:
        return False

    def counts(self, wanted: Differences, n_jobs: int | None) -> SparseRows:
        """The features of outputs, as `differences`."""
        raise NotImplementedError

    def differences(
        self,
        which: Ints,
        plus: Ids,
        minus: Ids | None,
        *,
        scales: Floats,
        thresholds: Floats | None = None,
        n_jobs: int | None = None,
    ) -> SparseRows:
        return self.counts(Differences.of(which, plus, minus, scales=scales, thresholds=thresholds), n_jobs)

    def summed(self, plus: Ids, minus: Ids, scales: Floats) -> Floats:
        rows = self.differences(np.arange(len(scales)), plus, minus, scales=scales)
        return np.bincount(rows.indices, rows.values, minlength=self.size).astype(np.float64)
