"""Agreement of two models, slot by slot, on the outputs of the same inputs (thesis Eq. 4.9, Algorithm 9).

Each choice of a slot makes a link, or none. Links are statements that both models share: "token t has label l", or
"word i is aligned to word j", which the two directions of an alignment express by choices of different slots. With
scores s₁ and s₂ and the links u of an output,

    max_{q₁, q₂}  Σ_k E_{q_k}[s_k] + γ H(q_k)       so that   E_{q₁}[u] = E_{q₂}[u].

Its dual has one multiplier λ per link, a bonus +λ of the first model's choices and −λ of the second's:

    γ > 0   min_λ  γ log Σ exp((s₁ + λ·u) / γ) + γ log Σ exp((s₂ − λ·u) / γ)     smooth; by L-BFGS over all inputs
    γ = 0   min_λ  max (s₁ + λ·u) + max (s₂ − λ·u)                               by subgradient steps, input by input

(the printed algorithm has the opposite signs of q₁ and q₂, which moves away from agreement). For γ = 0, if both best
outputs have the same links, they are the best of s₁ + s₂ among all pairs that agree: primal and dual values are equal.
If there is no agreement at the end, the dual value is an upper bound for all such pairs (dual decomposition; Rush,
Sontag, Collins and Jaakkola 2010). Spaces need `best` for γ = 0, sums for γ > 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.spaces import Space, sums

PATIENCE = 5  # rounds without a lower dual value of an input before its steps are halved
LEVEL = 0.1  # how far below its dual value an input's optimum is taken to be at first, where nothing is known of it


class Side(NamedTuple):
    """One of the models on a batch of inputs."""

    space: Space
    scores: Any  # as the space takes them; for γ > 0 divided by γ
    links: Ints  # [T, K] the number of the link that a choice makes, −1 for none; inputs share no links

    def bonus(self, multipliers: Floats) -> Floats:
        """[T, K]"""
        return np.where(self.links >= 0, multipliers[self.links], 0.0)

    def raised(self, multipliers: Floats) -> tuple[Space, Any]:
        """Space and scores with the bonus of all links."""
        return sums.raised(self.space, self.scores, self.bonus(multipliers))

    def expected(self, shares: Floats, count: int) -> Floats:
        """The expected amount of each link, given the shares of choices [T, K]. # [links]"""
        linked = self.links >= 0
        totals: Floats = np.bincount(self.links[linked], weights=shares[linked], minlength=count).astype(np.float64)
        return totals

    def link_counts(self, labels: Ids, count: int) -> Floats:
        """The links of an output. # [links]"""
        links = self.links[np.arange(len(labels)), labels]
        return np.bincount(links[links >= 0], minlength=count).astype(np.float64)

    def owners(self, count: int) -> Ints:
        """The input of each link, −1 for those that this side does not make. # [links]"""
        inputs = np.repeat(np.arange(len(self.space.starts) - 1), np.diff(self.space.starts))
        out = np.full(count, -1, dtype=np.int64)
        linked = self.links >= 0
        out[self.links[linked]] = np.broadcast_to(inputs[:, None], self.links.shape)[linked]
        return out


class AgreedBeliefs(NamedTuple):
    """q₁ and q₂, γ > 0."""

    first: Floats  # [T, K] marginals of choices
    second: Floats  # [T', K']
    values: Floats  # [N] of the dual: never below the optimum
    apart: Floats  # [N] the largest difference of E[u]


class AgreedOutputs(NamedTuple):
    """Best outputs, γ = 0."""

    first: Ids  # [T]
    second: Ids  # [T']
    bounds: Floats  # [N] the lowest dual value met: no pair of outputs that agrees has more
    agreed: NDArray[np.bool_]  # [N] both have the same links, and are the best pair that has
    rounds: int


