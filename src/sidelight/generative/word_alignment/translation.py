"""Lexical translation probabilities t(f | e) and t(e | f) of word pairs that occur together.

One table serves both directions. Its rows are source words, each with the target words it occurs with in order (CSR);
entry k is one word pair and has two values, log t(f | e) and log t(e | f). The null word of either direction has its
own dense row. After the K entries there are two more: for a pair that never occurred, and for two unknown words, which
are more likely to be translations of each other than of a known word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.generative.word_alignment.bitext import Bitext, cells
from sidelight.generative.word_alignment.translation_kernels import (
    count_partners,
    digamma,
    fill_partners,
    find_entries,
    log_shares,
    sum_cells,
)
from sidelight.parallel import shards, threads

LOG_FLOOR = -40.0  # no pair that occurs is less likely than this
LOG_UNSEEN = float(np.log(1e-9))  # a pair that never occurred
LOG_UNKNOWN = float(np.log(1e-4))  # two unknown words
SHARD_CELLS = 1 << 17
SLAB_CELLS = 1 << 24  # posteriors of so many cells are held at a time


class TranslationLexicon(NamedTuple):
    """Values of the table: logarithms of probabilities."""

    forward: Floats  # [K + 2] log t(f | e)
    backward: Floats  # [K + 2] log t(e | f)
    forward_null: Floats  # [F + 1] log t(f | null)
    backward_null: Floats  # [E + 1] log t(e | null)


@dataclass(frozen=True, slots=True)
class TranslationTable:
    """Which word pairs have an entry."""

    starts: Ints  # [E + 1] of each source word's row
    partners: Ids  # [K] target word of each entry
    target_words: int  # F

    @property
    def source_words(self) -> int:
        """E."""
        return len(self.starts) - 1

    @property
    def entries(self) -> int:
        """K."""
        return len(self.partners)

    def rows(self) -> Ids:
        """The source word of each entry. # [K]"""
        return np.repeat(np.arange(self.source_words, dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True, slots=True)
class Slab:
    """A run of pairs whose posteriors are held together, its source tokens in the order of their words."""

    first: int  # pairs
    last: int
    word_starts: Ints  # [U + 1] where each of its U distinct source words begins in `order`
    order: Ids  # [S'] source tokens
    shards: list[tuple[int, int]]  # of words, with about as many cells


def table_of(
    sources: Ids,
    source_starts: Ints,
    targets: Ids,
    target_starts: Ints,
    *,
    source_words: int,
    target_words: int,
    n_jobs: int | None,
) -> tuple[TranslationTable, Bitext]:
    """The table of all word pairs that occur together, and the bitext with its entries."""
    text = _empty(sources, source_starts, targets, target_starts)
    pair_of = pairs_of(source_starts)
    order = np.argsort(sources, kind="stable").astype(np.int32)
    word_starts = np.searchsorted(sources[order], np.arange(source_words + 1)).astype(np.int64)
    work = np.concatenate([[0], np.cumsum(np.diff(target_starts)[pair_of[order]])])[word_starts]
    parts = shards(work, tokens=SHARD_CELLS)
    sizes = np.zeros(source_words, dtype=np.int64)
    threads(
        lambda part: count_partners(*part, order, word_starts, pair_of, text, target_words, sizes), parts, n_jobs=n_jobs
    )
    starts = np.concatenate([[0], np.cumsum(sizes)])
    partners = np.empty(int(starts[-1]), dtype=np.int32)
    threads(
        lambda part: fill_partners(*part, order, word_starts, pair_of, text, target_words, starts, partners),
        parts,
        n_jobs=n_jobs,
    )
    return TranslationTable(starts, partners, target_words), text


def lookup(
    table: TranslationTable, sources: Ids, source_starts: Ints, targets: Ids, target_starts: Ints, *, n_jobs: int | None
) -> Bitext:
    """New pairs with their entries in a table; unknown words have the number after the last one."""
    text = _empty(sources, source_starts, targets, target_starts)

    def find(part: tuple[int, int]) -> None:
        find_entries(*part, text, table.starts, table.partners, table.target_words)

    threads(find, shards(text.cell_starts, tokens=SHARD_CELLS), n_jobs=n_jobs)
    return text


def uniform(table: TranslationTable) -> TranslationLexicon:
    """All translations of a word equally likely."""
    forward = np.full(table.entries + 2, -np.log(max(table.target_words, 1)))
    backward = np.full(table.entries + 2, -np.log(max(table.source_words, 1)))
    return finished(
        TranslationLexicon(
            forward, backward, np.full(table.target_words + 1, forward[0]), np.full(table.source_words + 1, backward[0])
        )
    )


def pairs_of(starts: Ints) -> Ids:
    """The pair of every token. # [S]"""
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))


