"""What is expected of the outputs of a batch: the result of an E-step, or of labels that are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.spaces import Space
from sidelight.spaces.second_order.second_order import SecondOrderSpace

NO_SECOND: Floats = np.zeros((0, 0, 0))


@dataclass(frozen=True, slots=True)
class StateBeliefs:
    """What is expected of the outputs of a batch. All but `values` count a sequence as often as its weight says."""

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
