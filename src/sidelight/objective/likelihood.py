"""Log-linear terms over outputs of any structure: CRFs, and CRFs with partial knowledge of the labels.

The problem:  min_w  ½ λ ‖w‖² + Σ_i C_i (log Σ_{y in space(x_i)} exp w·Φ(x_i, y) − log Σ_{y admitted} exp w·Φ(x_i, y))

where the admitted labelings are one (Gold) or a product of candidate sets (Partial, Candidates). Softly admitted
labelings have a bonus for each label of a token, in addition to their score in the second sum: log P(votes | y) for
labelling functions; for candidates it is 0 or −inf. Inputs without any label contribute nothing: both sums are equal.
C_i is the price of an example, and λ is 1 by default. With Gold alone this is convex; its second sum needs no dynamic
program, and its gradient is a constant, the feature counts of the gold labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.errors import Intractable
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.gradient import FullFeatures
from sidelight.features.rows import offsets_of
from sidelight.features.support import Shown, Support
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.batch import Batch, FullWeights, LinearFeatures, LinearScorer, Scorer, SmoothScorer
from sidelight.objective.companion_likelihood import Answers, CompanionTerms
from sidelight.objective.expected_features import (
    FeatureTerms,
    Known,
    ShortFeatures,
    Weighted,
    WeightForm,
    add_log_sums,
    add_outputs,
)
from sidelight.objective.placed import ShardedTerms
from sidelight.objective.scorers.chain_scorer import ChainScorer
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.parallel.place import Held, Place, pieces_of
from sidelight.spaces import ChainSpace, Space, sums


class LogLinearTerms(Protocol):
    """Terms of the form Σ price · (log-sum − what is known)."""

    @property
    def features(self) -> WeightForm: ...

    @property
    def prices(self) -> Floats:  # [N]
        ...

    def curvature(self, share: float) -> Floats:
        """A rough estimate of their part of the Hessian's diagonal. # [size]"""
        ...

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """The loss of every input, without its price. # [N]"""
        ...

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · Φ(x, gold), of the inputs whose gold labels are known."""
        ...

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """Add the gradient of all but the gold scores, which are linear; returns the value of the same."""
        ...


@dataclass(frozen=True, slots=True)
class LikelihoodTerms(FeatureTerms):
    """Inputs of one kind, with gold outputs or with constraints on the choices of each slot."""

    features: Weighted
    space: Space
    prices: Floats  # [N]
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, K]
    bonus: Floats | None = None  # [T, K] finite; added to the scores within the admitted

    def __post_init__(self) -> None:
        if (self.targets is None) == (self.admitted is None and self.bonus is None):
            raise ValueError("give either targets or admitted labels, or a bonus")

    def chain(self) -> tuple[FullFeatures | SupportedFeatures, ChainSpace]:
        """Features and space of first-order chains; raises `Intractable` for other structures."""
        return first_order_chain(self.features, self.space)

    @property
    def known(self) -> Known | None:
        """The outputs that are admitted, where gold is not known."""
        if self.targets is not None:
            return None
        return Known(self.space if self.admitted is None else self.space.inside(self.admitted), self.bonus)

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log p(what is admitted) of every input, without its price. # [N]"""
        scores = self.features.scores(weights)
        totals = sums.log_sums(self.space, scores, n_jobs=n_jobs)
        known = self.known
        if known is None:
            assert self.targets is not None
            return totals - self.space.score(scores, self.targets, n_jobs=n_jobs)
        inside = known.space, scores
        if known.bonus is not None:
            inside = sums.raised(*inside, known.bonus)
        return totals - sums.log_sums(*inside, n_jobs=n_jobs)

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · Φ(x, gold)."""
        if self.targets is not None:
            add_outputs(self.features, self.space, self.targets, self.prices, gradient, n_jobs=n_jobs)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (expected features − those expected within the admitted labels, unless gold).

        Returns Σ price · (log-sum − log-sum of the admitted), the latter left out where gold is known.
        """
        shared = self.features, self.space, self.prices
        return add_log_sums(*shared, weights, gradient, known=self.known, n_jobs=n_jobs)


