"""Dynamic programs over the tries of local parts; see `spaces.parts`."""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.kernels import kernel
from sidelight.spaces.chain_kernels import longest


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
        first = starts[i]
        count = starts[i + 1] - first
        for t in range(count):
            token = first + t
            nodes = node_ptr[token + 1] - node_ptr[token]
            before = node_ptr[token] - node_ptr[token - 1] if t > 0 else 0
            names = node_label[node_ptr[token] : node_ptr[token + 1]]
            parents = node_parent[node_ptr[token] : node_ptr[token + 1]]
            row = scores[token - base]
            now = best[t % 2]
            last = best[(t + 1) % 2]
            now[:] = -np.inf
            begins = nodes == 0 or parents[0] < 0
            if t == 0:
                for label in range(size):
                    now[2 * nodes + label] = start[label] + row[label] + leaving
                for k in range(nodes):
                    now[k] = start[names[k]] + row[names[k]]
                    now[2 * nodes + names[k]] = -np.inf
                continue
            earlier = node_label[node_ptr[token - 1] : node_ptr[token]]
            for state in range(2 * before + size):
                value = last[state]
                if value == -np.inf:
                    continue
                off = state >= 2 * before
                at = state % before if not off else -1
                label_before = state - 2 * before if off else earlier[at]
                step = transition[label_before]
                left = off or state >= before
                if begins or not off:
                    shift = nodes if left else 0
                    for k in range(nodes):
                        if begins or parents[k] == at:
                            candidate = value + step[names[k]]
                            if candidate > now[shift + k]:
                                now[shift + k] = candidate
                                back[t, shift + k] = state
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
                            back[t, 2 * nodes + label] = state
            for k in range(nodes):
                now[k] += row[names[k]]
                now[nodes + k] += row[names[k]]
            for label in range(size):
                now[2 * nodes + label] += row[label]
        token = first + count - 1
        nodes = node_ptr[token + 1] - node_ptr[token]
        names = node_label[node_ptr[token] : node_ptr[token + 1]]
        now = best[(count - 1) % 2]
        chosen = 0
        value = -np.inf
        for state in range(2 * nodes + size):
            if (state >= nodes) != leaves:
                continue
            label = names[state % nodes] if state < 2 * nodes else state - 2 * nodes
            if now[state] + end[label] > value:
                value = now[state] + end[label]
                chosen = state
        values[i] = value
        if value == -np.inf:
            labels[first : first + count] = 0
            continue
        for t in range(count - 1, -1, -1):
            token = first + t
            nodes = node_ptr[token + 1] - node_ptr[token]
            if chosen < 2 * nodes:
                labels[token] = node_label[node_ptr[token] + chosen % nodes]
            else:
                labels[token] = chosen - 2 * nodes
            if t > 0:
                chosen = back[t, chosen]


@kernel
def parts_left(starts: Ints, node_ptr: Ints, node_label: Ids, node_parent: Ids, labels: Ids, out: Floats) -> None:
    """How many parts of each sequence are left by its labels."""
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
            found = -1
            for k in range(node_ptr[token], node_ptr[token + 1]):
                if node_label[k] == labels[token] and (begins or node_parent[k] == node):
                    found = k - node_ptr[token]
            if found < 0:
                gone = True
                total += 1.0
            node = found
        out[i] = total
