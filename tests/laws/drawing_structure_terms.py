"""Small Gold problems over outputs of every structure, and all outputs that they have."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from drawing import dense_rows_of, generators
from drawing_second_order import second_order_batches
from drawing_variables import drawn_variables
from hypothesis import strategies as st
from quadratic import optimum
from segmenting import outputs_of, segment_batches

from sidelight.objective.batch import Batch
from sidelight.objective.margin import TargetTerms, Worst
from sidelight.objective.scorers.variable_scorer import VariableScorer
from sidelight.spaces import Cost
from sidelight.spaces.variables.variable_space import VariableSpace

STRUCTURES = ("second_order", "segments", "variables")  # those without kernels of their own for whole epochs


@st.composite
def structure_batches(draw: st.DrawFn, structure: str, *, most: int = 3, longest: int = 3) -> Batch:
    """A batch of a structure whose inputs have few outputs."""
    if structure == "second_order":
        return draw(second_order_batches(most=most, longest=longest))
    if structure == "segments":
        return draw(segment_batches(most=most, longest=longest))
    drawn = drawn_variables(draw(generators()), most=longest, inputs=most)
    return Batch(VariableScorer(drawn.rows, drawn.variables, drawn.layout), drawn.space)


@st.composite
def structure_terms(draw: st.DrawFn, structure: str, *, most: int = 3, longest: int = 3) -> TargetTerms:
    """Targets within the space, costs of slots, prices."""
    batch = draw(structure_batches(structure, most=most, longest=longest))
    rng = draw(generators())
    costs = rng.uniform(0.2, 2.0, (batch.space.n_labels,) * 2)
    np.fill_diagonal(costs, 0.0)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    return TargetTerms(batch, Cost(targets, costs), rng.uniform(0.05, 2.0, len(batch)))


def every_output(space: Any, i: int) -> np.ndarray:
    """All outputs of an input, by trying all there could be. # [outputs, T]"""
    if not isinstance(space, VariableSpace):
        return outputs_of(space, i)
    one = space.part(i, i + 1)
    tried = itertools.product(range(space.n_labels), repeat=int(one.starts[-1]))
    outputs = (np.array(output, dtype=np.int32) for output in tried)
    return np.array([output for output in outputs if one.admits(output)[0]], dtype=np.int32)


def constraints_of(terms: TargetTerms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every output of every term as a constraint: slopes, offsets, term numbers."""
    slopes, offsets, numbers = [], [], []
    for i in range(len(terms)):
        a, b = int(terms.batch.starts[i]), int(terms.batch.starts[i + 1])
        for output in every_output(terms.batch.space, i):
            outputs = np.array(terms.cost.targets)
            outputs[a:b] = output
            cuts = terms.cuts(Worst(np.zeros(len(terms)), outputs), np.array([i]))
            slopes.append(dense_rows_of(cuts.slopes, terms.batch.scorer.size))
            offsets.append(cuts.offsets)
            numbers.append(np.array([i]))
    return np.concatenate(slopes), np.concatenate(offsets), np.concatenate(numbers)


def least_primal_of(terms: TargetTerms) -> float:
    """The least primal value with the hinge, by a generic solver over all outputs, asked in three scales."""
    slopes, offsets, numbers = constraints_of(terms)
    found = []
    for scale in (1.0, 5.0, 25.0):
        try:
            value, _ = optimum(slopes, scale * offsets, numbers, terms.prices * scale, power=1)
        except (ValueError, ArithmeticError):
            continue
        found.append(value / scale**2)
    return float(min(found))
