"""A* over (token, label, states of counters): the next node is the one with the highest value of prefix plus best
completion.

The completion without counters never underestimates the rest (penalties are not negative), and never rises along a
path, so the first complete output from the heap is the best one. Nodes with the same token, labels and states are one
node.

For segmentations, nodes are ends of segments, and segments that have begun. An end is followed by the segments that
begin after it, one node per label; such a node is followed by the possible ends of the segment. So only segments that
are promising for some length are followed.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.inference.lattices.frontier_kernels import FOUND, NONE, TOO_MANY, follow, place_of, prospects, unpack
from sidelight.inference.lattices.machines import Machines
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts, write

KNOWN, PUT, NO_ROOM = 0, 1, 2


@kernel
def _before(a: int, b: int, reach: Floats, keys: Ints) -> bool:
    """Whether node a comes out of the heap before node b; of equal ones the longer prefix, whose key is larger."""
    return bool(reach[a] > reach[b] or (reach[a] == reach[b] and keys[a] > keys[b]))


@kernel
def _push(heap: Ints, count: int, node: int, reach: Floats, keys: Ints) -> None:
    i = count
    heap[i] = node
    while i > 0:
        parent = (i - 1) // 2
        if not _before(heap[i], heap[parent], reach, keys):
            break
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent


@kernel
def pop(heap: Ints, count: int, reach: Floats, keys: Ints) -> int:
    """The node that comes next; the heap has one less."""
    top = heap[0]
    heap[0] = heap[count - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and _before(heap[child + 1], heap[child], reach, keys):
            child += 1
        if not _before(heap[child], heap[i], reach, keys):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return int(top)


@kernel
def empty_table(most_nodes: int) -> Ids:
    """A hash table for this number of nodes."""
    capacity = 1024
    while capacity < 2 * most_nodes:
        capacity *= 2
    return np.full(capacity, -1, np.int32)


@kernel
def offer(
    key: int,
    value: float,
    total: float,
    origin: int,
    keys: Ints,
    values: Floats,
    reach: Floats,
    back: Ints,
    table: Ids,
    heap: Ints,
    count: int,
    waiting: int,
) -> int:
    """Put a node on the heap unless an equally good path to it is known: PUT, KNOWN or NO_ROOM.

    A better path to an older node gets a new number, and the old one is ignored when it comes out of the heap.
    """
    place = place_of(key, keys, table, 0)
    if table[place] >= 0 and value <= values[table[place]]:
        return KNOWN
    if count == keys.shape[0]:
        return NO_ROOM
    keys[count] = key
    values[count] = value
    reach[count] = total
    back[count] = origin
    table[place] = count
    _push(heap, waiting, count, reach, keys)
    return PUT


@kernel
def highest(total: float, heap: Ints, waiting: int, reach: Floats) -> float:
    """An upper bound of all outputs, if the search ends here."""
    for i in range(waiting):
        total = max(total, reach[heap[i]])
    return total


@kernel
def a_star(
    tokens: Floats,
    edges: Floats,
    triple: Floats,
    future: Floats,
    bonus: Floats,  # [M, T, N] what a counter can still bring after token t, by state
    machines: Machines,
    most_codes: int,  # more than any code
    most_nodes: int,
    labels: Ids,  # out [T]
) -> tuple[int, float, float, int]:
    """(status, value of the best path, bound of all paths, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    length, size = tokens.shape
    pairs = triple.shape[0]
    keys = np.empty(most_nodes, np.int64)
    values = np.empty(most_nodes)
    reach = np.empty(most_nodes)
    back = np.empty(most_nodes, np.int64)
    heap = np.empty(most_nodes, np.int64)
    table = empty_table(most_nodes)
    digits = np.zeros(sizes.shape[0], np.int64)
    count = 0
    waiting = 0
    node = -1
    t = -1
    label, before, code, value = 0, 0, 0, 0.0
    while True:
        if node >= 0 or t >= 0:
            if waiting == 0:
                return NONE, -np.inf, -np.inf, count
            node = pop(heap, waiting, reach, keys)
            waiting -= 1
            key = keys[node]
            label = key % size
            key //= size
            before = key % pairs
            key //= pairs
            code = key % most_codes
            t = key // most_codes
            value = values[node]
            if t == length - 1:
                break
        t += 1
        unpack(code, sizes, t, digits)
        pairing = ids[places[t]]
        signs = members[places[t]]
        own = label if pairs > 1 and t > 0 else 0
        for after in range(size):
            worth = value + tokens[t, after]
            if t > 0:
                worth += edges[t, label, after]
                if t > 1 and pairs > 1:
                    worth += triple[before, label, after]
            if worth == -np.inf:
                continue
            c = pairing[label, after]
            new, cost, more = follow(t, digits, signs[c], machines, bonus)
            worth -= cost
            total = worth + future[t, own, after] + more
            if total == -np.inf:
                continue
            key = ((t * most_codes + new) * pairs + own) * size + after
            put = offer(key, worth, total, node, keys, values, reach, back, table, heap, count, waiting)
            if put == NO_ROOM:
                return TOO_MANY, -np.inf, highest(total, heap, waiting, reach), count
            count += put
            waiting += put
    best_value = value
    while node >= 0:
        labels[t] = keys[node] % size
        node = back[node]
        t -= 1
    return FOUND, best_value, best_value, count


@kernel
def segment_a_star(
    parts: SegmentParts,
    future: Floats,  # [T, 1, E + M L] the best completions
    bonus: Floats,  # [M, T, N] what a counter can still bring after token t, by state
    machines: Machines,
    most_codes: int,  # more than any code
    most_nodes: int,
    labels: Ids,  # out [T]
) -> tuple[int, float, float, int]:
    """(status, value of the best output, bound of all outputs, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    length, most, size = parts.totals.shape
    kinds = parts.links.shape[1]
    keys, back, heap = np.empty(most_nodes, np.int64), np.empty(most_nodes, np.int64), np.empty(most_nodes, np.int64)
    values, reach = np.empty(most_nodes), np.empty(most_nodes)
    table = empty_table(most_nodes)
    digits = np.zeros(sizes.shape[0], np.int64)
    count, waiting = 0, 0
    node, t, place, code, value = -1, -1, 0, 0, 0.0
    while True:
        if t >= 0:
            if waiting == 0:
                return NONE, -np.inf, -np.inf, count
            node = pop(heap, waiting, reach, keys)
            waiting -= 1
            key = keys[node]
            place = key % (kinds + size)
            key //= kinds + size
            code = key % most_codes
            t = key // most_codes
            value = values[node]
            if t == length - 1 and place < kinds:
                break
        if place < kinds:  # the end of a segment, or the beginning of all
            t += 1
            pairing = ids[places[t]]
            signs = members[places[t]]
            last = parts.reads[place] if t > 0 else 0
            unpack(code, sizes, t, digits)
            for label in range(size):
                worth = value + parts.links[t, place, label]
                if worth == -np.inf:
                    continue
                sign = signs[pairing[last, parts.first[label]]]
                new, cost, more = follow(t, digits, sign, machines, bonus)
                total = worth - cost + future[t, 0, kinds + label] + more
                if total == -np.inf:
                    continue
                key = (t * most_codes + new) * (kinds + size) + kinds + label
                put = offer(key, worth - cost, total, node, keys, values, reach, back, table, heap, count, waiting)
                if put == NO_ROOM:
                    return TOO_MANY, -np.inf, highest(total, heap, waiting, reach), count
                count += put
                waiting += put
            continue
        label = place - kinds
        more = prospects(code, t, sizes, bonus, digits)
        for d in range(min(most, parts.longest[label], length - t)):
            u = t + d
            if d > 0:
                unpack(code, sizes, u, digits)
                before = parts.first[label] if d == 1 else parts.inside[label]
                sign = members[places[u], ids[places[u], before, parts.inside[label]]]
                code, cost, more = follow(u, digits, sign, machines, bonus)
                value -= cost
                if value == -np.inf:
                    break
            worth = value + parts.totals[u, d, label]
            end = parts.ends[label, d]
            total = worth + future[u, 0, end] + more
            if total == -np.inf:
                continue
            key = (u * most_codes + code) * (kinds + size) + end
            put = offer(key, worth, total, node, keys, values, reach, back, table, heap, count, waiting)
            if put == NO_ROOM:
                return TOO_MANY, -np.inf, highest(total, heap, waiting, reach), count
            count += put
            waiting += put
    while node >= 0:
        begun = back[node]
        s = keys[begun] // (kinds + size) // most_codes
        write(parts, s, t, keys[begun] % (kinds + size) - kinds, labels)
        t = s - 1
        node = back[begun]
    return FOUND, value, value, count
