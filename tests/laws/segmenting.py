"""Random small segmentation problems, and slow but plain ways to solve them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
from drawing import generators, numbers, plain_scores, random_mask, random_rows, random_transitions, starts_of
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segment_rows import SegmentLayout, SegmentRows
from sidelight.objective.segments import SegmentBatch
from sidelight.spaces.segments import GivenSegmentScores, SegmentCost, Segments, SegmentSpace

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


def cost_of(cost: SegmentCost, at: int, pieces: Pieces) -> float:
    total = 0.0
    for a, b, label in pieces:
        for t in range(a, b + 1):
            weight = cost.token_weights[at + t] if len(cost.token_weights) else 1.0
            total += weight * (cost.first if t == a else cost.inside)[cost.tokens[at + t], label]
    return total


def is_member(space: SegmentSpace, at: int, pieces: Pieces) -> bool:
    """Whether a segmentation is in the space, by its definition."""
    longest = [space.max_length] * space.n_labels if space.longest is None else space.longest
    if any(b - a + 1 > longest[label] for a, b, label in pieces):
        return False
    if space.runs:
        for (a, b, one), (_, _, other) in pairwise(pieces):
            if one == other and b - a + 1 != longest[one]:
                return False
    if space.allowed is not None:
        if not (space.allowed.start[pieces[0][2]] and space.allowed.end[pieces[-1][2]]):
            return False
        if not all(space.allowed.between[one[2], other[2]] for one, other in pairwise(pieces)):
            return False
    for a, b, label in pieces:
        for t in range(a, b + 1):
            opening = space.admitted if space.opening is None else space.opening
            mask = opening if t == a else space.admitted
            if mask is not None and not mask[at + t, label]:
                return False
    return True


def pieces_of(found: Segments, first: int, last: int) -> Pieces:
    """The segments of the tokens first..last."""
    begins = [*np.flatnonzero(found.begins[first:last]).tolist(), last - first]
    assert begins[0] == 0
    out = []
    for a, b in pairwise(begins):
        assert len(set(found.labels[first + a : first + b].tolist())) == 1
        out.append((a, b - 1, int(found.labels[first + a])))
    return tuple(out)


def segments_from(pieces: list[Pieces]) -> Segments:
    """Arrays of one segmentation per sequence."""
    labels = [label for one in pieces for a, b, label in one for _ in range(a, b + 1)]
    begins = [int(t == a) for one in pieces for a, b, _ in one for t in range(a, b + 1)]
    return Segments(np.array(labels, dtype=np.int32), np.array(begins, dtype=np.uint8))


def random_segments(rng: np.random.Generator, space: SegmentSpace) -> Segments:
    """Any segmentation whose segments are not too long, masks or no masks."""
    free = replace(space, allowed=None, admitted=None, opening=None)
    chosen = []
    for length in np.diff(space.starts):
        options = [one for one in segmentations(space.n_labels, int(length)) if is_member(free, 0, one)]
        chosen.append(options[rng.integers(len(options))])
    return segments_from(chosen)


def random_segment_scores(rng: np.random.Generator, space: SegmentSpace, *, tied: bool) -> GivenSegmentScores:
    tokens, size = int(space.starts[-1]), space.n_labels
    shapes = (tokens, size), (tokens, space.max_length, size), (size, size), size, size
    return GivenSegmentScores(*(numbers(rng, shape, tied) for shape in shapes))


def random_segment_cost(rng: np.random.Generator, space: SegmentSpace, *, tied: bool, weighted: bool) -> SegmentCost:
    kinds, tokens = 3, int(space.starts[-1])
    first, inside = (np.abs(numbers(rng, (kinds, space.n_labels), tied)) for _ in range(2))
    weights = np.abs(numbers(rng, tokens, tied)) if weighted else np.zeros(0)
    right = rng.integers(0, kinds, tokens).astype(np.int32)
    return SegmentCost(random_segments(rng, space), right, first, inside, weights)


@st.composite
def segment_spaces(draw: st.DrawFn, *, masked: bool = True, longest: int = 5, most: int = 3) -> SegmentSpace:
    rng: np.random.Generator = draw(generators())
    starts = draw(starts_of(most, longest))
    size, max_length = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    space = SegmentSpace(starts, size, max_length, runs=draw(st.booleans()))
    if draw(st.booleans()):
        space = replace(space, longest=rng.integers(1, max_length + 1, size))
    if not masked:
        return space
    tokens = int(starts[-1])
    if draw(st.booleans()):
        space = replace(space, allowed=random_transitions(rng, size, 0.8))
    kind: Any = draw(st.sampled_from(["none", "none", "both", "two", "opening", "admitted"]))
    masks = random_mask(rng, (tokens, size), 0.85), random_mask(rng, (tokens, size), 0.85)
    if kind == "both":
        return space.inside(masks[0])
    if kind == "two":
        return space.inside(*masks)
    if kind == "opening":
        return replace(space, opening=masks[0])
    return replace(space, admitted=masks[0]) if kind == "admitted" else space


def random_segment_rows(rng: np.random.Generator, space: SegmentSpace, attributes: int) -> SegmentRows:
    """Segment rows with repeated attributes; those that would begin before their sequence are empty."""
    lengths = rng.integers(0, 4, int(space.starts[-1]) * space.max_length)
    for first, last in pairwise(map(int, space.starts)):
        for t in range(first, last):
            lengths[t * space.max_length + t - first + 1 : (t + 1) * space.max_length] = 0
    indices = rng.integers(0, attributes, lengths.sum()).astype(np.int32)
    return SegmentRows(space.starts, space.max_length, offsets_of(lengths), indices)


@st.composite
def segment_batches(draw: st.DrawFn, *, most: int = 3, longest: int = 4) -> SegmentBatch:
    """Features, a layout and a space that may forbid transitions but always leaves some segmentation."""
    space = draw(segment_spaces(masked=False, longest=longest, most=most))
    rng: np.random.Generator = draw(generators())
    chain, bias = draw(st.booleans()), draw(st.booleans())
    tokens = Layout(space.n_labels, draw(st.integers(1, 4)), draw(st.integers(0, 2)), chain, bias)
    rows = random_rows(rng, space.starts, tokens.n_attributes, tokens.n_dense, valued=draw(st.booleans()))
    layout = SegmentLayout(tokens, draw(st.integers(1, 4)))
    if draw(st.booleans()):
        allowed = random_transitions(rng, space.n_labels)
        keep = np.arange(space.n_labels)
        allowed.between[keep, keep] = 1
        allowed.start[0] = allowed.end[0] = 1
        space = replace(space, allowed=allowed)
    segments = random_segment_rows(rng, space, layout.n_attributes)
    return SegmentBatch(rows, segments, space, layout, draw(st.sampled_from([None, 2])))


def plain_segment_scores(batch: SegmentBatch, weights: np.ndarray) -> GivenSegmentScores:
    """Scores part by part, from the layout's own words."""
    layout, segments = batch.layout, batch.segments
    chain = plain_scores(batch.rows, layout.tokens, layout.token_weights(weights))
    lasts = np.zeros((batch.rows.n_tokens * segments.max_length, layout.n_labels))
    for row in range(len(lasts)):
        for k in range(segments.indptr[row], segments.indptr[row + 1]):
            lasts[row] += layout.segment_weights(weights)[segments.indices[k]]
    shape = batch.rows.n_tokens, segments.max_length, layout.n_labels
    return GivenSegmentScores(chain.tokens, lasts.reshape(shape), chain.transition, chain.start, chain.end)