def first_order_chain(features: Weighted, space: Space) -> tuple[FullFeatures | SupportedFeatures, ChainSpace]:
    """Features and space of first-order chains; raises `Intractable` for other structures."""
    if isinstance(features, FullFeatures | SupportedFeatures) and isinstance(space, ChainSpace):
        return features, space
    raise Intractable("this solver is for first-order chains; use lbfgs")


class LikelihoodProblem:
    """The objective of all terms, as a function of one weight vector."""

    def __init__(
        self,
        terms: Sequence[LogLinearTerms],
        *,
        l2: float = 1.0,
        n_jobs: int | None = None,
        form: WeightForm | None = None,
    ) -> None:
        """All terms must have features of the same form; `l2` is λ, not negative."""
        if not terms:
            raise ValueError("there are no terms")
        if not l2 >= 0:
            raise ValueError(f"l2 is {l2}; give a number that is not negative")
        self.terms = terms if isinstance(terms, OneAtATime) else tuple(terms)
        self.form = self.terms[0].features if form is None else form
        self.l2 = l2
        self.n_jobs = n_jobs

    @cached_property
    def gold(self) -> Floats:
        """Σ price · Φ(x, gold). # [size]"""
        counts = np.zeros(self.size)
        for part in self.terms:
            part.add_gold(counts, n_jobs=self.n_jobs)
        return counts

    @property
    def size(self) -> int:
        return self.form.size

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return self.form.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights of the problem's form, out of the full layout."""
        return self.form.shorten(full)

    def curvature(self, share: float = 0.03) -> Floats:
        """A rough estimate of the Hessian's diagonal: λ, plus a share of the contributions of independent tokens at w =
        0.

        The share is less than one because beliefs sharpen as weights grow. # [size], at least λ, or 1 without λ
        """
        out = np.full(self.size, self.l2 if self.l2 > 0 else 1.0)
        for part in self.terms:
            out += part.curvature(share)
        return out

    def value_and_gradient(self, weights: Floats, gradient: Floats) -> float:
        """The objective; its gradient is written into the second argument."""
        np.multiply(weights, self.l2, out=gradient)
        gradient -= self.gold
        value = 0.5 * self.l2 * inner(weights, weights) - inner(self.gold, weights)
        for part in self.terms:
            value += part.add_beliefs(weights, gradient, n_jobs=self.n_jobs)
        return value

    def value(self, weights: Floats) -> float:
        """The objective alone, which is half the work."""
        return self.values([weights])[0]

    def values(self, losses: Sequence[Floats]) -> list[float]:
        """The objectives of several weights, in one pass."""
        values = [0.5 * self.l2 * inner(weights, weights) for weights in losses]
        for part in self.terms:
            for k, weights in enumerate(losses):
                values[k] += inner(part.prices, part.losses(weights, n_jobs=self.n_jobs))
        return values

    def losses(self, weights: Floats) -> Floats:
        """The loss of every input of every term, in order, without prices and regulariser. # [N]"""
        return np.concatenate([part.losses(weights, n_jobs=self.n_jobs) for part in self.terms])


