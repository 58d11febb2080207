"""What a segmenter believes: p(s | x) = exp(score(s)) / Σ exp(score) over the labelled segmentations s of an input.

Outputs are token labels, as in `sidelight.probabilities`. With either scheme a labeling of tokens is one segmentation
(see `structures.segments`), so that its probability is that of the segmentation, and 0 where it is none: a segment that
goes on without having begun, or that is longer than the model's greatest length. `clamp` fixes the labels of some
tokens; the decoded path, the sums and the samples are all within the same masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.arrays import Bytes, Floats
from sidelight.objective.segments import SegmentBatch
from sidelight.probabilities import Clamp, bounded_k, checked_k, clamped_too_much, label_names, mask_of
from sidelight.segment_model import SegmentModel
from sidelight.spaces.segments import Segments


def marginals(
    model: SegmentModel, xs: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[Floats]:
    """p(y_t = l | x) for each input. # N of [T, K], token labels in the order of the model's"""
    batch = _batch(model, xs, clamp, n_jobs)
    shares = model.scheme.marginals(*batch.space.token_beliefs(batch.scores(model.weights), n_jobs=n_jobs))
    return [shares[a:b] for a, b in pairwise(batch.rows.starts.tolist())]


def log_partitions(
    model: SegmentModel, xs: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> Floats:
    """log Σ exp(score) over the segmentations of each input that have the clamped labels. # [N]"""
    batch = _batch(model, xs, clamp, n_jobs)
    return batch.space.log_sums(batch.scores(model.weights), n_jobs=n_jobs)


def log_probabilities(
    model: SegmentModel, xs: Sequence[Any], ys: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> Floats:
    """log p(y | x) of given token labels; -inf for those that are no segmentation or not as clamped. # [N]"""
    batch = _batch(model, xs, clamp, n_jobs)
    tokens = model.scheme.tokens
    numbers = tokens.encode(label_names(tokens, batch.rows.lengths, ys))
    given = np.zeros((len(numbers), len(tokens)), dtype=np.uint8)
    given[np.arange(len(numbers)), numbers] = 1
    inside = _inside(model, batch, given)  # one segmentation or none, whose score is the sum
    values = np.full(len(batch), -np.inf)
    some = np.flatnonzero(inside.space.feasible(n_jobs=n_jobs))
    if len(some):
        known = inside.take(some)
        values[some] = known.space.log_sums(known.scores(model.weights), n_jobs=n_jobs)
    return values - batch.space.log_sums(batch.scores(model.weights), n_jobs=n_jobs)


def k_best(
    model: SegmentModel, xs: Sequence[Any], k: int, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[list[tuple[list[Any], float]]]:
    """The k best outputs of each input with their scores, best first; fewer where there are not so many."""
    k = checked_k(k)
    batch = _batch(model, xs, clamp, n_jobs)
    k = bounded_k(k, batch.rows.lengths, len(model.scheme.tokens))
    found, values = batch.space.k_best(batch.scores(model.weights), k, n_jobs=n_jobs)
    out: list[list[tuple[list[Any], float]]] = []
    for i, (a, b) in enumerate(pairwise(batch.rows.starts.tolist())):
        there = [j for j in range(len(found)) if values[i, j] > -np.inf]
        out.append([(_labels(model, found[j].part(a, b)), float(values[i, j])) for j in there])
    return out


def samples(
    model: SegmentModel,
    xs: Sequence[Any],
    rng: np.random.Generator,
    *,
    clamp: Clamp | None = None,
    n_jobs: int | None = -1,
) -> list[list[Any]]:
    """One output of each input, drawn from p(s | x)."""
    batch = _batch(model, xs, clamp, n_jobs)
    found = batch.space.sample(batch.scores(model.weights), rng, n_jobs=n_jobs)
    return [_labels(model, found.part(a, b)) for a, b in pairwise(batch.rows.starts.tolist())]


def _batch(model: SegmentModel, xs: Sequence[Any], clamp: Clamp | None, n_jobs: int | None) -> SegmentBatch:
    batch = model.batch(xs, n_jobs=n_jobs)
    if clamp is None:
        return batch
    batch = _inside(model, batch, mask_of(model.scheme.tokens, batch.rows.lengths, clamp))
    without = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
    if len(without):
        raise clamped_too_much(int(without[0]))
    return batch


def _inside(model: SegmentModel, batch: SegmentBatch, admitted: Bytes) -> SegmentBatch:
    """The same inputs with some token labels only. # admitted: [T, K]"""
    return batch.inside(*model.scheme.masks(admitted))


def _labels(model: SegmentModel, found: Segments) -> list[Any]:
    return model.scheme.tokens.decode(model.scheme.decode(found))
