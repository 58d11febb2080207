"""Stochastic gradient descent on the likelihood of chains that lie in blocks, opened when they are needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.objective.likelihood import LikelihoodTerms, LogLinearTerms, first_order_chain
from sidelight.objective.online.example_order import ExampleOrder
from sidelight.objective.online.online_likelihood import OnlineLikelihood, stacked_terms


@dataclass(frozen=True, slots=True)
class LikelihoodBlocks:
    """`OnlineLikelihood` block by block, over one vector of weights."""

    blocks: OneAtATime[OnlineLikelihood]
    examples: ExampleOrder

    @classmethod
    def of_terms(cls, terms: OneAtATime[LogLinearTerms]) -> LikelihoodBlocks:
        """Terms that have the same weights; prices are relative to the mean of all."""
        sizes, total = [], 0.0
        for part in terms:
            sizes.append(len(part.prices))
            total += float(part.prices.sum())
        mean = total / sum(sizes)

        def online(part: LogLinearTerms) -> OnlineLikelihood:
            assert isinstance(part, LikelihoodTerms)
            features, space, prices, targets, admitted = stacked_terms([part])
            return OnlineLikelihood.of(features, space, prices, targets=targets, admitted=admitted, mean=mean)

        first = terms[0]
        assert isinstance(first, LikelihoodTerms)
        first_order_chain(first.features, first.space)
        return cls(terms.map(online), ExampleOrder.of(sizes))

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def size(self) -> int:
        """Of v."""
        return self.blocks.last.size

    def order(self, rng: np.random.Generator) -> Ints:
        """All inputs, block by block."""
        return self.examples.shuffled(rng)

    def weights(self, v: Floats, scale: float) -> Floats:
        """w in the form of the features' support."""
        return self.blocks.last.weights(v, scale)

    def vector(self, weights: Floats) -> Floats:
        """v of some weights, at scale 1."""
        return self.blocks.last.vector(weights)

    def epoch(
        self, order: Ints, v: Floats, *, scale: float, clock: float, decay: float, move: bool = True
    ) -> tuple[float, float]:
        """See `OnlineLikelihood.epoch`."""
        loss = 0.0
        for number, own in self.examples.runs(order):
            options = {"scale": scale, "clock": clock, "decay": decay}
            met, scale = self.blocks[number].epoch(own, v, **options, move=move)
            loss += met
            clock += len(own) if move else 0.0
        return loss, scale
