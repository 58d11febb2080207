"""Beam search over prefixes whose clauses are read as they go, for clauses with too many states to list."""

from __future__ import annotations

import math

import numpy as np

from sidelight.inference.frontier import Reached
from sidelight.inference.lattice import Lattice
from sidelight.rules.residuals import Progress, State

Key = tuple[int, int, tuple[State, ...]]  # label before (second order), label, what is left of each clause


class _Node:
    __slots__ = ("back", "key", "reach", "value")

    def __init__(self, key: Key, value: float, reach: float, back: _Node | None) -> None:
        self.key = key
        self.value = value
        self.reach = reach  # with the best completion
        self.back = back


def prefix_beam(chain: Lattice, *, width: int, look_ahead: bool = True) -> Reached:
    """As `frontier.search` with a width, without numbers for states: slower, but no clause is too large."""
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0)
    length, size = chain.tokens.shape
    second = len(chain.triple) > 1
    clauses = [(Progress(chain.pieces[k].says, size), chain.prices[k]) for k in chain.counters]
    future = chain.future if look_ahead else np.zeros_like(chain.future)
    start = _Node((0, 0, tuple(one.initial() for one, _ in clauses)), 0.0, 0.0, None)
    layer, lost, made = [start], -math.inf, 0
    for t in range(length):
        found: dict[Key, _Node] = {}
        for node in layer:
            before, label, states = node.key
            worth = chain.tokens[t] + node.value  # [L]
            if t:
                worth = worth + chain.edges[t, label]
            if second and t > 1:
                worth = worth + chain.triple[before, label]
            own = label if second and t else 0
            for after, value in enumerate(worth.tolist()):
                if value == -math.inf:
                    continue
                left = []
                for (clause, price), state in zip(clauses, states):
                    new, degree = clause.advance(state, t, label, after)
                    value -= price * degree if degree else 0.0
                    left.append(new)
                reach = value + float(future[t, own, after])
                if reach == -math.inf:
                    continue
                key = own, after, tuple(left)
                if key not in found or value > found[key].value:
                    found[key] = _Node(key, value, reach, node)
        made += len(found)
        layer = sorted(found.values(), key=lambda node: -node.reach)
        if len(layer) > width:
            lost = max(lost, layer[width].reach)
            layer = layer[:width]
        if not layer:
            return Reached(None, -math.inf, lost - chain.constant, made)
    best = max(layer, key=lambda node: node.value)
    labels = np.empty(length, dtype=np.int32)
    value, back = best.value, best
    for t in range(length - 1, -1, -1):
        labels[t] = back.key[1]
        assert back.back is not None
        back = back.back
    return Reached(labels, value - chain.constant, lost - chain.constant, made)
