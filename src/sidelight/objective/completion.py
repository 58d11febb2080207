"""A margin problem with latent outputs: what there is to complete, and the convex problem that a completion leaves.

The joint objective over weights w and completed outputs ŷ is

    Q(w, ŷ) = ½ ‖w‖² + Σ_gold C ℓ(target y) + Σ_latent C ℓ(target ŷ) + Σ_bad C ℓ(negative) + Σ_good C ℓ(positive ŷ)

with the terms of `margin`. Gold and bad inputs make the convex part that never changes. Good inputs (Companion +1)
complete to their best output, which minimises their term exactly: this is J-LIS. Inputs with candidates, partial
labels or no labels complete to their best admitted output and are then targets; since that need not lower their term,
a new completion is taken only where it does not raise it. So Q never rises, whatever the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.objective.cuts import Terms
from sidelight.objective.margin import (
    ChainBatch,
    NegativeTerms,
    PositiveTerms,
    SilentTerms,
    StackedTerms,
    TargetTerms,
    positive_terms,
)


@dataclass(frozen=True, slots=True)
class Latent:
    """Inputs to be completed within what they admit, then treated as targets."""

    terms: TargetTerms  # its targets are the present completion
    admitted: Bytes | None  # [T, L]


@dataclass(frozen=True, slots=True)
class Positive:
    """Good inputs, to be completed to their best output."""

    batch: ChainBatch
    sizes: Floats  # [N] κ(x)
    prices: Floats  # [N]


@dataclass(frozen=True, slots=True)
class Completion:
    """The outputs completed so far; None before the first time."""

    latent: Ids | None = None  # [T of latent]
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
        """Nothing to complete."""
        return len(self.latent.terms) == 0 and len(self.positive.batch) == 0

    @property
    def whole_slopes(self) -> bool:
        """Every cut's slope counts features: no values, no dense rows, no companion terms scaled by their size."""
        rows = self.gold.batch.rows, self.latent.terms.batch.rows
        binary = all(len(part.values) == 0 and part.dense.shape[1] == 0 for part in rows)
        return binary and len(self.negative) == 0 and len(self.positive.batch) == 0

    def gold_only(self) -> Terms:
        """The convex problem of the gold terms, with places for the rest."""
        return StackedTerms([self.gold, SilentTerms.like(len(self) - len(self.gold))])

    def convex(self, completion: Completion) -> Terms:
        """The convex problem that a completion leaves."""
        latent = self.latent.terms if completion.latent is None else self.latent.terms.with_targets(completion.latent)
        positive = completion.terms or SilentTerms.like(len(self.positive.batch))
        return StackedTerms([self.gold, latent, self.negative, positive])

    def complete(
        self, weights: Floats, before: Completion, rng: np.random.Generator | None
    ) -> tuple[Completion, Ints, Ints]:
        """Complete with these weights; returns also which latent and which good inputs changed."""
        latent, changed_latent = self._complete_latent(weights, before.latent, rng)
        positive, changed = before.positive, np.zeros(0, dtype=np.int64)
        terms = before.terms
        if len(self.positive.batch):
            positive = self.positive.batch.best(weights, rng=rng).labels
            changed = _changed(self.positive.batch.rows.starts, before.positive, positive)
            if len(changed):
                terms = positive_terms(self.positive.batch, positive, self.positive.sizes, self.positive.prices)
        return Completion(latent, positive, terms), changed_latent, changed

    def _complete_latent(
        self, weights: Floats, before: Ids | None, rng: np.random.Generator | None
    ) -> tuple[Ids | None, Ints]:
        terms, admitted = self.latent.terms, self.latent.admitted
        if len(terms) == 0:
            return None, np.zeros(0, dtype=np.int64)
        batch = terms.batch
        inside = batch if admitted is None else replace(batch, space=batch.space.inside(admitted))
        labels = inside.best(weights, rng=rng).labels
        starts = batch.rows.starts
        if before is None:
            return labels, np.arange(len(terms))
        old = terms.with_targets(before).worst(weights).values
        new = terms.with_targets(labels).worst(weights).values
        keep = np.repeat(new > old, np.diff(starts))
        labels = np.where(keep, before, labels)
        return labels, _changed(starts, before, labels)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> Completion:
        """The completion that a checkpoint holds."""
        positive = arrays.get("positive")
        terms = None
        if positive is not None:
            terms = positive_terms(self.positive.batch, positive, self.positive.sizes, self.positive.prices)
        return Completion(arrays.get("latent"), positive, terms)


def _changed(starts: Ints, before: Ids | None, after: Ids) -> Ints:
    if before is None:
        return np.arange(len(starts) - 1)
    different = (before != after).astype(np.int64)
    return np.flatnonzero(np.add.reduceat(different, starts[:-1]))
