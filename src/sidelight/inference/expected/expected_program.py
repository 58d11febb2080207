"""Beliefs under rules for γ = 0: a linear program over beliefs of tokens and edges (thesis Eq. 4.6)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.features.rows import offsets_of
from sidelight.inference.methods.program import without_gain
from sidelight.inference.methods.sequence_program import chain_program
from sidelight.rules.lowering.expectations import HARD, Expectations
from sidelight.spaces.highs import LinearProgram, solve

Believed = tuple[Floats, Floats, float, float]


def believed_by_program(scores: Floats, transition: Floats, reading: Expectations) -> Believed | None:
    """Beliefs of tokens [T, L], expected transitions [L, L], the value and its penalties; None if none obeys.

    `scores` [T, L] have those of the start and the end added, and −inf if a label is ruled out.
    """
    program = _program(scores, transition, reading)
    optimum = solve(program, integer=False)
    if optimum.point is None:
        return None
    length, size = scores.shape
    nodes = optimum.point[: length * size].reshape(length, size)
    edges = optimum.point[length * size : length * size * (1 + size) - size * size].reshape(-1, size, size)
    slack = optimum.point[len(optimum.point) - len(reading.price) :]
    penalty = reading.constant + float(reading.price @ slack)
    penalty += float(reading.cost @ optimum.point[: len(reading.cost)])
    return np.clip(nodes, 0.0, 1.0), np.clip(edges, 0.0, 1.0).sum(axis=0), optimum.value - reading.constant, penalty


def possible(scores: Floats, transition: Floats, reading: Expectations) -> bool:
    """Whether some belief obeys all hard rows."""
    return solve(without_gain(_program(scores, transition, reading)), integer=False).point is not None


def _program(scores: Floats, transition: Floats, reading: Expectations) -> LinearProgram:
    base = chain_program(scores, transition)
    columns, groups = len(base.gain), len(reading.price)
    upper = np.concatenate([base.upper, np.full(groups, math.inf)])
    upper[reading.ruled_out] = 0.0
    soft = reading.group != HARD
    counts = np.diff(reading.starts) + soft
    starts = offsets_of(counts)
    entries = np.empty(int(starts[-1]), np.int64)
    weights = np.empty(int(starts[-1]))
    last = starts[1:] - 1
    mine = np.ones(len(entries), np.bool_)
    mine[last[soft]] = False
    entries[mine], weights[mine] = reading.columns, reading.weights
    entries[last[soft]], weights[last[soft]] = columns + reading.group[soft], -reading.share[soft]
    gain = np.concatenate([base.gain, -reading.price])
    gain[: len(reading.cost)] -= reading.cost
    return replace(
        base,
        gain=gain,
        upper=upper,
        whole=np.zeros(columns + groups, np.bool_),
        starts=np.concatenate([base.starts, base.starts[-1] + starts[1:]]),
        columns=np.concatenate([base.columns, entries]),
        weights=np.concatenate([base.weights, weights]),
        low=np.concatenate([base.low, np.full(reading.n_rows, -math.inf)]),
        high=np.concatenate([base.high, reading.bound]),
    )
