"""Beam search: the best `width` prefixes of each length, with the violations that no completion can avoid charged.

With a look-ahead, prefixes are ranked by their value plus that of their best completion without counters, which also
bounds what was given up: an output that is worth as much is proved the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import WIDTH, Folded, slack
from sidelight.inference.folding import folded
from sidelight.inference.legal import legal, no_output
from sidelight.inference.problem import RuledProblem, Solution


def beam(
    problem: RuledProblem,
    *,
    names: Sequence[str] = (),
    given: Folded | None = None,
    width: int = WIDTH,
    look_ahead: bool = True,
) -> Solution:
    """A good output; `exact` only where that is proved. `given` is the folded problem, where it is known.

    Raises `Infeasible` where no output obeys the hard clauses, and `Intractable` where the beam ran into a dead end.
    """
    if width < 1:
        raise ValueError(f"a beam is at least 1 wide, not {width}")
    given = folded(problem, names=names) if given is None else given
    reached, method = given.beam(width=width, look_ahead=look_ahead)
    if reached.labels is None:
        hard = [clause for clause in problem.clauses if clause.hard]
        if reached.lost == -math.inf or not legal(problem, hard):
            raise no_output(problem, names)
        raise Intractable(f"a beam of {width} found no legal output; widen it, or use another method")
    exact = reached.value >= reached.lost - slack(reached.lost)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, reached.lost, exact, method, len(given.says), reached.nodes)
