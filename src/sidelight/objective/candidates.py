"""Margins from candidate labels: CLLP and MMS.

Each input i has a set Y_i of admitted outputs (the product of its parts' candidates); Gold has one, an unlabelled
input all. With the scores s(y) = w·Φ(x_i, y), positive parts |v|₊ = max(0, v) and a cost Δ,

    CLLP   ½ ‖w‖² + Σ_i min_{ŷ ∈ Y_i}  C1 |max_{y ∈ Y_i} Δ(ŷ, y) + s(y) − s(ŷ)|₊
                                     + C2 |max_{y ∉ Y_i} Δ(ŷ, y) + s(y) − s(ŷ)|₊
    MMS    ½ ‖w‖² + Σ_i C2 |max_{y ∉ Y_i} [Δ_min(y, Y_i) + s(y)] − max_{ŷ ∈ Y_i} s(ŷ)|₊

(CLLP Eq. 7 and 8, the latter with the minimum over Y_i; with Hamming cost Δ_min counts the parts outside their
candidates). For fixed ŷ both are convex: TargetTerms over the space inside and over the space outside the candidates.
J_gold >= J_CLLP >= J_MMS at every w (CLLP Theorem 3), where J_gold has the true outputs as ŷ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.kernels import inner
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import ChainBatch, TargetTerms
from sidelight.spaces import Cost, LeavingCost

Margins = Literal["cllp", "mms"]


@dataclass(frozen=True, slots=True)
class Group:
    """Inputs that have outputs on one side of their candidates, and the space of these outputs."""

    which: Ints  # their numbers among all inputs
    tokens: Ints | None  # their tokens among those of all inputs; None for all
    batch: ChainBatch
    admitted: Bytes  # [T of the group, L]
    prices: Floats

    @classmethod
    def of(cls, batch: ChainBatch, admitted: Bytes, prices: Floats, *, inside: bool) -> Group:
        """The inputs that have more than one candidate output, or an output outside their candidates."""
        if inside:
            space = batch.space.inside(admitted)
            labels = space.random(np.random.default_rng(0), n_jobs=batch.n_jobs)
            one = np.zeros_like(admitted)
            one[np.arange(len(labels)), labels] = 1
            which = np.flatnonzero(space.outside(one).feasible(n_jobs=batch.n_jobs))
        else:
            space = batch.space.outside(admitted)
            which = np.flatnonzero(space.feasible(n_jobs=batch.n_jobs))
        batch = replace(batch, space=space)
        if len(which) == len(batch):
            return cls(which, None, batch, admitted, prices)
        tokens = batch.rows.tokens_of(which)
        return cls(which, tokens, batch.take(which), admitted[tokens], prices[which])

    def targets(self, labels: Ids) -> Ids:
        """The completed outputs of the group's inputs. # [T of the group]"""
        return labels if self.tokens is None else labels[self.tokens]


@dataclass(frozen=True, slots=True)
class CandidateProblem:
    """Inputs with their candidates, and the convex problem that a choice among them leaves."""

    batch: ChainBatch  # its space is inside the candidates
    costs: Floats  # [L, L] of a label where another is right
    margins: Margins
    inside: Group
    outside: Group

    @classmethod
    def of(
        cls,
        batch: ChainBatch,
        admitted: Bytes,  # [T, L]
        *,
        costs: Floats,
        prices: tuple[Floats, Floats],  # [N], [N] C1 against other candidates, C2 against what is outside them
        margins: Margins = "cllp",
    ) -> CandidateProblem:
        """Raises `Infeasible` where an input has no candidate output."""
        inside = Group.of(batch, admitted, prices[0], inside=True)
        outside = Group.of(batch, admitted, prices[1], inside=False)
        return cls(replace(batch, space=batch.space.inside(admitted)), costs, margins, inside, outside)

    def __len__(self) -> int:
        return len(self.batch)

    def complete(self, weights: Floats) -> Ids:
        """The best candidate output of each input (CLLP Eq. 14). # [T]"""
        return self.batch.best(weights).labels

    def random(self, rng: np.random.Generator) -> Ids:
        """A candidate output of each input, uniformly at random. # [T]"""
        return self.batch.space.random(rng, n_jobs=self.batch.n_jobs)

    def convex(self, labels: Ids) -> list[TargetTerms]:
        """The terms that a completion leaves: inside the candidates (CLLP alone), and outside them."""
        ours, theirs = self.inside, self.outside
        targets = theirs.targets(labels)
        if self.margins == "mms":
            return [TargetTerms(theirs.batch, LeavingCost(targets, theirs.admitted), theirs.prices)]
        return [
            TargetTerms(ours.batch, Cost(ours.targets(labels), self.costs), ours.prices),
            TargetTerms(theirs.batch, Cost(targets, self.costs), theirs.prices),
        ]

    def term_numbers(self, inputs: Ints) -> Ints:
        """The numbers of these inputs' terms, where the groups of `convex` are stacked."""
        groups = [self.outside] if self.margins == "mms" else [self.inside, self.outside]
        firsts = np.cumsum([0, *(len(group.which) for group in groups)])
        found = [first + np.flatnonzero(np.isin(group.which, inputs)) for first, group in zip(firsts, groups)]
        return np.concatenate(found)

    def objective(self, weights: Floats, labels: Ids, *, power: int = 1) -> float:
        """The objective at some weights and completed outputs."""
        losses = (total_loss(terms.worst(weights).values, terms.prices, power) for terms in self.convex(labels))
        return 0.5 * inner(weights, weights) + sum(losses)
