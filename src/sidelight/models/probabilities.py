"""The probabilities of a model: p(y | x) = exp(score(y)) / Σ exp(score), marginals, samples and log-probabilities.

For likelihood learners (crf, partial_crf, naive_bayes) these are the model's own probabilities; for margin learners
they rank outputs but are not calibrated. `clamp` fixes the labels of some tokens: the same mask limits the decoded path
and the sums, so both are consistent. With hidden states, the probability of an output is the sum over the states of its
labels, while the decoded path is that of the best states.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.checks import whole
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.models.model import Model
from sidelight.objective.batch import Batch
from sidelight.spaces import sums
from sidelight.spaces.second_order.second_order import SecondOrderSpace

MOST_NUMBERS = 1 << 28  # maximum numbers in memory for finding the k best outputs
ROUNDING = 1e-3  # if the marginals of a token miss 1 by more, they are meaningless
SCALE = "scale the features, so that their values are about 1"


def best(model: Model, xs: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> list[Any]:
    """The best output of each input that has the clamped labels."""
    rows, batch, _ = _scored(model, xs, clamp, n_jobs)
    return model.structure.outputs(rows, batch.best(model.weights).labels) if len(batch) else []


def marginals(model: Model, xs: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> list[Floats]:
    """p(y_t = l | x) for each input. # N of [T, K], labels in the order of the model's classes"""
    rows, shares = _marginals(model, xs, clamp, n_jobs)
    return [shares[a:b] for a, b in pairwise(rows.starts.tolist())]


