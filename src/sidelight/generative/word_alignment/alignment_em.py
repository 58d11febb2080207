"""Unified EM for word alignment: model 1, then the HMM, each by E-steps of `agreement` and M-steps that share counts.

T(θ; γ) = Σ over pairs of the E-step's optimum never falls from one iteration to the next (thesis, Theorem 2), up to how
exactly agreement was reached; with a prior on translations it is variational Bayes, whose bound is another one.

Where sentence pairs are held shard by shard (`sharded_alignment`), a shard has the part of the translation table that
its own pairs need: it gets only these probabilities, and counts only these entries. So no worker has the whole
table, which is put together, and normalised, in one place. Multipliers of agreement stay with their shard from one
iteration to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.generative.word_alignment.agreement import NO_TILTS, AgreementStep, Parameters, Posteriors, added, expect
from sidelight.generative.word_alignment.alignment_hmm import level
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.generative.word_alignment.translation import (
    Slab,
    TranslationLexicon,
    TranslationTable,
    add_counts,
    no_counts,
    normalised,
    pairs_of,
    slabs_of,
    uniform,
)
from sidelight.parallel.place import Held, Place, pieces_of

JUMPS = ("forward_jumps", "backward_jumps")


@dataclass(frozen=True, slots=True)
class AlignmentFigures:
    """One iteration, in numbers."""

    model: str
    objective: float  # T(θ; γ) of the parameters that the iteration began with, in nats
    apart: float  # Σ |q₁ − q₂| over all cells, per target word
    sums: float  # how often the sums of a pair were made, on average
    in_logs: int


class AlignmentCounts(NamedTuple):
    """The expected counts of an E-step for some pairs."""

    lexicon: TranslationLexicon
    forward_jumps: tuple[Floats, Floats]
    backward_jumps: tuple[Floats, Floats]
    objective: float
    apart: float  # Σ |q₁ − q₂|
    sums: int
    in_logs: int


@dataclass(frozen=True, slots=True)
class AlignmentEM:
    """A bitext to learn from."""

    table: TranslationTable
    text: Bitext
    prior: float
    n_jobs: int | None
    rows: Ids
    pair_of: Ids
    slabs: list[Slab]

    @classmethod
    def of(cls, table: TranslationTable, text: Bitext, *, prior: float = 0.0, n_jobs: int | None = None) -> AlignmentEM:
        """The data that every iteration needs, computed once."""
        return cls(table, text, prior, n_jobs, table.rows(), pairs_of(text.source_starts), slabs_of(text))

    def tilts(self, step: AgreementStep) -> Floats32:
        """The initial multipliers of the search for agreement, in the first of several iterations with these steps."""
        return np.zeros(len(self.text.entries), dtype=np.float32) if step.agreement else NO_TILTS

    def remembered(self, tilts: Floats32) -> Floats32:
        """Where the search for agreement begins in the next iteration, after one with these. # [C]"""
        return tilts

    def begun_at(self, tilts: Floats32, parameters: Parameters) -> Floats32:
        """What to give to the next iteration, which is one of these parameters, so that its search begins there."""
        return tilts

    def start(self, *, null: float) -> Parameters:
        """Model 1 with all translations equally likely."""
        return Parameters(uniform(self.table), None, None, null)

    def iterate(
        self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS
    ) -> tuple[Parameters, AlignmentFigures]:
        """One iteration: the new parameters, and its results."""
        return self.updated(parameters, self.counted(parameters, step, tilts=tilts))

    def counted(self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS) -> AlignmentCounts:
        """The E-step: what is expected of all pairs."""
        text, counts = self.text, no_counts(self.table)
        objective = apart = 0.0
        sums = in_logs = 0
        parts: list[Posteriors] = []
        for slab in self.slabs:
            pairs = (slab.first, slab.last)
            got = expect(text, parameters, step, pairs=pairs, counts=True, tilts=tilts, n_jobs=self.n_jobs)
            add_counts(slab, text, self.pair_of, got.forward, got.backward, counts, n_jobs=self.n_jobs)
            _add_nulls(counts, text, slab, got)
            objective, apart = objective + got.objective, apart + got.apart
            sums, in_logs = sums + got.sums, in_logs + got.in_logs
            parts.append(replace(got, forward=got.forward[:0], backward=got.backward[:0]))
        forward, backward = (added([getattr(part, name) for part in parts]) for name in JUMPS)
        return AlignmentCounts(counts, forward, backward, objective, apart, sums, in_logs)

    def updated(self, parameters: Parameters, counts: AlignmentCounts) -> tuple[Parameters, AlignmentFigures]:
        """The M-step, which takes over the counts of words."""
        lexicon = normalised(self.table, self.rows, counts.lexicon, prior=self.prior, n_jobs=self.n_jobs)
        after = replace(parameters, lexicon=lexicon)
        if parameters.forward is not None and parameters.backward is not None:
            one, other = parameters.forward, parameters.backward
            after = replace(
                after,
                forward=one.updated(*counts.forward_jumps),
                backward=other.updated(*counts.backward_jumps),
            )
        name = "model1" if parameters.forward is None else "hmm"
        words, pairs = len(self.text.targets), self.text.size
        return after, AlignmentFigures(
            name, counts.objective, counts.apart / words, counts.sums / pairs, counts.in_logs
        )


