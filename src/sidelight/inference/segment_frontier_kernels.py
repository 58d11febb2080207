"""Viterbi over (place, states of counters) for segmentations, one token after another; see `frontier_kernels`.

A layer holds the ends of segments after token t. Each is followed by the segments that begin at t + 1, which are merged
by label and states; these then read one token after another, and at each of them may end. So a segment is walked along
once for all that it may follow and all lengths that it may have. A segment that cannot reach `floor` at any length is
dropped. A beam keeps the best of what ends with a token, and of what begins with it.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.inference.frontier_kernels import (
    FOUND,
    NONE,
    TOO_MANY,
    follow,
    keep_best,
    longer_floats,
    longer_ints,
    place_of,
    prospects,
    rehash,
    unpack,
)
from sidelight.inference.machines import Machines
from sidelight.inference.segment_lattice_kernels import Parts, write
from sidelight.kernels import kernel


@kernel
def segment_frontier(
    parts: Parts,
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
    keys, back = np.empty(1024, np.int64), np.empty(1024, np.int64)  # of ends: key = code · E + end
    values, reach = np.empty(1024), np.empty(1024)
    starts = np.zeros(length + 1, np.int64)
    begun, opened = np.empty(1024, np.int64), np.empty(1024, np.int64)  # of segments: key = code · L + label; from
    now, worths = np.empty(1024, np.int64), np.empty(1024)  # their code and value after the tokens read so far
    hopes, mores = np.empty(1024), np.empty(1024)
    begins = np.zeros(length + 1, np.int64)
    table = np.full(512, -1, np.int32)
    digits = np.zeros(sizes.shape[0], np.int64)
    known = np.full(members.shape[1], -1, np.int64)
    codes = np.zeros(members.shape[1], np.int64)
    costs = np.zeros(members.shape[1])
    more = np.zeros(members.shape[1])
    lost = -np.inf
    made = 0
    for t in range(length):
        pairing = ids[places[t]]
        signs = members[places[t]]
        # segments that begin at token t
        base = begins[t]
        count = 0
        table[:] = -1
        known[:] = -1
        for i in range(starts[t - 1] if t > 0 else -1, starts[t] if t > 0 else 0):
            end, code, value, last = 0, 0, 0.0, 0
            if t > 0:
                end = keys[i] % kinds
                code = keys[i] // kinds
                value = values[i]
                last = parts.reads[end]
            unpack(code, sizes, t, digits)
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
                key = codes[c] * size + label
                place = place_of(key, begun, table, base)
                if table[place] >= 0:
                    j = base + table[place]
                    if worth > worths[j]:
                        worths[j] = worth
                        hopes[j] = ahead
                        opened[j] = i
                    continue
                j = base + count
                if made >= most_nodes:
                    return TOO_MANY, -np.inf, lost, made
                if j == begun.shape[0]:
                    begun, opened, now = longer_ints(begun), longer_ints(opened), longer_ints(now)
                    worths, hopes, mores = longer_floats(worths), longer_floats(hopes), longer_floats(mores)
                begun[j] = key
                opened[j] = i
                worths[j] = worth
                hopes[j] = ahead
                table[place] = count
                count += 1
                made += 1
                if 2 * count > table.shape[0]:
                    table = rehash(begun, base, count, 4 * table.shape[0])
        if count > width:
            lost = max(lost, keep_best(width, base, count, begun, worths, hopes, opened))
            count = width
        begins[t + 1] = base + count
        for b in range(base, base + count):
            now[b] = begun[b] // size
            mores[b] = prospects(now[b], t, sizes, bonus, digits)
        # segments that end at token t
        base = starts[t]
        count = 0
        table[:] = -1
        for s in range(max(0, t - most + 1), t + 1):
            for b in range(begins[s], begins[s + 1]):
                label = begun[b] % size
                if worths[b] == -np.inf or t - s + 1 > parts.longest[label]:
                    continue
                if s < t:
                    unpack(now[b], sizes, t, digits)
                    before = parts.first[label] if s == t - 1 else parts.inside[label]
                    c = pairing[before, parts.inside[label]]
                    now[b], cost, mores[b] = follow(t, digits, signs[c], following, degrees, sizes, prices, bonus)
                    worths[b] -= cost
                    if worths[b] + future[t, 0, kinds + (t - s) * size + label] + mores[b] < floor:
                        worths[b] = -np.inf
                worth = worths[b] + parts.totals[t, t - s, label]
                end = parts.ends[label, t - s]
                ahead = worth + future[t, 0, end] + mores[b]
                if ahead == -np.inf or ahead < floor:
                    continue
                key = now[b] * kinds + end
                place = place_of(key, keys, table, base)
                if table[place] >= 0:
                    j = base + table[place]
                    if worth > values[j]:
                        values[j] = worth
                        reach[j] = ahead
                        back[j] = b
                    continue
                j = base + count
                if made >= most_nodes:
                    return TOO_MANY, -np.inf, lost, made
                if j == keys.shape[0]:
                    keys, back = longer_ints(keys), longer_ints(back)
                    values, reach = longer_floats(values), longer_floats(reach)
                keys[j] = key
                values[j] = worth
                reach[j] = ahead
                back[j] = b
                table[place] = count
                count += 1
                made += 1
                if 2 * count > table.shape[0]:
                    table = rehash(keys, base, count, 4 * table.shape[0])
        if count > width:
            lost = max(lost, keep_best(width, base, count, keys, values, reach, back))
            count = width
        starts[t + 1] = base + count
    if starts[length] == starts[length - 1]:
        return NONE, -np.inf, lost, made
    best = starts[length - 1]
    for j in range(best + 1, starts[length]):
        if values[j] > values[best]:
            best = j
    value = values[best]
    t = length - 1
    while t >= 0:
        b = back[best]
        s = np.searchsorted(begins, b, side="right") - 1
        write(parts, s, t, begun[b] % size, labels)
        best = opened[b]
        t = s - 1
    return FOUND, value, lost, made