def named_marginals(model: Model, xs: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> list[Any]:
    """Marginals as dicts from label to probability, in the form of outputs."""
    return model.structure.beliefs(*_marginals(model, xs, clamp, n_jobs))


def _marginals(model: Model, xs: Any, clamp: Any, n_jobs: int | None) -> tuple[Any, Floats]:
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return rows, np.zeros((0, len(model.labels.classes)))
    return rows, _by_label(model, proper(sums.token_marginals(batch.space, scores, n_jobs=n_jobs)))


def log_probabilities(model: Model, xs: Any, ys: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> Floats:
    """log p(y | x) of given outputs; -inf for those that clamped labels or allowed transitions exclude. # [N]"""
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return np.zeros(0)
    labels = model.structure.choices(rows, ys)
    if model.labels.hidden:
        of = model.labels.label_of
        inside = batch.space.inside(np.asarray(of[labels][:, None] == of, dtype=np.uint8))
        values = np.full(len(batch), -np.inf)
        some = np.flatnonzero(inside.feasible(n_jobs=n_jobs))
        if len(some):
            part = batch.scorer.take(some).scores(model.weights)
            values[some] = sums.log_sums(inside.take(some), part, n_jobs=n_jobs)
        return values - sums.log_sums(batch.space, scores, n_jobs=n_jobs)
    values = batch.space.score(scores, labels, n_jobs=n_jobs) - sums.log_sums(batch.space, scores, n_jobs=n_jobs)
    return np.where(batch.space.admits(labels) != 0, values, -np.inf)


def log_partitions(model: Model, xs: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> Floats:
    """log Σ exp(score) over the outputs of each input that have the clamped labels. # [N]"""
    _, batch, scores = _scored(model, xs, clamp, n_jobs)
    return sums.log_sums(batch.space, scores, n_jobs=n_jobs) if len(batch) else np.zeros(0)


def class_scores(model: Model, xs: Any, *, n_jobs: int | None = -1) -> Floats:
    """The score of every class for single inputs; with hidden states, the log-sum over a class's states. # [N, K]"""
    _, batch, scores = _scored(model, xs, None, n_jobs)
    if not len(batch):
        return np.zeros((0, len(model.labels.classes)))
    every: Floats = scores.block(0, len(batch)) + scores.start + scores.end
    if not model.labels.hidden:
        return every
    top = every.max(axis=1, keepdims=True)
    return np.asarray(np.log(_by_label(model, np.exp(every - top))) + top)


def k_best(
    model: Model, xs: Any, k: int, *, clamp: Any = None, n_jobs: int | None = -1
) -> list[list[tuple[Any, float]]]:
    """The k best outputs of each input with their scores, best first; fewer if there are fewer outputs."""
    k = whole("k", k, least=1)
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    if model.labels.hidden:
        raise Intractable("the k best of labels with hidden states are not found; leave states out")
    order = 2 if isinstance(batch.space, SecondOrderSpace) else 1
    k = bounded_k(k, batch.lengths, len(model.labels), order=order)
    labels, values = sums.k_best(batch.space, scores, k, n_jobs=n_jobs)
    outputs: list[list[tuple[Any, float]]] = [[] for _ in range(len(batch))]
    for choices, worth in zip(labels, values.tolist()):
        there = [i for i, value in enumerate(worth) if value > -np.inf]
        some = rows.take(there)
        for i, y in zip(there, model.structure.outputs(some, choices[rows.tokens_of(there)])):
            outputs[i].append((y, worth[i]))
    return outputs


def samples(
    model: Model, xs: Any, rng: np.random.Generator, *, clamp: Any = None, n_jobs: int | None = -1
) -> list[Any]:
    """One output of each input, drawn from p(y | x)."""
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    return model.structure.outputs(rows, sums.sample(batch.space, scores, rng, n_jobs=n_jobs)) if len(batch) else []


def posterior(model: Model, xs: Any, *, clamp: Any = None, n_jobs: int | None = -1) -> list[Any]:
    """The output with the largest expected number of right tokens, among the allowed outputs."""
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    if not model.labels.hidden:
        return model.structure.outputs(rows, sums.posterior_decode(batch.space, scores, n_jobs=n_jobs))
    tokens = sums.token_marginals(batch.space, scores, n_jobs=n_jobs)
    gains = np.ascontiguousarray(
        _by_label(model, tokens)[:, model.labels.label_of]
    )  # a state has the gain of its label
    return model.structure.outputs(rows, sums.best_by_tokens(batch.space, gains, n_jobs=n_jobs))


def _scored(model: Model, xs: Any, clamp: Any, n_jobs: int | None) -> tuple[Any, Batch, Any]:
    """The features of inputs, their batch restricted to clamped labels, and its scores."""
    rows = model.prepare(xs, n_jobs=n_jobs)
    batch = model.batch(rows, n_jobs=n_jobs)
    if clamp is not None:
        batch = batch.inside(model.structure.mask(rows, clamp))
        without = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
        if len(without):
            raise clamped_too_much(int(without[0]))
    return rows, batch, batch.scores(model.weights)


def proper(shares: Floats) -> Floats:
    """Marginals [T, L] without rounding errors: from 0 to 1, with sum 1.

    Raises `DataError` if scores are so large that their differences are lost.
    """
    totals = shares.sum(axis=1, keepdims=True)
    if not np.all(np.abs(totals - 1.0) < ROUNDING):
        raise DataError("the scores are too large to distinguish probabilities", remedy=SCALE)
    return np.asarray(np.clip(shares / totals, 0.0, 1.0))


def clamped_too_much(example: int) -> Infeasible:
    """The error for clamped labels that occur in no output."""
    why = "every other label beside them, or a transition between two, is ruled out"
    return Infeasible(f"example {example}: no output has the clamped labels: {why}; clamp fewer", example=example)


def bounded_k(k: int, lengths: Ints, n_labels: int, *, order: int = 1) -> int:
    """k, or the number of outputs of the longest input if this is smaller; raises `Intractable` if they would take
    gigabytes.

    >>> bounded_k(10**9, np.array([3, 2]), 2)
    8
    """
    longest, tokens = int(lengths.max(initial=0)), int(lengths.sum())
    if longest * math.log2(max(n_labels, 1)) < 62:
        k = min(k, n_labels**longest)
    numbers = k * (tokens + longest * n_labels**order)
    if numbers > MOST_NUMBERS:
        request = f"the {k:,} best outputs of {tokens:,} tokens with {n_labels} labels"
        raise Intractable(
            f"{request} take about {16 * numbers / 1e9:,.0f} GB; ask for fewer, or of fewer inputs at a time"
        )
    return k


def _by_label(model: Model, tokens: Floats) -> Floats:
    """Beliefs of states [T, L] added up for their labels. # [T, K]"""
    firsts = np.flatnonzero(np.diff(model.labels.label_of, prepend=-1))
    return np.add.reduceat(tokens, firsts, axis=1) if model.labels.hidden else tokens
