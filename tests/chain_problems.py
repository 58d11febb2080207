"""Random small chains under random rules, for the laws about inference with rules."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.inference.problem import ChainProblem, Clause
from sidelight.rules.expr import pieces

PENALTIES = (0.25, 1.0, 3.0, math.inf)


@st.composite
def chain_problems(
    draw: st.DrawFn,
    *,
    longest: int = 4,
    most_labels: int = 3,
    most_rules: int = 3,
    depth: int = 2,
    second_order: bool = False,
    penalties: tuple[float, ...] = PENALTIES,
) -> ChainProblem:
    """At most 3^4 outputs, with ties at times, and at times with labels and transitions that are ruled out."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length, size = draw(st.integers(1, longest)), draw(st.integers(2, most_labels))
    tied, forbidding = draw(st.booleans()), draw(st.integers(0, 3)) == 0

    def scores(*shape: int) -> np.ndarray:
        found = rng.integers(-2, 3, shape).astype(float) if tied else rng.normal(size=shape)
        if forbidding:
            found[rng.random(shape) < 0.15] = -np.inf
        return found

    clauses = []
    for rule in range(draw(st.integers(0, most_rules))):
        says, penalty = draw(expressions(length, size, depth)), draw(st.sampled_from(penalties))
        clauses += [Clause(rule, piece, penalty) for piece in pieces(says)]
    triple = scores(size, size, size) if second_order else None
    parts = scores(length, size), scores(size, size), scores(size), scores(size)
    return ChainProblem(*parts, clauses=tuple(clauses), triple=triple)
