"""Smoothing: probabilities from counts, with a share for unseen outcomes.

With n_k the count of outcome k of K, N their sum, and T = Σ min(1, n_k) the number of distinct outcomes seen:

    none           n_k / N
    additive       (n_k + a) / (N + a K)
    mass           (n_k + m / K) / (N + m): the total mass m, spread over the outcomes
    uniform        (1 − λ) n_k / N + λ / K
    unigram        (1 − λ) n_k / N + λ P(k), with P(k) from the counts of all conditions together
    witten_bell    (n_k + T P(k)) / (N + T)

An outcome may represent several (the unknown word represents all unseen words): then K counts these, and 1, a or 1 / K
above is multiplied by their number (`sizes`). The first three maximise Σ n_k log p_k + Σ α_k log p_k with α_k = 0, a, m
/ K: a Dirichlet prior (`prior`), so EM with them has an objective that never falls. Witten and Bell 1991; Chen and
Goodman 1998 compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np

from sidelight.core.arrays import Floats

Kind = Literal["none", "additive", "mass", "uniform", "unigram", "witten_bell"]
KINDS: tuple[str, ...] = get_args(Kind)
TRACE = 1e-60  # a probability below this is 0: nothing in the data needs it, and its powers would slow the sums


@dataclass(frozen=True, slots=True)
class Smoothing:
    """A kind, and its a, m or λ; `none` and `witten_bell` have no amount."""

    kind: Kind = "none"
    amount: float = 0.0

    @classmethod
    def of(cls, kind: str, amount: float) -> Smoothing:
        """Checked; raises ValueError.

        >>> Smoothing.of("mass", 100.0).amount
        100.0
        """
        if kind not in KINDS:
            raise ValueError(f"smoothing is {kind!r}; there are {', '.join(KINDS)}")
        if not 0.0 <= amount < float("inf"):
            raise ValueError(f"the amount of smoothing is {amount}; give a number that is not negative")
        if kind in ("uniform", "unigram") and amount > 1.0:
            raise ValueError(f"the amount of smoothing is {amount}; the share of {kind} is at most 1")
        return cls(cast(Kind, kind), float(amount))

    def prior(self, sizes: Floats) -> Floats:
        """α where the probabilities maximise a posterior, 0 for other kinds; sizes and priors are [K]."""
        if self.kind == "additive":
            return self.amount * sizes
        return sizes * (self.amount / sizes.sum() if self.kind == "mass" else 0.0)

    @property
    def maximises(self) -> bool:
        """Whether the probabilities are those of the largest posterior."""
        return self.kind in ("none", "additive", "mass")


def smoothed(
    counts: Floats,
    smoothing: Smoothing,
    *,
    axis: int,
    sizes: Floats | None = None,
    lower: Floats | None = None,
) -> Floats:
    """Probabilities that sum to one along the axis of the outcomes; uniform without any counts.

    `sizes` [K] are the numbers of outcomes that each represents; `lower` are the P(k) of unigram and witten_bell, by
    default from the counts of all conditions.

    >>> smoothed(np.array([[3.0, 1.0], [0.0, 0.0]]), Smoothing("additive", 1.0), axis=1).round(2).tolist()
    [[0.67, 0.33], [0.5, 0.5]]
    """
    shape = [1] * counts.ndim
    shape[axis] = counts.shape[axis]
    each = np.ones(shape) if sizes is None else sizes.reshape(shape)
    total = counts.sum(axis=axis, keepdims=True)
    if smoothing.maximises:
        prior = smoothing.prior(each)
        whole = total + prior.sum()
        shares = (counts + prior if smoothing.amount else counts) / np.where(whole > 0.0, whole, 1.0)
        if not np.all(whole > 0.0):
            shares = np.where(whole > 0.0, shares, each / each.sum())
        shares[shares < TRACE] = 0.0
        return np.asarray(shares)
    other = each / each.sum()
    if smoothing.kind != "uniform":
        other = _pooled(counts, axis, other) if lower is None else lower
    if smoothing.kind == "witten_bell":
        types = np.minimum(counts, 1.0).sum(axis=axis, keepdims=True)
        weight = np.where(total > 0.0, types / np.where(total > 0.0, total + types, 1.0), 1.0)
    else:
        weight = np.where(total > 0.0, smoothing.amount, 1.0)
    return np.asarray((1.0 - weight) * counts / np.where(total > 0.0, total, 1.0) + weight * other)


def _pooled(counts: Floats, axis: int, uniform: Floats) -> Floats:
    """The outcomes of all conditions together, themselves smoothed by their number. # 1 in all other axes"""
    others = tuple(k for k in range(counts.ndim) if k != axis % counts.ndim)
    pooled = counts.sum(axis=others, keepdims=True)
    types = np.minimum(pooled, 1.0).sum()
    if types == 0.0:
        return uniform
    return np.asarray((pooled + types * uniform) / (pooled.sum() + types))
