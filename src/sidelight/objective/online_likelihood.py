"""Whole epochs of stochastic gradient descent on the likelihood of chains, inside one kernel.

The weights are w = scale · v, so that the regulariser's pull on all of them is one multiplication. v is laid out for
speed: the head of the layout (start, end, transition, dense), then a padded row of labels for every attribute that was
seen with many of them, then the other pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import NO_BYTES, Bytes, Floats, Floats32, Ids, Ints
from sidelight.errors import Infeasible
from sidelight.features.supported import SupportedFeatures, spread_rows
from sidelight.kernels import kernel
from sidelight.spaces.chain import ChainSpace
from sidelight.spaces.chain_kernels import longest
from sidelight.spaces.chain_scaled_kernels import exp_scores_into, padded, room
from sidelight.spaces.chain_sum_kernels import sequence_beliefs


@dataclass(frozen=True, slots=True)
class OnlineLikelihood:
    """Inputs whose labels are known (a target for every token), or known to be among some (`admitted`)."""

    features: SupportedFeatures
    targets: Ids  # [T], −1 where only `admitted` says what a token may be
    admitted: Bytes  # [T, L], or empty when every target is known
    prices: Floats  # [N] relative to their mean
    closed: Floats  # [L + 2, L] −inf where a transition, start (row L) or end (row L + 1) may not be, else 0
    exists: Bytes  # [W, P] which pairs of the padded rows have a weight
    places: Ints  # [6] where start, end, transition, dense, row and pair weights begin in v

    @classmethod
    def of(
        cls,
        features: SupportedFeatures,
        space: ChainSpace,
        prices: Floats,
        *,
        targets: Ids | None = None,
        admitted: Bytes | None = None,
    ) -> OnlineLikelihood:
        """Prices are made relative to their mean."""
        if space.admitted is not None or space.left_out is not None:
            raise ValueError("online likelihood takes spaces with allowed transitions only, no other masks")
        layout, support = features.layout, features.support
        size = layout.n_labels
        closed = np.zeros((size + 2, size))
        if space.allowed is not None:
            closed[:size][space.allowed.between == 0] = -np.inf
            closed[size][space.allowed.start == 0] = -np.inf
            closed[size + 1][space.allowed.end == 0] = -np.inf
        wide = (layout.columns + 7) // 8 * 8
        ones = np.ones(len(support.columns))
        exists = np.zeros((len(features.spread), wide))
        spread_rows(support.ptr, support.columns, ones, features.spread, exists)
        places = np.array(
            [
                layout.start_at,
                layout.end_at,
                layout.transition_at,
                layout.dense_at,
                layout.emission_at,
                layout.emission_at + exists.size,
            ],
            dtype=np.int64,
        )
        known = np.full(features.rows.n_tokens, -1, dtype=np.int32) if targets is None else targets
        masks = NO_BYTES if admitted is None else admitted
        return cls(features, known, masks, prices / prices.mean(), closed, exists.astype(np.uint8), places)

    def __len__(self) -> int:
        return len(self.prices)

    @property
    def size(self) -> int:
        """Of v."""
        return int(self.places[-1]) + len(self.features.support.columns)

    def weights(self, v: Floats, scale: float) -> Floats:
        """w in the form of the features' support."""
        support, emission = self.features.support, self.features.layout.emission_at
        out = np.empty(support.size)
        out[:emission] = v[:emission]
        out[emission:] = v[self.places[-1] :]
        _collect(support.ptr, support.columns, self.features.spread, self._table(v), out[emission:])
        out *= scale
        return out

    def vector(self, weights: Floats) -> Floats:
        """v of some weights, at scale 1."""
        support, emission = self.features.support, self.features.layout.emission_at
        v = np.zeros(self.size)
        v[:emission] = weights[:emission]
        lone = np.ones(len(support.ptr) - 1, dtype=bool)
        lone[self.features.spread] = False
        v[self.places[-1] :] = weights[emission:] * np.repeat(lone, np.diff(support.ptr))
        spread_rows(support.ptr, support.columns, weights[emission:], self.features.spread, self._table(v))
        return v

    def epoch(
        self, order: Ints, v: Floats, *, scale: float, clock: float, decay: float, move: bool = True
    ) -> tuple[float, float]:
        """Descend on the inputs in this order, with step 1 / (decay · clock) and one tick per input.

        Returns Σ price · loss, each loss before its step, and the scale. With `move` false the weights stay.
        """
        features, layout = self.features, self.features.layout
        flags = np.array([layout.bias, layout.chain, move, layout.n_labels - layout.columns], dtype=np.int64)
        kept = NO_BYTES if features.support.kept is None else features.support.kept
        loss, scale = _epoch(
            features.rows.starts,
            features.wide.indptr,
            features.wide.indices,
            features.wide.values,
            features.indptr,
            features.pairs,
            features.labels,
            features.values,
            features.rows.dense,
            flags,
            self.places,
            self.closed,
            kept,
            self.exists,
            self.targets,
            self.admitted,
            self.prices,
            order,
            v,
            self._table(v),
            v[self.places[-1] :],
            v[self.places[3] : self.places[4]].reshape(layout.n_dense, layout.columns),
            scale,
            clock,
            decay,
        )
        if not np.isfinite(loss):
            raise Infeasible("an input has no labeling within the allowed transitions and its candidates")
        return loss, scale

    def _table(self, v: Floats) -> Floats:
        return v[self.places[4] : self.places[5]].reshape(self.exists.shape)


