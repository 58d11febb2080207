"""Every exact method under rules, against enumeration; and what the others claim.

With `test_programs`, exact methods are compared with enumeration on more than 2,000 problems.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from drawing import law
from drawing_chains import chains
from drawing_segments import segmentations
from drawing_variables import variable_problems
from hypothesis import given
from hypothesis import strategies as st

from expressions import enumerated
from sidelight.errors import Infeasible, Intractable
from sidelight.inference.folding import lattice
from sidelight.inference.lattices.searches import beam_over, best_under, prefix_beam, search, tight_guide
from sidelight.inference.methods.by_search import a_star, beam, dynamic
from sidelight.inference.methods.choose import solve
from sidelight.inference.problem import ChainProblem, RuledProblem

EXACT = {
    "auto": solve,
    "auto with little room": lambda problem: solve(problem, most_states=20),
    "dynamic": dynamic,
    "A*": a_star,
    "A* with plain completions": lambda problem: a_star(problem, fold=False),
    "A* with tight completions": lambda problem: a_star(problem, tighten=6),
}


Problems = st.SearchStrategy[RuledProblem]
TOKENS = pytest.mark.parametrize("problems", [chains(), segmentations()], ids=["chains", "segments"])
STRUCTURES = pytest.mark.parametrize(
    "problems", [chains(), segmentations(), variable_problems()], ids=["chains", "segments", "variables"]
)


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * (1 + abs(b))


@STRUCTURES
@law(500)
@given(st.data())
def test_exact_methods_find_what_enumeration_finds(problems: Problems, data: st.DataObject):
    problem = data.draw(problems)
    _, best = enumerated(problem)
    for name, method in EXACT.items():
        if best == -math.inf:
            with pytest.raises(Infeasible):
                method(problem)
            continue
        found = method(problem)
        assert found.exact, name
        assert close(found.value, best), name
        assert close(problem.value(found.labels), found.value), name
        assert found.bound >= found.value


@TOKENS
@law(120)
@given(st.data(), st.integers(1, 2), st.integers(0, 20))
def test_narrow_passes_and_tight_completions_lose_nothing(
    problems: Problems, data: st.DataObject, width: int, steps: int
):
    problem = data.draw(problems)
    _, best = enumerated(problem)
    chain = lattice(problem)
    taken = chain.take(chain.counters)
    found = best_under(chain, taken, width=width)
    assert close(found.value, best)
    assert (found.labels is None) == (best == -math.inf)
    if chain.constant < math.inf:
        guide = tight_guide(chain, taken, steps=steps + 1)
        assert guide.bound >= best - 1e-9
        assert guide.bound <= chain.plain()[1] + 1e-9  # the first step has no multipliers
        assert close(search(chain, taken, guide=guide).value, best)
        assert close(search(chain, taken, guide=guide, floor=best).value, best)


@STRUCTURES
@law(120)
@given(st.data(), st.integers(1, 4), st.booleans())
def test_a_beam_never_claims_too_much(problems: Problems, data: st.DataObject, width: int, look_ahead: bool):
    problem = data.draw(problems)
    _, best = enumerated(problem)
    try:
        found = beam(problem, width=width, look_ahead=look_ahead)
    except (Infeasible, Intractable) as error:
        assert best == -math.inf or isinstance(error, Intractable)
        return
    assert close(problem.value(found.labels), found.value)
    assert found.value <= best + 1e-9
    assert found.bound >= best - 1e-9
    if found.exact:
        assert close(found.value, best)
    assert close(beam(problem, width=1000).value, best)  # nothing is given up


@TOKENS
@law(100)
@given(st.data(), st.integers(1, 6), st.booleans())
def test_a_beam_over_prefixes_reads_the_same_clauses(
    problems: Problems, data: st.DataObject, width: int, look_ahead: bool
):
    problem = data.draw(problems)
    _, best = enumerated(problem)
    chain = lattice(problem)
    read = prefix_beam(chain, width=width, look_ahead=look_ahead)
    if isinstance(problem, ChainProblem):  # then it is the same beam; prefixes of segmentations may end inside one
        listed = beam_over(chain, chain.take(chain.counters), width=width, look_ahead=look_ahead)
        if listed.lost == -math.inf:
            assert close(read.value, listed.value) and read.lost == -math.inf
    if read.lost == -math.inf:
        assert close(read.value, best)
    if look_ahead:
        assert max(read.value, read.lost) >= best - 1e-9
    if read.labels is not None:
        assert close(problem.value(read.labels.tolist()), read.value)
    everything = prefix_beam(chain, width=10_000)
    assert close(everything.value, best)


@STRUCTURES
@law(120)
@given(st.data(), st.integers(1, 30))
def test_a_star_out_of_nodes_says_so(problems: Problems, data: st.DataObject, nodes: int):
    problem = data.draw(problems)
    _, best = enumerated(problem)
    if best == -math.inf:
        return
    try:
        assert close(a_star(problem, most_nodes=nodes).value, best)
    except Intractable:
        found = a_star(problem, most_nodes=nodes, at_limit="beam")
        assert found.value <= best + 1e-9 <= found.bound + 2e-9
        assert not found.exact or close(found.value, best)


@STRUCTURES
@law(50)
@given(st.data())
def test_a_hard_rule_costs_no_less_than_a_soft_one(problems: Problems, data: st.DataObject):
    problem = data.draw(problems)
    values = []
    for scale in (0.0, 0.5, 1.0, 3.0):
        clauses = tuple(
            type(clause)(clause.rule, clause.says, scale * clause.penalty)
            for clause in problem.clauses
            if not clause.hard and scale
        )
        try:
            values.append(solve(problem.with_clauses(clauses)).value)
        except Infeasible:
            return
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(values))
    assert np.isfinite(values).all()
