"""Dynamic programs over a chain whose transitions have scores of their own at every place.

    tokens [T, L]       score of a label, with the scores of the start and the end added
    edges [T, L, L]     score of (previous label, label) at token t; those of token 0 are not read
    triple [L, L, L]    of a label after two others, or [1, 1, 1] zeros for first order

Nodes are (label before, label) for second order and (0, label) for first order: [P, L], P = L or 1.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import kernel
from sidelight.rules.lowering.counters import Classes


@kernel
def completions(tokens: Floats, edges: Floats, triple: Floats) -> Floats:
    """The best that the tokens after t can add, by node of token t. # [T, P, L]"""
    length, size = tokens.shape
    pairs = triple.shape[0]
    best = np.zeros((length, pairs, size))
    reach = np.empty(size)
    for t in range(length - 2, -1, -1):
        scores = tokens[t + 1]
        for label in range(size):
            row = edges[t + 1, label]
            onward = best[t + 1, label if pairs > 1 else 0]
            top = -np.inf
            for after in range(size):
                value = row[after] + scores[after] + onward[after]
                reach[after] = value
                top = max(top, value)
            for before in range(pairs):
                if pairs > 1 and t > 0:  # there is a label before that of token t
                    extra = triple[before, label]
                    top = -np.inf
                    for after in range(size):
                        top = max(top, reach[after] + extra[after])
                best[t, before, label] = top
    return best


@kernel
def best_path(tokens: Floats, edges: Floats, triple: Floats, future: Floats, labels: Ids) -> float:
    """Follow the completions from the front: the best path, ties to the lowest label, and its value."""
    length, size = tokens.shape
    pairs = triple.shape[0]
    total = -np.inf
    label = 0
    for first in range(size):
        value = tokens[0, first] + future[0, 0, first]
        if value > total:
            total = value
            label = first
    labels[0] = label
    before = 0
    for t in range(1, length):
        top = -np.inf
        chosen = 0
        node = label if pairs > 1 else 0
        for after in range(size):
            value = edges[t, label, after] + tokens[t, after] + future[t, node, after]
            if pairs > 1 and t > 1:
                value += triple[before, label, after]
            if value > top:
                top = value
                chosen = after
        before = label
        label = chosen
        labels[t] = label
    return total


@kernel
def path_value(tokens: Floats, edges: Floats, triple: Floats, labels: Ids) -> float:
    """The value of a given path."""
    total = tokens[0, labels[0]]
    for t in range(1, tokens.shape[0]):
        total += edges[t, labels[t - 1], labels[t]] + tokens[t, labels[t]]
        if triple.shape[0] > 1 and t > 1:
            total += triple[labels[t - 2], labels[t - 1], labels[t]]
    return float(total)


@kernel
def joint_classes(classes: Classes, which: Ids, ids: Ids, members: Ids, places: Ids) -> int:
    """Classes of pairs of labels under several counters at once.

    classes [K, L, L], which [M, T]; out: places [T] the joint table of each token, ids [J, L, L] the tables, members
    [J, C, M] the class under each counter. Returns how many tables there are.
    """
    machines, length = which.shape
    size = ids.shape[1]
    most = 1
    for k in range(classes.shape[0]):
        most = max(most, classes[k].max() + 1)
    known = np.empty((size * size, most), np.int32)
    owners = np.empty(length, np.int64)  # the first token of each joint table
    tables = 0
    for t in range(length):
        place = -1
        for j in range(tables):
            same = True
            for m in range(machines):
                if which[m, t] != which[m, owners[j]]:
                    same = False
                    break
            if same:
                place = j
                break
        if place >= 0:
            places[t] = place
            continue
        places[t] = tables
        owners[tables] = t
        own = ids[tables]
        count = 1
        own[:] = 0
        for m in range(machines):
            table = classes[which[m, t]]
            before = count
            count = 0
            for k in range(before):
                for c in range(most):
                    known[k, c] = -1
            for i in range(size):
                for j in range(size):
                    c = table[i, j]
                    k = own[i, j]
                    if known[k, c] < 0:
                        known[k, c] = count
                        count += 1
                    own[i, j] = known[k, c]
        for m in range(machines):
            table = classes[which[m, t]]
            for i in range(size):
                for j in range(size):
                    members[tables, own[i, j], m] = table[i, j]
        tables += 1
    return tables
