"""Beam search: the best `width` prefixes of each length, with the violations that no completion can avoid charged.

With a look-ahead, prefixes are ranked by their value plus that of their best completion without counters, which also
bounds what was given up: an output that is worth as much is proved the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sidelight.errors import Intractable
from sidelight.inference.frontier import WIDTH, beam_bound, beam_over, slack
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import legal, no_output
from sidelight.inference.prefix_beam import prefix_beam
from sidelight.inference.problem import Problem, Solution


def beam(
    problem: Problem,
    *,
    names: Sequence[str] = (),
    chain: Lattice | None = None,
    width: int = WIDTH,
    look_ahead: bool = True,
) -> Solution:
    """A good output; `exact` only where that is proved. `chain` is the lattice of the problem, where it is known.

    Raises `Infeasible` where no output obeys the hard clauses, and `Intractable` where the beam ran into a dead end.
    """
    if width < 1:
        raise ValueError(f"a beam is at least 1 wide, not {width}")
    chain = lattice(problem, names=names) if chain is None else chain
    try:
        reached = beam_over(chain, chain.take(chain.counters), width=width, look_ahead=look_ahead)
        method = "beam search"
    except Intractable:  # too many states to list: clauses are read along each prefix instead
        reached = prefix_beam(chain, width=width, look_ahead=look_ahead)
        method = "beam search over prefixes"
    bound = beam_bound(chain, reached, look_ahead=look_ahead)
    if reached.labels is None:
        hard = [clause for clause in problem.clauses if clause.hard]
        if reached.lost == -math.inf or not legal(problem, hard):
            raise no_output(problem, names)
        raise Intractable(f"a beam of {width} found no legal output; widen it, or use another method")
    exact = reached.value >= bound - slack(bound)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, bound, exact, method, len(chain.pieces), reached.nodes)
