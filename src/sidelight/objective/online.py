"""Whole epochs of an online learner over chains, inside one kernel."""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Floats32, Ids, Ints
from sidelight.kernels import kernel
from sidelight.objective.margin import ChainBatch
from sidelight.spaces.chain import closed_moves
from sidelight.spaces.chain_kernels import forward, longest


def perceptron_epoch(
    batch: ChainBatch, targets: Ids, importance: Floats, order: Ints, weights: Floats32, totals: Floats, clock: float
) -> tuple[int, float]:
    """One pass of the structured perceptron (Collins 2002) in the given order.

    `weights` move by importance · (Φ(x, y) − Φ(x, ŷ)) on every mistake; `totals` sum clock · move, so that the
    average of all weights so far is weights − totals / clock. Returns the number of mistakes and the clock, one tick
    per example. Weights are 32-bit: they are whole numbers here unless features or importance are not, and half the
    memory is twice the speed.
    """
    layout, rows = batch.layout, batch.rows
    if layout.order != 1:
        raise ValueError("the perceptron is first order; use jlis or structural_svm")
    shape = np.array([layout.bias, layout.chain, layout.start_at, layout.end_at, layout.transition_at], dtype=np.int64)
    return _epoch(
        rows.starts,
        rows.indptr,
        rows.indices,
        rows.values,
        rows.dense,
        shape,
        closed_moves(batch.space.allowed, layout.n_labels).astype(np.float32),
        targets,
        importance,
        order,
        weights,
        totals,
        weights[layout.dense_at : layout.emission_at].reshape(layout.n_dense, layout.columns),
        totals[layout.dense_at : layout.emission_at].reshape(layout.n_dense, layout.columns),
        weights[layout.emission_at :].reshape(layout.n_attributes, layout.columns),
        totals[layout.emission_at :].reshape(layout.n_attributes, layout.columns),
        clock,
    )


@kernel
def _move(weights: Floats32, totals: Floats, at: int, amount: float, clock: float) -> None:
    weights[at] += amount
    totals[at] += clock * amount


@kernel
def _move_token(
    t: int,
    column: int,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    amount: float,
    dense_weights: Floats32,
    dense_totals: Floats,
    sparse_weights: Floats32,
    sparse_totals: Floats,
    clock: float,
) -> None:
    valued = values.shape[0] > 0
    for k in range(indptr[t], indptr[t + 1]):
        step = amount * values[k] if valued else amount
        sparse_weights[indices[k], column] += step
        sparse_totals[indices[k], column] += clock * step
    for k in range(dense.shape[1]):
        step = amount * np.float64(dense[t, k])
        dense_weights[k, column] += step
        dense_totals[k, column] += clock * step


@kernel
def _epoch(
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    shape: Ints,
    closed: Floats32,
    targets: Ids,
    importance: Floats,
    order: Ints,
    weights: Floats32,
    totals: Floats,
    dense_weights: Floats32,
    dense_totals: Floats,
    sparse_weights: Floats32,
    sparse_totals: Floats,
    clock: float,
) -> tuple[int, float]:
    bias, chain, start_at, end_at, transition_at = shape[0], shape[1], shape[2], shape[3], shape[4]
    columns = sparse_weights.shape[1]
    size = closed.shape[1]
    shift = size - columns
    most = longest(starts, 0, starts.shape[0] - 1)
    scores = np.empty((most, size), np.float32)
    best = np.empty((most, size), np.float32)
    guess = np.empty(most, np.int64)
    transition = closed[:size].copy()
    start = closed[size].copy()
    end = closed[size + 1].copy()
    for label in range(size):
        if bias != 0 and label >= shift:
            start[label] += weights[start_at + label - shift]
        if chain != 0:
            end[label] += weights[end_at + label]
            for following in range(size):
                transition[label, following] += weights[transition_at + label * size + following]
    valued = values.shape[0] > 0
    parts = (indptr, indices, values, dense)
    places = (dense_weights, dense_totals, sparse_weights, sparse_totals)
    mistakes = 0
    for i in order:
        first = starts[i]
        count = starts[i + 1] - first
        for t in range(count):
            scores[t, :shift] = 0.0
            row = scores[t, shift:]
            row[:] = 0.0
            for k in range(indptr[first + t], indptr[first + t + 1]):
                weight = sparse_weights[indices[k]]
                if valued:
                    value = np.float32(values[k])
                    for label in range(columns):
                        row[label] += value * weight[label]
                else:
                    for label in range(columns):
                        row[label] += weight[label]
            for k in range(dense.shape[1]):
                value = dense[first + t, k]
                weight = dense_weights[k]
                for label in range(columns):
                    row[label] += value * weight[label]
        forward(scores, transition, start, 0, count, best)
        label = 0
        for other in range(1, size):
            if best[count - 1, other] + end[other] > best[count - 1, label] + end[label]:
                label = other
        guess[count - 1] = label
        for t in range(count - 1, 0, -1):
            previous = 0
            top = best[t - 1, 0] + transition[0, label]
            for other in range(1, size):
                if best[t - 1, other] + transition[other, label] > top:
                    top = best[t - 1, other] + transition[other, label]
                    previous = other
            label = previous
            guess[t - 1] = label
        wrong = False
        for t in range(count):
            if guess[t] != targets[first + t]:
                wrong = True
        if not wrong:
            clock += 1.0
            continue
        mistakes += 1
        amount = importance[i]
        for t in range(count):
            right = np.int64(targets[first + t])
            if guess[t] != right:
                if right >= shift:
                    _move_token(first + t, right - shift, *parts, amount, *places, clock)
                if guess[t] >= shift:
                    _move_token(first + t, guess[t] - shift, *parts, -amount, *places, clock)
                if t == 0 and bias != 0:
                    if right >= shift:
                        _move(weights, totals, start_at + right - shift, amount, clock)
                        start[right] += amount
                    if guess[t] >= shift:
                        _move(weights, totals, start_at + guess[t] - shift, -amount, clock)
                        start[guess[t]] -= amount
                if t == count - 1 and chain != 0:
                    _move(weights, totals, end_at + right, amount, clock)
                    _move(weights, totals, end_at + guess[t], -amount, clock)
                    end[right] += amount
                    end[guess[t]] -= amount
            if t > 0 and chain != 0:
                before = np.int64(targets[first + t - 1])
                if before != guess[t - 1] or right != guess[t]:
                    _move(weights, totals, transition_at + before * size + right, amount, clock)
                    _move(weights, totals, transition_at + guess[t - 1] * size + guess[t], -amount, clock)
                    transition[before, right] += amount
                    transition[guess[t - 1], guess[t]] -= amount
        clock += 1.0
    return mistakes, clock
