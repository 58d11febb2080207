"""What a model believes: p(y | x) = exp(score(y)) / Σ exp(score), its marginals, samples and log-probabilities.

They are the model's own probabilities where it was learned by likelihood (crf, partial_crf, naive_bayes); for margin
learners they rank outputs, but are not calibrated. `clamp` fixes the labels of some tokens: one mask limits the decoded
path and the sums, so that both obey it and agree. Where labels have hidden states, the probability of an output is the
sum over the states of its labels, while the decoded path is that of the best states.
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

MOST_NUMBERS = 1 << 28  # that the k best outputs are found with
ROUNDING = 1e-3  # marginals of a token that miss 1 by more have lost their meaning
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
    """The same by the names of labels, in the form of outputs."""
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
    """Of single inputs, the score of every class; with hidden states the log-sum over those of a class. # [N, K]"""
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
    """The k best outputs of each input with their scores, best first; fewer where there are not so many."""
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
    """The output with the largest expected number of right tokens, among those that are allowed."""
    rows, batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    if not model.labels.hidden:
        return model.structure.outputs(rows, sums.posterior_decode(batch.space, scores, n_jobs=n_jobs))
    tokens = sums.token_marginals(batch.space, scores, n_jobs=n_jobs)
    gains = np.ascontiguousarray(
        _by_label(model, tokens)[:, model.labels.label_of]
    )  # a state gains what its label does
    return model.structure.outputs(rows, sums.best_by_tokens(batch.space, gains, n_jobs=n_jobs))


def _scored(model: Model, xs: Any, clamp: Any, n_jobs: int | None) -> tuple[Any, Batch, Any]:
    """The features of inputs, their batch within what is clamped, and its scores."""
    rows = model.prepare(xs, n_jobs=n_jobs)
    batch = model.batch(rows, n_jobs=n_jobs)
    if clamp is not None:
        batch = batch.inside(model.structure.mask(rows, clamp))
        without = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
        if len(without):
            raise clamped_too_much(int(without[0]))
    return rows, batch, batch.scores(model.weights)


def proper(shares: Floats) -> Floats:
    """Marginals [T, L] without what rounding adds: from 0 to 1, and 1 in sum.

    Raises `DataError` where scores are so large that nothing is left of their differences.
    """
    totals = shares.sum(axis=1, keepdims=True)
    if not np.all(np.abs(totals - 1.0) < ROUNDING):
        raise DataError("the scores are too large for probabilities to be told apart", remedy=SCALE)
    return np.asarray(np.clip(shares / totals, 0.0, 1.0))


def clamped_too_much(example: int) -> Infeasible:
    """The error for clamped labels that no output has."""
    why = "every other label beside them, or a transition between two, is ruled out"
    return Infeasible(f"example {example}: no output has the clamped labels: {why}; clamp fewer", example=example)


def bounded_k(k: int, lengths: Ints, n_labels: int, *, order: int = 1) -> int:
    """So many, or as many as there are outputs of the longest input; raises `Intractable` where they take gigabytes.

    >>> bounded_k(10**9, np.array([3, 2]), 2)
    8
    """
    longest, tokens = int(lengths.max(initial=0)), int(lengths.sum())
    if longest * math.log2(max(n_labels, 1)) < 62:
        k = min(k, n_labels**longest)
    numbers = k * (tokens + longest * n_labels**order)
    if numbers > MOST_NUMBERS:
        asked = f"the {k:,} best outputs of {tokens:,} tokens with {n_labels} labels"
        raise Intractable(
            f"{asked} take about {16 * numbers / 1e9:,.0f} GB; ask for fewer, or of fewer inputs at a time"
        )
    return k


def _by_label(model: Model, tokens: Floats) -> Floats:
    """Beliefs of states [T, L] added up for their labels. # [T, K]"""
    firsts = np.flatnonzero(np.diff(model.labels.label_of, prepend=-1))
    return np.add.reduceat(tokens, firsts, axis=1) if model.labels.hidden else tokens
