"""Random variables, scored one by one and in pairs, with random clauses about them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.inference.problem import Clause
from sidelight.inference.variables import VariableProblem
from sidelight.rules.expr import pieces


@st.composite
def variable_problems(
    draw: st.DrawFn, *, depth: int = 2, most_rules: int = 3, penalties: tuple[float, ...] = (0.5, 2.0, math.inf)
) -> VariableProblem:
    """At most 4^4 outputs, with ties at times, and at times with labels and pairs that are ruled out."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    same = draw(st.booleans())
    sizes = [3] * draw(st.integers(1, 4)) if same else draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    tied, forbidding = draw(st.booleans()), draw(st.integers(0, 3)) == 0

    def scores(*shape: int) -> np.ndarray:
        found = rng.integers(-2, 3, shape).astype(float) if tied else rng.normal(size=shape)
        if forbidding:
            found[rng.random(shape) < 0.15] = -np.inf
        return found

    pairs = tuple((v, w) for w in range(len(sizes)) for v in range(w) if rng.random() < 0.4)
    clauses = []
    for number in range(draw(st.integers(0, most_rules))):
        says = draw(expressions(len(sizes), min(sizes), depth, same))
        penalty = draw(st.sampled_from(penalties))
        clauses += [Clause(number, piece, penalty) for piece in pieces(says)]
    return VariableProblem(
        tuple(scores(size) for size in sizes),
        pairs,
        tuple(scores(sizes[v], sizes[w]) for v, w in pairs),
        tuple(clauses),
    )
