"""Why this segmentation and not the next best: the margin between the two, split as in `sidelight.models.explain`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sidelight.errors import DataError
from sidelight.features.segments.segment_rows import Segments
from sidelight.models.contributions import NONE, Contribution, Explanation, largest_first, shown_tokens
from sidelight.models.model import Model
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.spaces import sums


class SegmentPiece(NamedTuple):
    """One segment as the model scores it: a long run of one label may be several."""

    first: int
    last: int
    label: int


def explain_segments(model: Model, x: Any) -> Explanation:
    """The best segmentation of an input, the next best, and what makes the difference.

    Labels are those of tokens; contributions name labels of segments, and segments by their last token. Raises
    `DataError` where the input admits one segmentation only.
    """
    batch = model.batch([x])
    assert isinstance(batch.scorer, SegmentScorer)
    outputs, values = sums.k_best(batch.space, batch.scores(model.weights), 2)
    if values[1, 0] == -np.inf:
        raise DataError("there is one segmentation only, so nothing to compare with", remedy="give a longer input")
    best, other = (batch.scorer.reading.cut(batch.starts, one)[0] for one in outputs)
    pieces = _pieces(best), _pieces(other)
    items = [*_of_tokens(model, batch.scorer, best, other), *_of_segments(model, batch.scorer, *pieces)]
    items += _of_steps(model, *pieces)
    labels = [model.labels.decode(one) for one in outputs]
    margin = float(values[0, 0] - values[1, 0])
    tokens = shown_tokens(x, int(batch.starts[-1]))
    return Explanation(tokens, labels[0], labels[1], float(values[0, 0]), margin, largest_first(items))


def _pieces(found: Segments) -> list[SegmentPiece]:
    firsts = [*np.flatnonzero(found.begins).tolist(), len(found.labels)]
    return [SegmentPiece(a, b - 1, int(found.labels[a])) for a, b in pairwise(firsts)]


def _of_tokens(model: Model, scorer: SegmentScorer, best: Segments, other: Segments) -> Iterator[Contribution]:
    """What tokens say whose segments have other labels."""
    layout, rows = model.segmental.layout.tokens, scorer.rows
    weights = model.segmental.layout.token_weights(model.weights)
    sparse, dense = layout.attribute_weights(weights), layout.dense_weights(weights)
    names = [str(name) for name in model.segmental.scheme.segments.names]
    for t in np.flatnonzero(best.labels != other.labels).tolist():
        a, b = int(best.labels[t]), int(other.labels[t])
        for k in range(int(rows.indptr[t]), int(rows.indptr[t + 1])):
            attribute = int(rows.indices[k])
            amount = float(sparse[attribute, a] - sparse[attribute, b])
            if len(rows.values):
                amount *= float(rows.values[k])
            yield Contribution("feature", t, model.extractor.name(attribute), names[a], names[b], amount)
        if layout.n_dense:
            amount = float(rows.dense[t].astype(np.float64) @ (dense[:, a] - dense[:, b]))
            yield Contribution("dense", t, "dense row", names[a], names[b], amount)


def _of_segments(
    model: Model, scorer: SegmentScorer, best: list[SegmentPiece], other: list[SegmentPiece]
) -> Iterator[Contribution]:
    """What segments say that one of the two has alone."""
    rows, weights = scorer.segments, model.segmental.layout.segment_weights(model.weights)
    for sign, pieces in ((1.0, set(best) - set(other)), (-1.0, set(other) - set(best))):
        for piece in sorted(pieces):
            row = piece.last * rows.max_length + piece.last - piece.first
            for attribute in rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist():
                shown = f"{model.segmental.segments.name(attribute)} of {piece.first}–{piece.last}"
                sides = _sides(sign, str(model.segmental.scheme.segments.names[piece.label]))
                amount = sign * float(weights[attribute, piece.label])
                yield Contribution("segment feature", piece.last, shown, *sides, amount)


def _of_steps(model: Model, best: list[SegmentPiece], other: list[SegmentPiece]) -> Iterator[Contribution]:
    """What first and last labels say, and steps from segment to segment that one of the two has alone."""
    layout, names = model.segmental.layout.tokens, [str(name) for name in model.segmental.scheme.segments.names]
    weights = model.segmental.layout.token_weights(model.weights)
    start, end, transition = layout.start(weights), layout.end(weights), layout.transition(weights)
    for part, name, values, (a, b) in (
        ("start", "first label", start, (best[0], other[0])),
        ("end", "last label", end, (best[-1], other[-1])),
    ):
        token = 0 if part == "start" else a.last
        yield Contribution(part, token, name, names[a.label], names[b.label], float(values[a.label] - values[b.label]))
    steps = [{(right.first, left.label, right.label) for left, right in pairwise(side)} for side in (best, other)]
    for sign, ones in ((1.0, steps[0] - steps[1]), (-1.0, steps[1] - steps[0])):
        for token, before, after in sorted(ones):
            sides = _sides(sign, f"{names[before]} → {names[after]}")
            yield Contribution("transition", token, "transition", *sides, sign * float(transition[before, after]))


def _sides(sign: float, shown: str) -> tuple[str, str]:
    return (shown, NONE) if sign > 0 else (NONE, shown)
