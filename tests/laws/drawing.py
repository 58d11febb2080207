"""Random small problems, and slow but plain ways to solve them.

Problems are drawn anew in every run, and are the same in every run where SIDELIGHT_STEADY is set (`tests/conftest.py`);
`LAWS=10 pytest tests/laws` draws ten times as many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace, Cost, Transitions
from sidelight.spaces.chains.chain import GivenScores

TIMES = int(os.environ.get("LAWS", "1"))


def law(examples: int) -> Callable[[Any], Any]:
    """How often a law is tried; whether its cases are steady is left to the profile."""
    return settings(
        deadline=None,
        max_examples=examples * TIMES,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


seeds = st.integers(0, 2**32 - 1)


@st.composite
def generators(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(seeds))


@st.composite
def starts_of(draw: st.DrawFn, most: int = 4, longest: int = 5) -> np.ndarray:
    return offsets_of(draw(st.lists(st.integers(1, longest), min_size=1, max_size=most)))


def numbers(rng: np.random.Generator, shape: Any, tied: bool) -> np.ndarray:
    """Small whole numbers, so that many paths tie, or real ones."""
    return rng.integers(-2, 3, shape).astype(float) if tied else rng.normal(size=shape)


def random_scores(rng: np.random.Generator, tokens: int, labels: int, *, tied: bool) -> GivenScores:
    shapes = (tokens, labels), (labels, labels), labels, labels
    return GivenScores(*(numbers(rng, shape, tied) for shape in shapes))


def random_mask(rng: np.random.Generator, shape: Any, share: float) -> np.ndarray:
    return (rng.random(shape) < share).astype(np.uint8)


def random_transitions(rng: np.random.Generator, labels: int, share: float = 0.7) -> Transitions:
    return Transitions(*(random_mask(rng, shape, share) for shape in ((labels, labels), labels, labels)))


def random_cost(rng: np.random.Generator, tokens: int, labels: int, *, tied: bool = False, weighted: bool) -> Cost:
    """Any matrix of costs, not only zero on the diagonal."""
    weights = np.abs(numbers(rng, tokens, tied)) if weighted else np.zeros(0)
    targets = rng.integers(0, labels, tokens).astype(np.int32)
    return Cost(targets, np.abs(numbers(rng, (labels, labels), tied)), weights)


def labelings(labels: int, length: int) -> np.ndarray:
    """All of them, one a row."""
    return np.indices((labels,) * length).reshape(length, -1).T


def values_of(scores: GivenScores, first: int, paths: np.ndarray) -> np.ndarray:
    """The score of each labeling of the sequence that begins at token `first`."""
    length = paths.shape[1]
    total = scores.tokens[np.arange(first, first + length), paths].sum(1)
    total = total + scores.start[paths[:, 0]] + scores.end[paths[:, -1]]
    return total + scores.transition[paths[:, :-1], paths[:, 1:]].sum(1)


def costs_of(cost: Cost, first: int, paths: np.ndarray) -> np.ndarray:
    total = np.zeros(len(paths))
    for t in range(paths.shape[1]):
        weight = cost.token_weights[first + t] if len(cost.token_weights) else 1.0
        total += weight * cost.costs[cost.targets[first + t]][paths[:, t]]
    return total


def members_of(space: ChainSpace, first: int, paths: np.ndarray) -> np.ndarray:
    """Which labelings are in the space, by its definition."""
    inside = np.ones(len(paths), dtype=bool)
    tokens = np.arange(first, first + paths.shape[1])
    if space.allowed is not None:
        inside &= (space.allowed.start[paths[:, 0]] != 0) & (space.allowed.end[paths[:, -1]] != 0)
        inside &= np.all(space.allowed.between[paths[:, :-1], paths[:, 1:]] != 0, axis=1)
    if space.admitted is not None:
        inside &= np.all(space.admitted[tokens, paths] != 0, axis=1)
    if space.left_out is not None:
        inside &= np.any(space.left_out[tokens, paths] == 0, axis=1)
    return inside


def random_rows(
    rng: np.random.Generator, starts: np.ndarray, attributes: int, dense: int, *, valued: bool, most: int = 4
) -> Rows:
    """Token rows with repeated and unsorted attributes, some tokens without any."""
    lengths = rng.integers(0, most + 1, int(starts[-1]))
    indptr = offsets_of(lengths)
    entries = int(indptr[-1])
    indices = rng.integers(0, attributes, entries).astype(np.int32)
    values = rng.normal(size=entries) if valued else np.empty(0)
    return Rows(starts, indptr, indices, values, rng.normal(size=(int(starts[-1]), dense)).astype(np.float32))


@st.composite
def layouts(draw: st.DrawFn, labels: int | None = None) -> Layout:
    size = draw(st.integers(2, 4)) if labels is None else labels
    chain, bias, null = (draw(st.booleans()) for _ in range(3))
    return Layout(size, draw(st.integers(1, 5)), draw(st.integers(0, 2)), chain, bias, null and size > 1)


def plain_scores(rows: Rows, layout: Layout, weights: np.ndarray) -> GivenScores:
    """Scores token by token and label by label, from the layout's own words."""
    tokens = np.zeros((rows.n_tokens, layout.n_labels))
    missing = layout.n_labels - layout.columns
    sparse, dense = layout.attribute_weights(weights), layout.dense_weights(weights)
    for t in range(rows.n_tokens):
        for label in range(missing, layout.n_labels):
            for k in range(rows.indptr[t], rows.indptr[t + 1]):
                value = rows.values[k] if len(rows.values) else 1.0
                tokens[t, label] += value * sparse[rows.indices[k], label - missing]
            for d in range(layout.n_dense):
                tokens[t, label] += float(rows.dense[t, d]) * dense[d, label - missing]
    return GivenScores(tokens, layout.transition(weights), layout.start(weights), layout.end(weights))


@st.composite
def batches(
    draw: st.DrawFn, *, most: int = 4, longest: int = 4, masked: bool = True, labels: int | None = None
) -> Batch:
    """Features, a layout and a space that may forbid transitions but always leaves some labeling."""
    layout = draw(layouts(labels))
    starts = draw(starts_of(most, longest))
    rng = draw(generators())
    rows = random_rows(rng, starts, layout.n_attributes, layout.n_dense, valued=draw(st.booleans()))
    allowed = None
    if masked and draw(st.booleans()):
        allowed = random_transitions(rng, layout.n_labels)
        keep = np.arange(layout.n_labels)
        allowed.between[keep, keep] = 1
        allowed.start[0] = allowed.end[0] = 1
    return chain_batch(rows, layout, allowed=allowed, n_jobs=draw(st.sampled_from([None, 2])))


def random_outputs(rng: np.random.Generator, batch: Batch) -> np.ndarray:
    return rng.integers(0, batch.scorer.layout.n_labels, batch.scorer.rows.n_tokens).astype(np.int32)


def dense_rows_of(rows: Any, size: int) -> np.ndarray:
    """SparseRows as an array."""
    out = np.zeros((len(rows), size))
    for i in range(len(rows)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        np.add.at(out[i], rows.indices[part], rows.values[part])
    return out
