"""The best alignment of two graphs of which the first is a forest: bounds by dynamic programs, and branching.

    max  Σ_a s[a, y_a] + Σ_e s[e, f(e, y)]      y_a a word of the second graph, no word twice, or nothing

A price of every word of the second graph, in the place of "no word twice", leaves a forest of choices, whose best is
found from its leaves to its roots in O(words · (words + edges)); no alignment is worth more than that and the prices
together (Lagrangian relaxation, Held and Karp 1971). A second kind of prices, of a word a with an edge f, has edges of
a that want f pay a: only one of them can be mapped to it. So the bound is as low as that of the linear relaxation in
`graph_program`. Prices follow subgradients with Polyak's steps. Alignments come
from matchings of words, where edges count by the words that they have at the moment. What a word can be worth at most
with a choice comes from the same programs run back to the leaves: choices that cannot beat the best alignment are
closed, and where bound and alignment do not meet, a choice is taken, or closed, and so on (branch and bound).

Choices are 0 for nothing, or 1 + a word of the second graph; C is their number. A *hub* is a word of the first graph
with several edges from it, or several to it: only such words are paid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.alignments.matching_space import best_matchings

FIRST, LATER = 1000, 60  # steps of prices at the root, and at every further node
OFTEN = 10  # steps after which choices are closed
PATIENCE, SHORTER = 30, 0.7  # steps without a better bound after which they become shorter; sooner, hard pairs freeze
KEEP = 0.6  # of the direction of the step before
CLOSE = 1e-10
ROOM = 250  # nodes that wait to be looked at


class Pair(NamedTuple):
    """Two graphs, the first of them a forest."""

    tree: Ints  # [A, 4] words from the leaves on: word, the one above it or −1, their edge, 1 if it comes from the word
    hubs: Ints  # [H, 2] words, and 0 for edges from them, 1 for edges to them
    edge_hubs: Ints  # [E, 2] of every edge the hub that it comes from, and the one it goes to; H for none
    second: Ints  # [F, 2] edges of the second graph: choices that they come from and go to
    mapped: Ints  # [C, C] by two choices 1 + the edge between, or 0


class _GraphSums(NamedTuple):
    """Room for the dynamic programs."""

    up: Floats  # [A, C] the best below a word, by its choice, itself included
    sent: Floats  # [A, C] what it sends to the word above, by the choice of that
    down: Floats  # [A, C] the best outside of what is below
    choice: Ints  # [A, C]
    back: Ints  # [A, C]
    words: Ints  # [A] the best choices


class _Prices(NamedTuple):
    """Prices of words, and of hubs with edges; the direction of the last step; where the bound was lowest."""

    price: Floats  # [C], 0 for nothing
    fees: Floats  # [H + 1, F], none in the last row
    way: Floats
    ways: Floats


@kernel
def forest(count: int, edges: Ints, tree: Ints) -> bool:
    """Words from the leaves on, each with what is above it; False where edges close a circle. # edges: [E, 2]"""
    above, edge_of, turned = np.full(count, -2, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    used = np.zeros(edges.shape[0], np.uint8)
    place = count
    queue = np.empty(count, np.int64)
    for root in range(count):
        if above[root] != -2:
            continue
        above[root] = -1
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            word = queue[head]
            head += 1
            place -= 1
            tree[place, 0], tree[place, 1] = word, above[word]
            tree[place, 2], tree[place, 3] = edge_of[word], turned[word]
            for e in range(edges.shape[0]):
                if used[e] or (edges[e, 0] != word and edges[e, 1] != word):
                    continue
                used[e] = 1
                other = edges[e, 0] + edges[e, 1] - word
                if above[other] != -2:
                    return False
                above[other], edge_of[other] = word, e
                turned[other] = 1 if edges[e, 0] == other else 0
                queue[tail] = other
                tail += 1
    return True


@kernel
def hubs_of(count: int, edges: Ints, hubs: Ints, edge_hubs: Ints) -> int:
    """Words with several edges from them, or to them, in `hubs` [2 · words, 2]; gives their number."""
    hub_count = 0
    for side in range(2):
        for word in range(count):
            many = 0
            for e in range(edges.shape[0]):
                many += edges[e, side] == word
            if many > 1:
                hubs[hub_count, 0], hubs[hub_count, 1] = word, side
                for e in range(edges.shape[0]):
                    if edges[e, side] == word:
                        edge_hubs[e, side] = hub_count
                hub_count += 1
    for e in range(edges.shape[0]):
        for side in range(2):
            if edge_hubs[e, side] < 0:
                edge_hubs[e, side] = hub_count
    return hub_count


@inner_kernel
def _send(
    values: Floats, edge: Floats, turned: int, pair: Pair, fee: Floats, other_fee: Floats, out: Floats, choice: Ints
) -> None:
    """The best at the far end of an edge, by the choice of the near end; `turned` where it comes from the far end."""
    width, second = out.shape[0], pair.second
    best = 0
    for d in range(1, width):
        if values[d] > values[best]:
            best = d
    for c in range(width):
        out[c], choice[c] = values[best] + edge[0], best
    near, far = (1, 0) if turned else (0, 1)
    for f in range(second.shape[0]):
        if second[f, far] == best:  # there is an edge, so the next best without one
            c = second[f, near]
            out[c] = -np.inf
            for d in range(width):
                without = (pair.mapped[d, c] if turned else pair.mapped[c, d]) == 0
                if without and values[d] + edge[0] > out[c]:
                    out[c], choice[c] = values[d] + edge[0], d
    for f in range(second.shape[0]):
        c, d = second[f, near], second[f, far]
        worth = values[d] + edge[f + 1] - fee[f] - other_fee[f]
        if worth > out[c]:
            out[c], choice[c] = worth, d


@inner_kernel
def _up(pair: Pair, own: Floats, edges: Floats, price: Floats, fees: Floats, sums: _GraphSums) -> float:
    """The best choices at these prices, from leaves to roots and back: no alignment is worth more."""
    up, sent, choice, words, tree = sums.up, sums.sent, sums.choice, sums.words, pair.tree
    count, width = own.shape
    total = 0.0
    for c in range(width):
        total += price[c]
    for a in range(count):
        for c in range(width):
            up[a, c] = own[a, c] - price[c]
    for h in range(pair.hubs.shape[0]):
        word, side = pair.hubs[h, 0], pair.hubs[h, 1]
        for f in range(pair.second.shape[0]):
            up[word, pair.second[f, side]] += fees[h, f]
    for k in range(count):
        b, above, e = tree[k, 0], tree[k, 1], tree[k, 2]
        if above < 0:
            best = 0
            for c in range(1, width):
                if up[b, c] > up[b, best]:
                    best = c
            words[b] = best
            total += up[b, best]
            continue
        start, end = fees[pair.edge_hubs[e, 0]], fees[pair.edge_hubs[e, 1]]
        _send(up[b], edges[e], tree[k, 3], pair, start, end, sent[b], choice[b])
        for c in range(width):
            up[above, c] += sent[b, c]
    for k in range(count - 1, -1, -1):
        if tree[k, 1] >= 0:
            words[tree[k, 0]] = choice[tree[k, 0], words[tree[k, 1]]]
    return total


@inner_kernel
def _down(pair: Pair, edges: Floats, fees: Floats, sums: _GraphSums) -> None:
    """After `_up`: what is best outside of the part below each word, so that up + down is the best with a choice."""
    up, sent, down, tree = sums.up, sums.sent, sums.down, pair.tree
    count, width = up.shape
    rest = np.empty(width)
    for k in range(count - 1, -1, -1):
        b, above, e = tree[k, 0], tree[k, 1], tree[k, 2]
        if above < 0:
            for c in range(width):
                down[b, c] = 0.0
            continue
        for c in range(width):
            rest[c] = up[above, c] + down[above, c] - sent[b, c] if up[above, c] > -np.inf else -np.inf
        start, end = fees[pair.edge_hubs[e, 0]], fees[pair.edge_hubs[e, 1]]
        _send(rest, edges[e], 1 - tree[k, 3], pair, start, end, down[b], sums.back[b])


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
def _close(own: Floats, sums: _GraphSums, total: float, least: float) -> bool:
    """Close choices with which no alignment is worth more than the least; False where a word has none left."""
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
def _step(pair: Pair, words: Ints, prices: _Prices, exact: bool, length: float) -> bool:
    """Prices of what is wanted twice rise, of what nobody wants fall; False where all is in order.

    A step keeps some of the direction before (Camerini, Fratta and Maffioli 1975). `length` is the gap times the scale.
    """
    price, fees, way, ways = prices.price, prices.fees, prices.way, prices.ways
    more, mores, norm, off = np.full(price.shape[0], -1.0), np.zeros(fees.shape), 0.0, False
    for a in range(words.shape[0]):
        more[words[a]] += 1.0
    for k in range(words.shape[0]):
        if pair.tree[k, 1] >= 0:
            e, b, above = pair.tree[k, 2], words[pair.tree[k, 0]], words[pair.tree[k, 1]]
            f = (pair.mapped[b, above] if pair.tree[k, 3] else pair.mapped[above, b]) - 1
            if f >= 0:
                mores[pair.edge_hubs[e, 0], f] += 1.0
                mores[pair.edge_hubs[e, 1], f] += 1.0
    for c in range(1, price.shape[0]):
        if more[c] < 0.0 and not exact and price[c] == 0.0:
            more[c] = 0.0
        off |= more[c] != 0.0
        way[c] = KEEP * way[c] + more[c]
        norm += way[c] ** 2
    for h in range(pair.hubs.shape[0]):
        word, side = pair.hubs[h, 0], pair.hubs[h, 1]
        for f in range(pair.second.shape[0]):
            if words[word] == pair.second[f, side] and (mores[h, f] > 0.0 or fees[h, f] > 0.0):
                mores[h, f] -= 1.0
            off |= mores[h, f] != 0.0
            ways[h, f] = KEEP * ways[h, f] + mores[h, f]
            norm += ways[h, f] ** 2
    if not off:
        return False
    for c in range(1, price.shape[0]):
        price[c] += length / norm * way[c]
        if not exact and price[c] < 0.0:
            price[c] = 0.0
    for h in range(pair.hubs.shape[0]):
        for f in range(pair.second.shape[0]):
            fees[h, f] = max(0.0, fees[h, f] + length / norm * ways[h, f])
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
    sums: _GraphSums,
    prices: _Prices,
) -> tuple[float, float, bool]:
    """The bound of a node, the worth of the best alignment so far, and whether the node has nothing better."""
    edges, waited, scale, next_ = scores[own.shape[0] :], 0, 1.0, 0
    _begin(prices, kept, kept_fees)
    for step in range(steps):
        total = _up(pair, own, edges, prices.price, prices.fees, sums)
        if lowest == np.inf or total < lowest - CLOSE * (1.0 + abs(lowest)):
            lowest, waited = total, 0
            _copy(prices.price, prices.fees, kept, kept_fees)
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
            _down(pair, edges, prices.fees, sums)
            if not _close(own, sums, total, least):
                return lowest, value, True
        if waited >= PATIENCE:
            scale, waited = SHORTER * scale, 0
            _begin(prices, kept, kept_fees)
        elif not _step(pair, sums.words, prices, exact, scale * (total - value)):
            break
    return lowest, value, False


