"""Whole epochs of stochastic gradient descent on the likelihood of chains, inside one kernel.

The weights are w = scale · v, so that the regulariser needs one multiplication. v is arranged for speed: the head of
the layout (start, end, transition, dense), then a padded row of labels for every attribute that was seen with many of
them, then the other pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import NO_BYTES, Bytes, Floats, Ids, Ints
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.errors import Infeasible
from sidelight.features.rows import stack_rows
from sidelight.features.support import Support, spread_rows
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.companion_likelihood import TEMPERATURE, CompanionTerms
from sidelight.objective.likelihood import LikelihoodTerms, LogLinearTerms, first_order_chain
from sidelight.objective.online import online_likelihood_kernels as kernels
from sidelight.objective.online.example_order import ExampleOrder
from sidelight.spaces.chains.chain import ChainSpace, closed_moves


@dataclass(frozen=True, slots=True)
class OnlineLikelihood:
    """Inputs whose labels are known (a target for every token), or known to be among some (`admitted`), or that have
    an answer to whether any labeling is good."""

    features: SupportedFeatures
    targets: Ids  # [T], −1 where only `admitted` says what a token may be
    admitted: Bytes  # [T, L], or empty when every target is known and there are no answers within candidates
    answered: kernels.Answered
    prices: Floats  # [N] relative to their mean
    closed: Floats  # [L + 2, L] −inf where a transition, start (row L) or end (row L + 1) may not be, else 0
    exists: Bytes  # [W, P] which pairs of the padded rows have a weight
    places: Ints  # [6] where start, end, transition, dense, row and pair weights begin in v

    @classmethod
    def of(
        cls,
        features: SupportedFeatures,
        space: ChainSpace,
        prices: Floats,
        *,
        targets: Ids | None = None,
        admitted: Bytes | None = None,
        answered: kernels.Answered | None = None,
        mean: float | None = None,
    ) -> OnlineLikelihood:
        """Prices are made relative to their mean, or to that of more inputs than these."""
        if space.admitted is not None or space.left_out is not None:
            raise ValueError("online likelihood takes spaces with allowed transitions only, no other masks")
        layout, support = features.layout, features.support
        wide = (layout.columns + 7) // 8 * 8
        ones = np.ones(len(support.columns))
        exists = np.zeros((len(features.spread), wide))
        spread_rows(support.ptr, support.columns, ones, features.spread, exists)
        places = np.array(
            [
                layout.start_at,
                layout.end_at,
                layout.transition_at,
                layout.dense_at,
                layout.emission_at,
                layout.emission_at + exists.size,
            ],
            dtype=np.int64,
        )
        known = np.full(features.rows.n_tokens, -1, dtype=np.int32) if targets is None else targets
        masks = NO_BYTES if admitted is None else admitted
        closed = closed_moves(space.allowed, layout.n_labels)
        mean = (float(prices.mean()) if mean is None else mean) or 1.0
        answers = _no_answers(len(prices)) if answered is None else answered
        return cls(features, known, masks, answers, prices / mean, closed, exists.astype(np.uint8), places)

    @classmethod
    def of_terms(cls, terms: Sequence[LikelihoodTerms | CompanionTerms]) -> OnlineLikelihood:
        """All inputs of some terms that have the same weights and the same allowed transitions."""
        features, space, prices, targets, admitted = stacked_terms(terms)
        answers = [_answers_of(part) for part in terms]
        signs, sizes, counts = (np.concatenate(arrays) for arrays in zip(*(one[:3] for one in answers)))
        answered = kernels.Answered(signs, sizes, counts, TEMPERATURE)
        return cls.of(features, space, prices, targets=targets, admitted=admitted, answered=answered)

    def __len__(self) -> int:
        return len(self.prices)

    @property
    def size(self) -> int:
        """Of v."""
        return int(self.places[-1]) + len(self.features.support.columns)

    def order(self, rng: np.random.Generator) -> Ints:
        """All inputs in random order."""
        return rng.permutation(len(self))

    def weights(self, v: Floats, scale: float) -> Floats:
        """w in the form of the features' support."""
        support, emission = self.features.support, self.features.layout.emission_at
        out = np.empty(support.size)
        out[:emission] = v[:emission]
        out[emission:] = v[self.places[-1] :]
        kernels.collect(support.ptr, support.columns, self.features.spread, self.views_of(v).table, out[emission:])
        out *= scale
        return out

    def vector(self, weights: Floats) -> Floats:
        """v of some weights, at scale 1."""
        support, emission = self.features.support, self.features.layout.emission_at
        v = np.zeros(self.size)
        v[:emission] = weights[:emission]
        lone = np.ones(len(support.ptr) - 1, dtype=bool)
        lone[self.features.spread] = False
        v[self.places[-1] :] = weights[emission:] * np.repeat(lone, np.diff(support.ptr))
        spread_rows(support.ptr, support.columns, weights[emission:], self.features.spread, self.views_of(v).table)
        return v

    def epoch(
        self, order: Ints, v: Floats, *, scale: float, clock: float, decay: float, move: bool = True
    ) -> tuple[float, float]:
        """Descend on the inputs in this order, with step 1 / (decay · clock) and one tick per input.

        Returns Σ price · loss, each loss before its step, and the scale. With `move` false the weights stay.
        """
        known = self.targets, self.admitted, self.answered, self.prices
        steps = scale, clock, decay, move
        loss, scale = kernels.epoch(self.chains, *known, order, v, self.views_of(v), *steps)
        if not np.isfinite(loss):
            raise Infeasible("an input has no labeling within the allowed transitions and its candidates")
        return loss, scale

    @property
    def chains(self) -> kernels.OnlineChains:
        """The features, and where their weights are in v, as kernels take them."""
        wide, features, layout = self.features.wide, self.features, self.features.layout
        pairs = features.entries[2:]
        entries = kernels.TokenEntries(wide.indptr, wide.indices, wide.values, *pairs, features.rows.dense)
        kept = NO_BYTES if features.support.kept is None else features.support.kept
        own = layout.bias, layout.chain, layout.n_labels - layout.columns
        return kernels.OnlineChains(features.rows.starts, entries, *own, self.places, self.closed, kept, self.exists)

    def views_of(self, v: Floats) -> kernels.TokenWeights:
        """Where the weights of tokens are in v."""
        layout, (dense_at, table_at, pairs_at) = self.features.layout, self.places[3:]
        table = v[table_at:pairs_at].reshape(self.exists.shape)
        return kernels.TokenWeights(table, v[pairs_at:], v[dense_at:table_at].reshape(layout.n_dense, layout.columns))


