"""Dynamic programs over the tries of local parts; see `spaces.parts`."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest


@kernel
def viterbi_parts(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    transition: Floats,  # [L, L] from, to
    start: Floats,  # [L]
    end: Floats,  # [L]
    node_ptr: Ints,  # [T + 1]
    node_label: Ids,  # [M]
    node_parent: Ids,  # [M]
    node_cost: Floats,  # [M] added where a path goes through a node
    leaving: float,  # what each part that is left adds
    leaves: bool,  # whether a part must be left, or none may be
    labels: Ids,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best path of every sequence inside, or outside, its parts' candidates.

    States of a token with K nodes: k for (node k, nothing left), K + k for (node k, an earlier part left), 2K + l for
    (label l, this part left). back[t, state] is the state before.
    """
    base = starts[lo]
    size = start.shape[0]
    widest = 1
    for t in range(starts[lo], starts[hi]):
        widest = max(widest, node_ptr[t + 1] - node_ptr[t])
    width = 2 * widest + size
    best = np.empty((2, width))
    back = np.empty((longest(starts, lo, hi), width), np.int64)
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1] - 1
        names = node_label[node_ptr[first] : node_ptr[first + 1]]
        begin_parts(
            names, node_cost[node_ptr[first] : node_ptr[first + 1]], start, scores[first - base], leaving, best[0]
        )
        for token in range(first + 1, last + 1):
            t = token - first
            earlier = names
            names = node_label[node_ptr[token] : node_ptr[token + 1]]
            parents = node_parent[node_ptr[token] : node_ptr[token + 1]]
            extra = node_cost[node_ptr[token] : node_ptr[token + 1]]
            row, last_values, now = scores[token - base], best[(t + 1) % 2], best[t % 2]
            advance_parts(earlier, names, parents, extra, transition, row, leaving, last_values, now, back[t])
        state, values[i] = best_state(names, end, leaves, best[(last - first) % 2])
        if values[i] == -np.inf:
            labels[first : last + 1] = 0
            continue
        for token in range(last, first - 1, -1):
            nodes = node_ptr[token + 1] - node_ptr[token]
            labels[token] = label_of(state, node_label[node_ptr[token] : node_ptr[token + 1]], nodes)
            if token > first:
                state = back[token - first, state]


@inline_kernel
def label_of(state: int, names: Ids, nodes: int) -> int:
    """The label of a state."""
    return names[state % nodes] if state < 2 * nodes else state - 2 * nodes


@inner_kernel
def begin_parts(names: Ids, costs: Floats, start: Floats, row: Floats, leaving: float, now: Floats) -> None:
    """The values of the states of a first token."""
    nodes = names.shape[0]
    now[:] = -np.inf
    for label in range(start.shape[0]):
        now[2 * nodes + label] = start[label] + row[label] + leaving
    for k in range(nodes):
        now[k] = start[names[k]] + row[names[k]] + costs[k]
        now[2 * nodes + names[k]] = -np.inf


@inner_kernel
def advance_parts(
    earlier: Ids,  # labels of the nodes of the token before
    names: Ids,  # labels of this token's nodes
    parents: Ids,  # their parents among those, -1 where a part begins
    costs: Floats,  # of this token's nodes
    transition: Floats,
    row: Floats,  # [L] this token's scores
    leaving: float,
    last: Floats,
    now: Floats,
    back: Ints,
) -> None:
    """The values of a token's states, and the states before them, from the values of the token before."""
    before, nodes, size = earlier.shape[0], names.shape[0], row.shape[0]
    begins = nodes == 0 or parents[0] < 0
    now[:] = -np.inf
    for state in range(2 * before + size):
        value = last[state]
        if value == -np.inf:
            continue
        off = state >= 2 * before  # this part, if it continues, has been left
        at = state % before if not off else -1
        step = transition[label_of(state, earlier, before)]
        if begins or not off:
            shift = nodes if state >= before else 0
            for k in range(nodes):
                if begins or parents[k] == at:
                    candidate = value + step[names[k]]
                    if candidate > now[shift + k]:
                        now[shift + k] = candidate
                        back[shift + k] = state
        extra = 0.0 if off and not begins else leaving
        for label in range(size):
            candidate = value + step[label] + extra
            if candidate > now[2 * nodes + label]:
                goes_on = False
                if begins or not off:
                    for k in range(nodes):
                        if names[k] == label and (begins or parents[k] == at):
                            goes_on = True
                if not goes_on:
                    now[2 * nodes + label] = candidate
                    back[2 * nodes + label] = state
    for k in range(nodes):
        now[k] += row[names[k]] + costs[k]
        now[nodes + k] += row[names[k]] + costs[k]
    for label in range(size):
        now[2 * nodes + label] += row[label]


@inner_kernel
def best_state(names: Ids, end: Floats, leaves: bool, now: Floats) -> tuple[int, float]:
    """The best last state that has left a part, or has not, and its value."""
    nodes = names.shape[0]
    chosen = 0
    value = -np.inf
    for state in range(2 * nodes + end.shape[0]):
        if (state >= nodes) == leaves:
            candidate = now[state] + end[label_of(state, names, nodes)]
            if candidate > value:
                value = candidate
                chosen = state
    return chosen, value


@kernel
def parts_left(starts: Ints, node_ptr: Ints, node_label: Ids, node_parent: Ids, labels: Ids, out: Floats) -> None:
    """The number of parts that the labels of each sequence leave."""
    for i in range(out.shape[0]):
        total = 0.0
        node = -1
        gone = False
        for token in range(starts[i], starts[i + 1]):
            begins = node_ptr[token] == node_ptr[token + 1] or node_parent[node_ptr[token]] < 0
            if begins:
                gone = False
            if gone:
                continue
            place = -1
            for k in range(node_ptr[token], node_ptr[token + 1]):
                if node_label[k] == labels[token] and (begins or node_parent[k] == node):
                    place = k - node_ptr[token]
            if place < 0:
                gone = True
                total += 1.0
            node = place
        out[i] = total


@kernel
def unlike_targets(
    starts: Ints, node_ptr: Ints, node_label: Ids, node_parent: Ids, targets: Ids, costs: Floats
) -> None:
    """1 for every node that ends a part with other labels than the targets have there, 0 for other nodes. # out [M]"""
    for i in range(starts.shape[0] - 1):
        for token in range(starts[i], starts[i + 1]):
            first, last = node_ptr[token], node_ptr[token + 1]
            begins = first == last or node_parent[first] < 0
            for k in range(first, last):
                before = 0.0 if begins else costs[node_ptr[token - 1] + node_parent[k]]
                costs[k] = 1.0 if node_label[k] != targets[token] else before
        for token in range(starts[i], starts[i + 1] - 1):  # only the end of a part counts
            after = node_ptr[token + 1]
            goes_on = after < node_ptr[token + 2] and node_parent[after] >= 0
            if goes_on:
                costs[node_ptr[token] : after] = 0.0
