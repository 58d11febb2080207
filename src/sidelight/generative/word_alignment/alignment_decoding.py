"""From the posteriors of both directions to one set of links.

Each direction has the links whose posterior is at least a threshold; for best alignments posteriors are 0 or 1. The
two sets are combined by a *rule*: one of them, their intersection or union, or grown from the intersection towards the
union (Koehn et al. 2003). "mean" and "product" combine the posteriors themselves: their arithmetic or geometric mean is
held against the threshold.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.parallel import shards, threads

RULES = (
    "forward",
    "backward",
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "mean",
    "product",
)
FORWARD, BACKWARD, INTERSECTION, UNION, GROW, FINAL, FINAL_AND, MEAN, PRODUCT = range(len(RULES))
SHARD_CELLS = 1 << 18

Flags = NDArray[np.bool_]


def links_of(
    text: Bitext, forward: Floats, backward: Floats, *, rule: str, threshold: float, n_jobs: int | None = None
) -> list[list[tuple[int, int]]]:
    """The links (source position, target position) of every pair, in order."""
    chosen = np.zeros(len(forward), dtype=np.uint8)
    number = RULES.index(rule)

    def choose(part: tuple[int, int]) -> None:
        choose_links(
            *part,
            text.source_starts,
            text.target_starts,
            text.cell_starts,
            forward,
            backward,
            number,
            threshold,
            chosen,
        )

    threads(choose, shards(text.cell_starts, tokens=SHARD_CELLS), n_jobs=n_jobs)
    cells = np.flatnonzero(chosen)
    bounds = np.searchsorted(cells, text.cell_starts)
    pair = np.repeat(np.arange(text.size), np.diff(bounds))
    rows, columns = np.divmod(cells - text.cell_starts[pair], np.diff(text.target_starts)[pair])
    links = list(zip(rows.tolist(), columns.tolist()))
    return [links[a:b] for a, b in pairwise(bounds.tolist())]


@kernel
def choose_links(
    first: int,
    last: int,
    source_starts: Ints,
    target_starts: Ints,
    cell_starts: Ints,
    forward: Floats,
    backward: Floats,
    rule: int,
    threshold: float,
    links: Bytes,  # out [C]
) -> None:
    """Mark the links of some pairs."""
    for pair in range(first, last):
        rows = source_starts[pair + 1] - source_starts[pair]
        columns = target_starts[pair + 1] - target_starts[pair]
        begin, end = cell_starts[pair], cell_starts[pair + 1]
        p, q, out = forward[begin:end], backward[begin:end], links[begin:end]
        for c in range(end - begin):
            one, other = p[c] >= threshold, q[c] >= threshold
            if rule == FORWARD:
                out[c] = one
            elif rule == BACKWARD:
                out[c] = other
            elif rule == UNION:
                out[c] = one or other
            elif rule == MEAN:
                out[c] = 0.5 * (p[c] + q[c]) >= threshold
            elif rule == PRODUCT:
                out[c] = p[c] * q[c] >= threshold * threshold
            else:
                out[c] = one and other
        if rule in (GROW, FINAL, FINAL_AND):
            grid = out.reshape(rows, columns)
            mine, theirs = p.reshape(rows, columns) >= threshold, q.reshape(rows, columns) >= threshold
            linked_rows, linked_columns = np.zeros(rows, dtype=np.bool_), np.zeros(columns, dtype=np.bool_)
            for i in range(rows):
                for j in range(columns):
                    if grid[i, j]:
                        linked_rows[i] = linked_columns[j] = True
            grow(grid, mine, theirs, linked_rows, linked_columns)
            if rule != GROW:
                finish(grid, mine, linked_rows, linked_columns, rule == FINAL_AND)
                finish(grid, theirs, linked_rows, linked_columns, rule == FINAL_AND)


@inner_kernel
def grow(grid: Bytes, one: Flags, other: Flags, linked_rows: Flags, linked_columns: Flags) -> None:
    """Add links of the union beside links, where at least one of the words has none yet, until there are no more."""
    rows, columns = grid.shape
    down = (-1, 0, 1, 0, -1, -1, 1, 1)
    right = (0, -1, 0, 1, -1, 1, -1, 1)
    added = True
    while added:
        added = False
        for i in range(rows):
            for j in range(columns):
                if not grid[i, j]:
                    continue
                for n in range(8):
                    a, b = i + down[n], j + right[n]
                    if a < 0 or b < 0 or a >= rows or b >= columns or grid[a, b] or not (one[a, b] or other[a, b]):
                        continue
                    if not linked_rows[a] or not linked_columns[b]:
                        grid[a, b] = 1
                        linked_rows[a] = linked_columns[b] = True
                        added = True


@inner_kernel
def finish(grid: Bytes, links: Flags, linked_rows: Flags, linked_columns: Flags, both: bool) -> None:
    """Add links of one direction where a word (or both words) have none yet."""
    rows, columns = grid.shape
    for i in range(rows):
        for j in range(columns):
            free, other_free = not linked_rows[i], not linked_columns[j]
            if links[i, j] and ((free and other_free) if both else (free or other_free)):
                grid[i, j] = 1
                linked_rows[i] = linked_columns[j] = True
