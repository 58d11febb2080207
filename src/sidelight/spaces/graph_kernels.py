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

Choices are 0 for nothing, or 1 + a word of the second graph. Arrays of one pair:

    tree     [A, 4] words from the leaves on: word, the one above it or −1, their edge, 1 if it comes from the word
    second   [F, 2] edges of the second graph, as choices that they come from and go to
    mapped   [C, C] by two choices 1 + the edge between, or 0
    scores   [A + E, K] of words, then of edges, with choices; −inf where one is not open
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Floats, Ints
from sidelight.kernels import kernel
from sidelight.spaces.matching_space import best_matchings

FIRST, LATER = 400, 60
OFTEN = 10  # steps after which choices are closed
PATIENCE, SHORTER = 12, 0.7  # steps without a better bound after which they become shorter
KEEP = 0.6  # of the direction of the step before
CLOSE = 1e-10


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
def _send(
    values: Floats, edge: Floats, turned: int, second: Ints, mapped: Ints, out: Floats, choice: Ints, width: int
) -> None:
    """The best at the far end of an edge, by the choice of the near end; `turned` where it comes from the far end."""
    best = 0
    for d in range(1, width):
        if values[d] > values[best]:
            best = d
    for c in range(width):
        out[c], choice[c] = values[best] + edge[0], best
        if (mapped[best, c] if turned else mapped[c, best]) > 0:
            out[c] = -np.inf
            for d in range(width):
                if (mapped[d, c] if turned else mapped[c, d]) == 0 and values[d] + edge[0] > out[c]:
                    out[c], choice[c] = values[d] + edge[0], d
    for f in range(second.shape[0]):
        c = second[f, 1] if turned else second[f, 0]
        d = second[f, 0] if turned else second[f, 1]
        if values[d] + edge[f + 1] > out[c]:
            out[c], choice[c] = values[d] + edge[f + 1], d


@kernel
def _up(
    tree: Ints,
    second: Ints,
    mapped: Ints,
    own: Floats,
    edges: Floats,
    price: Floats,
    up: Floats,
    sent: Floats,
    choice: Ints,
    words: Ints,
) -> float:
    """The best choices at these prices, from leaves to roots and back: their worth without the sum of prices."""
    count, width = own.shape
    for a in range(count):
        for c in range(width):
            up[a, c] = own[a, c] - price[c]
    total = 0.0
    for k in range(count):
        b, above = tree[k, 0], tree[k, 1]
        if above < 0:
            best = 0
            for c in range(1, width):
                if up[b, c] > up[b, best]:
                    best = c
            words[b] = best
            total += up[b, best]
            continue
        _send(up[b], edges[tree[k, 2]], tree[k, 3], second, mapped, sent[b], choice[b], width)
        for c in range(width):
            up[above, c] += sent[b, c]
    for k in range(count - 1, -1, -1):
        if tree[k, 1] >= 0:
            words[tree[k, 0]] = choice[tree[k, 0], words[tree[k, 1]]]
    return total


@kernel
def _down(
    tree: Ints, second: Ints, mapped: Ints, edges: Floats, up: Floats, sent: Floats, down: Floats, choice: Ints
) -> None:
    """What is best outside of the part below each word, by its choice: up + down is the best with that choice."""
    count, width = up.shape
    rest = np.empty(width)
    for k in range(count - 1, -1, -1):
        b, above = tree[k, 0], tree[k, 1]
        if above < 0:
            for c in range(width):
                down[b, c] = 0.0
            continue
        for c in range(width):
            rest[c] = up[above, c] + down[above, c] - sent[b, c] if up[above, c] > -np.inf else -np.inf
        _send(rest, edges[tree[k, 2]], 1 - tree[k, 3], second, mapped, down[b], choice[b], width)


@kernel
def _value(tree: Ints, mapped: Ints, scores: Floats, words: Ints, needed: int) -> float:
    """The worth of words; −inf where they are no alignment, or fewer than are needed are mapped."""
    count = words.shape[0]
    used = np.zeros(mapped.shape[0], np.uint8)
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
            total += scores[count + tree[k, 2], mapped[b, above] if tree[k, 3] else mapped[above, b]]
    return total


@kernel
def _improved(
    tree: Ints, mapped: Ints, scores: Floats, near: Ints, needed: int, bonus: float, best: Ints, value: float
) -> float:
    """Matchings of words, whose edges count by the words that they have near; the better one is kept in `best`."""
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
        found = _value(tree, mapped, scores, now, needed)
        if not found > value + CLOSE * (1.0 + abs(value)):
            return value
        value = found
        for a in range(count):
            best[a] = now[a]


