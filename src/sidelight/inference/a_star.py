"""A* search: exact, and quick where the completion without counters is nearly right.

The heuristic is the best completion of a prefix without counters: an upper bound of what the rest is worth, found for
all prefixes by one Viterbi from the back. With `fold` it knows the clauses about single tokens and neighbours too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from sidelight.errors import Intractable
from sidelight.inference.best_first import MOST_NODES, best_first
from sidelight.inference.frontier import Reached, beam_bound, beam_over, slack
from sidelight.inference.guide import tight_guide
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import no_output
from sidelight.inference.problem import Problem, Solution


def a_star(
    problem: Problem,
    *,
    names: Sequence[str] = (),
    chain: Lattice | None = None,
    most_nodes: int = MOST_NODES,
    fold: bool = True,
    tighten: int = 0,
    at_limit: Literal["raise", "beam"] = "raise",
) -> Solution:
    """The best output; `chain` is the lattice of the problem, where it is known.

    Completions know local clauses with `fold`, and others too after some steps that `tighten` them (`tighten_kernels`).
    Out of nodes it raises `Intractable`, or with `at_limit="beam"` gives what beam search finds, with the bound that A*
    has proved. Raises `Infeasible` where no output obeys the hard clauses.
    """
    chain = lattice(problem, names=names, fold=fold) if chain is None else chain
    taken = chain.take(chain.counters)
    guide = tight_guide(chain, taken, steps=tighten) if tighten and chain.constant < math.inf else None
    reached, complete = best_first(chain, taken, guide=guide, most_nodes=most_nodes)
    if complete:
        if reached.labels is None:
            raise no_output(problem, names)
        return _solution(reached, reached.value, "A*", len(chain.pieces), reached.nodes)
    if at_limit == "raise":
        raise Intractable(f"A* needs more than {most_nodes} nodes; give it more, or use another method")
    found = beam_over(chain, taken)
    bound = beam_bound(chain, found)
    if found.labels is None:
        raise Intractable(
            f"A* needs more than {most_nodes} nodes, and beam search found no output that obeys the rules"
        )
    return _solution(
        found, min(bound, reached.lost), "A*, then beam search", len(chain.pieces), reached.nodes + found.nodes
    )


def _solution(found: Reached, bound: float, method: str, taken_in: int, nodes: int) -> Solution:
    assert found.labels is not None
    bound = max(bound, found.value)
    exact = found.value >= bound - slack(bound)
    return Solution(tuple(found.labels.tolist()), found.value, bound, exact, method, taken_in, nodes)
