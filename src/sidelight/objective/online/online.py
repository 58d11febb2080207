"""Whole epochs of an online learner over chains, inside one kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.rows import TokenFeatures
from sidelight.objective.batch import Batch
from sidelight.objective.chain_block import backtrack
from sidelight.objective.scorers.chain_scorer import chain_of
from sidelight.spaces.chains.chain import ChainSpace, closed_moves
from sidelight.spaces.chains.chain_kernels import forward, longest


class Averaged(NamedTuple):
    """Weights, what their average is made of, and views of both."""

    weights: Floats32  # [W]
    totals: Floats  # [W] Σ clock · move
    dense_weights: Floats32  # [D, columns]
    dense_totals: Floats
    sparse_weights: Floats32  # [A, columns]
    sparse_totals: Floats


class Steps(NamedTuple):
    """The present scores of first and last labels and of transitions, -inf where they are not allowed."""

    start: Floats32  # [L]
    end: Floats32  # [L]
    transition: Floats32  # [L, L]


def perceptron_epoch(
    batch: Batch, targets: Ids, importance: Floats, order: Ints, weights: Floats32, totals: Floats, clock: float
) -> tuple[int, float]:
    """One pass of the structured perceptron (Collins 2002) in the given order.

    `weights` move by importance · (Φ(x, y) − Φ(x, ŷ)) on every mistake; `totals` sum clock · move, so that the
    average of all weights so far is weights − totals / clock. Returns the number of mistakes and the clock, one tick
    per example. Weights are 32-bit: they are whole numbers here unless features or importance are not, and half the
    memory is twice the speed.
    """
    scorer, space = chain_of(batch), batch.space
    layout, rows = scorer.layout, scorer.rows
    if not isinstance(space, ChainSpace):
        raise ValueError("epochs in one kernel need a chain of order 1")
    shape = np.array([layout.bias, layout.chain, layout.start_at, layout.end_at, layout.transition_at], dtype=np.int64)
    size = layout.n_labels
    closed = closed_moves(space.allowed, size)
    edges = weights[: layout.second_at].astype(np.float64)
    start, end = closed[size] + layout.start(edges), closed[size + 1] + layout.end(edges)
    steps = start, end, closed[:size] + layout.transition(edges)
    return _epoch(
        rows.starts,
        rows.tokens,
        shape,
        Steps(*(part.astype(np.float32) for part in steps)),
        targets,
        importance,
        order,
        Averaged(
            weights,
            totals,
            weights[layout.dense_at : layout.emission_at].reshape(layout.n_dense, layout.columns),
            totals[layout.dense_at : layout.emission_at].reshape(layout.n_dense, layout.columns),
            weights[layout.emission_at :].reshape(layout.n_attributes, layout.columns),
            totals[layout.emission_at :].reshape(layout.n_attributes, layout.columns),
        ),
        clock,
    )


@inner_kernel
def _score_tokens(features: TokenFeatures, model: Averaged, first: int, count: int, shift: int, out: Floats32) -> None:
    """The scores of one sequence's tokens. # out: [longest, L]"""
    indptr, indices, values, dense = features
    columns = model.sparse_weights.shape[1]
    valued = values.shape[0] > 0
    for t in range(count):
        whole = out[t]
        for label in range(whole.shape[0]):
            whole[label] = 0.0
        row = whole[shift:]
        for k in range(indptr[first + t], indptr[first + t + 1]):
            weight = model.sparse_weights[indices[k]]
            if valued:
                value = np.float32(values[k])
                for label in range(columns):
                    row[label] += value * weight[label]
            else:
                for label in range(columns):
                    row[label] += weight[label]
        for k in range(dense.shape[1]):
            value = dense[first + t, k]
            weight = model.dense_weights[k]
            for label in range(columns):
                row[label] += value * weight[label]


@inner_kernel
def _move(model: Averaged, at: int, amount: float, clock: float) -> None:
    model.weights[at] += amount
    model.totals[at] += clock * amount


@inner_kernel
def _move_token(features: TokenFeatures, model: Averaged, t: int, column: int, amount: float, clock: float) -> None:
    indptr, indices, values, dense = features
    valued = values.shape[0] > 0
    for k in range(indptr[t], indptr[t + 1]):
        step = amount * values[k] if valued else amount
        model.sparse_weights[indices[k], column] += step
        model.sparse_totals[indices[k], column] += clock * step
    for k in range(dense.shape[1]):
        step = amount * np.float64(dense[t, k])
        model.dense_weights[k, column] += step
        model.dense_totals[k, column] += clock * step


@inner_kernel
def _move_sequence(
    features: TokenFeatures,
    shape: Ints,
    model: Averaged,
    steps: Steps,
    first: int,
    targets: Ids,
    guess: Ids,
    amount: float,
    clock: float,
) -> None:
    """Weights += amount · (Φ(x, y) − Φ(x, ŷ)); the scores of steps follow. `targets` and `guess` are [tokens]."""
    bias, chain, start_at, end_at, transition_at = shape[0], shape[1], shape[2], shape[3], shape[4]
    size, count = steps.start.shape[0], targets.shape[0]
    shift = size - model.sparse_weights.shape[1]
    for t in range(count):
        right, wrong = np.int64(targets[t]), np.int64(guess[t])
        if right != wrong:
            if right >= shift:
                _move_token(features, model, first + t, right - shift, amount, clock)
            if wrong >= shift:
                _move_token(features, model, first + t, wrong - shift, -amount, clock)
            if t == 0 and bias != 0:
                if right >= shift:
                    _move(model, start_at + right - shift, amount, clock)
                    steps.start[right] += amount
                if wrong >= shift:
                    _move(model, start_at + wrong - shift, -amount, clock)
                    steps.start[wrong] -= amount
            if t == count - 1 and chain != 0:
                _move(model, end_at + right, amount, clock)
                _move(model, end_at + wrong, -amount, clock)
                steps.end[right] += amount
                steps.end[wrong] -= amount
        if t > 0 and chain != 0:
            before, guessed = np.int64(targets[t - 1]), np.int64(guess[t - 1])
            if before != guessed or right != wrong:
                _move(model, transition_at + before * size + right, amount, clock)
                _move(model, transition_at + guessed * size + wrong, -amount, clock)
                steps.transition[before, right] += amount
                steps.transition[guessed, wrong] -= amount


@kernel
def _epoch(
    starts: Ints,
    features: TokenFeatures,
    shape: Ints,  # whether there are a bias and a chain, and where start, end and transition weights begin
    steps: Steps,
    targets: Ids,
    importance: Floats,
    order: Ints,
    model: Averaged,
    clock: float,
) -> tuple[int, float]:
    size = steps.start.shape[0]
    shift = size - model.sparse_weights.shape[1]
    most = longest(starts, 0, starts.shape[0] - 1)
    scores, best = np.empty((most, size), np.float32), np.empty((most, size), np.float32)
    guess = np.empty(most, np.int32)
    mistakes = 0
    for i in order:
        first = starts[i]
        count = starts[i + 1] - first
        right = targets[first : first + count]
        _score_tokens(features, model, first, count, shift, scores)
        forward(scores, steps.transition, steps.start, 0, count, best)
        backtrack(best, steps.transition, steps.end, count, guess)
        wrong = False
        for t in range(count):
            wrong = wrong or guess[t] != right[t]
        if wrong:
            mistakes += 1
            _move_sequence(features, shape, model, steps, first, right, guess, importance[i], clock)
        clock += 1.0
    return mistakes, clock
