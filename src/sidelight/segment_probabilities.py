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

from sidelight.arrays import Floats
from sidelight.objective.batch import Batch
from sidelight.probabilities import Clamp, bounded_k, checked_k, clamped_too_much, label_names, mask_of, proper
from sidelight.segment_model import SegmentModel
from sidelight.spaces import sums


def marginals(
    model: SegmentModel, xs: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[Floats]:
    """p(y_t = l | x) for each input. # N of [T, K], token labels in the order of the model's"""
    batch = _batch(model, xs, clamp, n_jobs)
    shares = proper(sums.token_marginals(batch.space, batch.scores(model.weights), n_jobs=n_jobs))
    return [shares[a:b] for a, b in pairwise(batch.starts.tolist())]


def log_partitions(
    model: SegmentModel, xs: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> Floats:
    """log Σ exp(score) over the segmentations of each input that have the clamped labels. # [N]"""
    batch = _batch(model, xs, clamp, n_jobs)
    return sums.log_sums(batch.space, batch.scores(model.weights), n_jobs=n_jobs)


def log_probabilities(
    model: SegmentModel, xs: Sequence[Any], ys: Sequence[Any], *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> Floats:
    """log p(y | x) of given token labels; -inf for those that are no segmentation or not as clamped. # [N]"""
    batch = _batch(model, xs, clamp, n_jobs)
    tokens = model.scheme.tokens
    numbers = tokens.encode(label_names(tokens, batch.lengths, ys))
    values = batch.score(model.weights, numbers)
    values -= sums.log_sums(batch.space, batch.scores(model.weights), n_jobs=n_jobs)
    return np.where(batch.space.admits(numbers) != 0, values, -np.inf)


def k_best(
    model: SegmentModel, xs: Sequence[Any], k: int, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[list[tuple[list[Any], float]]]:
    """The k best outputs of each input with their scores, best first; fewer where there are not so many."""
    k = checked_k(k)
    batch = _batch(model, xs, clamp, n_jobs)
    k = bounded_k(k, batch.lengths, len(model.scheme.tokens))
    found, values = sums.k_best(batch.space, batch.scores(model.weights), k, n_jobs=n_jobs)
    out: list[list[tuple[list[Any], float]]] = []
    for i, (a, b) in enumerate(pairwise(batch.starts.tolist())):
        there = [j for j in range(k) if values[j, i] > -np.inf]
        out.append([(model.scheme.tokens.decode(found[j, a:b]), float(values[j, i])) for j in there])
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
    found = sums.sample(batch.space, batch.scores(model.weights), rng, n_jobs=n_jobs)
    return [model.scheme.tokens.decode(found[a:b]) for a, b in pairwise(batch.starts.tolist())]


def _batch(model: SegmentModel, xs: Sequence[Any], clamp: Clamp | None, n_jobs: int | None) -> Batch:
    batch = model.batch(xs, n_jobs=n_jobs)
    if clamp is None:
        return batch
    batch = batch.inside(mask_of(model.scheme.tokens, batch.lengths, clamp))
    without = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
    if len(without):
        raise clamped_too_much(int(without[0]))
    return batch
