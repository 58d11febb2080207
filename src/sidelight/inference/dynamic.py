"""Exact dynamic programming under rules: Viterbi over labels and the states of counters.

Local clauses are in the scores; every other clause that is taken into account multiplies the states of the chain by
those of its counter (Chang 2011, 3.1.2, leaves the choice of inference open). Only reachable states are visited, and a
first narrow pass finds a value that prunes the exact one: what cannot reach it with the best completion is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.inference.frontier import MOST_NODES, best_under
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import no_output
from sidelight.inference.problem import Problem, Solution


def dynamic(
    problem: Problem,
    *,
    names: Sequence[str] = (),
    chain: Lattice | None = None,
    most_nodes: int = MOST_NODES,
) -> Solution:
    """The best output, with all clauses taken in at once; `chain` is the lattice of the problem, where it is known.

    Raises `Infeasible` where no output obeys the hard clauses and `Intractable`, naming rules, where there are too many
    states.
    """
    chain = lattice(problem, names=names) if chain is None else chain
    reached = best_under(chain, chain.take(chain.counters), most_nodes=most_nodes)
    if reached.labels is None:
        raise no_output(problem, names)
    labels = tuple(reached.labels.tolist())
    return Solution(labels, reached.value, reached.value, True, "dynamic programming", len(chain.pieces), reached.nodes)
