"""Random small segmentation problems, and slow but plain ways to solve them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
from drawing import (
    batches,
    generators,
    labelings,
    numbers,
    plain_scores,
    random_mask,
    random_rows,
    random_transitions,
    starts_of,
)
from drawing import members_of as labelings_in
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segments.segment_rows import SegmentLayout, SegmentRows
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.spaces import Cost
from sidelight.spaces.segments.segment_space import GivenSegmentScores, SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading

Pieces = tuple[tuple[int, int, int], ...]  # (first, last, label), the last token included


def compositions(length: int) -> list[list[tuple[int, int]]]:
    """All ways to cut a sequence into pieces."""
    cuts = product([False, True], repeat=length - 1)
    bounds = ([0, *(t + 1 for t, cut in enumerate(cut) if cut), length] for cut in cuts)
    return [[(a, b - 1) for a, b in pairwise(bound)] for bound in bounds]


def segmentations(labels: int, length: int) -> list[Pieces]:
    """All labelled segmentations, however long their segments."""
    return [
        tuple((a, b, label) for (a, b), label in zip(pieces, names))
        for pieces in compositions(length)
        for names in product(range(labels), repeat=len(pieces))
    ]


def value_of(scores: GivenSegmentScores, at: int, pieces: Pieces) -> float:
    """The score of a segmentation of the sequence that begins at token `at`, part by part."""
    total = scores.start[pieces[0][2]] + scores.end[pieces[-1][2]]
    total += sum(scores.transition[a[2], b[2]] for a, b in pairwise(pieces))
    for a, b, label in pieces:
        total += scores.tokens[at + a : at + b + 1, label].sum()
        total += scores.lasts[at + b, b - a, label]
    return float(total)


def cost_of(cost: Cost, at: int, labels: tuple[int, ...]) -> float:
    total = 0.0
    for t, label in enumerate(labels, start=at):
        weight = cost.token_weights[t] if len(cost.token_weights) else 1.0
        total += weight * cost.costs[cost.targets[t], label]
    return float(total)


def labels_of(space: SegmentSpace, pieces: Pieces) -> tuple[int, ...]:
    """The token labels of a segmentation."""
    first, inside = space.reading.first, space.reading.inside
    return tuple(int(first[k] if t == a else inside[k]) for a, b, k in pieces for t in range(a, b + 1))


def is_member(space: SegmentSpace, at: int, pieces: Pieces) -> bool:
    """Whether a segmentation is in the space, by its definition."""
    longest = space.reading.longest
    if any(b - a + 1 > longest[label] for a, b, label in pieces):
        return False
    if space.reading.runs:
        for (a, b, one), (_, _, other) in pairwise(pieces):
            if one == other and b - a + 1 != longest[one]:
                return False
    if space.allowed is not None:
        if not (space.allowed.start[pieces[0][2]] and space.allowed.end[pieces[-1][2]]):
            return False
        if not all(space.allowed.between[one[2], other[2]] for one, other in pairwise(pieces)):
            return False
    labels = labels_of(space, pieces)
    return space.admitted is None or all(space.admitted[at + t, label] for t, label in enumerate(labels))


def members_of(space: SegmentSpace, i: int) -> dict[tuple[int, ...], Pieces]:
    """The segmentations of a sequence by their token labels: no two have the same."""
    at, last = int(space.starts[i]), int(space.starts[i + 1])
    found = [p for p in segmentations(space.reading.n_segments, last - at) if is_member(space, at, p)]
    out = {labels_of(space, pieces): pieces for pieces in found}
    assert len(out) == len(found)
    return out


def random_segments(rng: np.random.Generator, space: SegmentSpace) -> np.ndarray:
    """The token labels of any segmentation whose segments are not too long, masks or no masks."""
    free = replace(space, allowed=None, admitted=None)
    chosen: list[int] = []
    for i in range(len(space.starts) - 1):
        options = list(members_of(free, i))
        chosen += options[rng.integers(len(options))]
    return np.array(chosen, dtype=np.int32)


def random_segment_scores(rng: np.random.Generator, space: SegmentSpace, *, tied: bool) -> GivenSegmentScores:
    tokens, size = int(space.starts[-1]), space.reading.n_segments
    shapes = (tokens, size), (tokens, space.max_length, size), (size, size), size, size
    return GivenSegmentScores(*(numbers(rng, shape, tied) for shape in shapes))


def random_segment_cost(rng: np.random.Generator, space: SegmentSpace, *, tied: bool, weighted: bool) -> Cost:
    tokens = int(space.starts[-1])
    costs = np.abs(numbers(rng, (space.n_labels, space.n_labels), tied))
    weights = np.abs(numbers(rng, tokens, tied)) if weighted else np.zeros(0)
    return Cost(random_segments(rng, space), costs, weights)


def runs_of(size: int, longest: list[int] | np.ndarray) -> TokenReading:
    """Segments that are runs of one label."""
    same = np.arange(size, dtype=np.int32)
    return TokenReading(same, same, same, np.array(longest, dtype=np.int64))


def random_reading(rng: np.random.Generator, size: int, longest: np.ndarray, *, runs: bool) -> TokenReading:
    """Runs, or first tokens with labels of their own, but for a label of segments of one token, perhaps."""
    if runs:
        return runs_of(size, longest)
    alone = rng.random(size) < 0.3
    numbers = rng.permutation(2 * size - int(alone.sum())).astype(np.int32)
    first, inside = numbers[:size], np.empty(size, np.int32)
    inside[~alone], inside[alone] = numbers[size:], first[alone]
    if np.all(alone):  # then these are runs
        return runs_of(size, longest)
    segment_of = np.empty(len(numbers), np.int32)
    segment_of[first] = segment_of[inside] = np.arange(size)
    return TokenReading(first, inside, segment_of, np.where(alone, 1, longest))


@st.composite
def segment_spaces(draw: st.DrawFn, *, masked: bool = True, longest: int = 5, most: int = 3) -> SegmentSpace:
    rng: np.random.Generator = draw(generators())
    starts = draw(starts_of(most, longest))
    size, max_length = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    lengths = rng.integers(1, max_length + 1, size) if draw(st.booleans()) else np.full(size, max_length)
    space = SegmentSpace(starts, random_reading(rng, size, lengths, runs=draw(st.booleans())), max_length)
    if not masked:
        return space
    if draw(st.booleans()):
        space = replace(space, allowed=random_transitions(rng, size, 0.8))
    if draw(st.booleans()):
        space = space.inside(random_mask(rng, (int(starts[-1]), space.n_labels), 0.85))
    return space


def random_segment_rows(rng: np.random.Generator, space: SegmentSpace, attributes: int) -> SegmentRows:
    """Segment rows with repeated attributes; those that would begin before their sequence are empty."""
    lengths = rng.integers(0, 4, int(space.starts[-1]) * space.max_length)
    for first, last in pairwise(map(int, space.starts)):
        for t in range(first, last):
            lengths[t * space.max_length + t - first + 1 : (t + 1) * space.max_length] = 0
    indices = rng.integers(0, attributes, lengths.sum()).astype(np.int32)
    return SegmentRows(space.starts, space.max_length, offsets_of(lengths), indices)


@st.composite
def segment_batches(draw: st.DrawFn, *, most: int = 3, longest: int = 4) -> Batch:
    """Features, a layout and a space that may forbid transitions but always leaves some segmentation."""
    space = draw(segment_spaces(masked=False, longest=longest, most=most))
    rng: np.random.Generator = draw(generators())
    chain, bias, size = draw(st.booleans()), draw(st.booleans()), space.reading.n_segments
    tokens = Layout(size, draw(st.integers(1, 4)), draw(st.integers(0, 2)), chain, bias)
    rows = random_rows(rng, space.starts, tokens.n_attributes, tokens.n_dense, valued=draw(st.booleans()))
    layout = SegmentLayout(tokens, draw(st.integers(1, 4)))
    if draw(st.booleans()):
        allowed = random_transitions(rng, size)
        allowed.between[np.arange(size), np.arange(size)] = 1
        allowed.start[0] = allowed.end[0] = 1
        space = replace(space, allowed=allowed)
    segments = random_segment_rows(rng, space, layout.n_attributes)
    return Batch(SegmentScorer(rows, segments, layout, space.reading), space, draw(st.sampled_from([None, 2])))


def plain_segment_scores(batch: Batch, weights: np.ndarray) -> GivenSegmentScores:
    """Scores part by part, from the layout's own words."""
    rows, layout, segments = batch.scorer.rows, batch.scorer.layout, batch.scorer.segments
    chain = plain_scores(rows, layout.tokens, layout.token_weights(weights))
    lasts = np.zeros((rows.n_tokens * segments.max_length, layout.n_labels))
    for row in range(len(lasts)):
        for k in range(segments.indptr[row], segments.indptr[row + 1]):
            lasts[row] += layout.segment_weights(weights)[segments.indices[k]]
    shape = rows.n_tokens, segments.max_length, layout.n_labels
    return GivenSegmentScores(chain.tokens, lasts.reshape(shape), chain.transition, chain.start, chain.end)


def any_batches(*, most: int = 3, longest: int = 4) -> st.SearchStrategy[Batch]:
    """Batches of chains and classes, and of segments."""
    return st.one_of(batches(most=most, longest=longest), segment_batches(most=min(most, 3), longest=min(longest, 3)))


def outputs_of(space: Any, i: int) -> np.ndarray:
    """All outputs of an input of any structure. # [outputs, T]"""
    first, last = int(space.starts[i]), int(space.starts[i + 1])
    if isinstance(space, SegmentSpace):
        return np.array(list(members_of(space, i)), dtype=np.int32).reshape(-1, last - first)
    paths = labelings(space.n_labels, last - first)
    return paths[labelings_in(space, first, paths)]


def outputs_drawn(rng: np.random.Generator, space: Any) -> np.ndarray:
    """Outputs of any structure, masks or no masks. # [T]"""
    if isinstance(space, SegmentSpace):
        return random_segments(rng, space)
    return rng.integers(0, space.n_labels, int(space.starts[-1])).astype(np.int32)
