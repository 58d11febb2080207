"""Margins from candidate labels: CLLP and MMS.

Each input i has a set Y_i of admitted outputs (the product of its parts' candidates); Gold has one, an unlabelled
input all. With the scores s(y) = w·Φ(x_i, y), positive parts |v|₊ = max(0, v) and a cost Δ,

    CLLP   ½ ‖w‖² + Σ_i min_{ŷ ∈ Y_i}  C1 |max_{y ∈ Y_i} Δ(ŷ, y) + s(y) − s(ŷ)|₊
                                     + C2 |max_{y ∉ Y_i} Δ(ŷ, y) + s(y) − s(ŷ)|₊
    MMS    ½ ‖w‖² + Σ_i C2 |max_{y ∉ Y_i} [Δ_min(y, Y_i) + s(y)] − max_{ŷ ∈ Y_i} s(ŷ)|₊

(CLLP Eq. 7 and 8, the latter with the minimum over Y_i; with Hamming cost Δ_min counts the parts outside their
candidates). For fixed ŷ both are convex: target terms over the space inside and over the space outside the candidates.
J_gold >= J_CLLP >= J_MMS at every w (CLLP Theorem 3), where J_gold has the true outputs as ŷ.

What an output outside the candidates is charged may be had the other way round: Δ_min in CLLP, which then is MMS with
margins inside and becomes MMS as C1 goes to 0, or Δ(ŷ, y) in MMS, which then is CLLP without margins inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner
from sidelight.errors import Intractable
from sidelight.objective.batch import Batch
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import SummedTerms
from sidelight.spaces import ChainSpace, Cost, LeavingCost, Space
from sidelight.spaces.parts import PartLeavingCost, PartLoss, Parts, PartSpace

Margins = Literal["cllp", "mms"]
Charge = Literal["completion", "candidates"]  # outside outputs pay for labels unlike ŷ, or for parts that have left


def inside_of(space: Space, candidates: Bytes | Parts) -> Space:
    """The outputs within candidates."""
    return PartSpace(_chain(space), candidates) if isinstance(candidates, Parts) else space.inside(candidates)


def outside_of(space: Space, candidates: Bytes | Parts) -> Space:
    """The outputs that leave at least one part's candidates."""
    if isinstance(candidates, Parts):
        return PartSpace(_chain(space), candidates, leaves=True)
    return space.outside(candidates)


def leaving_cost(targets: Ids, candidates: Bytes | Parts) -> LeavingCost | PartLeavingCost:
    """The number of parts outside their candidates."""
    return PartLeavingCost(targets, candidates) if isinstance(candidates, Parts) else LeavingCost(targets, candidates)


def _chain(space: Space) -> ChainSpace:
    if not isinstance(space, ChainSpace):
        raise Intractable("chunks of candidates need a chain of order 1; leave order out")
    return space


@dataclass(frozen=True, slots=True)
class Group:
    """Inputs that have outputs on one side of their candidates, and the space of these outputs."""

    which: Ints  # their numbers among all inputs
    tokens: Ints | None  # their tokens among those of all inputs; None for all
    batch: Batch
    candidates: Bytes | Parts  # of the group's tokens
    prices: Floats

    @classmethod
    def inside(cls, batch: Batch, candidates: Bytes | Parts, prices: Floats) -> Group:
        """The inputs with more than one label for some token, among their candidate outputs."""
        admitted = candidates.admitted if isinstance(candidates, Parts) else candidates
        several = np.add.reduceat(admitted.sum(axis=1) > 1, batch.starts[:-1])
        return cls._of(batch, candidates, prices, inside_of(batch.space, candidates), np.flatnonzero(several))

    @classmethod
    def outside(cls, batch: Batch, candidates: Bytes | Parts, prices: Floats) -> Group:
        """The inputs that have an output outside their candidates."""
        space = outside_of(batch.space, candidates)
        return cls._of(batch, candidates, prices, space, np.flatnonzero(space.feasible(n_jobs=batch.n_jobs)))

    @classmethod
    def _of(cls, batch: Batch, candidates: Bytes | Parts, prices: Floats, space: Space, which: Ints) -> Group:
        batch = batch.within(space)
        if len(which) == len(batch):
            return cls(which, None, batch, candidates, prices)
        tokens = batch.slots_of(which)
        theirs = candidates.take(tokens) if isinstance(candidates, Parts) else candidates[tokens]
        return cls(which, tokens, batch.take(which), theirs, prices[which])

    def targets(self, labels: Ids) -> Ids:
        """The completed outputs of the group's inputs. # [T of the group]"""
        return labels if self.tokens is None else labels[self.tokens]