@kernel
def _collect(ptr: Ints, columns: Ids, spread: Ids, table: Floats, pairs: Floats) -> None:
    for i in range(spread.shape[0]):
        for k in range(ptr[spread[i]], ptr[spread[i] + 1]):
            pairs[k] = table[i, columns[k]]


@kernel
def token_scores(
    t: int,
    wide_ptr: Ints,
    codes: Ids,
    wide_values: Floats,
    pair_ptr: Ints,
    pairs: Ids,
    labels: Ids,
    pair_values: Floats,
    dense: Floats32,
    table: Floats,
    pair_weights: Floats,
    dense_weights: Floats,
    shift: int,
    scale: float,
    total: Floats,
    row: Floats,
) -> None:
    """row[l] = scale · the score of label l at token t under v."""
    valued = wide_values.shape[0] > 0 or pair_values.shape[0] > 0
    total[:] = 0.0
    for k in range(wide_ptr[t], wide_ptr[t + 1]):
        weight = table[codes[k]]
        if valued:
            value = wide_values[k]
            for column in range(total.shape[0]):
                total[column] += value * weight[column]
        else:
            for column in range(total.shape[0]):
                total[column] += weight[column]
    for d in range(dense.shape[1]):
        value = np.float64(dense[t, d])
        for column in range(dense_weights.shape[1]):
            total[column] += value * dense_weights[d, column]
    for label in range(shift):
        row[label] = 0.0
    for label in range(shift, row.shape[0]):
        row[label] = total[label - shift]
    for k in range(pair_ptr[t], pair_ptr[t + 1]):
        weight_of_pair = pair_weights[pairs[k]]
        row[labels[k]] += pair_values[k] * weight_of_pair if valued else weight_of_pair
    for label in range(row.shape[0]):
        row[label] *= scale


@kernel
def _move_token(
    t: int,
    wide_ptr: Ints,
    codes: Ids,
    wide_values: Floats,
    pair_ptr: Ints,
    pairs: Ids,
    labels: Ids,
    pair_values: Floats,
    dense: Floats32,
    exists: Bytes,
    table: Floats,
    pair_weights: Floats,
    dense_weights: Floats,
    shift: int,
    step: float,
    total: Floats,
    row: Floats,  # [L] how much more is believed than known
) -> None:
    """v −= step · row ⊗ features of token t."""
    valued = wide_values.shape[0] > 0 or pair_values.shape[0] > 0
    total[:] = 0.0
    for label in range(shift, row.shape[0]):
        total[label - shift] = step * row[label]
    for k in range(wide_ptr[t], wide_ptr[t + 1]):
        weight = table[codes[k]]
        there = exists[codes[k]]
        value = wide_values[k] if valued else 1.0
        for column in range(total.shape[0]):
            weight[column] -= value * total[column] if there[column] != 0 else 0.0
    for d in range(dense.shape[1]):
        value = np.float64(dense[t, d])
        for column in range(dense_weights.shape[1]):
            dense_weights[d, column] -= value * total[column]
    for k in range(pair_ptr[t], pair_ptr[t + 1]):
        value = pair_values[k] if valued else 1.0
        pair_weights[pairs[k]] -= step * value * row[labels[k]]


