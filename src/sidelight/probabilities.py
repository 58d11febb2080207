"""What a model believes: p(y | x) = exp(score(y)) / Σ exp(score), its marginals, samples and log-probabilities.

They are the model's own probabilities where it was learned by likelihood (crf, partial_crf, naive_bayes); for margin
learners they rank outputs, but are not calibrated. `clamp` fixes the labels of some tokens: one mask limits the decoded
path and the sums, so that both obey it and agree. Where labels have hidden states, the probability of an output is the
sum over the states of its labels, while the decoded path is that of the best states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints, by_position
from sidelight.checks import shown
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.model import Model
from sidelight.objective.batch import Batch
from sidelight.spaces import sums
from sidelight.structure import AnyRows
from sidelight.structures.labels import LabelSet

Clamp = Sequence[Sequence[Any | None] | None]  # for each input and token a label, or None
MOST_NUMBERS = 1 << 28  # that the k best outputs are found with
ROUNDING = 1e-3  # marginals of a token that miss 1 by more have lost their meaning
SCALE = "scale the features, so that their values are about 1"
CLAMP_FORM = "give every input a list with a label or None for every token, or None where no label is known"


def best(
    model: Model, xs: Sequence[Any] | AnyRows, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[Any]:
    """The best output of each input that has the clamped labels."""
    batch, _ = _scored(model, xs, clamp, n_jobs)
    return _outputs(model, batch, batch.best(model.weights).labels) if len(batch) else []


def marginals(
    model: Model, xs: Sequence[Any] | AnyRows, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[Floats]:
    """p(y_t = l | x) for each input. # N of [T, K], labels in the order of the model's classes"""
    batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    tokens = _by_label(model, proper(sums.token_marginals(batch.space, scores, n_jobs=n_jobs)))
    return [tokens[a:b] for a, b in pairwise(batch.starts.tolist())]


def log_probabilities(
    model: Model,
    xs: Sequence[Any] | AnyRows,
    ys: Sequence[Any],
    *,
    clamp: Clamp | None = None,
    n_jobs: int | None = -1,
) -> Floats:
    """log p(y | x) of given outputs; -inf for those that clamped labels or allowed transitions exclude. # [N]"""
    batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return np.zeros(0)
    own = ys if model.sequences or not _is_list(ys) else [[y] for y in ys]
    names = label_names(model.labels, batch.lengths, own)
    if model.labels.hidden:
        inside = batch.space.inside(np.array([model.labels.mask([label]) for label in names]))
        values = np.full(len(batch), -np.inf)
        some = np.flatnonzero(inside.feasible(n_jobs=n_jobs))
        if len(some):
            part = batch.scorer.take(some).scores(model.weights)
            values[some] = sums.log_sums(inside.take(some), part, n_jobs=n_jobs)
        return values - sums.log_sums(batch.space, scores, n_jobs=n_jobs)
    labels = model.labels.encode(names)
    values = batch.space.score(scores, labels, n_jobs=n_jobs) - sums.log_sums(batch.space, scores, n_jobs=n_jobs)
    return np.where(batch.space.admits(labels) != 0, values, -np.inf)


