"""Exact dynamic programming under rules: Viterbi over labels and the states of counters; elimination of variables.

Local clauses are in the scores. Of a sequence, every other clause that is taken into account multiplies the states of
the lattice by those of its counter (Chang 2011, 3.1.2, leaves the choice of inference open): only reachable states are
visited, and a first narrow pass finds a value that prunes the exact one. Of variables, every other clause is a table.
"""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.inference.folded_problem import Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import no_output
from sidelight.inference.problem import RuledProblem, Solution


def dynamic(
    problem: RuledProblem, *, names: Sequence[str] = (), given: Folded | None = None, most_nodes: int | None = None
) -> Solution:
    """The best output, with all clauses taken in at once; `given` is the folded problem, where it is known.

    Raises `Infeasible` where no output obeys the hard clauses and `Intractable`, naming rules, where there are too many
    states.
    """
    given = folded(problem, names=names) if given is None else given
    reached = given.under(given.counters, most_nodes=most_nodes)
    if reached.labels is None:
        raise no_output(problem, names)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, reached.value, True, given.method, len(given.says), reached.nodes)