def slabs_of(text: Bitext, *, most: int = SLAB_CELLS) -> list[Slab]:
    """Runs of pairs with about `most` cells each."""
    slabs = []
    for first, last in shards(text.cell_starts, tokens=most):
        begin, end = int(text.source_starts[first]), int(text.source_starts[last])
        order = (begin + np.argsort(text.sources[begin:end], kind="stable")).astype(np.int32)
        _, places = np.unique(text.sources[order], return_index=True)
        word_starts = np.concatenate([places, [end - begin]]).astype(np.int64)
        lengths = np.diff(text.target_starts)[pairs_of(text.source_starts[first : last + 1]) + first]
        work = np.concatenate([[0], np.cumsum(lengths[order - begin])])[word_starts]
        slabs.append(Slab(first, last, word_starts, order, shards(work, tokens=SHARD_CELLS)))
    return slabs


def add_counts(
    slab: Slab,
    text: Bitext,
    pair_of: Ids,
    forward: Floats,
    backward: Floats,
    counts: TranslationLexicon,
    *,
    n_jobs: int | None,
) -> None:
    """Add the posteriors of a slab's cells to the counts of their entries; null words have theirs from elsewhere."""
    base = int(text.cell_starts[slab.first])

    def add(part: tuple[int, int]) -> None:
        sum_cells(
            *part, slab.order, slab.word_starts, pair_of, text, base, forward, backward,
            counts.forward, counts.backward,
        )  # fmt: skip

    threads(add, slab.shards, n_jobs=n_jobs)


def no_counts(table: TranslationTable) -> TranslationLexicon:
    """Zeros of the shapes of a lexicon."""
    k, e, f = table.entries + 2, table.source_words + 1, table.target_words + 1
    return TranslationLexicon(np.zeros(k), np.zeros(k), np.zeros(f), np.zeros(e))


def normalised(
    table: TranslationTable, rows: Ids, counts: TranslationLexicon, *, prior: float, n_jobs: int | None
) -> TranslationLexicon:
    """The M-step: shares of counts; with a prior α > 0 exp E log t under Dirichlet posteriors (variational Bayes).

    The arrays of `counts` become those of the result.
    """
    k, e, f = table.entries, table.source_words, table.target_words
    by_source: Floats = np.bincount(rows, weights=counts.forward[:k], minlength=e).astype(np.float64)
    by_target: Floats = np.bincount(table.partners, weights=counts.backward[:k], minlength=f).astype(np.float64)
    if prior > 0.0:
        by_source = _digammas(by_source + prior * np.diff(table.starts))
        by_target = _digammas(by_target + prior * np.bincount(table.partners, minlength=f))
    parts = [(at, min(at + SHARD_CELLS, k)) for at in range(0, k, SHARD_CELLS)]

    def share(part: tuple[int, int]) -> None:
        log_shares(*part, counts.forward, rows, by_source, prior, LOG_FLOOR)
        log_shares(*part, counts.backward, table.partners, by_target, prior, LOG_FLOOR)

    threads(share, parts, n_jobs=n_jobs)
    for null in (counts.forward_null, counts.backward_null):
        total = float(null.sum())
        whole = digamma(total + prior * (len(null) - 1)) if prior > 0.0 else total
        log_shares(0, len(null) - 1, null, np.zeros(len(null), np.int32), np.array([whole]), prior, LOG_FLOOR)
    return finished(counts)


def finished(values: TranslationLexicon) -> TranslationLexicon:
    """The values of what never occurred."""
    for table in (values.forward, values.backward):
        table[-2], table[-1] = LOG_UNSEEN, LOG_UNKNOWN
    values.forward_null[-1] = values.backward_null[-1] = LOG_UNSEEN
    return values


def _digammas(values: Floats) -> Floats:
    from scipy.special import digamma as psi

    digammas: Floats = psi(np.maximum(values, 1e-300))
    return digammas


def _empty(sources: Ids, source_starts: Ints, targets: Ids, target_starts: Ints) -> Bitext:
    starts = cells(source_starts, target_starts)
    return Bitext(sources, targets, source_starts, target_starts, starts, np.empty(int(starts[-1]), dtype=np.int32))
