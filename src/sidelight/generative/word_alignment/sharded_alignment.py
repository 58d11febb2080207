"""EM for word alignment whose sentence pairs are held shard by shard.

A shard has the part of the translation table that its own pairs need: it is told these probabilities alone, and counts
these entries alone. So no worker has the whole table, which is put together, and normalised, in one place. Multipliers
of agreement stay with their shard from one iteration to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ints
from sidelight.generative.word_alignment.agreement import NO_TILTS, AgreementStep, Parameters, added
from sidelight.generative.word_alignment.alignment_em import JUMPS, AlignmentCounts, AlignmentEM
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.generative.word_alignment.translation import TranslationLexicon, TranslationTable, no_counts
from sidelight.parallel.place import Held, Place, pieces_of


@dataclass(frozen=True, slots=True)
class ShardedAlignmentEM(AlignmentEM):
    """A bitext in several shards."""

    held: Held | None = None
    entries: tuple[Ints, ...] = ()  # of the table, that each shard has

    def tilts(self, step: AgreementStep) -> Floats32:
        """They are where the pairs are."""
        return NO_TILTS

    def counted(self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS) -> AlignmentCounts:
        """The E-step: what is expected of all pairs, added in the order of the shards."""
        assert self.held is not None
        words = parameters.lexicon
        own = [(_of_shard(words.forward, mine), _of_shard(words.backward, mine)) for mine in self.entries]
        common = replace(parameters, lexicon=words._replace(forward=np.zeros(0), backward=np.zeros(0)))
        found: list[AlignmentCounts] = self.held.advance(_count, common, step, own=own).items
        counts = no_counts(self.table)
        for mine, part in zip(self.entries, found):
            counts.forward[mine] += part.lexicon.forward[:-2]
            counts.backward[mine] += part.lexicon.backward[:-2]
            counts.forward_null[:] += part.lexicon.forward_null
            counts.backward_null[:] += part.lexicon.backward_null
        forward, backward = (added([getattr(part, name) for part in found]) for name in JUMPS)
        totals = [sum(getattr(part, name) for part in found) for name in ("objective", "apart", "sums", "in_logs")]
        return AlignmentCounts(counts, forward, backward, *totals)


def sharded_alignment(em: AlignmentEM, place: Place) -> AlignmentEM:
    """The same in a place, where there are several shards."""
    lots = pieces_of(em.text.source_starts, place.shard_tokens)
    if len(lots) <= 1:
        return em
    texts = [_part(em.text, lo, hi) for lo, hi in lots]
    entries = tuple(np.unique(text.entries).astype(np.int64) for text in texts)
    pieces = [
        (_table_of(em.table, mine), text._replace(entries=np.searchsorted(mine, text.entries).astype(np.int32)))
        for mine, text in zip(entries, texts)
    ]
    held = place.hold(pieces)
    own = {name: getattr(em, name) for name in AlignmentEM.__slots__}
    return ShardedAlignmentEM(**own, held=held.made(_made, held.n_jobs), entries=entries)


class InOrder:
    """Answers of neighbouring shards, one after another."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def plus(self, other: InOrder) -> InOrder:
        return InOrder(self.items + other.items)


def _of_shard(values: Floats, mine: Ints) -> Floats:
    """The values of some entries, and of what never occurs."""
    return np.concatenate([values[mine], values[-2:]])


def _table_of(table: TranslationTable, mine: Ints) -> TranslationTable:
    """The entries of a table that are in a shard."""
    return TranslationTable(np.searchsorted(mine, table.starts), table.partners[mine], table.target_words)


def _part(text: Bitext, lo: int, hi: int) -> Bitext:
    (s0, s1), (t0, t1), (c0, c1) = (
        (int(starts[lo]), int(starts[hi])) for starts in (text.source_starts, text.target_starts, text.cell_starts)
    )
    return Bitext(
        text.sources[s0:s1],
        text.targets[t0:t1],
        text.source_starts[lo : hi + 1] - s0,
        text.target_starts[lo : hi + 1] - t0,
        text.cell_starts[lo : hi + 1] - c0,
        text.entries[c0:c1],
    )


def _made(piece: tuple[TranslationTable, Bitext], n_jobs: int | None) -> AlignmentEM:
    return AlignmentEM.of(*piece, n_jobs=n_jobs)


def _count(
    em: AlignmentEM, memory: Any, parameters: Parameters, step: AgreementStep, forward: Floats, backward: Floats
) -> tuple[Any, InOrder]:
    words: TranslationLexicon = parameters.lexicon._replace(forward=forward, backward=backward)
    stage = parameters.forward is None  # model 1 or the HMM
    known = memory is not None and memory[0] == stage
    tilts = memory[1].copy() if known else em.tilts(step)
    found = em.counted(replace(parameters, lexicon=words), step, tilts=tilts)
    return (stage, tilts), InOrder([found])