def agreed_beliefs(
    first: Side,
    second: Side,
    *,
    gamma: float = 1.0,
    tolerance: float = 1e-3,
    max_rounds: int = 200,
    n_jobs: int | None = None,
) -> AgreedBeliefs:
    """Distributions over outputs whose expected links differ by at most `tolerance`, or as little as rounds allow.

    The scores of both sides are those of the models divided by γ.
    """
    count = _count(first, second)

    def dual(multipliers: Floats, gradient: Floats) -> float:
        value = 0.0
        gradient[:] = 0.0
        for side, sign in ((first, 1.0), (second, -1.0)):
            raised = side.raised(sign * multipliers)
            value += float(sums.log_sums(*raised, n_jobs=n_jobs).sum())
            gradient += sign * side.expected(sums.token_marginals(*raised, n_jobs=n_jobs), count)
        return value

    solver = Lbfgs.fresh(np.zeros(count), LbfgsOptions(epsilon=0.0, delta=0.0), n_jobs=n_jobs)
    solver.step(dual)
    for _ in range(max_rounds):
        if solver.stopped or np.abs(solver.gradient).max(initial=0.0) <= tolerance:
            break
        solver.step(dual)
    raised = [side.raised(sign * solver.weights) for side, sign in ((first, 1.0), (second, -1.0))]
    beliefs = [sums.token_marginals(*one, n_jobs=n_jobs) for one in raised]
    values = gamma * sum(sums.log_sums(*one, n_jobs=n_jobs) for one in raised)
    return AgreedBeliefs(beliefs[0], beliefs[1], np.asarray(values), _largest(first, second, solver.gradient))


def agreed_outputs(first: Side, second: Side, *, max_rounds: int = 200, n_jobs: int | None = None) -> AgreedOutputs:
    """The best pair of outputs with the same links, proved where `agreed` says so; else what both have at the end."""
    count = _count(first, second)
    owners = np.maximum(first.owners(count), second.owners(count))
    size = len(first.space.starts) - 1
    multipliers, bounds = np.zeros(count), np.full(size, np.inf)
    agreed, rates, waited = np.zeros(size, dtype=bool), np.ones(size), np.zeros(size, dtype=np.int64)
    levels = np.zeros(size)
    labels = [np.zeros(int(side.space.starts[-1]), dtype=np.int32) for side in (first, second)]
    rounds = 0
    while rounds < max_rounds and not agreed.all():
        rounds += 1
        sides = []
        for side, sign in ((first, 1.0), (second, -1.0)):
            space, scores = side.raised(sign * multipliers)
            sides.append(space.best(scores, n_jobs=n_jobs))
        values = sides[0].values + sides[1].values
        apart = first.link_counts(sides[0].labels, count) - second.link_counts(sides[1].labels, count)
        norms = np.bincount(owners[owners >= 0], weights=(apart * apart)[owners >= 0], minlength=size)
        if rounds == 1:
            levels = LEVEL * (1.0 + np.abs(values))
        lower = values < bounds - 1e-12 * (1.0 + np.abs(values))
        bounds = np.where(agreed, bounds, np.minimum(values, bounds))
        waited = np.where(lower, 0, waited + 1)
        rates[waited >= PATIENCE] *= 0.5
        waited[waited >= PATIENCE] = 0
        for place, (side, one) in enumerate(zip((first, second), sides)):
            still = np.repeat(~agreed, np.diff(side.space.starts))
            labels[place][still] = one.labels[still]
        agreed |= norms == 0.0
        steps = np.where(agreed, 0.0, rates * (values - bounds + levels) / np.maximum(norms, 1.0))
        multipliers -= np.where(owners >= 0, steps[owners], 0.0) * apart
    return AgreedOutputs(labels[0], labels[1], bounds, agreed, rounds)


def _count(first: Side, second: Side) -> int:
    """The number of links; raises `ValueError` if the sides have different numbers of inputs."""
    if len(first.space.starts) != len(second.space.starts):
        raise ValueError("both sides must have the same inputs")
    return 1 + int(max(first.links.max(initial=-1), second.links.max(initial=-1)))


def _largest(first: Side, second: Side, apart: Floats) -> Floats:
    """The largest difference of the links of every input. # [N]"""
    owners = np.maximum(first.owners(len(apart)), second.owners(len(apart)))
    out = np.zeros(len(first.space.starts) - 1)
    known = owners >= 0
    np.maximum.at(out, owners[known], np.abs(apart[known]))
    return out
