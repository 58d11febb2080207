"""Searches of a lattice: over its layers, exact or as a beam; best first; and over prefixes that read their clauses as
they go, for clauses with too many states to list.

A guide bounds the rest after a prefix: completions without counters, or completions that take counters into account.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import WIDTH, Reached, slack
from sidelight.inference.lattices.frontier_kernels import NONE, TOO_MANY
from sidelight.inference.lattices.machines import Guide, Node, Taken
from sidelight.rules.lowering.residuals import RuleProgress, State

if TYPE_CHECKING:  # lattices bring these searches
    from sidelight.inference.lattices.lattice import Lattice

STEPS = 60  # of the ascent that tightens
MOST_NODES = 2_000_000  # of all tokens together
FIRST_WIDTH = 16  # nodes per token of the narrow passes: wider ones prove little more, and cost as much more
EVERYTHING = 1 << 60
MOST_PUT = 1_000_000  # on the heap of a best-first search
FIRST_NODES = 4096  # room is made for more as they are needed
Key = tuple[Node, tuple[State, ...]]  # the node of a prefix, and the residual of each clause


def plain_guide(chain: Lattice, taken: Taken) -> Guide:
    """Completions without counters."""
    return Guide(chain.future, taken.zero_bonus(), math.inf)


def tight_guide(chain: Lattice, taken: Taken, *, floor: float = -math.inf, steps: int = STEPS) -> Guide:
    """Completions that take counters into account; `floor` is the value of some output, if one is known."""
    guide = chain.tighten(taken, floor=floor + chain.constant, steps=steps)
    return replace(guide, bound=guide.bound - chain.constant)


def search(
    chain: Lattice,
    taken: Taken,
    *,
    guide: Guide | None = None,
    width: int = EVERYTHING,
    floor: float = -math.inf,
    most_nodes: int = MOST_NODES,
) -> Reached:
    """The best output under some clauses, or a good one if layers are limited to `width` nodes.

    Outputs with a value below `floor` may be ignored; raises `Intractable` if there are more than `most_nodes` nodes.
    """
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0)
    least = floor - slack(floor) + chain.constant if floor > -math.inf else -math.inf
    guide = plain_guide(chain, taken) if guide is None else guide
    result = chain.frontier(taken, guide, floor=least, width=width, most_nodes=most_nodes)
    if result.came == TOO_MANY:
        names = ", ".join(dict.fromkeys(chain.name(k) for k in taken.clauses))
        raise Intractable(f"dynamic programming needs more than {most_nodes} states (rules: {names})")
    labels = None if result.came == NONE else result.labels
    return Reached(labels, result.value - chain.constant, result.bound - chain.constant, result.nodes)


def best_under(
    chain: Lattice, taken: Taken, *, floor: float = -math.inf, most_nodes: int = MOST_NODES, width: int = FIRST_WIDTH
) -> Reached:
    """The best output under some clauses; `labels` is None if no output obeys them.

    A narrow pass is often a proof. Otherwise completions are tightened, a second narrow pass uses them, and a pass
    without limit drops only prefixes that cannot reach the value found.
    """
    narrow = search(chain, taken, width=width, floor=floor, most_nodes=most_nodes)
    if _proved(narrow):
        return narrow
    floor = max(floor, narrow.value)
    guide = tight_guide(chain, taken, floor=floor)
    if guide.bound == -math.inf:
        return Reached(None, -math.inf, -math.inf, narrow.nodes)
    again = search(chain, taken, guide=guide, width=width, floor=floor, most_nodes=most_nodes)
    if _proved(again):
        return replace(again, nodes=narrow.nodes + again.nodes)
    floor = max(floor, again.value)
    reached = search(chain, taken, guide=guide, floor=floor, most_nodes=most_nodes)
    return replace(reached, nodes=narrow.nodes + again.nodes + reached.nodes)


def _proved(result: Reached) -> bool:
    return result.lost == -math.inf or (result.labels is not None and result.value >= result.lost)


def beam_over(chain: Lattice, taken: Taken, *, width: int = WIDTH, look_ahead: bool = True) -> Reached:
    """Beam search over a lattice with some counters."""
    guide = plain_guide(chain, taken)
    if not look_ahead:
        guide = replace(guide, future=np.zeros_like(guide.future))
    return search(chain, taken, guide=guide, width=width)


def beam_bound(chain: Lattice, reached: Reached, *, look_ahead: bool = True) -> float:
    """An upper bound of all outputs, from the prefixes dropped by a beam; without look-ahead there is no bound."""
    if reached.lost == -math.inf:
        return reached.value
    bound = chain.plain()[1]
    if look_ahead:
        bound = min(bound, max(reached.value, reached.lost))
    return max(bound, reached.value)


def best_first(
    chain: Lattice, taken: Taken, *, guide: Guide | None = None, most_nodes: int = MOST_PUT
) -> tuple[Reached, bool]:
    """The best output under some clauses and True; or, if the nodes are used up, an upper bound and False."""
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0), True
    guide = plain_guide(chain, taken) if guide is None else guide
    room = min(FIRST_NODES, most_nodes)
    while True:
        search = chain.a_star(taken, guide, most_nodes=room)
        if search.came != TOO_MANY or room >= most_nodes:
            break
        room = min(8 * room, most_nodes)
    labels = search.labels if search.came not in (NONE, TOO_MANY) else None
    reached = Reached(labels, search.value - chain.constant, search.bound - chain.constant, search.nodes)
    return reached, search.came != TOO_MANY


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
