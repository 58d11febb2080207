"""The E-step of unified EM: beliefs about unknown outputs (thesis, chapter 4).

Among all distributions q over the labelings that a space admits, a completion finds the one with the largest

    value(q) = E_q[score(y)] + γ H(q)

where the score is log P(x, y) for a generative model. Without further constraints on q, and with sums over the space,

    γ = ∞        q is uniform (its infinite value is reported without the entropy, which no parameter can change)
    γ > 0        q ∝ P^(1/γ), value γ log Σ P^(1/γ): for γ = 1 EM, where the value is the log-likelihood
    γ ≤ 0        q is one best labeling, value log max P: hard EM

Completions under rules have the same method: a constrained best labeling for γ = −∞ (CoDL), a
linear program for γ = 0, dual ascent for γ > 0 (posterior regularisation for γ = 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.generative import hmm_kernels as kernels
from sidelight.generative.hmm import HmmScores
from sidelight.parallel import shards, threads
from sidelight.spaces import ChainSpace, Space
from sidelight.spaces.chains import chain_sums
from sidelight.spaces.second_order import second_order_sums
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderScores, SecondOrderSpace

NO_SECOND: Floats = np.zeros((0, 0, 0))


@dataclass(frozen=True, slots=True)
class StateBeliefs:
    """Expectations over the outputs of a batch. All except `values` are multiplied by the weight of the sequence."""

    values: Floats  # [N] E_q[score] + γ H(q) of each sequence
    tokens: Floats  # [T, L] q(y_t = l)
    transitions: Floats  # [L, L] expected number over the whole batch, as all that follow
    start: Floats  # [L]
    end: Floats  # [L]
    second: Floats = field(default_factory=lambda: NO_SECOND)  # [L, L, L], or empty in first order
    labels: Ids | None = None  # [T] where q is one labeling


def point(labels: Ids, values: Floats, space: Space, *, weights: Floats | None = None) -> StateBeliefs:
    """All belief in a given labeling [T] of every sequence, whose values [N] are known.

    >>> from sidelight.spaces import ChainSpace
    >>> found = point(np.array([0, 1], dtype=np.int32), np.zeros(1), ChainSpace(np.array([0, 2]), 2))
    >>> found.transitions.tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    size, starts = space.n_labels, space.starts
    each = np.ones(len(values)) if weights is None else weights
    tokens = np.zeros((len(labels), size))
    by_token = np.repeat(each, np.diff(starts))
    tokens[np.arange(len(labels)), labels] = by_token
    numbers = labels.astype(np.int64)
    inner = np.ones(len(labels), dtype=bool)
    inner[starts[:-1]] = False
    second = NO_SECOND
    now = np.flatnonzero(inner)
    pairs = numbers[now - 1] * size + numbers[now]
    moves = _summed(pairs, by_token[now], size * size).reshape(size, size)
    if isinstance(space, SecondOrderSpace):
        third = now[inner[now - 1]]
        triples = (numbers[third - 2] * size + numbers[third - 1]) * size + numbers[third]
        second = _summed(triples, by_token[third], size**3).reshape(size, size, size)
    start = _summed(numbers[starts[:-1]], each, size)
    end = _summed(numbers[starts[1:] - 1], each, size)
    return StateBeliefs(values, tokens, moves, start, end, second, labels)


def expected(counts: Floats, scores: Floats) -> float:
    """Σ counts · scores, where a score of −inf that never counts is nothing."""
    seen = counts > 0.0
    return float(np.sum(counts[seen] * scores[seen]))


def _summed(cells: Ints, amounts: Floats, size: int) -> Floats:
    return np.bincount(cells, amounts, minlength=size).astype(np.float64)


NO_MASKS: Bytes = np.zeros((0, 0), dtype=np.uint8)


class Completion(Protocol):
    """How outputs are completed; a learner completes all its unlabelled inputs at once, always in the same order."""

    def complete(
        self,
        scores: SecondOrderScores,
        space: Space,
        *,
        gamma: float,
        weights: Floats | None = None,  # [N]
        n_jobs: int | None = None,
    ) -> StateBeliefs:
        """The best q of every sequence; raises `Infeasible` if no labeling is possible."""
        ...


@dataclass(frozen=True, slots=True)
class Free:
    """No demands on q but the labelings of the space."""

    prices = ()
    memory = None
    began = None

    def part(self, lo: int, hi: int) -> Free:
        """The completion of some inputs: unchanged."""
        return self

    def at(self, prices: Sequence[float], memory: Floats | None) -> None:
        """Does nothing: there is no state."""

    def rows(self) -> int:
        """There is nothing to remember."""
        return 0

    def completed(self, labels: Ids | None, starts: Ints) -> None:
        """There is nothing to learn of it."""

    def complete(
        self,
        scores: SecondOrderScores,
        space: Space,
        *,
        gamma: float,
        weights: Floats | None = None,
        n_jobs: int | None = None,
    ) -> StateBeliefs:
        """See the top of the file.

        >>> half = GivenSecondOrderScores(np.log(np.full((1, 2), 0.5)), *map(np.zeros, ((2, 2), 2, 2, (0, 0, 0))))
        >>> Free().complete(half, ChainSpace(np.array([0, 1]), 2), gamma=1.0).tokens.tolist()
        [[0.5, 0.5]]
        """
        if math.isnan(gamma):
            raise ValueError("gamma is not a number; give one from -inf to inf")
        if gamma <= 0.0:
            return hard(scores, space, weights=weights, n_jobs=n_jobs)
        if math.isinf(gamma):
            return uniform(scores, space, weights=weights, n_jobs=n_jobs)
        if isinstance(scores, HmmScores) and isinstance(space, ChainSpace) and space.left_out is None:
            return _of_probabilities(scores, space, gamma, weights, n_jobs)
        return _of_scores(scores, space, gamma, weights, n_jobs)


