"""Completions that take counters into account, by Lagrangian relaxation: both sides agree on classes of labels.

    max_y A(y) + Σ_m B_m(y)  ≤  max_y [A(y) − Σ_m λ_m(y)] + Σ_m max_path [B_m + λ_m]      for every λ_m(t, class)

Both sides are backward dynamic programs, so the bound also holds for the rest after any prefix: the completion of the
structure (a chain, or segments) with scores minus λ, plus, for each counter, the best that its state can still add with
rewards λ (Komodakis, Paragios and Tziritas 2007 for the relaxation; here it guides a search that is exact). Subgradient
steps after Polyak. A counter of a sum has one multiplier, for its total; any other has one per token and class.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.inference.lattices import segment_lattice_kernels as segments
from sidelight.inference.lattices.lattice_kernels import best_path, completions
from sidelight.inference.lattices.machines import Machines
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts

PATIENCE = 4  # steps without a better bound before steps get shorter


@kernel
def _shift(tokens: Floats, edges: Floats, rewards: Floats, places: Ids, ids: Ids, members: Ids, out: Floats) -> None:
    """Edges less rewards, into `out`; at token 0 the token scores are changed instead."""
    length, size = tokens.shape
    shifts = np.empty(members.shape[1])
    for t in range(length):
        pairing = ids[places[t]]
        signs = members[places[t]]
        for c in range(signs.shape[0]):
            total = 0.0
            for m in range(signs.shape[1]):
                total += rewards[m, t, signs[c, m]]
            shifts[c] = total
        if t == 0:
            for j in range(size):
                tokens[0, j] -= shifts[pairing[0, j]]
        else:
            for i in range(size):
                for j in range(size):
                    out[t, i, j] = edges[t, i, j] - shifts[pairing[i, j]]


@kernel
def _solved(tokens: Floats, edges: Floats, triple: Floats, parts: SegmentParts, labels: Ids) -> tuple[Floats, float]:
    """Completions and the value of the best output of a chain, or of segmentations if there are segment parts."""
    if parts.totals.shape[0] == 0:
        ahead = completions(tokens, edges, triple)
        return ahead, best_path(tokens, edges, triple, ahead, labels)
    totals, links = segments.folded(parts, tokens, edges)
    moved = SegmentParts(totals, links, parts.ends, parts.reads, parts.first, parts.inside, parts.longest)
    ahead = segments.completions(moved)
    value = segments.best_path(moved, ahead, labels)
    segments.unread(parts, tokens, edges, ahead)
    return ahead, value


@kernel
def _prospects(
    following: Ids, degrees: Ids, sizes: Ints, widths: Ids, price: float, rewards: Floats, out: Floats
) -> float:
    """The best that a counter can still add after token t, by state: out [T, N]; returns the total."""
    length = rewards.shape[0]
    out[length - 1, :] = 0.0
    for t in range(length - 1, -1, -1):
        for s in range(sizes[t]):
            top = -np.inf
            for c in range(widths[t]):
                value = rewards[t, c] + out[t, following[t, s, c]]
                if degrees[t, s, c] > 0:
                    value -= price * degrees[t, s, c]
                top = max(top, value)
            if t == 0:
                return top
            out[t - 1, s] = top
    return 0.0


@kernel
def _counter_path(
    following: Ids, degrees: Ids, widths: Ids, price: float, rewards: Floats, prospects: Floats, out: Ids
) -> None:
    """The classes of a counter's best path."""
    s = 0
    for t in range(rewards.shape[0]):
        top = -np.inf
        choice = 0
        for c in range(widths[t]):
            value = rewards[t, c] + prospects[t, following[t, s, c]]
            if degrees[t, s, c] > 0:
                value -= price * degrees[t, s, c]
            if value > top:
                top = value
                choice = c
        out[t] = choice
        s = following[t, s, choice]


@kernel
def tighten(
    tokens: Floats,
    edges: Floats,
    triple: Floats,
    parts: SegmentParts,  # of segmentations: then tokens and edges are what is added to them
    machines: Machines,
    floor: float,
    steps: int,
    future: Floats,  # out, as completions
    bonus: Floats,  # out [M, T, N]
) -> float:
    """The least bound found in some steps, and the completions and prospects that give it."""
    places, ids, members, sizes = machines.places, machines.ids, machines.members, machines.sizes
    following, degrees, prices = machines.following, machines.degrees, machines.prices
    widths, gains, sums = machines.widths, machines.gains, machines.sums
    count, length = widths.shape
    rewards = np.zeros(gains.shape)
    single = np.zeros(count)
    slopes = np.zeros(gains.shape)
    slope = np.zeros(count)
    prospects = np.zeros(bonus.shape)
    first = tokens.copy()
    moved = edges.copy()
    labels = np.empty(length, np.int32)
    path = np.empty(length, np.int32)
    best = np.inf
    factor = 1.0
    waited = 0
    for _ in range(steps):
        first[0] = tokens[0]
        _shift(first, edges, rewards, places, ids, members, moved)
        ahead, bound = _solved(first, moved, triple, parts, labels)
        for m in range(count):
            bound += _prospects(following[m], degrees[m], sizes[m], widths[m], prices[m], rewards[m], prospects[m])
        if bound < best:
            best = bound
            future[:] = ahead
            bonus[:] = prospects
            waited = 0
        else:
            waited += 1
            if waited == PATIENCE:
                waited = 0
                factor *= 0.5
        if best == -np.inf or best <= floor:
            break
        slopes[:] = 0.0
        norm = 0.0
        for m in range(count):
            _counter_path(following[m], degrees[m], widths[m], prices[m], rewards[m], prospects[m], path)
            previous = 0
            slope[m] = 0.0
            for t in range(length):
                c = members[places[t], ids[places[t], previous, labels[t]], m]
                previous = labels[t]
                if sums[m]:
                    slope[m] += gains[m, t, c] - gains[m, t, path[t]]
                elif c != path[t]:
                    slopes[m, t, c] += 1.0
                    slopes[m, t, path[t]] -= 1.0
                    norm += 2.0
            norm += slope[m] * slope[m]
        if norm == 0.0:
            break
        target = floor if floor > -np.inf else best - 0.05 * (1.0 + abs(best))
        size = factor * (bound - target) / norm
        for m in range(count):
            if sums[m]:
                single[m] += size * slope[m]
                for t in range(length):
                    for c in range(widths[m, t]):
                        rewards[m, t, c] = single[m] * gains[m, t, c]
            else:
                for t in range(length):
                    for c in range(widths[m, t]):
                        rewards[m, t, c] += size * slopes[m, t, c]
    return best
