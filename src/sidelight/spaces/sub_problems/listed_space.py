"""Spaces of listed outputs: every legal output, with its penalties under soft rules.

    score(y) = Σ_slots s[slot, y_slot] − charge(y)      over the y in the list of the input

Equal inputs share a list. Everything is exact: the best output, sums over all outputs, and sums over outputs with some
fixed choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.rows import offsets_of
from sidelight.features.structured.variable_features import VariableScores
from sidelight.spaces.slot_sums import SummedSlotSpace
from sidelight.spaces.slots import SlotScores
from sidelight.spaces.variables.variable_space import VariableBeliefs


class LegalOutputs(NamedTuple):
    """All legal outputs of an input."""

    outputs: Ids  # [L, slots]
    charges: Floats  # [L]


class OutputLists(NamedTuple):
    """Several lists in flat arrays."""

    outputs: Ids  # [entries] of list m from starts[m] on, output by output
    starts: Ints  # [M + 1]
    charges: Floats  # [outputs of all lists]
    firsts: Ints  # [M + 1]

    @classmethod
    def of(cls, lists: Sequence[LegalOutputs]) -> OutputLists:
        return cls(
            np.concatenate([np.zeros(0, np.int32), *(one.outputs.ravel() for one in lists)]).astype(np.int32),
            offsets_of([one.outputs.size for one in lists]),
            np.concatenate([np.zeros(0), *(one.charges for one in lists)]),
            offsets_of([len(one.charges) for one in lists]),
        )


@dataclass(frozen=True)
class ListedSpace(SummedSlotSpace):
    """The outputs of a batch."""

    list_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # [N]
    lists: tuple[LegalOutputs, ...] = ()
    flat: OutputLists = field(default_factory=lambda: OutputLists.of(()))

    @classmethod
    def of(cls, starts: Ints, n_labels: int, list_of: Ints, lists: Sequence[LegalOutputs]) -> ListedSpace:
        return cls(starts, n_labels, None, list_of, tuple(lists), OutputLists.of(lists))

    @property
    def there(self) -> Bytes:
        """Which choices each slot has in any output. # [T, K]"""
        mask = np.zeros((int(self.starts[-1]), self.n_labels), dtype=np.uint8)
        for number, first in zip(self.list_of.tolist(), self.starts[:-1].tolist()):
            outputs = self.lists[number].outputs
            mask[first + np.arange(outputs.shape[1]), outputs] = 1
        return mask if self.mask is None else np.asarray(mask & self.mask)

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        return replace(super().take(which), list_of=self.list_of[which])

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        choices, values = np.zeros(len(scores), dtype=np.int32), np.empty(len(self.starts) - 1)
        best_listed(self.starts, self.list_of, *self.flat, 0, len(values), scores, choices, values)
        return choices, values

    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        totals, beliefs = np.empty(len(self.starts) - 1), np.zeros((len(scores) if shares else 0, self.n_labels))
        _sums(self.starts, self.list_of, *self.flat, scores, shares, totals, beliefs)
        return totals, beliefs

    def beliefs(  # type: ignore[override]
        self, scores: SlotScores | VariableScores, *, prices: Floats | None = None, n_jobs: int | None = None
    ) -> VariableBeliefs:
        """Probabilities of choices, times the price of each input."""
        slots = super().beliefs(scores, prices=prices, n_jobs=n_jobs)  # type: ignore[arg-type]
        return VariableBeliefs(*slots, ())

    def score(self, scores: SlotScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of given choices of each input, less what soft rules charge. # [N]"""
        return super().score(scores, labels) - self.charges(labels)

    def charges(self, labels: Ids) -> Floats:
        """The penalties of each output under soft rules; 0 if it is not in the list. # [N]"""
        charges_of = np.zeros(len(self.starts) - 1)
        for i, number in enumerate(self.list_of.tolist()):
            outputs, charges = self.lists[number]
            same = np.flatnonzero(np.all(outputs == labels[self.starts[i] : self.starts[i + 1]], axis=1))
            charges_of[i] = charges[same[0]] if len(same) else 0.0
        return charges_of

    def projected(self, learned: Bytes) -> ListedSpace:
        """One output for each combination of the `learned` choices [K]; the other choices are ignored.

        It is the one with the lowest penalty, for sums over the sub-problems learned so far, with any legal completion.
        """
        lists = [_projected(one, learned) for one in self.lists]
        return replace(self, lists=tuple(lists), flat=OutputLists.of(lists))


def _projected(one: LegalOutputs, learned: Bytes) -> LegalOutputs:
    order = np.argsort(one.charges, kind="stable")
    seen = np.where(learned[one.outputs] != 0, one.outputs, -1)[order]
    first = np.sort(np.unique(seen, axis=0, return_index=True)[1])
    firsts = np.sort(order[first])
    return LegalOutputs(one.outputs[firsts], one.charges[firsts])


@inner_kernel
def _worth(scores: Floats, first: int, outputs: Ids, at: int, slots: int) -> float:
    worth = 0.0
    for slot in range(slots):
        worth += scores[first + slot, outputs[at + slot]]
    return worth


@kernel
def best_listed(
    starts: Ints,
    list_of: Ints,
    outputs: Ids,
    list_starts: Ints,
    charges: Floats,
    firsts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    choices: Ids,
    values: Floats,
) -> None:
    """The best choices of the inputs lo..hi; a value of −inf if there are none."""
    for i in range(lo, hi):
        first, number = starts[i], list_of[i]
        slots = starts[i + 1] - first
        best, where = -np.inf, -1
        for k in range(firsts[number + 1] - firsts[number]):
            at = list_starts[number] + k * slots
            worth = _worth(scores, first, outputs, at, slots) - charges[firsts[number] + k]
            if worth > best:
                best, where = worth, at
        values[i] = best
        if where >= 0:
            for slot in range(slots):
                choices[first + slot] = outputs[where + slot]


@kernel
def _sums(
    starts: Ints,
    list_of: Ints,
    outputs: Ids,
    list_starts: Ints,
    charges: Floats,
    firsts: Ints,
    scores: Floats,
    with_shares: bool,
    totals: Floats,
    shares: Floats,
) -> None:
    for i in range(starts.shape[0] - 1):
        first, number = starts[i], list_of[i]
        slots = starts[i + 1] - first
        count = firsts[number + 1] - firsts[number]
        worth = np.empty(count)
        top = -np.inf
        for k in range(count):
            at = list_starts[number] + k * slots
            worth[k] = _worth(scores, first, outputs, at, slots) - charges[firsts[number] + k]
            top = max(top, worth[k])
        if top == -np.inf:
            totals[i] = -np.inf
            continue
        total = 0.0
        for k in range(count):
            total += np.exp(worth[k] - top)
        totals[i] = top + np.log(total)
        if with_shares:
            for k in range(count):
                share = np.exp(worth[k] - totals[i])
                at = list_starts[number] + k * slots
                for slot in range(slots):
                    shares[first + slot, outputs[at + slot]] += share
