"""Spaces of slots for sub-problems: outputs under rules, outputs of independent slots, and projections to some choices.

A sub-problem is a set of choices (the labels of one kind of variable, or a single label against the others). While only
some are learned, outputs that differ in other choices alone count once: `projected` has one of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.spaces.slot_sums import SummedSlotSpace
from sidelight.spaces.space import Space


@runtime_checkable
class TiedSpace(Space, Protocol):
    """A space whose scores are a sum over slots [T, K], with the further operations of sequential learning."""

    @property
    def there(self) -> Bytes:
        """Which choices each slot has. # [T, K]"""
        ...

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        """The best choices of all inputs [T] and their scores [N]."""
        ...

    def projected(self, learned: Bytes) -> SummedSlotSpace:
        """One output for each way that learned choices [K] may be chosen; raises `Intractable`."""
        ...


@dataclass(frozen=True)
class FreeSpace(SummedSlotSpace):
    """Independent slots: sub-problems without rules; the mask marks the possible choices."""

    @classmethod
    def of(cls, space: TiedSpace) -> FreeSpace:
        return cls(space.starts, space.n_labels, space.there)

    @property
    def there(self) -> Bytes:
        if self.mask is None:
            return np.ones((int(self.starts[-1]), self.n_labels), dtype=np.uint8)
        return self.mask

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        choices = scores.argmax(axis=1).astype(np.int32)
        return choices, self._totals(scores[np.arange(len(choices)), choices])

    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        top = scores.max(axis=1, initial=-np.inf, keepdims=True)
        mass = np.exp(scores - np.where(top == -np.inf, 0.0, top))
        total = mass.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            sums = np.log(total[:, 0]) + np.where(top == -np.inf, 0.0, top)[:, 0]
        return self._totals(sums), mass / np.maximum(total, 1e-300) if shares else np.zeros((0, self.n_labels))

    def projected(self, learned: Bytes) -> FreeSpace:
        """One choice represents all that are not learned."""
        there = self.there.copy()
        other = there * (1 - learned)
        first = np.cumsum(other, axis=1) == 1
        return replace(self, mask=np.asarray(there & (learned | (first & (other == 1))), dtype=np.uint8))

    def _totals(self, own: Floats) -> Floats:
        """Sums by input. # [N]"""
        inputs = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.bincount(inputs, own, minlength=len(self.starts) - 1).astype(np.float64)
