"""Viterbi over (place, states of counters) for segmentations, one token after another; see `frontier_kernels`.

A layer holds the ends of segments after token t. Each is followed by the segments that begin at t + 1, which are merged
by label and states; these then read one token after another, and at each of them may end. So a segment is walked along
once for all that it may follow and all lengths that it may have. A segment that cannot reach `floor` at any length is
dropped. A beam keeps the best of what ends with a token, and of what begins with it.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import kernel
from sidelight.inference.lattices.frontier_kernels import (
    FOUND,
    NONE,
    TOO_MANY,
    best_of,
    empty_layers,
    follow,
    keep_best,
    longer_floats,
    longer_ints,
    prospects,
    put,
    unpack,
    with_room,
)
from sidelight.inference.lattices.machines import Machines
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts, write


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
    """(what came of it, value of the best output, the best that was given up, nodes)."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    following, degrees, prices = machines.following, machines.degrees, machines.prices
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
                    codes[c], costs[c], more[c] = follow(t, digits, signs[c], following, degrees, sizes, prices, bonus)
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
                    now[b], cost, mores[b] = follow(t, digits, signs[c], following, degrees, sizes, prices, bonus)
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