def log_partitions(
    model: Model, xs: Sequence[Any] | AnyRows, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> Floats:
    """log Σ exp(score) over the outputs of each input that have the clamped labels. # [N]"""
    batch, scores = _scored(model, xs, clamp, n_jobs)
    return sums.log_sums(batch.space, scores, n_jobs=n_jobs) if len(batch) else np.zeros(0)


def class_scores(model: Model, xs: Sequence[Any] | AnyRows, *, n_jobs: int | None = -1) -> Floats:
    """Of single inputs, the score of every class; with hidden states the log-sum over those of a class. # [N, K]"""
    batch, scores = _scored(model, xs, None, n_jobs)
    if not len(batch):
        return np.zeros((0, len(model.labels.classes)))
    every: Floats = scores.block(0, len(batch)) + scores.start + scores.end
    if not model.labels.hidden:
        return every
    top = every.max(axis=1, keepdims=True)
    return np.asarray(np.log(_by_label(model, np.exp(every - top))) + top)


def k_best(
    model: Model, xs: Sequence[Any] | AnyRows, k: int, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[list[tuple[Any, float]]]:
    """The k best outputs of each input with their scores, best first; fewer where there are not so many."""
    k = checked_k(k)
    batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    if model.labels.hidden:
        raise Intractable("the k best of labels with hidden states are not found; leave states out")
    k = bounded_k(k, batch.lengths, len(model.labels), order=model.layout.order)
    labels, values = sums.k_best(batch.space, scores, k, n_jobs=n_jobs)
    found: list[list[tuple[Any, float]]] = []
    for i, (a, b) in enumerate(pairwise(batch.starts.tolist())):
        there = [j for j in range(k) if values[j, i] > -np.inf]
        outputs = [model.labels.decode(labels[j, a:b]) for j in there]
        found.append([(y if model.sequences else y[0], float(values[j, i])) for j, y in zip(there, outputs)])
    return found


def samples(
    model: Model,
    xs: Sequence[Any] | AnyRows,
    rng: np.random.Generator,
    *,
    clamp: Clamp | None = None,
    n_jobs: int | None = -1,
) -> list[Any]:
    """One output of each input, drawn from p(y | x)."""
    batch, scores = _scored(model, xs, clamp, n_jobs)
    return _outputs(model, batch, sums.sample(batch.space, scores, rng, n_jobs=n_jobs)) if len(batch) else []


def posterior(
    model: Model, xs: Sequence[Any] | AnyRows, *, clamp: Clamp | None = None, n_jobs: int | None = -1
) -> list[Any]:
    """The output with the largest expected number of right tokens, among those that are allowed."""
    batch, scores = _scored(model, xs, clamp, n_jobs)
    if not len(batch):
        return []
    if not model.labels.hidden:
        return _outputs(model, batch, sums.posterior_decode(batch.space, scores, n_jobs=n_jobs))
    tokens = sums.token_marginals(batch.space, scores, n_jobs=n_jobs)
    gains = np.ascontiguousarray(
        _by_label(model, tokens)[:, model.labels.label_of]
    )  # a state gains what its label does
    return _outputs(model, batch, sums.best_by_tokens(batch.space, gains, n_jobs=n_jobs))


def _scored(model: Model, xs: Sequence[Any] | AnyRows, clamp: Clamp | None, n_jobs: int | None) -> tuple[Batch, Any]:
    batch = model.batch(xs, n_jobs=n_jobs)
    if clamp is not None:
        batch = batch.inside(mask_of(model.labels, batch.lengths, clamp))
        without = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
        if len(without):
            raise clamped_too_much(int(without[0]))
    return batch, batch.scores(model.weights)


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


def mask_of(labels: LabelSet, lengths: Sequence[int] | Ints, clamp: Clamp) -> Bytes:
    """Which labels clamping leaves to each token of inputs with these many tokens. # [T, L]"""
    if not _is_list(clamp):
        raise DataError(f"clamp is of type {type(clamp).__name__}", remedy=CLAMP_FORM)
    if len(clamp) != len(lengths):
        problem = f"clamp does not fit the inputs: it has {len(clamp)} entries for {len(lengths)} inputs"
        raise DataError(problem, remedy=CLAMP_FORM)
    mask = np.ones((int(np.sum(lengths)), len(labels)), dtype=np.uint8)
    first = 0
    for i, (own, length) in enumerate(zip(clamp, lengths)):
        if own is not None:
            _check_clamp(labels, own, i, int(length))
            for t, label in enumerate(own, start=first):
                if label is not None:
                    mask[t] = labels.mask([label])
        first += int(length)
    return mask


def _check_clamp(labels: LabelSet, own: Any, i: int, length: int) -> None:
    if not _is_list(own):
        raise DataError(f"clamp does not fit the inputs: that of input {i} is {own!r}", remedy=CLAMP_FORM)
    if len(own) != length:
        tokens = f"input {i} has {length} token{'' if length == 1 else 's'}"
        raise DataError(f"clamp does not fit the inputs: {tokens}, its clamp {len(own)}", remedy=CLAMP_FORM)
    for t, label in enumerate(own):
        try:
            known = label is None or label in labels
        except TypeError:
            problem = f"clamp has the {type(label).__name__} {label!r} for token {t} of input {i}, which is not a label"
            raise DataError(problem, remedy="give one label, or None; rules can leave a choice of labels") from None
        if not known:
            raise DataError(f"clamp names the unknown label {label!r}", remedy="use labels of the model")


def _is_list(given: Any) -> bool:
    listed = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes))
    return listed and getattr(given, "shape", None) != ()


def checked_k(k: Any) -> int:
    """How many outputs are wanted; raises `ValueError` for what is no whole number from 1 on."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k is {shown(k)}; give a whole number from 1 on")
    return int(k)


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


def label_names(labels: LabelSet, lengths: Sequence[int] | Ints, outputs: Sequence[Any]) -> list[Any]:
    """The labels of all tokens in a row; raises `DataError` where they do not fit the inputs or are unknown."""
    outputs = by_position(outputs)
    if (
        not _is_list(outputs)
        or len(outputs) != len(lengths)
        or any(not _is_list(y) or len(y) != n for y, n in zip(outputs, lengths))
    ):
        raise DataError("the outputs do not fit the inputs", remedy="give one label per token of every input")
    names = [label for y in outputs for label in y]
    for label in names:
        if label not in labels:
            raise DataError(f"unknown label {label!r}", remedy="use labels of the model")
    return names


def _outputs(model: Model, batch: Batch, labels: Ids) -> list[Any]:
    names = model.labels.decode(labels)
    return [names[a:b] for a, b in pairwise(batch.starts.tolist())] if model.sequences else names
