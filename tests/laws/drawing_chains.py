"""Random chains with random clauses."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.inference.problem import ChainProblem, clauses_of


@st.composite
def chains(draw: st.DrawFn, *, orders: tuple[int, ...] = (1, 2), most_rules: int = 3, most_outputs: int = 120):
    """A small chain: some scores −inf, some ties, hard and soft rules."""
    n_labels = draw(st.integers(1, 4))
    length = draw(st.integers(1, 6))
    while n_labels**length > most_outputs:
        length -= 1
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def scores(*shape: int) -> np.ndarray:
        found = np.round(rng.normal(size=shape), 1) if rng.random() < 0.3 else rng.normal(size=shape)
        if rng.random() < 0.2:
            found[rng.random(size=shape) < 0.15] = -np.inf
        return found

    says = draw(st.lists(expressions(length, n_labels), max_size=most_rules))
    penalties = [draw(st.sampled_from([math.inf, 0.5, 1.0, 2.5, 0.0])) for _ in says]
    second = draw(st.sampled_from(orders)) == 2
    return ChainProblem(
        scores(length, n_labels),
        scores(n_labels, n_labels),
        scores(n_labels),
        scores(n_labels),
        clauses_of(says, penalties),
        scores(n_labels, n_labels, n_labels) if second else None,
    )
