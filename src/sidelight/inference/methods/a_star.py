"""A* search: exact, and quick where the best completion without counters is nearly right.

The heuristic is the best completion of a prefix without counters: an upper bound of what the rest is worth, found for
all prefixes by one Viterbi from the back (of variables: what each can add at most). With `fold` it knows local clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import WIDTH, Folded, Reached, slack
from sidelight.inference.folding import folded
from sidelight.inference.legal import no_output
from sidelight.inference.problem import RuledProblem, Solution


def a_star(
    problem: RuledProblem,
    *,
    names: Sequence[str] = (),
    given: Folded | None = None,
    most_nodes: int | None = None,
    fold: bool = True,
    tighten: int = 0,
    at_limit: Literal["raise", "beam"] = "raise",
) -> Solution:
    """The best output; `given` is the folded problem, where it is known.

    Completions know local clauses with `fold`, and others too after some steps that `tighten` them (`tighten_kernels`).
    Out of nodes it raises `Intractable`, or with `at_limit="beam"` gives what beam search finds, with the bound that A*
    has proved. Raises `Infeasible` where no output obeys the hard clauses.
    """
    given = folded(problem, names=names, fold=fold) if given is None else given
    reached, complete = given.best_first(given.counters, most_nodes=most_nodes, tighten=tighten)
    if complete:
        if reached.labels is None:
            raise no_output(problem, names)
        return _solution(reached, reached.value, "A*", len(given.says), reached.nodes)
    if at_limit == "raise":
        raise Intractable(f"A* needs more than {reached.nodes:,} nodes; give it more, or use another method")
    beam, _ = given.beam(width=WIDTH)
    if beam.labels is None:
        raise Intractable(
            f"A* needs more than {reached.nodes:,} nodes, and beam search found no output that obeys the rules"
        )
    bound = min(beam.lost, reached.lost)
    return _solution(beam, bound, "A*, then beam search", len(given.says), reached.nodes + beam.nodes)


def _solution(found: Reached, bound: float, method: str, taken_in: int, nodes: int) -> Solution:
    assert found.labels is not None
    bound = max(bound, found.value)
    exact = found.value >= bound - slack(bound)
    return Solution(tuple(found.labels.tolist()), found.value, bound, exact, method, taken_in, nodes)
