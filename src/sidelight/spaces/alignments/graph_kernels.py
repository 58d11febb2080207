"""The best alignment of two graphs of which the first is a forest: bounds by dynamic programs, and branching.

    max  Σ_a s[a, y_a] + Σ_e s[e, f(e, y)]      y_a a word of the second graph, no word twice, or nothing

At prices of the words of the second graph the best is found by dynamic programs (`forest_kernels`), and no alignment is
worth more than that and the prices together (Lagrangian relaxation, Held and Karp 1971). A second kind of prices, of a
word a with an edge f, has edges of a that want f pay a: only one of them can be mapped to it. So the bound is as low as
that of the linear relaxation in `graph_program`. Alignments come from matchings of words, where edges count by the
words that they have at the moment. Choices that cannot beat the best alignment are closed, and where bound and
alignment do not meet, a choice is taken, or closed, and so on (branch and bound).
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.alignments.forest_kernels import GraphSums, Pair, down_sums, empty_sums, up_sums
from sidelight.spaces.alignments.matching_space import best_matchings
from sidelight.spaces.alignments.price_kernels import Prices, begin_prices, copy_prices, no_prices, step_prices

FIRST, LATER = 1000, 60  # steps of prices at the root, and at every further node
OFTEN = 10  # steps after which choices are closed
PATIENCE, SHORTER = 30, 0.7  # steps without a better bound after which they become shorter; sooner, hard pairs freeze
CLOSE = 1e-10
ROOM = 250  # nodes that wait to be looked at


@inner_kernel
def _value(pair: Pair, scores: Floats, words: Ints, needed: int) -> float:
    """The worth of words; −inf where they are no alignment, or fewer than are needed are mapped."""
    tree, count = pair.tree, words.shape[0]
    used = np.zeros(pair.mapped.shape[0], np.uint8)
    total, many = 0.0, 0
    for a in range(count):
        total += scores[a, words[a]]
        if words[a] > 0:
            if used[words[a]]:
                return -np.inf
            used[words[a]] = 1
            many += 1
    if many < needed:
        return -np.inf
    for k in range(count):
        if tree[k, 1] >= 0:
            b, above = words[tree[k, 0]], words[tree[k, 1]]
            total += scores[count + tree[k, 2], pair.mapped[b, above] if tree[k, 3] else pair.mapped[above, b]]
    return total


@inner_kernel
def _improved(pair: Pair, scores: Floats, near: Ints, needed: int, bonus: float, best: Ints, value: float) -> float:
    """Matchings of words, whose edges count by the words that they have near; the better one is kept in `best`."""
    tree, mapped = pair.tree, pair.mapped
    count, width = near.shape[0], mapped.shape[0]
    table, now = np.empty((count, width)), np.empty(count, np.int64)
    starts, choices, worth = np.array([0, count]), np.zeros(count, np.int32), np.empty(1)
    for a in range(count):
        now[a] = near[a]
    while True:
        for a in range(count):
            for c in range(width):
                table[a, c] = scores[a, c] + (bonus if c > 0 else 0.0)
        for k in range(count):
            b, above, e = tree[k, 0], tree[k, 1], count + tree[k, 2]
            if above < 0:
                continue
            for c in range(width):
                lower = mapped[c, now[above]] if tree[k, 3] else mapped[now[above], c]
                upper = mapped[now[b], c] if tree[k, 3] else mapped[c, now[b]]
                table[b, c] += scores[e, lower]
                table[above, c] += scores[e, upper]
        best_matchings(starts, 0, 1, table, choices, worth)
        if worth[0] == -np.inf:
            return value
        for a in range(count):
            now[a] = choices[a]
        changed = _value(pair, scores, now, needed)
        if not changed > value + CLOSE * (1.0 + abs(value)):
            return value
        value = changed
        for a in range(count):
            best[a] = now[a]


@inner_kernel
def _close(own: Floats, sums: GraphSums, total: float, least: float) -> bool:
    """Close choices whose upper bound is not above `least`; False if a word has no choice left."""
    up, down = sums.up, sums.down
    count, width = own.shape
    for a in range(count):
        top = -np.inf
        for c in range(width):
            if up[a, c] + down[a, c] > top:
                top = up[a, c] + down[a, c]
        left, last = 0, 0
        for c in range(width):
            if own[a, c] > -np.inf:
                if total - top + up[a, c] + down[a, c] <= least:
                    own[a, c] = -np.inf
                else:
                    left += 1
                    last = c
        if left == 0:
            return False
        if left == 1 and last > 0:
            for b in range(count):
                if b != a:
                    own[b, last] = -np.inf
    return True


@inner_kernel
def _bounded(
    pair: Pair,
    own: Floats,  # [A, C] in, out: choices are closed
    scores: Floats,
    needed: int,
    exact: bool,
    bonus: float,
    steps: int,
    lowest: float,  # a bound that is known
    value: float,
    best: Ints,
    kept: Floats,  # [C] in, out: prices
    kept_fees: Floats,
    sums: GraphSums,
    prices: Prices,
) -> tuple[float, float, bool]:
    """The bound of a node, the worth of the best alignment so far, and whether the node has nothing better."""
    edges, waited, scale, next_ = scores[own.shape[0] :], 0, 1.0, 0
    begin_prices(prices, kept, kept_fees)
    for step in range(steps):
        total = up_sums(pair, own, edges, prices.price, prices.fees, sums)
        if lowest == np.inf or total < lowest - CLOSE * (1.0 + abs(lowest)):
            lowest, waited = total, 0
            copy_prices(prices.price, prices.fees, kept, kept_fees)
        else:
            waited += 1
        if total > -np.inf:
            here = _value(pair, scores, sums.words, needed)
            if here > value:
                value = here
                for a in range(best.shape[0]):
                    best[a] = sums.words[a]
            if step >= next_:
                value = _improved(pair, scores, sums.words, needed, bonus, best, value)
                next_ = 2 * step + 1 if steps == FIRST else steps  # a matching takes as long as several steps
        least = value + CLOSE * (1.0 + abs(value))
        if total <= least:
            return lowest, value, True
        if step % OFTEN == OFTEN - 1:
            down_sums(pair, edges, prices.fees, sums)
            if not _close(own, sums, total, least):
                return lowest, value, True
        if waited >= PATIENCE:
            scale, waited = SHORTER * scale, 0
            begin_prices(prices, kept, kept_fees)
        elif not step_prices(pair, sums.words, prices, exact, scale * (total - value)):
            break
    return lowest, value, False


@inner_kernel
def _tell_open(own: Floats, done: bool, open_: Bytes) -> None:
    """Which choices are left after the root: none if it is done."""
    for a in range(own.shape[0]):
        for c in range(own.shape[1]):
            open_[a, c] = 0 if done or own[a, c] == -np.inf else 1


@inner_kernel
def _branch(own: Floats, up: Floats, down: Floats) -> tuple[int, int]:
    """The word whose best choice is the least sure, among those that have several, and that choice; −1 without any."""
    count, width = own.shape
    word, which, least = -1, 0, np.inf
    for a in range(count):
        first, second, best, many = -np.inf, -np.inf, 0, 0
        for c in range(width):
            if own[a, c] == -np.inf:
                continue
            many += 1
            worth = up[a, c] + down[a, c]
            if worth > first:
                first, second, best = worth, first, c
            elif worth > second:
                second = worth
        if many > 1 and (word < 0 or first - second < least):
            word, which, least = a, best, first - second
    return word, which


@inner_kernel
def _divide(own: Floats, other: Floats, word: int, which: int) -> None:
    """Close a choice of a word; in `other`, which is looked at next, close whatever does not go with it."""
    for a in range(own.shape[0]):
        for c in range(own.shape[1]):
            apart = (a == word) != (c == which) and (a == word or which > 0)
            other[a, c] = -np.inf if apart else own[a, c]
    own[word, which] = -np.inf


@inner_kernel
def _floor(scores: Floats) -> tuple[float, float]:
    """A lower bound of all alignments, and the range of scores."""
    total, top, bottom = 0.0, -np.inf, np.inf
    for row in range(scores.shape[0]):
        least = np.inf
        for c in range(scores.shape[1]):
            if scores[row, c] > -np.inf:
                least = min(least, scores[row, c])
                top, bottom = max(top, scores[row, c]), min(bottom, scores[row, c])
        total += least if least < np.inf else 0.0
    return total - 1.0 - 1e-6 * abs(total), top - bottom if top > -np.inf else 0.0


@kernel
def best_alignment(
    pair: Pair,
    scores: Floats,  # [A + E, K] of words, then of edges; −inf where a choice is not open
    needed: int,  # words that must be mapped at least
    exact: bool,  # every word of the second graph must be
    nodes: int,
    best: Ints,  # [A] out: the words of the best alignment
    open_: Bytes,  # [A, C] out: choices of words that a better one could have
) -> tuple[float, float]:
    """The worth of the best alignment and a bound; −inf if there is none. They differ where nodes were too few."""
    count, width = open_.shape
    floor, spread = _floor(scores)
    value = floor  # a lower bound of all alignments
    shape = pair.hubs.shape[0] + 1, pair.second.shape[0]
    room = min(nodes, ROOM) + 2
    owns, prices, fees = np.empty((room, count, width)), np.zeros((room, width)), np.zeros((room, *shape))
    bounds = np.full(room, np.inf)
    for a in range(count):
        for c in range(width):
            owns[0, a, c] = scores[a, c]
    sums, work = empty_sums(count, width), no_prices(width, shape)
    bonus = (scores.shape[0] + 1.0) * spread + 1.0 if exact else 0.0
    size, visited, proved = 1, 0, -np.inf  # proved: the upper bound of unexplored nodes
    while size > 0:
        size -= 1
        if bounds[size] <= value + CLOSE * (1.0 + abs(value)):
            continue
        if visited > nodes:
            proved = max(proved, bounds[size])
            continue
        visited += 1
        own, kept, kept_fees = owns[size], prices[size], fees[size]  # worked on in place
        bounds[size], value, done = _bounded(
            pair, own, scores, needed, exact, bonus, FIRST if visited == 1 else LATER, bounds[size], value, best,
            kept, kept_fees, sums, work,
        )  # fmt: skip
        if visited == 1:
            _tell_open(own, done, open_)
        if done:
            continue
        if nodes == 0 or size + 2 > room:
            proved = max(proved, bounds[size])
            continue
        up_sums(pair, own, scores[count:], kept, kept_fees, sums)
        down_sums(pair, scores[count:], kept_fees, sums)
        word, which = _branch(own, sums.up, sums.down)
        if word >= 0:  # else the only choices that are left are no alignment, or one that is known
            copy_prices(kept, kept_fees, prices[size + 1], fees[size + 1])
            _divide(own, owns[size + 1], word, which)
            bounds[size + 1] = bounds[size]
            size += 2
    if value == floor:
        value = -np.inf
    return value, max(value, proved)