@kernel
def best_alignment(
    pair: Pair,
    scores: Floats,  # [A + E, K] of words, then of edges; −inf where a choice is not open
    needed: int,  # words that must be mapped at least
    exact: bool,  # every word of the second graph must be
    nodes: int,
    first: Floats,  # [C] in, out: prices of words to begin with, and those of the lowest bound
    first_fees: Floats,  # [H + 1, F] in, out
    best: Ints,  # [A] out: the words of the best alignment
    open_: Bytes,  # [A, C] out: choices of words that a better one could have
) -> tuple[float, float]:
    """The worth of the best alignment and a bound; −inf if there is none. They differ where nodes were too few."""
    count, width = open_.shape
    floor, spread = _floor(scores)
    value = floor  # no alignment is worth less
    shape = pair.hubs.shape[0] + 1, pair.second.shape[0]
    room = min(nodes, ROOM) + 2
    owns, prices, fees = np.empty((room, count, width)), np.zeros((room, width)), np.zeros((room, *shape))
    bounds = np.full(room, np.inf)
    _copy(first, first_fees, prices[0], fees[0])
    for a in range(count):
        for c in range(width):
            owns[0, a, c] = scores[a, c]
    table, numbers = (count, width), np.zeros((2, count, width), np.int64)
    sums = _GraphSums(
        np.empty(table), np.empty(table), np.empty(table), numbers[0], numbers[1], np.zeros(count, np.int64)
    )
    work = _Prices(np.zeros(width), np.zeros(shape), np.zeros(width), np.zeros(shape))
    bonus = (scores.shape[0] + 1.0) * spread + 1.0 if exact else 0.0
    size, visited, proved = 1, 0, -np.inf  # proved: the bound of what is left over
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
            _copy(kept, kept_fees, first, first_fees)
            for a in range(count):
                for c in range(width):
                    open_[a, c] = 0 if done or own[a, c] == -np.inf else 1
        if done:
            continue
        if nodes == 0 or size + 2 > room:
            proved = max(proved, bounds[size])
            continue
        _up(pair, own, scores[count:], kept, kept_fees, sums)
        _down(pair, scores[count:], kept_fees, sums)
        word, which = _branch(own, sums.up, sums.down)
        if word >= 0:  # else the only choices that are left are no alignment, or one that is known
            _copy(kept, kept_fees, prices[size + 1], fees[size + 1])
            _divide(own, owns[size + 1], word, which)
            bounds[size + 1] = bounds[size]
            size += 2
    if value == floor:
        value = -np.inf
    return value, max(value, proved)