@kernel
def _close(own: Floats, up: Floats, down: Floats, total: float, least: float) -> bool:
    """Close choices with which no alignment is worth more than the least; False where a word has none left."""
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


@kernel
def _step(
    price: Floats,
    fees: Floats,
    way: Floats,
    ways: Floats,
    counts: Ints,
    wants: Ints,
    words: Ints,
    second: Ints,
    exact: bool,
    length: float,
) -> bool:
    """Prices of what is wanted twice rise, of what nobody wants fall; False where all is in order.

    A step goes on in the direction of those before it (Camerini, Fratta and Maffioli 1975). `length` is the gap times
    the scale of steps; wants are [2, A, F], how many edges from, and to, a word are mapped.
    """
    norm, off = 0.0, 0
    for c in range(1, price.shape[0]):
        more = counts[c] - 1.0
        if more < 0.0 and not exact and price[c] == 0.0:
            more = 0.0
        off += more != 0.0
        way[c] = KEEP * way[c] + more
        norm += way[c] ** 2
    for side in range(2):
        for a in range(words.shape[0]):
            for f in range(second.shape[0]):
                more = 0.0
                if words[a] == second[f, side]:
                    more = wants[side, a, f] - 1.0
                    if more < 0.0 and fees[side, a, f] == 0.0:
                        more = 0.0
                off += more != 0.0
                ways[side, a, f] = KEEP * ways[side, a, f] + more
                norm += ways[side, a, f] ** 2
    if off == 0:
        return False
    for c in range(1, price.shape[0]):
        price[c] += length / norm * way[c]
        if not exact and price[c] < 0.0:
            price[c] = 0.0
    for side in range(2):
        for a in range(words.shape[0]):
            for f in range(second.shape[0]):
                fees[side, a, f] = max(0.0, fees[side, a, f] + length / norm * ways[side, a, f])
    return True


@kernel
def _charged(
    tree: Ints, second: Ints, own: Floats, edges: Floats, fees: Floats, words: Floats, charged: Floats
) -> None:
    """Scores of words and edges with what edges pay to words. # words: [A, C], charged: [E, 1 + F]"""
    count, width = own.shape
    for a in range(count):
        for c in range(width):
            words[a, c] = own[a, c]
        for side in range(2):
            for f in range(second.shape[0]):
                words[a, second[f, side]] += fees[side, a, f]
    for k in range(count):
        if tree[k, 1] >= 0:
            e = tree[k, 2]
            start, end = (tree[k, 0], tree[k, 1]) if tree[k, 3] else (tree[k, 1], tree[k, 0])
            charged[e, 0] = edges[e, 0]
            for f in range(second.shape[0]):
                charged[e, f + 1] = edges[e, f + 1] - fees[0, start, f] - fees[1, end, f]


@kernel
def _count(tree: Ints, mapped: Ints, words: Ints, counts: Ints, wants: Ints) -> None:
    """How often every word and edge of the second graph is wanted."""
    for c in range(counts.shape[0]):
        counts[c] = 0
    for side in range(2):
        for a in range(wants.shape[1]):
            for f in range(wants.shape[2]):
                wants[side, a, f] = 0
    for k in range(words.shape[0]):
        counts[words[k]] += 1
        if tree[k, 1] >= 0:
            start, end = (tree[k, 0], tree[k, 1]) if tree[k, 3] else (tree[k, 1], tree[k, 0])
            f = mapped[words[start], words[end]] - 1
            if f >= 0:
                wants[0, start, f] += 1
                wants[1, end, f] += 1