@dataclass(frozen=True, slots=True)
class Labelled:
    """Inputs and the evidence about their outputs, before the set of weights is determined."""

    batch: Batch
    prices: Floats  # [N]
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, K]
    answers: Answers | None = None  # of companion evidence, in place of the other two

    def shown(self) -> Shown | None:
        """The possible labels of inputs, without those of price 0; companion answers show none.

        Neither do structures whose extractor selects the features (segments).
        """
        scorer = self.batch.scorer
        if self.answers is not None or not isinstance(scorer, ChainScorer):
            return None
        if np.all(self.prices > 0):
            return Shown(scorer.rows, self.targets, self.admitted)
        which = np.flatnonzero(self.prices > 0)
        tokens = self.batch.slots_of(which)
        targets = None if self.targets is None else self.targets[tokens]
        return Shown(scorer.rows.take(which), targets, None if self.admitted is None else self.admitted[tokens])

    def part(self, lo: int, hi: int) -> Labelled:
        """The inputs lo..hi alone."""
        first, last = (int(self.batch.starts[i]) for i in (lo, hi))
        slots = slice(first, last)
        return Labelled(
            self.batch.here().part(lo, hi),
            self.prices[lo:hi],
            None if self.targets is None else self.targets[slots],
            None if self.admitted is None else self.admitted[slots],
            None if self.answers is None else Answers(self.answers.signs[lo:hi], self.answers.sizes[lo:hi]),
        )


@dataclass(frozen=True, slots=True)
class LabelledBlocks:
    """Labelled inputs of one kind in several blocks, which their place loads."""

    blocks: OneAtATime[Labelled]  # loaded in this process, one after another
    held: Held  # the same
    prices: Floats  # [N] of all
    starts: Ints  # [N + 1]

    @classmethod
    def of(cls, blocks: OneAtATime[Labelled], held: Held) -> LabelledBlocks:
        """Blocks with the sums over all their inputs."""
        known = [(part.prices, np.diff(part.batch.starts)) for part in blocks]
        prices, lengths = (np.concatenate(parts) for parts in zip(*known))
        return cls(blocks, held, prices, offsets_of(lengths))


@dataclass(frozen=True, slots=True)
class AllWeights(FullWeights):
    """Any scorer with gradients, under the weights that it has."""

    scorer: SmoothScorer

    @property
    def size(self) -> int:
        return self.scorer.size

    def take(self, which: Ints) -> Self:
        return replace(self, scorer=self.scorer.take(which))

    def scores(self, weights: Floats) -> Any:
        return self.scorer.scores(weights)

    def add_gradient(self, weights: Floats, parts: Any, gradient: Floats) -> None:
        self.scorer.add_gradient(weights, parts, gradient)


@dataclass(frozen=True, slots=True)
class AllLinearWeights(AllWeights, LinearFeatures):
    """The same for linear scores, for which features of outputs can be counted."""

    linear: LinearScorer

    @property
    def is_binary(self) -> bool:
        return self.linear.is_binary

    def take(self, which: Ints) -> Self:
        return replace(self, scorer=self.scorer.take(which), linear=self.linear.take(which))

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        which, plus, minus, scales, thresholds = differences
        outputs = plus, minus if len(minus) else None
        return self.linear.differences(which, *outputs, scales=scales, thresholds=thresholds, n_jobs=n_jobs)


