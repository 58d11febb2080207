"""Two graphs of which the first is a forest: dynamic programs over its words, given prices.

The constraint "no word twice" is replaced by a price for every word of the second graph. The best choices are then
found from the leaves of the forest to its roots in O(words · (words + edges)). A pass back to the leaves gives an upper
bound for every choice of a word. The prices are set by `price_kernels`.

Choices are 0 for nothing, or 1 + a word of the second graph; C is their number. A *hub* is a word of the first graph
with several edges from it, or several to it: only such words are paid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel


class Pair(NamedTuple):
    """Two graphs, the first of them a forest."""

    tree: Ints  # [A, 4] words from the leaves on: word, the one above it or −1, their edge, 1 if it comes from the word
    hubs: Ints  # [H, 2] words, and 0 for edges from them, 1 for edges to them
    edge_hubs: Ints  # [E, 2] of every edge the hub that it comes from, and the one it goes to; H for none
    second: Ints  # [F, 2] edges of the second graph: choices that they come from and go to
    mapped: Ints  # [C, C] by two choices 1 + the edge between, or 0


class GraphSums(NamedTuple):
    """Room for the dynamic programs."""

    up: Floats  # [A, C] the best below a word, by its choice, itself included
    sent: Floats  # [A, C] what it sends to the word above, by the choice of that
    down: Floats  # [A, C] the best outside of what is below
    choice: Ints  # [A, C]
    back: Ints  # [A, C]
    words: Ints  # [A] the best choices


@inner_kernel
def empty_sums(count: int, width: int) -> GraphSums:
    """Room for the programs of so many words and choices."""
    sums, choices = np.empty((3, count, width)), np.zeros((2, count, width), np.int64)
    return GraphSums(sums[0], sums[1], sums[2], choices[0], choices[1], np.zeros(count, np.int64))


@kernel
def forest(count: int, edges: Ints, tree: Ints) -> bool:
    """Words from the leaves on, each with what is above it; False if edges close a circle. # edges: [E, 2]"""
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
def up_sums(pair: Pair, own: Floats, edges: Floats, price: Floats, fees: Floats, sums: GraphSums) -> float:
    """The best choices at these prices, from leaves to roots and back; their value bounds all alignments."""
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
def down_sums(pair: Pair, edges: Floats, fees: Floats, sums: GraphSums) -> None:
    """After `up_sums`: what is best outside of the part below a word, so that up + down is the best with a choice."""
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
