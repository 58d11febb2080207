"""A* over segmentations: nodes are places (ends of segments, and segments that have begun) with states of counters.

An end is followed by the segments that begin after it, one node a label; such a node is followed by the ends that the
segment may come to. So only segments that are promising for some length are walked along. See `a_star_kernels`.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import kernel
from sidelight.inference.lattices.a_star_kernels import NO_ROOM, empty_table, highest, offer, pop
from sidelight.inference.lattices.frontier_kernels import FOUND, NONE, TOO_MANY, follow, prospects, unpack
from sidelight.inference.lattices.machines import Machines
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts, write


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
    """(what came of it, value of the best output, bound on every output, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    following, degrees, prices = machines.following, machines.degrees, machines.prices
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
                new, cost, more = follow(t, digits, sign, following, degrees, sizes, prices, bonus)
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
                code, cost, more = follow(u, digits, sign, following, degrees, sizes, prices, bonus)
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
