"""Search methods on folded problems: dynamic programming, A*, and a beam.

Local clauses are in the scores. In dynamic programming, every other clause of a sequence multiplies the states of the
lattice by those of its counter (Chang 2011, 3.1.2, leaves the choice of inference open). Only reachable states are
visited, and a first narrow pass finds a value that prunes the exact pass. For variables, every other clause is a table
(elimination).

A* is exact, and fast if the best completion without counters is nearly right. Its heuristic is the best completion of a
prefix without counters, an upper bound of the rest, computed for all prefixes by one backward Viterbi pass (for
variables: the maximum that each can add). With `fold` it includes local clauses.

A beam keeps the best `width` prefixes of each length, including their unavoidable violations. With look-ahead, prefixes
are ranked by their value plus that of their best completion without counters. This also bounds the dropped prefixes: an
output with at least this value is proved optimal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import WIDTH, Folded, Reached, slack
from sidelight.inference.folding import folded
from sidelight.inference.legal import legal, no_output
from sidelight.inference.problem import RuledProblem, Solution


def dynamic(
    problem: RuledProblem, *, names: Sequence[str] = (), folding: Folded | None = None, most_nodes: int | None = None
) -> Solution:
    """The best output, with all clauses used at once; `folding` is the folded problem, if available.

    Raises `Infeasible` if no output obeys the hard clauses and `Intractable`, with the rules, if there are too many
    states.
    """
    folding = folded(problem, names=names) if folding is None else folding
    reached = folding.under(folding.counters, most_nodes=most_nodes)
    if reached.labels is None:
        raise no_output(problem, names)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, reached.value, True, folding.method, len(folding.says), reached.nodes)


def a_star(
    problem: RuledProblem,
    *,
    names: Sequence[str] = (),
    folding: Folded | None = None,
    most_nodes: int | None = None,
    fold: bool = True,
    tighten: int = 0,
    at_limit: Literal["raise", "beam"] = "raise",
) -> Solution:
    """The best output; `folding` is the folded problem, if available.

    Completions include local clauses with `fold`, and others too after steps that `tighten` them (`tighten_kernels`).
    If the nodes are used up, it raises `Intractable`, or with `at_limit="beam"` returns the result of beam search, with
    the bound proved by A*. Raises `Infeasible` if no output obeys the hard clauses.
    """
    folding = folded(problem, names=names, fold=fold) if folding is None else folding
    reached, complete = folding.best_first(folding.counters, most_nodes=most_nodes, tighten=tighten)
    if complete:
        if reached.labels is None:
            raise no_output(problem, names)
        return _solution(reached, reached.value, "A*", len(folding.says), reached.nodes)
    if at_limit == "raise":
        raise Intractable(f"A* needs more than {reached.nodes:,} nodes; give it more, or use another method")
    beam, _ = folding.beam(width=WIDTH)
    if beam.labels is None:
        raise Intractable(
            f"A* needs more than {reached.nodes:,} nodes, and beam search found no output that obeys the rules"
        )
    bound = min(beam.lost, reached.lost)
    return _solution(beam, bound, "A*, then beam search", len(folding.says), reached.nodes + beam.nodes)


def _solution(result: Reached, bound: float, method: str, taken_in: int, nodes: int) -> Solution:
    assert result.labels is not None
    bound = max(bound, result.value)
    exact = result.value >= bound - slack(bound)
    return Solution(tuple(result.labels.tolist()), result.value, bound, exact, method, taken_in, nodes)


def beam(
    problem: RuledProblem,
    *,
    names: Sequence[str] = (),
    folding: Folded | None = None,
    width: int = WIDTH,
    look_ahead: bool = True,
) -> Solution:
    """A good output; `exact` only if this is proved. `folding` is the folded problem, if available.

    Raises `Infeasible` if no output obeys the hard clauses, and `Intractable` if the beam ran into a dead end.
    """
    if width < 1:
        raise ValueError(f"a beam is at least 1 wide, not {width}")
    folding = folded(problem, names=names) if folding is None else folding
    reached, method = folding.beam(width=width, look_ahead=look_ahead)
    if reached.labels is None:
        hard = [clause for clause in problem.clauses if clause.hard]
        if reached.lost == -math.inf or not legal(problem, hard):
            raise no_output(problem, names)
        raise Intractable(f"a beam of {width} found no legal output; widen it, or use another method")
    exact = reached.value >= reached.lost - slack(reached.lost)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, reached.lost, exact, method, len(folding.says), reached.nodes)
