"""Random small second-order problems, and slow but plain ways to solve them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from drawing import (
    batches,
    generators,
    numbers,
    plain_scores,
    random_mask,
    random_scores,
    random_transitions,
    starts_of,
    values_of,
)
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.chain_scorer import ChainScorer
from sidelight.spaces import ChainSpace
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderSpace


def random_second_order_scores(
    rng: np.random.Generator, tokens: int, labels: int, *, tied: bool
) -> GivenSecondOrderScores:
    first = random_scores(rng, tokens, labels, tied=tied)
    second = numbers(rng, (labels, labels, labels), tied)
    return GivenSecondOrderScores(first.tokens, first.transition, first.start, first.end, second)


def second_order_values(scores: GivenSecondOrderScores, first: int, paths: np.ndarray) -> np.ndarray:
    """The score of each labeling of the sequence that begins at token `first`."""
    return values_of(scores, first, paths) + scores.second[paths[:, :-2], paths[:, 1:-1], paths[:, 2:]].sum(1)


@st.composite
def second_order_spaces(
    draw: st.DrawFn, kinds=("allowed", "inside", "outside"), *, longest: int = 5, most_labels: int = 4
) -> SecondOrderSpace:
    labels = draw(st.integers(1, most_labels))
    starts = draw(starts_of(longest=longest))
    rng = draw(generators())
    space = ChainSpace(starts, labels)
    if "allowed" in kinds and draw(st.booleans()):
        space = replace(space, allowed=random_transitions(rng, labels))
    if "inside" in kinds and draw(st.booleans()):
        space = space.inside(random_mask(rng, (int(starts[-1]), labels), draw(st.sampled_from([0.5, 0.85]))))
    if "outside" in kinds and draw(st.booleans()):
        space = space.outside(random_mask(rng, (int(starts[-1]), labels), 0.6))
    return SecondOrderSpace(space)


@st.composite
def second_order_batches(draw: st.DrawFn, **options) -> Batch:
    """As `batches`, with a layout of order 2."""
    return of_second_order(draw(batches(**options)))


def of_second_order(batch: Batch) -> Batch:
    """The same inputs with a layout of order 2."""
    layout = replace(batch.scorer.layout, chain=True, order=2)
    return Batch(ChainScorer(batch.scorer.rows, layout), SecondOrderSpace(batch.space), batch.n_jobs)


def plain_second_order_scores(rows: Rows, layout: Layout, weights: np.ndarray) -> GivenSecondOrderScores:
    """Scores token by token and label by label, from the layout's own words."""
    plain = plain_scores(rows, layout, weights)
    at, size = layout.second_at, layout.n_labels
    second = np.array([weights[at + k] for k in range(size**3)]).reshape(size, size, size)
    return GivenSecondOrderScores(plain.tokens, plain.transition, plain.start, plain.end, second)
