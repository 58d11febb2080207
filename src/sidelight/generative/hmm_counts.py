"""Counts of an HMM, of labels that are known or believed, and the parameters that they give: the M-step.

Where three labels in a row have counts, so has P(l | j, k). The first two tokens of a sequence have first-order
probabilities of their own. Where smoothing mixes with another distribution (unigram, witten_bell), that is P(l | k)
over all tokens after the first, itself smoothed in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.generative import hmm_kernels as kernels
from sidelight.generative.completion import NO_SECOND, StateBeliefs, expected
from sidelight.generative.hmm import Hmm
from sidelight.generative.smoothing import Smoothing, smoothed
from sidelight.parallel import threads


def second_order(counts: HmmCounts, smoothing: Smoothing) -> Floats:
    """P(l | j, k). # [L, L, L] j, k, l"""
    lower = None
    if smoothing.kind in ("unigram", "witten_bell"):
        lower = smoothed(counts.transition, smoothing, axis=1)[None]
    return smoothed(np.ascontiguousarray(counts.second), smoothing, axis=2, lower=lower)


RANGE = 4096  # symbols that a thread gathers at a time


@dataclass(frozen=True, slots=True)
class HmmSmoothing:
    """How counts become probabilities."""

    emission: Smoothing
    transition: Smoothing  # of starts and stops as well
    ends: bool = False  # whether P(stop | l) is modelled
    reserve: float = 0.0  # the share of unknown words, the same for every label; 0: they are smoothed like others
    vocabulary: int = 0  # how many words there are thought to be; those not seen are unknown words

    @property
    def maximises(self) -> bool:
        """Whether EM with it has an objective that never falls."""
        return self.emission.maximises and self.transition.maximises

    def sizes(self, n_words: int, symbols: int) -> Floats:
        """The number of words per symbol: one for each of the V words; unknown words share all others. # [S]

        >>> HmmSmoothing(Smoothing(), Smoothing(), vocabulary=10).sizes(2, 3).tolist()
        [1.0, 1.0, 8.0]
        """
        unknown = symbols - n_words
        sizes = np.ones(symbols)
        sizes[n_words:] = max(self.vocabulary - n_words, unknown) / unknown
        return sizes


@dataclass(frozen=True, slots=True)
class HmmCounts:
    """How often each event happened, or is believed to have."""

    start: Floats  # [L]
    transition: Floats  # [L, L] of all tokens after the first
    end: Floats  # [L]
    emission: Floats  # [S, L]
    second: Floats  # [L, L, L], or empty in first order

    @classmethod
    def of(cls, beliefs: StateBeliefs, order: Ints, bounds: Ints, *, n_jobs: int | None = None) -> HmmCounts:
        """The counts of a batch whose tokens in the `order` of their symbols have these `bounds` (`grouped`)."""
        size = len(bounds) - 1
        emission = np.empty((size, beliefs.tokens.shape[1]))

        def run(first: int) -> None:
            kernels.gather(order, bounds, first, min(first + RANGE, size), beliefs.tokens, emission)

        threads(run, range(0, size, RANGE), n_jobs=n_jobs)
        return cls(beliefs.start, beliefs.transitions, beliefs.end, emission, beliefs.second)

    @classmethod
    def zeros(cls, labels: int, symbols: int, *, order: int = 1) -> HmmCounts:
        """Zero counts."""
        second = np.zeros((labels,) * 3) if order == 2 else NO_SECOND
        return cls(np.zeros(labels), np.zeros((labels, labels)), np.zeros(labels), np.zeros((symbols, labels)), second)

    def plus(self, other: HmmCounts) -> HmmCounts:
        """Both together."""
        return HmmCounts(
            self.start + other.start,
            self.transition + other.transition,
            self.end + other.end,
            self.emission + other.emission,
            self.second + other.second,
        )

    @property
    def first(self) -> Floats:
        """Transitions to the second token, where the others are of second order; else all of them. # [L, L]"""
        if not len(self.second):
            return self.transition
        return np.asarray(np.maximum(self.transition - self.second.sum(axis=0), 0.0))


def estimate(counts: HmmCounts, smoothing: HmmSmoothing, *, n_words: int) -> Hmm:
    """The parameters that counts give: without smoothing, those of the largest likelihood; `n_words` is V."""
    moves = smoothing.transition
    transition = smoothed(counts.first, moves, axis=1)
    stop = None
    if smoothing.ends:
        stops = np.stack([counts.end, counts.transition.sum(axis=1)], axis=1)
        stop = np.ascontiguousarray(smoothed(stops, moves, axis=1)[:, 0])
    return Hmm(
        smoothed(counts.start[None], moves, axis=1)[0],
        transition,
        _emission(counts.emission, smoothing, n_words),
        stop,
        second_order(counts, moves) if len(counts.second) else None,
    )


def _emission(counts: Floats, smoothing: HmmSmoothing, n_words: int) -> Floats:
    if not smoothing.reserve:
        return smoothed(counts, smoothing.emission, axis=0, sizes=smoothing.sizes(n_words, len(counts)))
    known, unknown = (smoothed(part, smoothing.emission, axis=0) for part in (counts[:n_words], counts[n_words:]))
    return np.concatenate([known * (1.0 - smoothing.reserve), unknown * smoothing.reserve])


def log_likelihood(counts: HmmCounts, hmm: Hmm) -> float:
    """E[log P(x, y)] under the counts."""
    with np.errstate(divide="ignore"):
        total = expected(counts.start, np.log(hmm.start)) + expected(counts.first, np.log(hmm.transition))
        total += expected(counts.emission, np.log(hmm.emission))
        if hmm.stop is not None:
            total += expected(counts.end, np.log(hmm.stop))
            total += expected(counts.transition.sum(axis=1), np.log1p(-hmm.stop))
        if hmm.second is not None:
            total += expected(counts.second, np.log(hmm.second))
    return total


def log_prior(hmm: Hmm, smoothing: HmmSmoothing, *, n_words: int) -> float:
    """Σ α log p where smoothing is a prior, without its constants; 0 for other kinds."""
    moves = [hmm.start, hmm.transition]
    if hmm.second is not None:
        moves.append(hmm.second)
    if hmm.stop is not None:
        moves.append(np.stack([hmm.stop, 1.0 - hmm.stop], axis=1))
    total = sum(_prior(part, smoothing.transition.prior(np.ones(part.shape[-1]))) for part in moves)
    words = hmm.emission.T  # [L, S]
    if not smoothing.reserve:
        sizes = smoothing.sizes(n_words, len(hmm.emission))
        return total + _prior(words, smoothing.emission.prior(sizes))
    for part in (words[:, :n_words], words[:, n_words:]):
        total += _prior(part, smoothing.emission.prior(np.ones(part.shape[1])))
    return total


def _prior(probabilities: Floats, alpha: Floats) -> float:
    """Σ alpha · log p, the last axis being that of the outcomes."""
    if not np.any(alpha > 0.0):
        return 0.0
    with np.errstate(divide="ignore"):
        return float(np.sum(np.log(probabilities) @ alpha))
