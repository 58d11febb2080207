"""Spaces of types of entities and relations of their pairs, connected by rules about pairs.

The slots of an input are its entities, then its pairs (0, 1), (0, 2), …, (1, 2), …; choices are the types, then the
relations of a pair. The charges of a pair depend on its relation and both types (`relation_kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.rows import offsets_of, taken
from sidelight.features.structured.variable_features import VariableScores
from sidelight.parallel import shards, threads
from sidelight.spaces.slot_sums import SummedSlotSpace
from sidelight.spaces.slots import SlotScores
from sidelight.spaces.sub_problems.relation_kernels import best_relations, sum_relations
from sidelight.spaces.variables.variable_space import VariableBeliefs

MOST_NODES = 50_000_000  # of the search for the best types of one input: some seconds
MOST_SUMMED = 1 << 22  # types ** entities that are summed over


@dataclass(frozen=True)
class RelationSpace(SummedSlotSpace):
    """The outputs of a batch."""

    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # [N] entities
    table_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # [P] of each pair: its table
    tables: Floats = field(default_factory=lambda: np.zeros((1, 1, 1, 1)))  # [M, types, types, relations] −inf or less
    alone: Floats | None = None  # [T, K] the same of single slots

    @property
    def pair_starts(self) -> Ints:
        """# [N + 1]"""
        return offsets_of(self.counts * (self.counts - 1) // 2)

    @property
    def n_types(self) -> int:
        return int(self.tables.shape[1])

    @property
    def there(self) -> Bytes:
        """Which choices each slot has: types for entities, relations for pairs. # [T, K]"""
        place = np.arange(int(self.starts[-1])) - np.repeat(self.starts[:-1], np.diff(self.starts))
        entity = place < np.repeat(self.counts, np.diff(self.starts))
        own = np.asarray(entity[:, None] == (np.arange(self.n_labels) < self.n_types), dtype=np.uint8)
        return own if self.mask is None else np.asarray(own & self.mask)

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        pairs = taken(self.pair_starts, which)[1]
        alone = None if self.alone is None else self.alone[taken(self.starts, which)[1]]
        return replace(super().take(which), counts=self.counts[which], table_of=self.table_of[pairs], alone=alone)

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        choices, values = np.zeros(len(scores), dtype=np.int32), np.empty(len(self.starts) - 1)
        unary = scores if self.alone is None else scores + self.alone
        pair_starts = self.pair_starts

        def run(shard: tuple[int, int]) -> int:
            tied = pair_starts, self.table_of, self.tables
            return best_relations(self.starts, self.counts, *tied, *shard, unary, MOST_NODES, choices, values)

        if len(values) == 1:  # online learners use one input at a time
            given_up = [run((0, 1))]
        else:
            given_up = list(threads(run, shards(self.starts), n_jobs=n_jobs))
        for number in given_up:
            if number >= 0:
                raise too_many_steps(int(self.counts[number]))
        return choices, values

    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        most = int(self.counts.max(initial=0))
        if self.n_types**most > MOST_SUMMED:
            problem = f"a sum over the types of {most} entities has {self.n_types}^{most} terms"
            raise Intractable(f"{problem}; use a learner that needs only best outputs")
        totals, beliefs = np.empty(len(self.starts) - 1), np.zeros((len(scores) if shares else 0, self.n_labels))
        unary = scores if self.alone is None else scores + self.alone
        pair_starts = self.pair_starts

        def run(shard: tuple[int, int]) -> None:
            tied = pair_starts, self.table_of, self.tables
            sum_relations(self.starts, self.counts, *tied, *shard, unary, shares, totals, beliefs)

        threads(run, shards(self.starts), n_jobs=n_jobs)
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
        """The penalties of each output under soft rules; hard rules are checked by `admits`. # [N]"""
        tables = np.where(self.tables == -np.inf, 0.0, self.tables)
        charges = np.zeros(len(self.starts) - 1)
        if self.alone is not None:
            own = np.where(self.alone == -np.inf, 0.0, self.alone)
            charges = -super().score(SlotScores(own), labels)
        if not tables.any():
            return charges
        pair_starts = self.pair_starts
        for i, (first, n) in enumerate(zip(self.starts[:-1].tolist(), self.counts.tolist())):
            a, b = np.triu_indices(n, 1)
            own = self.table_of[pair_starts[i] : pair_starts[i + 1]]
            relation = labels[first + n : int(self.starts[i + 1])] - self.n_types
            charges[i] -= tables[own, labels[first + a], labels[first + b], relation].sum()
        return charges

    def projected(self, learned: Bytes) -> RelationSpace:
        """One output for each combination of the `learned` choices [K]; the other choices are ignored.

        For sums over the sub-problems learned so far, with any legal completion. Works for all choices, or for types
        alone if "none" is allowed with all types; raises `Intractable` otherwise.
        """
        if learned.all():
            return self
        relations = learned[self.n_types :]
        free = np.all(self.tables[..., 0] == 0.0) and self.alone is None
        if learned[: self.n_types].all() and not relations.any() and free:
            only = np.ones((int(self.starts[-1]), self.n_labels), dtype=np.uint8)
            only[:, self.n_types + 1 :] = 0
            return self.inside(only)
        raise Intractable("relations without the types of entities are not summed over; learn the types first")


def too_many_steps(entities: int) -> Intractable:
    """The error for a search that was given up."""
    problem = f"the best types of {entities} entities took more than {MOST_NODES:,} steps"
    return Intractable(f"{problem}; leave the input out, or cut it into smaller ones")