def with_jumps(parameters: Parameters) -> Parameters:
    """The initial HMM after model 1: its translations, and uniform jump weights."""
    return replace(parameters, forward=level(), backward=level())


def _add_nulls(counts: TranslationLexicon, text: Bitext, slab: Slab, got: Posteriors) -> None:
    targets = text.targets[text.target_starts[slab.first] : text.target_starts[slab.last]]
    sources = text.sources[text.source_starts[slab.first] : text.source_starts[slab.last]]
    counts.forward_null[:] += np.bincount(targets, weights=got.forward_null, minlength=len(counts.forward_null))
    counts.backward_null[:] += np.bincount(sources, weights=got.backward_null, minlength=len(counts.backward_null))


@dataclass(frozen=True, slots=True)
class ShardedAlignmentEM(AlignmentEM):
    """A bitext in several shards."""

    held: Held | None = None
    entries: tuple[Ints, ...] = ()  # of the table, that each shard has
    cuts: tuple[int, ...] = ()  # cells before each shard after the first

    def tilts(self, step: AgreementStep) -> Floats32:
        """They are where the pairs are."""
        return NO_TILTS

    def remembered(self, tilts: Floats32) -> Floats32:
        assert self.held is not None
        return np.concatenate([memory.tilts for memory in self.held.remembered()])

    def begun_at(self, tilts: Floats32, parameters: Parameters) -> Floats32:
        assert self.held is not None
        self.held.remember([_Memory(parameters.forward is None, part) for part in np.split(tilts, self.cuts)])
        return NO_TILTS

    def counted(self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS) -> AlignmentCounts:
        """The E-step: what is expected of all pairs, added in the order of the shards."""
        assert self.held is not None
        words = parameters.lexicon
        own = [(_of_shard(words.forward, mine), _of_shard(words.backward, mine)) for mine in self.entries]
        common = replace(parameters, lexicon=words._replace(forward=np.zeros(0), backward=np.zeros(0)))
        answers: list[AlignmentCounts] = self.held.advance(_count, common, step, own=own).items
        counts = no_counts(self.table)
        for mine, part in zip(self.entries, answers):
            counts.forward[mine] += part.lexicon.forward[:-2]
            counts.backward[mine] += part.lexicon.backward[:-2]
            counts.forward_null[:] += part.lexicon.forward_null
            counts.backward_null[:] += part.lexicon.backward_null
        forward, backward = (added([getattr(part, name) for part in answers]) for name in JUMPS)
        totals = [sum(getattr(part, name) for part in answers) for name in ("objective", "apart", "sums", "in_logs")]
        return AlignmentCounts(counts, forward, backward, *totals)


def sharded_alignment(em: AlignmentEM, place: Place) -> AlignmentEM:
    """The same in a place, if there are several shards."""
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
    cuts = tuple(int(em.text.cell_starts[first]) for first, _ in lots[1:])
    return ShardedAlignmentEM(**own, held=held.derive(_em_of_piece, held.n_jobs), entries=entries, cuts=cuts)


class _Memory(NamedTuple):
    """The state of a shard between two iterations."""

    model1: bool  # or the HMM, which starts from zero multipliers
    tilts: Floats32


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


def _em_of_piece(piece: tuple[TranslationTable, Bitext], n_jobs: int | None) -> AlignmentEM:
    return AlignmentEM.of(*piece, n_jobs=n_jobs)


def _count(
    em: AlignmentEM,
    memory: _Memory | None,
    parameters: Parameters,
    step: AgreementStep,
    forward: Floats,
    backward: Floats,
) -> tuple[_Memory, InOrder]:
    words: TranslationLexicon = parameters.lexicon._replace(forward=forward, backward=backward)
    model1 = parameters.forward is None
    tilts = em.tilts(step) if memory is None or memory.model1 != model1 else memory.tilts.copy()
    counts = em.counted(replace(parameters, lexicon=words), step, tilts=tilts)
    return _Memory(model1, tilts), InOrder([counts])