def hard(
    scores: SecondOrderScores, space: Space, *, weights: Floats | None = None, n_jobs: int | None = None
) -> StateBeliefs:
    """All belief in one best labeling."""
    paths = space.best(scores, n_jobs=n_jobs)
    return point(paths.labels, paths.values, space, weights=weights)


def uniform(
    scores: SecondOrderScores, space: Space, *, weights: Floats | None = None, n_jobs: int | None = None
) -> StateBeliefs:
    """Equal beliefs in all labelings; the values are E_q[score]."""
    every = spread(space, weights=weights, n_jobs=n_jobs)
    values = np.empty(len(space.starts) - 1)
    for i, first in enumerate(space.starts[:-1]):
        one = spread(space.part(i, i + 1))
        parts = (
            (one.tokens, scores.block(int(first), int(space.starts[i + 1]))),
            (one.transitions, scores.transition),
            (one.start, scores.start),
            (one.end, scores.end),
            (one.second, scores.second if len(one.second) else NO_SECOND),
        )
        values[i] = sum(expected(beliefs, of) for beliefs, of in parts)
    check_possible(values)
    return StateBeliefs(values, every.tokens, every.transitions, every.start, every.end, every.second)


def spread(space: Space, *, weights: Floats | None = None, n_jobs: int | None = None) -> StateBeliefs:
    """As `uniform`, with zeros for values."""
    if isinstance(space, ChainSpace):
        return _of_sums(chain_sums.beliefs(space, space.zero_scores(), prices=weights, n_jobs=n_jobs), 0.0)
    if not isinstance(space, SecondOrderSpace):
        raise Intractable(f"there are no sums over a {type(space).__name__}")
    # without scores the order does not matter to q, and second-order sums would cost more
    zero, size = space.labelings.zero_scores(), space.n_labels
    edges = zero.transition, zero.start, zero.end
    silent = GivenSecondOrderScores(zero.tokens, *edges, np.zeros((size, size, size)))
    return _of_sums(second_order_sums.beliefs(space, silent, prices=weights, n_jobs=n_jobs), 0.0)


def check_possible(values: Floats) -> None:
    """Raise `Infeasible` for the first sequence whose value is −inf."""
    impossible = np.flatnonzero(~(values > -np.inf))
    if len(impossible):
        raise Infeasible(
            f"sequence {int(impossible[0])}: every labeling that is admitted has probability 0; smooth the counts, or "
            "begin with other parameters"
        )


def _of_probabilities(
    scores: HmmScores, space: ChainSpace, gamma: float, weights: Floats | None, n_jobs: int | None
) -> StateBeliefs:
    """γ > 0 for an HMM of first order: tables of powers of its probabilities, made once for all tokens."""
    starts, size = space.starts, space.n_labels
    factors, tops = kernels.emission_factors(scores.hmm.emission, 1.0 / gamma)
    transition, start, end = (part / gamma for part in space.masked(scores))
    values = np.empty(len(starts) - 1)
    tokens = np.empty((int(starts[-1]), size))
    masks = NO_MASKS if space.admitted is None else space.admitted
    priced = np.ones(len(values)) if weights is None else weights

    def run(shard: tuple[int, int]) -> Floats:
        counts = np.empty((size, size))
        kernels.beliefs(
            starts,
            *shard,
            scores.symbols,
            scores.hmm.emission,
            1.0 / gamma,
            factors,
            tops,
            masks,
            transition,
            start,
            end,
            priced,
            values,
            tokens,
            counts,
        )
        return counts

    parts = threads(run, shards(starts), n_jobs=n_jobs)
    check_possible(values)
    counts = np.zeros((size, size))
    for part in parts:  # in the order of the shards, so that threads do not matter
        counts += part
    return StateBeliefs(values * gamma, tokens, counts, tokens[starts[:-1]].sum(0), tokens[starts[1:] - 1].sum(0))


def _of_scores(
    scores: SecondOrderScores, space: Space, gamma: float, weights: Floats | None, n_jobs: int | None
) -> StateBeliefs:
    if isinstance(space, ChainSpace):
        sums = chain_sums.beliefs(space, scores, prices=weights, temperature=gamma, n_jobs=n_jobs)
        return _of_sums(sums, gamma)
    if not isinstance(space, SecondOrderSpace):
        raise Intractable(f"there are no sums over a {type(space).__name__}; use gamma 0")
    second = second_order_sums.beliefs(space, scores, prices=weights, temperature=gamma, n_jobs=n_jobs)
    return _of_sums(second, gamma)


def _of_sums(sums: chain_sums.Beliefs | second_order_sums.SecondOrderBeliefs, gamma: float) -> StateBeliefs:
    second = NO_SECOND if isinstance(sums, chain_sums.Beliefs) else sums.second
    return StateBeliefs(sums.log_sums * gamma, sums.tokens, sums.transitions, sums.start, sums.end, second)
