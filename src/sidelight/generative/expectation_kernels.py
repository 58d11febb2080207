"""The E-step over a shard of sentence pairs: posteriors of links and null words, expected jumps, objective."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.generative.word_alignment.agreement_kernels import agree, agree_hard, path_jumps, search_room, set_shares
from sidelight.generative.word_alignment.alignment_kernels import padded
from sidelight.generative.word_alignment.alignment_sides import (
    AlignmentSide,
    Direction,
    best_side,
    jump_counts,
    load_pair,
    posteriors,
    room,
    side_of,
    sum_side,
)
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.generative.word_alignment.ibm1 import link_weight

OBJECTIVE, APART, WORST, SUMS, IN_LOGS = range(5)  # places in `Expected.figures`


class ExpectedCounts(NamedTuple):
    """The results of the E-step; shards share the first four arrays, and each shard has its own of the others."""

    links_one: Floats  # [C'] posteriors of cells, from the cell `base` on
    links_other: Floats  # [C']
    nulls_one: Floats  # [T] of target words
    nulls_other: Floats  # [S] of source words
    distances_one: Floats  # [2 D + 1] expected jumps, or empty if they are not asked for
    distances_other: Floats
    leaving_one: Floats  # [D + 1, D + 1] by length and column
    leaving_other: Floats
    figures: Floats  # [5] sums over pairs (of WORST the largest)


@inner_kernel
def longest(starts: Ints, first: int, last: int) -> int:
    """The length of the longest of some sequences."""
    most = 0
    for n in range(first, last):
        most = max(most, starts[n + 1] - starts[n])
    return most


@kernel
def expect_shard(
    first: int,
    last: int,
    text: Bitext,
    one: Direction,
    other: Direction,
    hard: bool | None,  # whether γ = 0; None instead of False, so that unused code is not compiled
    agreement: bool | None,
    most: int,  # sums, or best alignments, per pair
    tolerance: float,
    base: int,
    tilts: Floats32,  # [C] ν to begin with, then as found; or empty
    expected: ExpectedCounts,
) -> None:
    """Fill `expected` for the pairs first … last − 1."""
    sources, targets = longest(text.source_starts, first, last), longest(text.target_starts, first, last)
    memory_a = room(targets, padded(sources + 1))
    memory_b = room(sources, padded(targets + 1))
    square = np.empty(padded(max(sources, targets) + 1) ** 2)
    both = hard is not None and agreement is not None
    search = search_room(longest(text.cell_starts, first, last) if agreement is not None and hard is None else 0)
    memory = most if both else 1
    paths_a, paths_b = np.empty((memory, targets), dtype=np.int32), np.empty((memory, sources), dtype=np.int32)
    weights = np.empty(memory)
    lost_a, lost_b = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    totals = expected.figures
    counting = expected.distances_one.shape[0] > 0
    for pair in range(first, last):
        rows = text.source_starts[pair + 1] - text.source_starts[pair]
        columns = text.target_starts[pair + 1] - text.target_starts[pair]
        a = side_of(memory_a, columns, padded(rows + 1), lost_a)
        b = side_of(memory_b, rows, padded(columns + 1), lost_b)
        load_pair(pair, text, one, other, a, b)
        warm = agreement is not None and tilts.shape[0] > 0
        if warm:
            shift(a, b, rows, columns, tilts[text.cell_starts[pair] : text.cell_starts[pair + 1]])
        if hard is not None:
            here_a, here_b = paths_a[:, :columns], paths_b[:, :rows]
            common, value = 1, 0.0
            if agreement is not None:
                value, common = agree_hard(a, b, one, other, here_a, here_b, weights)
            else:
                value = best_side(a, one, rows + 1, here_a[0]) + best_side(b, other, columns + 1, here_b[0])
                weights[0] = 1.0
            set_shares(a, here_a, weights, common)
            set_shares(b, here_b, weights, common)
            totals[SUMS] += common
            if counting:
                path_jumps(here_a, weights, common, expected.distances_one, expected.leaving_one[rows])
                path_jumps(here_b, weights, common, expected.distances_other, expected.leaving_other[columns])
        else:
            sums = 1
            if agreement is not None:
                value, sums = agree(a, b, one, other, rows, columns, most, tolerance, search)
            else:
                value = sum_side(a, one, rows + 1, 0.0) + sum_side(b, other, columns + 1, 0.0)
                posteriors(a, one, rows + 1, 0.0)
                posteriors(b, other, columns + 1, 0.0)
            totals[SUMS] += sums
            totals[IN_LOGS] += a.lost[0] + b.lost[0]
            if counting:
                jump_counts(a, one, rows + 1, square, expected.distances_one, expected.leaving_one[rows])
                jump_counts(b, other, columns + 1, square, expected.distances_other, expected.leaving_other[columns])
        totals[OBJECTIVE] += value / one.power
        if warm:
            keep_shift(pair, text, one, a, tilts)
        give(pair, text, a, b, rows, columns, base, expected)


@inner_kernel
def shift(a: AlignmentSide, b: AlignmentSide, rows: int, columns: int, tilts: Floats32) -> None:
    """Move the scores of a pair by ν."""
    for i in range(rows):
        for j in range(columns):
            nu = np.float64(tilts[i * columns + j])
            a.scores[j, i + 1] += nu
            b.scores[i, j + 1] -= nu


@inner_kernel
def keep_shift(pair: int, text: Bitext, one: Direction, a: AlignmentSide, tilts: Floats32) -> None:
    """Note by how much the scores of a pair have been moved."""
    columns = a.scores.shape[0]
    cell = text.cell_starts[pair]
    rows = text.source_starts[pair + 1] - text.source_starts[pair]
    link = 0.0 if one.chain else link_weight(one.null, rows, one.power)
    for i in range(rows):
        for j in range(columns):
            at = cell + i * columns + j
            tilts[at] = a.scores[j, i + 1] - link - one.words[text.entries[at]]


@inner_kernel
def give(
    pair: int,
    text: Bitext,
    a: AlignmentSide,
    b: AlignmentSide,
    rows: int,
    columns: int,
    base: int,
    expected: ExpectedCounts,
) -> None:
    """Write the posteriors of a pair to their places; the rest of each word's probability belongs to the null word."""
    cell = text.cell_starts[pair] - base
    first, begin = text.source_starts[pair], text.target_starts[pair]
    apart = 0.0
    for i in range(rows):
        out = expected.links_one[cell + i * columns : cell + (i + 1) * columns]
        out_other = expected.links_other[cell + i * columns : cell + (i + 1) * columns]
        other = b.real[i]
        links = 0.0
        for j in range(columns):
            p, q = a.real[j, i + 1], other[j + 1]
            out[j], out_other[j] = p, q
            links += q
            gap = abs(p - q)
            apart += gap
            expected.figures[WORST] = max(expected.figures[WORST], gap)
        expected.nulls_other[first + i] = max(0.0, 1.0 - links)
    for j in range(columns):
        row = a.real[j]
        links = 0.0
        for i in range(1, rows + 1):
            links += row[i]
        expected.nulls_one[begin + j] = max(0.0, 1.0 - links)
    expected.figures[APART] += apart
