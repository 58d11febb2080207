"""Log-linear terms over chains and classes: CRFs, and CRFs that know only what the labels may be.

The problem:  min_w  ½ λ ‖w‖² + Σ_i C_i (log Σ_{y in space(x_i)} exp w·Φ(x_i, y) − log Σ_{y admitted} exp w·Φ(x_i, y))

where the admitted labelings are one (Gold) or a product of candidate sets (Partial, Candidates). Softly admitted
labelings have a bonus of each label of a token beside their score in the second sum: log P(votes | y) where functions
vote, which is 0 or −inf for candidates. Inputs without any
label have nothing to say here: both sums are the same. C_i is the price of an example and λ is 1 unless the caller
wants another strength, or none. With Gold alone this is convex; its second sum needs no dynamic program, and its
gradient is a constant, the feature counts of the gold labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.features.gradient import FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.features.support import Shown, Support
from sidelight.features.supported import SupportedFeatures
from sidelight.kernels import inner
from sidelight.objective.companion_likelihood import Answers, CompanionTerms
from sidelight.objective.expected_features import Edges, Expected, WeightedFeatures, WeightForm, add_log_sums, held
from sidelight.spaces.chain import ChainScores, ChainSpace
from sidelight.spaces.chain_sums import RaisedScores, ScoresFrom, beliefs, log_sums
from sidelight.spaces.second_order import SecondOrderSpace


class _Batched(Protocol):
    @property
    def starts(self) -> Ints:  # [N + 1]
        ...


class LogLinearTerms(Protocol):
    """Terms of the form Σ price · (log-sum − what is known)."""

    @property
    def features(self) -> WeightForm: ...

    @property
    def space(self) -> _Batched: ...

    @property
    def prices(self) -> Floats:  # [N]
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
class LikelihoodTerms:
    """Inputs of one kind: with gold labels, or with what is said of the labels that each token may have."""

    features: WeightedFeatures
    space: ChainSpace
    prices: Floats  # [N]
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, L]
    bonus: Floats | None = None  # [T, L] finite; added to the scores within the admitted

    def __post_init__(self) -> None:
        if (self.targets is None) == (self.admitted is None and self.bonus is None):
            raise ValueError("give either targets, or admitted labels or a bonus")

    def __len__(self) -> int:
        return len(self.space.starts) - 1

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log p(what is admitted) of every input, without its price. # [N]"""
        scores = self.features.scores(weights)
        totals = log_sums(self.space, scores, n_jobs=n_jobs)
        if self.targets is not None:
            return totals - self.space.score(scores, self.targets, n_jobs=n_jobs)
        inside = self.space if self.admitted is None else self.space.inside(self.admitted)
        raised = scores if self.bonus is None else RaisedScores(scores, self.bonus)
        return totals - log_sums(inside, raised, n_jobs=n_jobs)

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · Φ(x, gold)."""
        if self.targets is None:
            return
        size = self.features.layout.n_labels
        edges = Edges.none(size)
        per_token = np.repeat(self.prices, np.diff(self.space.starts))
        for number, block in enumerate(self.features.blocks):
            here = slice(block.first, block.last)
            labels = self.targets[here]
            certain = np.zeros((block.last - block.first, size))
            certain[np.arange(len(labels)), labels] = per_token[here]
            self.features.add_tokens(number, certain, gradient, n_jobs=n_jobs)
            starts = self.space.starts[block.lo : block.hi + 1] - block.first
            within = np.ones(len(labels), dtype=bool)
            within[starts[:-1]] = False
            after = np.flatnonzero(within)
            np.add.at(edges.transitions, (labels[after - 1], labels[after]), per_token[here][after])
            edges.start[:] += certain[starts[:-1]].sum(0)
            edges.end[:] += certain[starts[1:] - 1].sum(0)
        self.features.add_edges(edges.start, edges.end, edges.transitions, gradient)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (expected features − those expected within the admitted labels, unless gold).

        Returns Σ price · (log-sum − log-sum of the admitted), the latter left out where gold is known.
        """
        if self.targets is not None:
            return add_log_sums(self.features, self.space, self.prices, weights, gradient, n_jobs=n_jobs)
        scores = self.features.scores(weights)
        expected = Expected.none(self.features, gradient, n_jobs)
        for number, block in enumerate(self.features.blocks):
            part = self.space.part(block.lo, block.hi)
            prices = self.prices[block.lo : block.hi]
            here = held(ScoresFrom(scores, block.first), part, n_jobs=n_jobs)
            found = beliefs(part, here, prices=prices, n_jobs=n_jobs)
            inside = part if self.admitted is None else part.inside(self.admitted[block.first : block.last])
            raised: ChainScores = here
            if self.bonus is not None:
                raised = RaisedScores(here, self.bonus[block.first : block.last])
            expected.add(number, prices, found, beliefs(inside, raised, prices=prices, n_jobs=n_jobs))
        return expected.total()