def _no_answers(count: int) -> kernels.Answered:
    return kernels.Answered(np.zeros(count), np.ones(count), np.zeros(count), TEMPERATURE)


def _answers_of(terms: LikelihoodTerms | CompanionTerms) -> kernels.Answered:
    if not isinstance(terms, CompanionTerms):
        return _no_answers(len(terms))
    return kernels.Answered(terms.answers.signs, terms.answers.sizes, terms.counts, TEMPERATURE)


def stacked_terms(
    terms: Sequence[LikelihoodTerms | CompanionTerms],
) -> tuple[SupportedFeatures, ChainSpace, Floats, Ids | None, Bytes | None]:
    """Terms as one batch: features, space, prices, targets (−1 where only candidates are known), candidates."""
    first = terms[0]
    own, chains = first_order_chain(first.features, first.space)
    size, support = chains.n_labels, own.support if isinstance(own, SupportedFeatures) else Support.all(own.layout)
    rows = [first_order_chain(part.features, part.space)[0].rows for part in terms]
    if len(terms) == 1 and isinstance(first, LikelihoodTerms):
        features = own if isinstance(own, SupportedFeatures) else SupportedFeatures.of(rows[0], support)
        return features, chains, first.prices, first.targets, first.admitted
    together = stack_rows(rows, n_dense=own.layout.n_dense)
    targets, admitted = [], []
    for part in terms:
        tokens = int(part.space.starts[-1])
        known, masks = _known_of(part)
        targets.append(np.full(tokens, -1, dtype=np.int32) if known is None else known)
        admitted.append(np.ones((tokens, size), dtype=np.uint8) if masks is None else masks)
    space = ChainSpace(together.starts, size, chains.allowed)
    prices = np.concatenate([part.prices for part in terms])
    return (
        SupportedFeatures.of(together, support),
        space,
        prices,
        np.concatenate(targets),
        np.concatenate(admitted),
    )


def _known_of(terms: LikelihoodTerms | CompanionTerms) -> tuple[Ids | None, Bytes | None]:
    """Targets and candidates; of inputs with answers the labels that these are about."""
    if isinstance(terms, LikelihoodTerms):
        return terms.targets, terms.admitted
    return None, first_order_chain(terms.features, terms.space)[1].admitted


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
