"""Beam search over prefixes whose clauses are read as they go, for clauses with too many states to list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sidelight.inference.folded_problem import Reached
from sidelight.inference.lattices.machines import Node
from sidelight.rules.lowering.residuals import RuleProgress, State

if TYPE_CHECKING:  # lattices bring these searches
    from sidelight.inference.lattices.lattice import Lattice

Key = tuple[Node, tuple[State, ...]]  # where it stands, and what is left of each clause


class _Prefix:
    __slots__ = ("back", "node", "reach", "states", "value")

    def __init__(self, node: Node, states: tuple[State, ...], value: float, reach: float, back: _Prefix | None) -> None:
        self.node = node
        self.states = states
        self.value = value
        self.reach = reach  # with the best completion
        self.back = back


def prefix_beam(chain: Lattice, *, width: int, look_ahead: bool = True) -> Reached:
    """As `frontier.search` with a width, without numbers for states: slower, but no clause is too large."""
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0)
    length, size = chain.tokens.shape
    clauses = [(RuleProgress(chain.pieces[k].says, size), chain.prices[k]) for k in chain.counters]
    start = _Prefix((), tuple(one.initial() for one, _ in clauses), 0.0, 0.0, None)
    layer, lost, nodes = [start], -math.inf, 0
    for t in range(length):
        prefixes: dict[Key, _Prefix] = {}
        for prefix in layer:
            label = prefix.node[-1] if prefix.node else 0
            for node, gain, ahead in chain.moves(t, prefix.node, look_ahead=look_ahead):
                value = prefix.value + gain
                if value == -math.inf:
                    continue
                left = []
                for (clause, price), state in zip(clauses, prefix.states):
                    new, degree = clause.advance(state, t, label, node[-1])
                    value -= price * degree if degree else 0.0
                    left.append(new)
                reach = value + ahead
                if reach == -math.inf:
                    continue
                key = node, tuple(left)
                if key not in prefixes or value > prefixes[key].value:
                    prefixes[key] = _Prefix(*key, value, reach, prefix)
        nodes += len(prefixes)
        layer = sorted(prefixes.values(), key=lambda prefix: -prefix.reach)
        if len(layer) > width:
            lost = max(lost, layer[width].reach)
            layer = layer[:width]
        if not layer:
            return Reached(None, -math.inf, lost - chain.constant, nodes)
    best = max(layer, key=lambda prefix: prefix.value)
    labels = np.empty(length, dtype=np.int32)
    value, back = best.value, best
    for t in range(length - 1, -1, -1):
        labels[t] = back.node[-1]
        assert back.back is not None
        back = back.back
    return Reached(labels, value - chain.constant, lost - chain.constant, nodes)
