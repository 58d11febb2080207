"""Operations on long vectors for L-BFGS and OWL-QN, each with one pass over memory."""

from __future__ import annotations

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner, kernel

CHUNK = 1024  # weights at a time, so that every row's piece stays in the cache


@kernel
def combine(basis: Floats, rows: Ints, coefficients: Floats, lo: int, hi: int, out: Floats) -> None:
    for first in range(lo, hi, CHUNK):
        last = min(first + CHUNK, hi)
        target = out[first:last]
        target[:] = 0.0
        for row in rows:
            piece = basis[row, first:last]
            share = coefficients[row]
            for k in range(target.shape[0]):
                target[k] += share * piece[k]


@kernel
def products(basis: Floats, pairs: Ints, lo: int, hi: int, out: Floats) -> None:
    for first in range(lo, hi, CHUNK):
        last = min(first + CHUNK, hi)
        for p in range(pairs.shape[0]):
            out[p] += inner(basis[pairs[p, 0], first:last], basis[pairs[p, 1], first:last])


@kernel
def move(point: Floats, direction: Floats, step: float, out: Floats) -> None:
    for k in range(point.shape[0]):
        out[k] = point[k] + step * direction[k]


@kernel
def weighted_size(strengths: Floats, point: Floats) -> float:
    """Σ strength · |v|."""
    total = 0.0
    for k in range(strengths.shape[0]):
        total += strengths[k] * abs(point[k])
    return total


@kernel
def pseudo_gradient(point: Floats, gradient: Floats, strengths: Floats, out: Floats) -> None:
    for k in range(point.shape[0]):
        slope, strength = gradient[k], strengths[k]
        if point[k] > 0.0 or (point[k] == 0.0 and slope < -strength):
            out[k] = slope + strength
        elif point[k] < 0.0 or slope > strength:
            out[k] = slope - strength
        else:
            out[k] = 0.0


@kernel
def keep_signs(direction: Floats, pseudo: Floats) -> None:
    """Set coordinates of the direction that do not go downhill to 0."""
    for k in range(direction.shape[0]):
        if direction[k] * pseudo[k] >= 0.0:
            direction[k] = 0.0


@kernel
def move_in_orthant(point: Floats, direction: Floats, pseudo: Floats, step: float, out: Floats) -> float:
    """A step in which each weight stops at a change of sign; returns pseudo-gradient · (actual step)."""
    promised = 0.0
    for k in range(point.shape[0]):
        orthant = point[k] if point[k] != 0.0 else -pseudo[k]
        value = point[k] + step * direction[k]
        out[k] = value if value * orthant > 0.0 else 0.0
        promised += pseudo[k] * (out[k] - point[k])
    return promised
