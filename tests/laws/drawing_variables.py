"""Random variables, scored one by one and in pairs, with random clauses about them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.features.rows import Rows, offsets_of
from sidelight.features.structured.variable_features import VariableLayout, Variables, VariableScores, variable_scores
from sidelight.inference.problem import Clause, VariableProblem
from sidelight.rules.expr import pieces
from sidelight.spaces.variables.variable_space import VariableSpace


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


class Drawn(NamedTuple):
    """A batch of variables with its features, and weights."""

    rows: Rows
    variables: Variables
    layout: VariableLayout
    weights: np.ndarray

    @property
    def space(self) -> VariableSpace:
        return VariableSpace(self.variables, self.layout.kinds, self.layout.pairs)

    @property
    def scores(self) -> VariableScores:
        return variable_scores(self.rows, self.layout, self.weights)


def drawn_variables(rng: np.random.Generator, *, most: int = 4, inputs: int = 4) -> Drawn:
    """Inputs with up to `most` variables of two kinds, pairs in any direction and twice at times."""
    kinds = tuple(int(size) for size in rng.integers(1, 4, 2))
    types = ((0, 0), (0, 1), (1, 0))[: int(rng.integers(0, 4))]
    counts = rng.integers(1, most + 1, int(rng.integers(1, inputs + 1)))
    of = rng.integers(0, 2, int(counts.sum())).astype(np.int32)
    starts, pairs, pair_counts = offsets_of(counts), [], []
    for i, count in enumerate(counts.tolist()):
        own = of[starts[i] : starts[i + 1]]
        fitting = [
            (sort, a, b)
            for sort, (one, other) in enumerate(types)
            for a in range(count)
            for b in range(count)
            if a != b and own[a] == one and own[b] == other
        ]
        chosen = [pair for pair in fitting if rng.random() < 0.5]
        pairs += chosen
        pair_counts.append(len(chosen))
    variables = Variables(starts, of, offsets_of(pair_counts), np.array(pairs, np.int32).reshape(-1, 3))
    entries = rng.integers(0, 4, len(of))
    values = rng.normal(size=int(entries.sum())) if rng.random() < 0.5 else np.zeros(0)
    indices = rng.integers(0, 5, int(entries.sum())).astype(np.int32)
    rows = Rows(starts, offsets_of(entries), indices, values, np.zeros((len(of), 0), np.float32))
    layout = VariableLayout(kinds, types, 5)
    tied = rng.random() < 0.3
    weights = rng.integers(-1, 2, layout.size).astype(float) if tied else rng.normal(size=layout.size)
    return Drawn(rows, variables, layout, weights)


def variable_value(drawn: Drawn, weights: np.ndarray, i: int, choices: np.ndarray) -> float:
    """The score of an output of an input, by the definition."""
    layout, rows, variables = drawn.layout, drawn.rows, drawn.variables
    first, sparse = np.concatenate([[0], np.cumsum(layout.kinds)]), layout.attribute_weights(weights)
    score = 0.0
    for v, choice in enumerate(choices, start=int(variables.starts[i])):
        score += weights[1 + choice]
        for k in range(int(rows.indptr[v]), int(rows.indptr[v + 1])):
            value = rows.values[k] if len(rows.values) else 1.0
            score += value * sparse[rows.indices[k], choice]
    for sort, a, b in variables.pairs[variables.pair_starts[i] : variables.pair_starts[i + 1]].tolist():
        one, other = layout.pairs[sort]
        score += layout.table(weights, sort)[choices[a] - first[one], choices[b] - first[other]]
    return float(score)


def admitted_at_random(rng: np.random.Generator, space: VariableSpace) -> np.ndarray:
    """A mask that leaves every variable a choice of its own, and says anything of the others."""
    mask = (rng.random((len(space.variables.kinds), space.n_labels)) < 0.6).astype(np.uint8)
    mask[np.arange(len(mask)), space.random(rng)] = 1
    return mask