@inner_kernel
def _divide(own: Floats, other: Floats, word: int, which: int) -> None:
    """Close a choice of a word; in `other`, which is looked at next, close whatever does not go with it."""
    for a in range(own.shape[0]):
        for c in range(own.shape[1]):
            apart = (a == word) != (c == which) and (a == word or which > 0)
            other[a, c] = -np.inf if apart else own[a, c]
    own[word, which] = -np.inf


@inner_kernel
def _begin(prices: _Prices, kept: Floats, kept_fees: Floats) -> None:
    _copy(kept, kept_fees, prices.price, prices.fees)
    prices.way[:] = 0.0
    prices.ways[:] = 0.0


@inner_kernel
def _copy(price: Floats, fees: Floats, to: Floats, fees_to: Floats) -> None:
    for c in range(price.shape[0]):
        to[c] = price[c]
    for h in range(fees.shape[0]):
        for f in range(fees.shape[1]):
            fees_to[h, f] = fees[h, f]


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
def _floor(scores: Floats) -> tuple[float, float]:
    """Less than any alignment is worth, and how far scores lie apart."""
    total, top, bottom = 0.0, -np.inf, np.inf
    for row in range(scores.shape[0]):
        least = np.inf
        for c in range(scores.shape[1]):
            if scores[row, c] > -np.inf:
                least = min(least, scores[row, c])
                top, bottom = max(top, scores[row, c]), min(bottom, scores[row, c])
        total += least if least < np.inf else 0.0
    return total - 1.0 - 1e-6 * abs(total), top - bottom if top > -np.inf else 0.0