class LikelihoodProblem:
    """The objective of all terms, as a function of one weight vector."""

    def __init__(self, terms: Sequence[LogLinearTerms], *, l2: float = 1.0, n_jobs: int | None = None) -> None:
        """All terms must have features of the same form; `l2` is λ, not negative."""
        if not terms:
            raise ValueError("there are no terms")
        if not l2 >= 0:
            raise ValueError(f"l2 is {l2}; give a number that is not negative")
        self.terms = tuple(terms)
        self.l2 = l2
        self.n_jobs = n_jobs
        self.gold = np.zeros(self.size)  # Σ price · Φ(x, gold)
        for part in self.terms:
            part.add_gold(self.gold, n_jobs=n_jobs)

    @property
    def size(self) -> int:
        return self.terms[0].features.size

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return self.terms[0].features.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights of the problem's form, out of the full layout."""
        return self.terms[0].features.shorten(full)

    def curvature(self, share: float = 0.03) -> Floats:
        """A rough guess of the Hessian's diagonal: λ, and a share of what tokens on their own add to it at w = 0.

        The share is less than one because beliefs sharpen as weights grow. # [size], at least λ, or 1 without λ
        """
        out = np.full(self.size, self.l2 if self.l2 > 0 else 1.0)
        for part in self.terms:
            layout = part.features.layout
            even = share / layout.n_labels * (1.0 - 1.0 / layout.n_labels)
            lengths = np.diff(part.space.starts)
            out += even * part.features.squares(np.repeat(part.prices, lengths))
            out[layout.start_at : layout.transition_at] += even * part.prices.sum()
            out[layout.transition_at : layout.dense_at] += even / layout.n_labels * (part.prices * (lengths - 1)).sum()
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
        value = 0.5 * self.l2 * inner(weights, weights)
        for part in self.terms:
            value += inner(part.prices, part.losses(weights, n_jobs=self.n_jobs))
        return value

    def losses(self, weights: Floats) -> Floats:
        """The loss of every input of every term, in order, without prices and regulariser. # [N]"""
        return np.concatenate([part.losses(weights, n_jobs=self.n_jobs) for part in self.terms])


@dataclass(frozen=True, slots=True)
class Labelled:
    """Inputs and what is known of their labels, before it is decided which weights exist."""

    rows: Rows
    space: ChainSpace | SecondOrderSpace
    prices: Floats  # [N]
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, L]
    answers: Answers | None = None  # of companion evidence, in place of the other two

    def shown(self) -> Shown | None:
        """The labels that inputs may have, those of price 0 left out; companion answers show none."""
        if self.answers is not None:
            return None
        if np.all(self.prices > 0):
            return Shown(self.rows, self.targets, self.admitted)
        which = np.flatnonzero(self.prices > 0)
        tokens = self.rows.tokens_of(which)
        targets = None if self.targets is None else self.targets[tokens]
        return Shown(self.rows.take(which), targets, None if self.admitted is None else self.admitted[tokens])


@dataclass(frozen=True, slots=True)
class ChainForm:
    """The form that the weights of first-order inputs have: full, or the pairs of a support."""

    layout: Layout
    support: Support | None = None
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.layout.size if self.support is None else self.support.size

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return weights if self.support is None else self.support.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout."""
        return full if self.support is None else self.support.shorten(full)

    def features(self, rows: Rows) -> WeightedFeatures:
        """The features of a batch."""
        if self.support is None:
            return FullFeatures.of(rows, self.layout, n_jobs=self.n_jobs)
        return SupportedFeatures.of(rows, self.support, n_jobs=self.n_jobs)

    def terms(self, part: Labelled) -> LogLinearTerms:
        """The terms of labelled inputs."""
        if not isinstance(part.space, ChainSpace):
            raise ValueError("these inputs are of order 2; use second_order_problem")
        features = self.features(part.rows)
        if part.answers is not None:
            return CompanionTerms.of(features, part.space, part.prices, part.answers, n_jobs=self.n_jobs)
        return LikelihoodTerms(features, part.space, part.prices, part.targets, part.admitted)


def chain_form(
    shown: Sequence[Shown | None],
    layout: Layout,
    *,
    support: str = "seen",
    transitions: str = "all",
    n_jobs: int | None = None,
) -> ChainForm:
    """With a weight for every attribute and label ("all") or those seen together; `transitions` says the same of
    transitions."""
    if support not in ("all", "seen"):
        raise ValueError(f"support is {support!r}; give 'all' or 'seen'")
    if support == "seen":
        known = [part for part in shown if part is not None]
        return ChainForm(layout, Support.seen(layout, known, transitions=transitions), n_jobs)
    if transitions != "all":
        raise ValueError(f"transitions is {transitions!r}; with support 'all' it must be 'all'")
    return ChainForm(layout, None, n_jobs)


def likelihood_problem(
    inputs: Sequence[Labelled],
    layout: Layout,
    *,
    support: str = "seen",
    transitions: str = "all",
    l2: float = 1.0,
    n_jobs: int | None = None,
) -> LikelihoodProblem:
    """The problem of first-order inputs; options as for `chain_form`."""
    shown = [part.shown() for part in inputs]
    form = chain_form(shown, layout, support=support, transitions=transitions, n_jobs=n_jobs)
    return LikelihoodProblem([form.terms(part) for part in inputs], l2=l2, n_jobs=n_jobs)