@kernel
def _epoch(
    starts: Ints,
    wide_ptr: Ints,
    codes: Ids,
    wide_values: Floats,
    pair_ptr: Ints,
    pairs: Ids,
    labels: Ids,
    pair_values: Floats,
    dense: Floats32,
    flags: Ints,
    places: Ints,
    closed: Floats,
    kept: Bytes,
    exists: Bytes,
    targets: Ids,
    admitted: Bytes,
    prices: Floats,
    order: Ints,
    v: Floats,
    table: Floats,
    pair_weights: Floats,
    dense_weights: Floats,
    scale: float,
    clock: float,
    decay: float,
) -> tuple[float, float]:
    size = closed.shape[1]
    bias, chain, moving, shift = flags[0] != 0, flags[1] != 0, flags[2] != 0, flags[3]
    most = longest(starts, 0, starts.shape[0] - 1)
    exps, sums, scales, work, bits = room(most, size)
    wide = padded(size)
    onward, back, edges, tops = np.empty((wide, wide)), np.empty((wide, wide)), np.empty((2, wide)), np.empty(3)
    transition, start, end = np.empty((size, size)), np.empty(size), np.empty(size)
    scores, inside = np.empty((most, size)), np.empty((most, size))
    gathered, known_gathered = np.empty((wide, wide)), np.empty((wide, wide))
    moves, known_moves = np.empty((size, size)), np.empty((size, size))
    total = np.empty(table.shape[1])
    entries = (wide_ptr, codes, wide_values, pair_ptr, pairs, labels, pair_values, dense)
    summing = (onward, back, edges, tops, exps, sums, scales, work, bits)
    all_loss = 0.0
    for i in order:
        first = starts[i]
        count = starts[i + 1] - first
        for label in range(size):
            start[label] = closed[size, label]
            end[label] = closed[size + 1, label]
            if bias and label >= shift:
                start[label] += scale * v[places[0] + label - shift]
            if chain:
                end[label] += scale * v[places[1] + label]
            for following in range(size):
                transition[label, following] = closed[label, following]
                if chain:
                    transition[label, following] += scale * v[places[2] + label * size + following]
        exp_scores_into(transition, start, end, onward, back, edges, tops, work, bits)
        certain = True
        for t in range(count):
            row = scores[t]
            token_scores(first + t, *entries, table, pair_weights, dense_weights, shift, scale, total, row)
            certain = certain and targets[first + t] >= 0
        gathered[:] = 0.0
        moves[:] = 0.0
        known = 0.0
        if certain:
            label = targets[first]
            known = start[label] + scores[0, label] + end[targets[first + count - 1]]
            for t in range(1, count):
                known += transition[targets[first + t - 1], targets[first + t]] + scores[t, targets[first + t]]
        else:
            known_gathered[:] = 0.0
            known_moves[:] = 0.0
            for t in range(count):
                for label in range(size):
                    inside[t, label] = scores[t, label] if admitted[first + t, label] != 0 else -np.inf
            known, _ = sequence_beliefs(
                inside, 0, count, transition, start, end, *summing, 1.0, known_gathered, known_moves
            )
        value, _ = sequence_beliefs(scores, 0, count, transition, start, end, *summing, 1.0, gathered, moves)
        all_loss += prices[i] * (value - known)
        if not moving:
            continue
        if certain:
            for t in range(count):
                scores[t, targets[first + t]] -= 1.0
                if t > 0:
                    moves[targets[first + t - 1], targets[first + t]] -= 1.0
        else:
            for t in range(count):
                for label in range(size):
                    scores[t, label] -= inside[t, label]
        rate = 1.0 / (decay * clock)
        scale *= 1.0 - rate * decay
        if scale < 1e-9:
            for k in range(v.shape[0]):
                v[k] *= scale
            scale = 1.0
        step = rate * prices[i] / scale
        for t in range(count):
            _move_token(first + t, *entries, exists, table, pair_weights, dense_weights, shift, step, total, scores[t])
        for label in range(size):
            if bias and label >= shift:
                v[places[0] + label - shift] -= step * scores[0, label]
            if chain:
                v[places[1] + label] -= step * scores[count - 1, label]
                for following in range(size):
                    change = moves[label, following] + gathered[label, following] * onward[label, following]
                    if not certain:
                        change -= known_moves[label, following]
                        change -= known_gathered[label, following] * onward[label, following]
                    if kept.shape[0] == 0 or kept[label, following] != 0:
                        v[places[2] + label * size + following] -= step * change
        clock += 1.0
    return all_loss, scale