@kernel
def best_alignment(
    tree: Ints,
    second: Ints,
    mapped: Ints,
    scores: Floats,
    needed: int,  # words that must be mapped at least
    exact: bool,  # every word of the second graph must be
    nodes: int,
    best: Ints,  # [A] out: the words of the best alignment
    open_: Bytes,  # [A, C] out: choices of words that a better one could have
) -> tuple[float, float]:
    """The worth of the best alignment and a bound; −inf if there is none. They differ where nodes were too few."""
    count, width = tree.shape[0], mapped.shape[0]
    edges = scores[count:]
    floor, spread = _floor(scores)
    value = floor  # no alignment is worth less
    stack_own, stack_price = np.empty((nodes + 2, count, width)), np.zeros((nodes + 2, width))
    stack_fees = np.zeros((nodes + 2, 2, count, second.shape[0]))
    bounds = np.full(nodes + 2, np.inf)
    for a in range(count):
        for c in range(width):
            stack_own[0, a, c] = scores[a, c]
    up, down, sent = np.empty((count, width)), np.empty((count, width)), np.empty((count, width))
    choice, back, words = (
        np.zeros((count, width), np.int64),
        np.zeros((count, width), np.int64),
        np.zeros(count, np.int64),
    )
    price, counts = np.zeros(width), np.zeros(width, np.int64)
    fees, wants = np.zeros(stack_fees.shape[1:]), np.zeros(stack_fees.shape[1:], np.int64)
    way, ways = np.zeros(width), np.zeros(stack_fees.shape[1:])
    paid, charged = np.empty((count, width)), np.empty((edges.shape[0], second.shape[0] + 1))
    bonus = (count + edges.shape[0] + 1.0) * spread + 1.0 if exact else 0.0
    size, visited, proved = 1, 0, -np.inf  # proved: the bound of what is left over
    while size > 0:
        size -= 1
        own, kept, kept_fees = stack_own[size], stack_price[size], stack_fees[size]  # worked on in place
        if bounds[size] <= value + CLOSE * (1.0 + abs(value)):
            continue
        if visited > nodes:
            proved = max(proved, bounds[size])
            continue
        visited += 1
        lowest, scale, waited, closed = bounds[size], 1.0, 0, False
        _copy(kept, kept_fees, price, fees)
        way[:] = 0.0
        ways[:] = 0.0
        for step in range(FIRST if visited == 1 else LATER):
            _charged(tree, second, own, edges, fees, paid, charged)
            total = _up(tree, second, mapped, paid, charged, price, up, sent, choice, words)
            for c in range(width):
                total += price[c]
            if lowest == np.inf or total < lowest - CLOSE * (1.0 + abs(lowest)):
                lowest, waited = total, 0
                _copy(price, fees, kept, kept_fees)
            else:
                waited += 1
            if total > -np.inf and (step % OFTEN == 0 or step < 3):
                value = _improved(tree, mapped, scores, words, needed, bonus, best, value)
            if total > -np.inf:
                here = _value(tree, mapped, scores, words, needed)
                if here > value:
                    value = here
                    for a in range(count):
                        best[a] = words[a]
            least = value + CLOSE * (1.0 + abs(value))
            if total <= least:
                closed = True
                break
            if step % OFTEN == OFTEN - 1:
                _down(tree, second, mapped, charged, up, sent, down, back)
                if not _close(own, up, down, total, least):
                    closed = True
                    break
            if waited >= PATIENCE:
                scale, waited = SHORTER * scale, 0
                _copy(kept, kept_fees, price, fees)
                way[:] = 0.0
                ways[:] = 0.0
                continue
            _count(tree, mapped, words, counts, wants)
            if not _step(price, fees, way, ways, counts, wants, words, second, exact, scale * (total - value)):
                break
        if visited == 1:
            for a in range(count):
                for c in range(width):
                    open_[a, c] = 0 if closed or own[a, c] == -np.inf else 1
        if closed:
            continue
        if nodes == 0:
            proved = max(proved, lowest)
            continue
        bounds[size] = lowest
        _charged(tree, second, own, edges, kept_fees, paid, charged)
        _up(tree, second, mapped, paid, charged, kept, up, sent, choice, words)
        _down(tree, second, mapped, charged, up, sent, down, back)
        word, which = _branch(own, up, down)
        if word < 0:  # the only choices that are left are no alignment, or one that is known
            continue
        for a in range(count):
            for c in range(width):
                stack_own[size + 1, a, c] = own[a, c]
        _copy(kept, kept_fees, stack_price[size + 1], stack_fees[size + 1])
        bounds[size + 1] = lowest
        own[word, which] = -np.inf  # below: without the choice; above, and so next: with it
        for c in range(width):
            if c != which:
                stack_own[size + 1, word, c] = -np.inf
        for a in range(count):
            if a != word and which > 0:
                stack_own[size + 1, a, which] = -np.inf
        size += 2
    if value == floor:
        value = -np.inf
    return value, max(value, proved)


@kernel
def _copy(price: Floats, fees: Floats, to: Floats, fees_to: Floats) -> None:
    for c in range(price.shape[0]):
        to[c] = price[c]
    for side in range(2):
        for a in range(fees.shape[1]):
            for f in range(fees.shape[2]):
                fees_to[side, a, f] = fees[side, a, f]


@kernel
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


@kernel
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
