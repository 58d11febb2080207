"""The negative log-likelihood of a semi-Markov conditional random field (Sarawagi and Cohen 2004).

    F(w) = ½ ‖w‖² + Σ_i C_i [ log Σ over all segmentations exp(w·Φ) − log Σ over the admitted ones exp(w·Φ) ]

Gold admits one segmentation, and F is convex; token masks (Partial, Candidates) admit more, and then F has a difference
of convex functions in it. The gradient is w + Σ_i C_i [ E(Φ) − E(Φ | admitted) ], by a forward and a backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.features.segment_counts import add_expected
from sidelight.kernels import inner
from sidelight.objective.segments import SegmentBatch
from sidelight.parallel import threads
from sidelight.spaces.segments import Segments

GROUPS = 8  # of shards: each adds up its counts in a vector of its own, so that their order is the data's alone


def expected_counts(batch: SegmentBatch, weights: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """log Σ exp(w·Φ) of each input [N], and Σ scale · E(Φ) in the weights' layout."""
    shards = batch.space.shards()
    scores = batch.scores(weights)
    bounds = np.linspace(0, len(shards), min(GROUPS, len(shards)) + 1).astype(int)
    log_sums = np.zeros(len(batch))

    def run(group: int) -> Floats:
        counts = np.zeros(batch.layout.size)
        for lo, hi in shards[bounds[group] : bounds[group + 1]]:
            found = batch.space.block_beliefs(scores, lo, hi, scales)
            log_sums[lo:hi] = found.log_sums
            add_expected(
                batch.rows,
                batch.segments,
                batch.layout,
                first=int(batch.rows.starts[lo]),
                tokens=found.tokens,
                lasts=found.segments,
                edges=(found.transition, found.start, found.end),
                out=counts,
            )
        return counts

    total = np.zeros(batch.layout.size)
    for counts in threads(run, range(len(bounds) - 1), n_jobs=batch.n_jobs):
        total += counts
    return log_sums, total


@dataclass(frozen=True, slots=True)
class SegmentLikelihood:
    """F as a function of the weights."""

    batch: SegmentBatch  # all inputs, with all their segmentations
    prices: Floats  # [N] C
    known: Floats  # Σ C Φ(x, y) over Gold, in the weights' layout
    open: SegmentBatch  # the inputs that are not Gold, with the segmentations they admit
    open_prices: Floats

    @classmethod
    def of(
        cls,
        batch: SegmentBatch,
        prices: Floats,
        gold: Ints,
        targets: Segments,
        open_inputs: Ints,
        admitted: SegmentBatch,
    ) -> SegmentLikelihood:
        """F of a batch whose inputs `gold` have targets (read at their tokens) and whose others admit what a batch of
        them says."""
        counts = batch.differences(gold, targets, None, scales=prices[gold])
        known = np.zeros(batch.layout.size)
        np.add.at(known, counts.indices, counts.values)
        return cls(batch, prices, known, admitted, prices[open_inputs])

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """F and its gradient; raises `Infeasible` where an input admits no segmentation."""
        log_sums, gradient = expected_counts(self.batch, weights, self.prices)
        gradient -= self.known
        value = 0.5 * inner(weights, weights) + inner(self.prices, log_sums) - inner(self.known, weights)
        if len(self.open):
            inside, counts = expected_counts(self.open, weights, self.open_prices)
            value -= inner(self.open_prices, inside)
            gradient -= counts
        gradient += weights
        return value, gradient
