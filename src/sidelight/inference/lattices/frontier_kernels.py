"""Viterbi over (label, states of counters), one token after another, over the combinations that can be reached.

A node of token t is a label (for second order the label before it too) and the states of all counters, packed into one
number: the code Σ_m state_m Π_{n<m} size_n(t). Nodes with the same key are merged, so a layer holds the best prefix of
each. A node whose prefix and best completion (without counters) cannot reach `floor` is dropped without loss. If a
layer has more than `width` nodes, the best by prefix plus completion are kept; the best of the others bounds the loss.

For segmentations, a layer holds the ends of segments after token t. Each is followed by the segments that begin at t +
1, which are merged by label and states; these then read one token after another, and may end at each of them. So a
segment is followed only once, for all its predecessors and all its lengths. A segment that cannot reach `floor` at any
length is dropped. A beam keeps the best segments that end with a token, and the best that begin with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import GOLDEN, inline_kernel, kernel, mix
from sidelight.inference.lattices.machines import Machines
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts, write

FOUND, NONE, TOO_MANY = 0, 1, 2


@inline_kernel
def unpack(code: int, sizes: Ints, t: int, digits: Ints) -> None:
    """The states of the counters before token t."""
    for m in range(sizes.shape[0]):
        size = sizes[m, t]
        digits[m] = code % size
        code //= size


@inline_kernel
def follow(t: int, digits: Ints, members: Ids, machines: Machines, bonus: Floats) -> tuple[int, float, float]:
    """The code after token t for a class of pairs of labels, its cost, and the prospects of its states."""
    code = 0
    stride = 1
    cost = 0.0
    more = 0.0
    for m in range(machines.sizes.shape[0]):
        c = members[m]
        state = machines.following[m, t, digits[m], c]
        code += stride * state
        more += bonus[m, t, state]
        stride *= machines.sizes[m, t + 1]
        degree = machines.degrees[m, t, digits[m], c]
        if degree > 0:
            cost += degree * machines.prices[m]
    return code, cost, more


@kernel
def prospects(code: int, t: int, sizes: Ints, bonus: Floats, digits: Ints) -> float:
    """The prospects of the states after token t: the best that counters can still add."""
    unpack(code, sizes, t + 1, digits)
    more = 0.0
    for m in range(sizes.shape[0]):
        more += bonus[m, t, digits[m]]
    return more


@kernel
def longer_ints(old: Ints) -> Ints:
    """The same with twice the room."""
    new = np.empty(2 * old.shape[0], np.int64)
    new[: old.shape[0]] = old
    return new


@kernel
def longer_floats(old: Floats) -> Floats:
    """The same with twice the room."""
    new = np.empty(2 * old.shape[0])
    new[: old.shape[0]] = old
    return new


@kernel
def place_of(key: int, keys: Ints, table: Ids, base: int) -> int:
    """The position of a key, or its free position, in a table of nodes."""
    mask = np.uint64(table.shape[0] - 1)
    place = np.int64(mix(np.uint64(key) + GOLDEN) & mask)
    while table[place] >= 0 and keys[base + table[place]] != key:
        place = (place + 1) & np.int64(mask)
    return int(place)


@kernel
def rehash(keys: Ints, base: int, count: int, capacity: int) -> Ids:
    """A table of nodes with more room."""
    table = np.full(capacity, -1, np.int32)
    for i in range(count):
        table[place_of(keys[base + i], keys, table, base)] = i
    return table


class Layers(NamedTuple):
    """The nodes of all layers, one after another, in arrays that grow; and a table of those of the present layer."""

    keys: Ints
    values: Floats  # of the best prefixes
    reach: Floats  # with the best completions
    back: Ints  # the nodes before
    table: Ids  # nodes of the layer, counted from its first, by key; -1 if there is none


@kernel
def empty_layers() -> Layers:
    """No nodes."""
    return Layers(
        np.empty(1024, np.int64), np.empty(1024), np.empty(1024), np.empty(1024, np.int64), np.full(512, -1, np.int32)
    )


@kernel
def with_room(nodes: Layers, base: int, count: int, more: int) -> Layers:
    """The nodes, where need be in longer arrays, with room for some more in the layer of `count` from `base` on."""
    keys, values, reach, back, table = nodes
    while base + count + more > keys.shape[0]:
        keys, back = longer_ints(keys), longer_ints(back)
        values, reach = longer_floats(values), longer_floats(reach)
    if 2 * (count + more) > table.shape[0]:
        capacity = 4 * table.shape[0]
        while 2 * (count + more) > capacity:
            capacity *= 4
        table = rehash(keys, base, count, capacity)
    return Layers(keys, values, reach, back, table)


@kernel
def put(nodes: Layers, base: int, count: int, key: int, value: float, ahead: float, source: int) -> int:
    """Put a node into the layer, which has room; of two nodes with the same key the better one is kept. Returns the
    number of nodes.
    """
    table = nodes.table
    place = place_of(key, nodes.keys, table, base)
    new = table[place] < 0
    if new:
        table[place] = count
        nodes.keys[base + count] = key
    j = base + table[place]
    if new or value > nodes.values[j]:
        nodes.values[j] = value
        nodes.reach[j] = ahead
        nodes.back[j] = source
    return count + 1 if new else count


@kernel
def keep_best(nodes: Layers, base: int, count: int, width: int) -> float:
    """Keep the best nodes of a layer in their order; returns the value of the best dropped one."""
    keys, values, reach, back, _ = nodes
    order = np.argsort(-reach[base : base + count], kind="mergesort")
    survivors = np.sort(order[:width])
    lost = reach[base + order[width]]
    for k in range(width):
        keys[base + k] = keys[base + survivors[k]]
        values[base + k] = values[base + survivors[k]]
        back[base + k] = back[base + survivors[k]]
    return float(lost)


@kernel
def best_of(values: Floats, first: int, last: int) -> int:
    """The first of the best of some nodes."""
    best = first
    for j in range(first + 1, last):
        if values[j] > values[best]:
            best = j
    return best


@kernel
def frontier(
    tokens: Floats,
    edges: Floats,
    triple: Floats,
    future: Floats,  # [T, P, L] the best completions
    bonus: Floats,  # [M, T, N] what a counter can still bring after token t, by state
    machines: Machines,
    floor: float,
    width: int,
    most_nodes: int,
    labels: Ids,  # out [T]
) -> tuple[int, float, float, int]:
    """(status, value of the best path, best dropped value, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    length, size = tokens.shape
    pairs = triple.shape[0]
    nodes = empty_layers()
    starts = np.zeros(length + 1, np.int64)
    digits = np.zeros(sizes.shape[0], np.int64)
    known = np.full(members.shape[1], -1, np.int64)
    codes = np.zeros(members.shape[1], np.int64)
    costs = np.zeros(members.shape[1])
    more = np.zeros(members.shape[1])
    lost = -np.inf
    count_of_nodes = 0
    for t in range(length):
        base = starts[t]
        count = 0
        nodes.table[:] = -1
        known[:] = -1
        pairing = ids[places[t]]
        signs = members[places[t]]
        for i in range(starts[t - 1] if t > 0 else -1, base if t > 0 else 0):
            label, before, code, value = 0, 0, 0, 0.0
            if t > 0:
                key = nodes.keys[i]
                label = key % size
                key //= size
                before = key % pairs
                code = key // pairs
                value = nodes.values[i]
            unpack(code, sizes, t, digits)
            own = label if pairs > 1 and t > 0 else 0
            nodes = with_room(nodes, base, count, size)
            for after in range(size):
                worth = value + tokens[t, after]
                if t > 0:
                    worth += edges[t, label, after]
                    if t > 1 and pairs > 1:
                        worth += triple[before, label, after]
                if worth == -np.inf:
                    continue
                c = pairing[label, after]
                if known[c] != i + 1:
                    known[c] = i + 1
                    codes[c], costs[c], more[c] = follow(t, digits, signs[c], machines, bonus)
                worth -= costs[c]
                ahead = worth + future[t, own, after] + more[c]
                if ahead == -np.inf or ahead < floor:
                    continue
                key = (codes[c] * pairs + own) * size + after
                count = put(nodes, base, count, key, worth, ahead, i)
                if base + count > most_nodes:
                    return TOO_MANY, -np.inf, lost, count_of_nodes
        count_of_nodes += count
        if count > width:
            lost = max(lost, keep_best(nodes, base, count, width))
            count = width
        if count == 0:
            return NONE, -np.inf, lost, count_of_nodes
        starts[t + 1] = base + count
    best = best_of(nodes.values, starts[length - 1], base + count)
    value = nodes.values[best]
    for t in range(length - 1, -1, -1):
        labels[t] = nodes.keys[best] % size
        best = nodes.back[best]
    return FOUND, value, lost, count_of_nodes


@kernel
def segment_frontier(
    parts: SegmentParts,
    future: Floats,  # [T, 1, E + M L] the best completions
    bonus: Floats,  # [M, T, N] what a counter can still bring after token t, by state
    machines: Machines,
    floor: float,
    width: int,
    most_nodes: int,
    labels: Ids,  # out [T]
) -> tuple[int, float, float, int]:
    """(status, value of the best output, best dropped value, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    length, most, size = parts.totals.shape
    kinds = parts.links.shape[1]
    ended = empty_layers()  # ends of segments: key = code · E + end, back = the segment
    begun = empty_layers()  # segments: key = code · L + label, back = the end before them
    now, mores = np.empty(1024, np.int64), np.empty(1024)  # code and prospects of segments after the tokens read so far
    starts, begins = np.zeros(length + 1, np.int64), np.zeros(length + 1, np.int64)
    digits = np.zeros(sizes.shape[0], np.int64)
    known = np.full(members.shape[1], -1, np.int64)
    codes = np.zeros(members.shape[1], np.int64)
    costs = np.zeros(members.shape[1])
    more = np.zeros(members.shape[1])
    lost = -np.inf
    nodes = 0
    for t in range(length):
        pairing = ids[places[t]]
        signs = members[places[t]]
        # segments that begin at token t
        base = begins[t]
        count = 0
        begun.table[:] = -1
        known[:] = -1
        for i in range(starts[t - 1] if t > 0 else -1, starts[t] if t > 0 else 0):
            end, code, value, last = 0, 0, 0.0, 0
            if t > 0:
                end = ended.keys[i] % kinds
                code = ended.keys[i] // kinds
                value = ended.values[i]
                last = parts.reads[end]
            unpack(code, sizes, t, digits)
            begun = with_room(begun, base, count, size)
            for label in range(size):
                worth = value + parts.links[t, end, label]
                if worth == -np.inf:
                    continue
                c = pairing[last, parts.first[label]]
                if known[c] != i + 1:
                    known[c] = i + 1
                    codes[c], costs[c], more[c] = follow(t, digits, signs[c], machines, bonus)
                worth -= costs[c]
                ahead = worth + future[t, 0, kinds + label] + more[c]
                if ahead == -np.inf or ahead < floor:
                    continue
                count = put(begun, base, count, codes[c] * size + label, worth, ahead, i)
                if nodes + count > most_nodes:
                    return TOO_MANY, -np.inf, lost, nodes
        nodes += count
        if count > width:
            lost = max(lost, keep_best(begun, base, count, width))
            count = width
        begins[t + 1] = base + count
        while now.shape[0] < base + count:
            now, mores = longer_ints(now), longer_floats(mores)
        for b in range(base, base + count):
            now[b] = begun.keys[b] // size
            mores[b] = prospects(now[b], t, sizes, bonus, digits)
        # segments that end at token t
        base = starts[t]
        count = 0
        ended.table[:] = -1
        for s in range(max(0, t - most + 1), t + 1):
            ended = with_room(ended, base, count, begins[s + 1] - begins[s])
            for b in range(begins[s], begins[s + 1]):
                label = begun.keys[b] % size
                if begun.values[b] == -np.inf or t - s + 1 > parts.longest[label]:
                    continue
                if s < t:
                    unpack(now[b], sizes, t, digits)
                    before = parts.first[label] if s == t - 1 else parts.inside[label]
                    c = pairing[before, parts.inside[label]]
                    now[b], cost, mores[b] = follow(t, digits, signs[c], machines, bonus)
                    begun.values[b] -= cost
                    if begun.values[b] + future[t, 0, kinds + (t - s) * size + label] + mores[b] < floor:
                        begun.values[b] = -np.inf
                worth = begun.values[b] + parts.totals[t, t - s, label]
                end = parts.ends[label, t - s]
                ahead = worth + future[t, 0, end] + mores[b]
                if ahead == -np.inf or ahead < floor:
                    continue
                count = put(ended, base, count, now[b] * kinds + end, worth, ahead, b)
                if nodes + count > most_nodes:
                    return TOO_MANY, -np.inf, lost, nodes
        nodes += count
        if count > width:
            lost = max(lost, keep_best(ended, base, count, width))
            count = width
        starts[t + 1] = base + count
    if starts[length] == starts[length - 1]:
        return NONE, -np.inf, lost, nodes
    best = best_of(ended.values, starts[length - 1], base + count)
    value = ended.values[best]
    t = length - 1
    while t >= 0:
        b = ended.back[best]
        s = np.searchsorted(begins, b, side="right") - 1
        write(parts, s, t, begun.keys[b] % size, labels)
        best = begun.back[b]
        t = s - 1
    return FOUND, value, lost, nodes