@dataclass(frozen=True, slots=True)
class Form:
    """The form that weights have: full, or the pairs of a support."""

    full_size: int
    support: Support | None = None
    n_jobs: int | None = None
    place: Place | None = None  # where terms are; None: together, in this process

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.full_size if self.support is None else self.support.size

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return weights if self.support is None else self.support.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout."""
        return full if self.support is None else self.support.shorten(full)

    def lots(self, batch: Batch) -> list[tuple[int, int]]:
        """The inputs lo..hi of every shard of a batch, if its place splits it."""
        lots = [] if self.place is None else pieces_of(batch.starts, self.place.shard_tokens)
        return lots if len(lots) > 1 else []

    def there(self, held: Held) -> Form:
        """The form of one shard."""
        return replace(self, place=None, n_jobs=held.n_jobs)

    def features(self, batch: Batch) -> Weighted:
        """The features of a batch."""
        scorer = batch.scorer
        smooth = isinstance(scorer, SmoothScorer)
        if isinstance(scorer, SegmentScorer) or (smooth and isinstance(scorer, LinearFeatures)):
            return scorer
        if isinstance(scorer, SmoothScorer):
            return AllLinearWeights(scorer, scorer) if isinstance(scorer, LinearScorer) else AllWeights(scorer)
        if not isinstance(scorer, ChainScorer):
            problem = f"{type(scorer).__name__} has no gradients of scores (a method add_gradient)"
            raise Intractable(f"{problem}; add it, or use a learner of margins")
        rows, layout = scorer.rows, scorer.layout
        if self.support is not None and layout.order == 1:
            return SupportedFeatures.of(rows, self.support, n_jobs=self.n_jobs)
        full = FullFeatures.of(rows, layout, n_jobs=self.n_jobs)
        return full if self.support is None else ShortFeatures(full, self.support)

    def terms(self, part: Labelled | LabelledBlocks) -> LogLinearTerms:
        """The terms of labelled inputs, in their place if they form several shards."""
        if isinstance(part, LabelledBlocks):
            held = part.held.derive(_terms_of, self.there(part.held))
            return ShardedTerms(held, self, part.prices)
        if self.place is not None and (lots := self.lots(part.batch)):
            held = self.place.hold([part.part(lo, hi) for lo, hi in lots])
            return ShardedTerms(held.derive(_terms_of, self.there(held)), self, part.prices)
        features, space = self.features(part.batch), part.batch.space
        if part.answers is not None:
            if not isinstance(part.batch.scorer, LinearScorer):
                raise Intractable("companion answers need scores that are linear in the weights")
            return CompanionTerms.of(features, space, part.prices, part.answers, n_jobs=self.n_jobs)
        if part.targets is None or isinstance(part.batch.scorer, LinearScorer):
            return LikelihoodTerms(features, space, part.prices, part.targets, part.admitted)
        only = np.zeros((len(part.targets), space.n_labels), dtype=np.uint8)  # the score of Gold is not linear either
        only[np.arange(len(only)), part.targets] = 1
        return LikelihoodTerms(features, space, part.prices, admitted=only)


def _blocks(part: Labelled | LabelledBlocks) -> Sequence[Labelled]:
    return part.blocks if isinstance(part, LabelledBlocks) else [part]


def _terms_of(part: Labelled, form: Form) -> LogLinearTerms:
    return form.terms(part)


def form_of(
    scorer: Scorer,
    shown: Iterable[Shown | None],
    *,
    support: str = "seen",
    transitions: str = "all",
    n_jobs: int | None = None,
    place: Place | None = None,
) -> Form:
    """A form with weights for all pairs of attribute and label ("all"), or for pairs seen together; `transitions` is
    the same for transitions. Structures other than chains have all weights.
    """
    if support not in ("all", "seen"):
        raise ValueError(f"support is {support!r}; give 'all' or 'seen'")
    if support == "all" and transitions != "all":
        raise ValueError(f"transitions is {transitions!r}; with support 'all' it must be 'all'")
    if support == "seen" and isinstance(scorer, ChainScorer):
        known = (part for part in shown if part is not None)
        return Form(scorer.size, Support.seen(scorer.layout, known, transitions=transitions), n_jobs, place)
    return Form(scorer.size, None, n_jobs, place)


def likelihood_problem(
    inputs: Sequence[Labelled] | Sequence[Labelled | LabelledBlocks],
    *,
    support: str = "seen",
    transitions: str = "all",
    l2: float = 1.0,
    n_jobs: int | None = None,
    place: Place | None = None,
) -> LikelihoodProblem:
    """The problem of inputs of one structure; options as for `form_of`."""
    shown = (block.shown() for part in inputs for block in _blocks(part))
    form = form_of(
        _blocks(inputs[0])[0].batch.scorer, shown, support=support, transitions=transitions, n_jobs=n_jobs, place=place
    )
    terms = inputs.map(form.terms) if isinstance(inputs, OneAtATime) else [form.terms(part) for part in inputs]
    return LikelihoodProblem(terms, l2=l2, n_jobs=n_jobs, form=form)
