"""Beliefs under clauses without a linear form: chains whose labels include the states of counters.

If clauses have counters (`rules.lowering.counters`), a chain over pairs (state, label) replaces the chain over labels,
where the state is that of all counters after the token. A pair and the next label determine the next state, so both
chains have the same paths, and the violation of a step follows from its two ends: it costs ρ per degree, or is
excluded. All other scores apply to every pair with the label. Any method for chains then finds beliefs about pairs, and
their sums over states are beliefs about labels.

Symbols: T tokens, L labels, S states of counters together; the pair (s, l) has the number s L + l.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.rules.lowering.expectations import MOST_STATES, Expectations, too_many_states


@dataclass(frozen=True, slots=True, eq=False)
class PairedChain:
    """The chain over pairs: its scores, and the constraints on beliefs."""

    scores: Floats  # [T, S L] −inf where a pair cannot be
    transition: Floats  # [S L, S L] by the labels alone
    reading: Expectations  # without counters

    @property
    def n_pairs(self) -> int:
        return int(self.scores.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The transitions of counters, and their costs."""

    following: list[Ints]  # [T] of [S before, L before, L] the next state; -1 where that is ruled out
    charges: list[Floats]  # [T] of [S before, L before, L]
    n_states: int  # the maximum after one token


def paired(scores: Floats, transition: Floats, reading: Expectations) -> PairedChain:
    """The chain over pairs for the scores [T, L] of a chain and a reading with counters.

    Raises `Intractable` if there are too many pairs.
    """
    length, size = scores.shape
    steps = _walk(reading, length, size)
    pairs = steps.n_states * size
    wide = np.full((length, pairs), -np.inf)
    places, bases, charges, outs = [], [], [], []
    reached: NDArray[np.bool_] = np.ones((1, size), np.bool_)  # before the first token
    for t in range(length):
        following, charge = steps.following[t], steps.charges[t]
        before, s, k, label = reached, *_allowed(following, reached, first=t == 0)
        after = following[s, k, label]
        reached = np.zeros((steps.n_states, size), np.bool_)
        reached[after, label] = True
        there = np.flatnonzero(reached.ravel())
        wide[t, there] = scores[t, there % size]
        places.append(t * pairs + there)
        bases.append(t * size + there % size)
        paid = np.zeros(len(there))
        if t == 0:
            paid[np.searchsorted(there, after * size + label)] = charge[s, k, label]
        charges.append(paid)
        if t:
            first = length * pairs + (t - 1) * pairs * pairs
            edges = first + (s * size + k) * pairs + after * size + label
            places.append(edges)
            bases.append(length * size + (t - 1) * size * size + k * size + label)
            charges.append(charge[s, k, label])
            every = first + np.flatnonzero(before.ravel())[:, None] * pairs + there
            outs.append(np.setdiff1d(every, edges, assume_unique=True))
    expectations = _reading(
        reading,
        np.concatenate(places),
        np.concatenate(bases),
        np.concatenate(charges),
        np.concatenate([np.zeros(0, np.int64), *outs]),
        length * pairs + (length - 1) * pairs * pairs,
    )
    return PairedChain(wide, np.tile(transition, (steps.n_states, steps.n_states)), expectations)


def _walk(reading: Expectations, length: int, size: int) -> _Steps:
    """All reachable joint states of counters, token by token."""
    counters, prices = [one.counter for one in reading.counters], [one.price for one in reading.counters]
    states: Ints = np.zeros((1, len(counters)), np.int64)
    following, charges, most = [], [], 1
    for t in range(length):
        code = np.zeros((len(states), size, size), np.int64)
        charge = np.zeros(code.shape)
        for m, (one, price) in enumerate(zip(counters, prices)):
            kind = one.classes[one.which[t]]  # [L, L]
            at = states[:, m, None, None]
            code = code * int(one.sizes[t + 1]) + one.following[t][at, kind]
            degree = one.degrees[t][at, kind]
            charge += np.where(degree > 0, price, 0.0) * np.where(degree > 0, degree, 1)
        legal = charge < np.inf
        codes = np.unique(code[legal])
        if len(codes) * size > MOST_STATES:
            names = list(dict.fromkeys(reading.names[one.clause] for one in reading.counters))
            raise too_many_states(names, length, size)
        following.append(np.where(legal, np.searchsorted(codes, code), -1))
        charges.append(charge)
        columns = []
        for one in reversed(counters):
            codes, own = np.divmod(codes, int(one.sizes[t + 1]))
            columns.append(own)
        states = np.stack(columns[::-1], axis=1)
        most = max(most, len(states))
    return _Steps(following, charges, most)


def _allowed(following: Ints, reached: NDArray[np.bool_], *, first: bool) -> tuple[Ints, Ints, Ints]:
    """State, label and next label of every step that is not ruled out."""
    if first:
        (label,) = np.nonzero(following[0, 0] >= 0)
        return np.zeros_like(label), np.zeros_like(label), label
    s, k, label = np.nonzero((following >= 0) & reached[: len(following), :, None])
    return s, k, label


def _reading(
    reading: Expectations, places: Ints, bases: Ints, charges: Floats, outs: Ints, n_columns: int
) -> Expectations:
    """The constraints on columns of labels, converted to columns of pairs: `places` are the latter, `bases` those of
    their labels.
    """
    order = np.argsort(bases, kind="stable")
    places, bases, charges = places[order], bases[order], charges[order]
    cost = np.zeros(n_columns)
    cost[places] = reading.cost[bases] + charges
    first = np.searchsorted(bases, reading.columns)
    counts = np.searchsorted(bases, reading.columns, side="right") - first
    ends = np.cumsum(counts)
    entries = places[np.arange(int(counts.sum())) + np.repeat(first - ends + counts, counts)]
    rows = np.concatenate([[0], ends])[reading.starts]
    return replace(
        reading,
        ruled_out=np.union1d(outs, places[np.isin(bases, reading.ruled_out)]).astype(np.int64),
        cost=cost,
        starts=rows.astype(np.int64),
        columns=entries.astype(np.int64),
        weights=np.repeat(reading.weights, counts),
        outs=np.zeros((0, 2), np.int64),
        counters=(),
    )