@dataclass(frozen=True, slots=True)
class CandidateProblem:
    """Inputs with their candidates, and the convex problem that a choice among them leaves."""

    batch: Batch  # its space is inside the candidates
    costs: Floats  # [L, L] of a label where another is right
    margins: Margins
    charge: Charge
    inside: Group
    outside: Group
    whole_parts: bool = False  # a part is wrong or right, and costs one; else its tokens are

    @classmethod
    def of(
        cls,
        batch: Batch,
        candidates: Bytes | Parts,  # [T, L] labels of single tokens, or labelings of parts
        *,
        costs: Floats,
        prices: tuple[Floats, Floats],  # [N], [N] C1 against other candidates, C2 against what is outside them
        margins: Margins = "cllp",
        charge: Charge = "completion",
        whole_parts: bool = False,
    ) -> CandidateProblem:
        """Raises `Infeasible` if an input has no candidate output."""
        inside = Group.inside(batch, candidates, prices[0])
        outside = Group.outside(batch, candidates, prices[1])
        within = batch.within(inside_of(batch.space, candidates))
        return cls(within, costs, margins, charge, inside, outside, whole_parts)

    def __len__(self) -> int:
        return len(self.batch)

    def complete(self, weights: Floats) -> Ids:
        """The best candidate output of each input (CLLP Eq. 14). # [T]"""
        return self.batch.best(weights).labels

    def random(self, rng: np.random.Generator) -> Ids:
        """A candidate output of each input, uniformly at random. # [T]"""
        return self.batch.space.random(rng, n_jobs=self.batch.n_jobs)

    def voted(self, labels: Ids) -> Ids:
        """The candidate output of each input with most votes: every feature for the labels it is seen with. # [T]

        A vote is log(1 + count), so that with right labels these are, up to the prior, the weights of naive Bayes.
        """
        batch, count = self.batch, len(self)
        other = 1 - labels if batch.linear.null_label else None
        rows = batch.differences(np.arange(count), labels, other, scales=np.ones(count))
        votes = np.zeros(batch.scorer.size)
        np.add.at(votes, rows.indices, rows.values)
        return self.complete(np.sign(votes) * np.log1p(np.abs(votes)))

    def convex(self, labels: Ids) -> list[SummedTerms]:
        """The terms that a completion leaves: inside the candidates (CLLP alone), and outside them."""
        ours, theirs = self.inside, self.outside
        targets = theirs.targets(labels)
        leaving = self.charge == "candidates"
        cost = leaving_cost(targets, theirs.candidates) if leaving else self._cost(targets, theirs)
        away = SummedTerms(theirs.batch, cost, theirs.prices)
        if self.margins == "mms":
            return [away]
        return [SummedTerms(ours.batch, self._cost(ours.targets(labels), ours), ours.prices), away]

    def _cost(self, targets: Ids, group: Group) -> Cost | PartLoss:
        """Δ(ŷ, ·), by tokens or by parts; parts of single tokens are tokens."""
        if self.whole_parts and isinstance(group.candidates, Parts):
            return PartLoss(targets, group.candidates)
        return Cost(targets, self.costs)

    def term_numbers(self, inputs: Ints) -> Ints:
        """The numbers of these inputs' terms, where the groups of `convex` are stacked."""
        groups = [self.outside] if self.margins == "mms" else [self.inside, self.outside]
        firsts = np.cumsum([0, *(len(group.which) for group in groups)])
        numbers = [first + np.flatnonzero(np.isin(group.which, inputs)) for first, group in zip(firsts, groups)]
        return np.concatenate(numbers)

    def objective(self, weights: Floats, labels: Ids, *, power: int = 1) -> float:
        """The objective at some weights and completed outputs."""
        losses = (total_loss(terms.worst(weights).values, terms.prices, power) for terms in self.convex(labels))
        return 0.5 * inner(weights, weights) + sum(losses)
