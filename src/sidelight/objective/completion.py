"""A margin problem with latent outputs: the outputs to complete, and the convex problem after a completion.

The joint objective over weights w and completed outputs ŷ is

    Q(w, ŷ) = ½ ‖w‖² + Σ_gold C ℓ(target y) + Σ_latent C ℓ(target ŷ) + Σ_bad C ℓ(negative) + Σ_good C ℓ(positive ŷ)

with the terms of `margin`. Gold and bad inputs make the convex part that never changes. Good inputs (Companion +1)
complete to their best output, which minimises their term exactly: this is J-LIS. Inputs with candidates, partial
labels or no labels complete to their best admitted output and are then targets; since this need not lower their term, a
new completion is accepted only if it does not raise it. So Q never rises, with any evidence.

Gold whose labels have several hidden states is latent too: it is completed to the best states of its labels. The
cost of an output counts labels, so it is the same for all of them, and the best ones minimise the term (the latent
structural SVM of Yu and Joachims 2009). It comes first among the latent inputs: before the first completion of the
others, it is used like Gold, with random states, since equal states would remain equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.file_contents import array_of
from sidelight.errors import ModelFileError
from sidelight.objective.batch import Batch
from sidelight.objective.cuts import Terms
from sidelight.objective.margin import (
    NegativeTerms,
    PositiveTerms,
    SilentTerms,
    StackedTerms,
    TargetTerms,
    positive_terms,
)


@dataclass(frozen=True, slots=True)
class Latent:
    """Inputs that are completed within their admitted outputs, and then treated as targets."""

    terms: TargetTerms  # its targets are the present completion
    admitted: Bytes | None  # [T, L]
    hidden: int = 0  # the number of inputs at the front that are Gold with hidden states

    def inside(self) -> Batch:
        """The inputs with the outputs that they admit."""
        return self.terms.batch.inside(self.admitted)


@dataclass(frozen=True, slots=True)
class Positive:
    """Good inputs, to be completed to their best output."""

    batch: Batch
    sizes: Floats  # [N] κ(x)
    prices: Floats  # [N]


@dataclass(frozen=True, slots=True)
class CompletedOutputs:
    """The outputs completed so far; None before the first time."""

    latent: Ids | None = None  # [T of latent], or at first [T of hidden]
    positive: Ids | None = None  # [T of good]
    terms: PositiveTerms | None = None


@dataclass(frozen=True, slots=True)
class LatentProblem:
    """The four groups of terms, numbered gold, latent, bad, good."""

    gold: TargetTerms
    latent: Latent
    negative: NegativeTerms
    positive: Positive

    def __len__(self) -> int:
        return self.first_positive + len(self.positive.batch)

    @property
    def first_latent(self) -> int:
        return len(self.gold)

    @property
    def first_positive(self) -> int:
        return self.first_latent + len(self.latent.terms) + len(self.negative)

    @property
    def is_convex(self) -> bool:
        """Whether there is nothing to complete."""
        return len(self.latent.terms) == 0 and len(self.positive.batch) == 0

    @property
    def whole_slopes(self) -> bool:
        """Whether the slope of every cut is a count of features: no values, no dense rows, no companion terms scaled by
        their size.
        """
        binary = self.gold.batch.linear.is_binary and self.latent.terms.batch.linear.is_binary
        return binary and len(self.negative) == 0 and len(self.positive.batch) == 0

    def begin(self, rng: np.random.Generator) -> CompletedOutputs:
        """Random hidden states for Gold, if there are any; the rest is not completed yet."""
        if self.latent.hidden == 0:
            return CompletedOutputs()
        batch = self.latent.inside().part(0, self.latent.hidden)
        return CompletedOutputs(batch.space.random(rng, n_jobs=batch.n_jobs))

    def gold_only(self, begun: CompletedOutputs | None = None) -> Terms:
        """The convex problem of Gold with the initial hidden states, and with places for the other terms."""
        kinds: list[Terms] = [self.gold]
        if begun is not None and begun.latent is not None:
            kinds.append(self.latent.terms.with_targets(begun.latent).part(0, self.latent.hidden))
        return StackedTerms([*kinds, SilentTerms.like(len(self) - sum(map(len, kinds)))])

    def convex(self, completion: CompletedOutputs) -> Terms:
        """The convex problem for a completion."""
        latent = self.latent.terms if completion.latent is None else self.latent.terms.with_targets(completion.latent)
        positive = completion.terms or SilentTerms.like(len(self.positive.batch))
        return StackedTerms([self.gold, latent, self.negative, positive])

    def complete(
        self, weights: Floats, before: CompletedOutputs, rng: np.random.Generator | None
    ) -> tuple[CompletedOutputs, Ints, Ints]:
        """Complete with these weights; returns also which latent and which good inputs changed."""
        latent, changed_latent = self._complete_latent(weights, before.latent, rng)
        positive, changed = before.positive, np.zeros(0, dtype=np.int64)
        terms = before.terms
        if len(self.positive.batch):
            positive = self.positive.batch.best(weights, rng=rng).labels
            changed = _changed(self.positive.batch.starts, before.positive, positive)
            if len(changed):
                terms = positive_terms(self.positive.batch, positive, self.positive.sizes, self.positive.prices)
        return CompletedOutputs(latent, positive, terms), changed_latent, changed

    def _complete_latent(
        self, weights: Floats, before: Ids | None, rng: np.random.Generator | None
    ) -> tuple[Ids | None, Ints]:
        terms = self.latent.terms
        if len(terms) == 0:
            return None, np.zeros(0, dtype=np.int64)
        labels = self.latent.inside().best(weights, rng=rng).labels
        if before is None:
            return labels, np.arange(len(terms))
        count = len(terms) if len(before) == len(labels) else self.latent.hidden
        starts = terms.batch.starts[: count + 1]
        old = terms.with_targets(before).part(0, count).worst(weights).values
        new = terms.with_targets(labels).part(0, count).worst(weights).values
        keep = np.repeat(new > old, np.diff(starts))
        labels[: len(before)] = np.where(keep, before, labels[: len(before)])
        changed = _changed(starts, before, labels[: len(before)])
        return labels, np.concatenate([changed, np.arange(count, len(terms))])

    def restore(self, arrays: dict[str, NDArray[Any]]) -> CompletedOutputs:
        """The completion from a checkpoint; raises `ModelFileError` for invalid labels."""
        most = self.gold.batch.space.n_labels - 1
        latent = positive = terms = None
        if "latent" in arrays:
            latent = array_of(arrays, "latent", np.int32, [None], low=0, high=most)
            starts = self.latent.terms.batch.starts
            if len(latent) not in (int(starts[-1]), int(starts[self.latent.hidden])):
                raise ModelFileError("the completed outputs are not as long as the inputs")
        if "positive" in arrays:
            batch = self.positive.batch
            positive = array_of(arrays, "positive", np.int32, [int(batch.starts[-1])], low=0, high=most)
            terms = positive_terms(batch, positive, self.positive.sizes, self.positive.prices)
        return CompletedOutputs(latent, positive, terms)


def latent_problem(
    gold: TargetTerms,
    *,
    latent: Latent | None = None,
    negative: NegativeTerms | None = None,
    positive: Positive | None = None,
) -> LatentProblem:
    """A problem with the given groups; missing groups have no terms."""
    none, no_prices = gold.part(0, 0), np.zeros(0)
    return LatentProblem(
        gold,
        latent or Latent(none, None),
        negative or NegativeTerms(none.batch, no_prices, no_prices),
        positive or Positive(none.batch, no_prices, no_prices),
    )


def _changed(starts: Ints, before: Ids | None, after: Ids) -> Ints:
    if before is None:
        return np.arange(len(starts) - 1)
    different = (before != after).astype(np.int64)
    return np.flatnonzero(np.add.reduceat(different, starts[:-1]))
