"""A batch of every structure, drawn at random, with the definitions of its outputs and scores written out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from drawing import batches, generators, members_of, plain_scores, random_mask, values_of
from drawing_second_order import of_second_order, plain_second_order_scores, second_order_batches, second_order_values
from drawing_variables import drawn_variables, variable_value
from hypothesis import strategies as st
from segmenting import is_member, plain_segment_scores, segment_batches, value_of

from sidelight.objective.batch import Batch
from sidelight.objective.scorers.variable_scorer import variable_batch


class Case(NamedTuple):
    """A batch, and what it should be."""

    batch: Batch
    weights: np.ndarray
    score: Callable[[np.ndarray, int, np.ndarray], float]
    admits: Callable[[int, np.ndarray], bool]


def weights_of(rng: np.random.Generator, size: int) -> np.ndarray:
    """Real numbers, or small whole ones, under which many outputs tie."""
    return rng.integers(-1, 2, size).astype(float) if rng.random() < 0.3 else rng.normal(size=size)


def masked(rng: np.random.Generator, batch: Batch) -> Batch:
    """Within candidates, at times so few that an input has no output."""
    if rng.random() < 0.5:
        return batch
    shape = int(batch.starts[-1]), batch.space.n_labels
    return batch.inside(random_mask(rng, shape, rng.choice([0.5, 0.85, 0.95])))


def chain_case(batch: Batch, rng: np.random.Generator, plain: Any, value: Any) -> Case:
    scorer, first = batch.scorer, batch.starts

    def score(weights: np.ndarray, i: int, y: np.ndarray) -> float:
        return float(value(plain(scorer.rows, scorer.layout, weights), int(first[i]), y[None])[0])

    batch = masked(rng, batch)
    if rng.random() < 0.2:
        batch = batch.within(batch.space.outside(random_mask(rng, (int(first[-1]), batch.space.n_labels), 0.6)))

    def admits(i: int, y: np.ndarray) -> bool:
        return bool(members_of(batch.space, int(first[i]), y[None])[0])

    return Case(batch, weights_of(rng, scorer.size), score, admits)


@st.composite
def classes(draw: st.DrawFn) -> Case:
    return chain_case(draw(batches(most=3, longest=1)), draw(generators()), plain_scores, values_of)


@st.composite
def chains(draw: st.DrawFn) -> Case:
    return chain_case(draw(batches(most=3)), draw(generators()), plain_scores, values_of)


@st.composite
def second_order_chains(draw: st.DrawFn) -> Case:
    batch = draw(second_order_batches(most=3))
    return chain_case(batch, draw(generators()), plain_second_order_scores, second_order_values)


@st.composite
def many_labels(draw: st.DrawFn, order: int) -> Case:
    """One label, or enough of them for loops that take four at a time."""
    batch = draw(batches(most=2, longest=3, labels=draw(st.sampled_from([1, 5, 6, 7]))))
    if order == 1:
        return chain_case(batch, draw(generators()), plain_scores, values_of)
    return chain_case(of_second_order(batch), draw(generators()), plain_second_order_scores, second_order_values)


@st.composite
def segments(draw: st.DrawFn) -> Case:
    batch, rng = draw(segment_batches()), draw(generators())
    batch = masked(rng, batch)
    space = batch.space

    def score(weights: np.ndarray, i: int, y: np.ndarray) -> float:
        pieces = space.reading.segments(y)
        return value_of(plain_segment_scores(batch, weights), int(space.starts[i]), pieces)

    def admits(i: int, y: np.ndarray) -> bool:
        pieces = space.reading.segments(y)
        return pieces is not None and is_member(space, int(space.starts[i]), pieces)

    return Case(batch, weights_of(rng, batch.scorer.size), score, admits)


@st.composite
def variables(draw: st.DrawFn) -> Case:
    rng = draw(generators())
    drawn = drawn_variables(rng, most=3, inputs=3)
    batch = masked(rng, variable_batch(drawn.rows, drawn.variables, drawn.layout))

    def score(weights: np.ndarray, i: int, y: np.ndarray) -> float:
        return variable_value(drawn, weights, i, y)

    def admits(i: int, y: np.ndarray) -> bool:
        here = np.arange(batch.starts[i], batch.starts[i + 1])
        first = np.concatenate([[0], np.cumsum(drawn.layout.kinds)])
        kinds = drawn.variables.kinds[here]
        own = np.all((first[kinds] <= y) & (y < first[kinds + 1]))
        return bool(own and (batch.space.mask is None or batch.space.mask[here, y].all()))

    return Case(batch, drawn.weights, score, admits)


CASES = {
    "classes": classes,
    "chain": chains,
    "order 2": second_order_chains,
    "chain of many labels": partial(many_labels, 1),
    "order 2 of many labels": partial(many_labels, 2),
    "segments": segments,
    "variables": variables,
}
