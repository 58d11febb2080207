"""One direction of one sentence pair: log weights of its links and null words, and the memory that its sums need.

Weights are raised to 1/γ before they come here, and may be moved along a direction: scores + step · moves. That is how
`agreement_kernels` searches for the multipliers ν = λ/γ of agreement.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.generative.word_alignment.alignment_kernels import (
    add_moves,
    backward,
    best_alignment,
    forward,
    sums_in_logs,
)
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.generative.word_alignment.ibm1 import independent_best, independent_sums, link_weight
from sidelight.spaces.chains.chain_scaled_kernels import exponentials


class Direction(NamedTuple):
    """The parameters of one direction, in the form that kernels take: all raised to 1/γ but `totals` and `null`."""

    words: Floats  # [K + 2] log t / γ
    null_words: Floats  # [F + 1] log t(· | null) / γ
    log_jumps: Floats  # log s / γ, distance 0 at `centre`
    jumps: Floats  # their exponentials
    reversed_jumps: Floats
    totals: Floats  # cumulated jump weights s: those of distances below d at centre + d
    centre: int
    null: float  # probability of the null word
    power: float  # 1/γ; 1 where γ = 0
    chain: bool  # False: model 1, no jumps
    in_logs: bool  # whether its sums span too much for scaling


class AlignmentSide(NamedTuple):
    """One direction of one pair."""

    scores: Floats  # [T, P] log weights of links; column 0 is the null word, padding −inf
    moves: Floats  # [T, P] the direction in which scores are to move
    emissions: Floats  # [T, P]
    real: Floats  # [T, P] posteriors of links in the end
    work_cells: Floats  # [T, P]
    columns: Floats  # [T + 1, P]
    nulls: Floats  # [T]
    scales: Floats  # [T + 1]
    log_leave: Floats  # [P]
    leave: Floats  # [P]
    after: Floats  # [P]
    work: Floats  # [P]
    lost: Ints  # [1] 1 where the sum was made in logarithms


@inner_kernel
def room(steps: int, wide: int) -> Floats:
    """Memory for a side of so many words and padded columns."""
    return np.empty(6 * (steps + 1) * wide + 2 * (steps + 1) + 4 * wide)


@inner_kernel
def side_of(memory: Floats, steps: int, wide: int, lost: Ints) -> AlignmentSide:
    """A side in some memory, with nothing in it yet."""
    cells = steps * wide
    lines = memory[6 * cells + wide :]
    rest = lines[2 * steps + 1 :]
    return AlignmentSide(
        memory[:cells].reshape(steps, wide),
        memory[cells : 2 * cells].reshape(steps, wide),
        memory[2 * cells : 3 * cells].reshape(steps, wide),
        memory[3 * cells : 4 * cells].reshape(steps, wide),
        memory[4 * cells : 5 * cells].reshape(steps, wide),
        memory[5 * cells : 6 * cells + wide].reshape(steps + 1, wide),
        lines[:steps],
        lines[steps : 2 * steps + 1],
        rest[:wide],
        rest[wide : 2 * wide],
        rest[2 * wide : 3 * wide],
        rest[3 * wide : 4 * wide],
        lost,
    )


@inner_kernel
def set_leave(side: AlignmentSide, model: Direction, size: int) -> None:
    """The weights of leaving each column by a jump."""
    side.log_leave[:] = -np.inf
    side.leave[:] = 0.0
    for k in range(size):
        total = model.totals[model.centre + size - k] - model.totals[model.centre + 1 - k]
        side.log_leave[k] = model.power * math.log((1.0 - model.null) / total)
        side.leave[k] = math.exp(side.log_leave[k])


@inner_kernel
def load_pair(pair: int, text: Bitext, one: Direction, other: Direction, a: AlignmentSide, b: AlignmentSide) -> None:
    """The scores of a pair's links in both directions, and no direction to move in."""
    first, begin = text.source_starts[pair], text.target_starts[pair]
    rows, columns = text.source_starts[pair + 1] - first, text.target_starts[pair + 1] - begin
    cell = text.cell_starts[pair]
    for side in (a, b):
        side.scores[:] = -np.inf
        side.moves[:] = 0.0
    link_a = 0.0 if one.chain else link_weight(one.null, rows, one.power)
    link_b = 0.0 if other.chain else link_weight(other.null, columns, other.power)
    for i in range(rows):
        here = text.entries[cell + i * columns : cell + (i + 1) * columns]
        out = b.scores[i]
        for j in range(columns):
            entry = here[j]
            a.scores[j, i + 1] = one.words[entry] + link_a
            out[j + 1] = other.words[entry] + link_b
    null_a = one.power * math.log(one.null) if one.null > 0.0 else -np.inf
    null_b = other.power * math.log(other.null) if other.null > 0.0 else -np.inf
    for j in range(columns):
        a.scores[j, 0] = one.null_words[text.targets[begin + j]] + null_a
    for i in range(rows):
        b.scores[i, 0] = other.null_words[text.sources[first + i]] + null_b
    if one.chain:
        set_leave(a, one, rows + 1)
        set_leave(b, other, columns + 1)


@inner_kernel
def sum_side(side: AlignmentSide, model: Direction, size: int, step: float) -> float:
    """The log-sum of a side with its scores moved by `step` along its direction; `posteriors` may follow."""
    if model.chain and model.in_logs:
        return in_logs(side, model, size, step, np.empty(0), np.empty(0))
    steps, wide = side.scores.shape
    total = 0.0
    for t in range(steps):
        score, way, out = side.scores[t], side.moves[t], side.emissions[t]
        t0, t1, t2, t3 = -np.inf, -np.inf, -np.inf, -np.inf
        for i in range(0, wide, 4):
            s, w, o = score[i : i + 4], way[i : i + 4], out[i : i + 4]
            v0, v1, v2, v3 = s[0] + step * w[0], s[1] + step * w[1], s[2] + step * w[2], s[3] + step * w[3]
            o[0], o[1], o[2], o[3] = v0, v1, v2, v3
            t0, t1, t2, t3 = max(t0, v0), max(t1, v1), max(t2, v2), max(t3, v3)
        top = max(max(t0, t1), max(t2, t3))
        for i in range(wide):
            out[i] -= top
        total += top
    work = side.work_cells.ravel()
    exponentials(side.emissions.ravel(), steps * wide, work, work.view(np.int64))
    for t in range(steps):
        side.nulls[t] = side.emissions[t, 0]
        side.emissions[t, 0] = 0.0
    side.lost[0] = 0
    if not model.chain:
        return total + independent_sums(side.emissions, side.nulls, side.real)
    value = forward(
        side.emissions, side.nulls, side.leave, model.jumps, model.centre,
        side.columns, side.real, side.scales, side.work,
    )  # fmt: skip
    if math.isnan(value):
        return in_logs(side, model, size, step, np.empty(0), np.empty(0))
    return total + value


@inner_kernel
def in_logs(side: AlignmentSide, model: Direction, size: int, step: float, distances: Floats, leaving: Floats) -> float:
    """The same sum in logarithms, with posteriors."""
    steps, wide = side.scores.shape
    side.lost[0] = 1
    for t in range(steps):
        side.nulls[t] = side.scores[t, 0]
        for i in range(wide):
            side.emissions[t, i] = side.scores[t, i] + step * side.moves[t, i]
    return sums_in_logs(
        side.emissions, side.nulls, side.log_leave, model.log_jumps, model.centre, size,
        side.columns, side.real, side.after, side.work, distances, leaving,
    )  # fmt: skip


@inner_kernel
def posteriors(side: AlignmentSide, model: Direction, size: int, step: float) -> None:
    """Posteriors of links in `side.real`, after `sum_side` with the same step."""
    if not model.chain or side.lost[0] == 1:
        return
    whole = backward(
        side.emissions, side.nulls, side.leave, model.reversed_jumps, model.centre,
        side.columns, side.real, side.scales, side.after, side.work,
    )  # fmt: skip
    if not whole:
        in_logs(side, model, size, step, np.empty(0), np.empty(0))


@inner_kernel
def jump_counts(
    side: AlignmentSide, model: Direction, size: int, square: Floats, distances: Floats, leaving: Floats
) -> None:
    """Add the expected jumps of a side, after `posteriors` with scores at their final place."""
    if not model.chain:
        return
    if side.lost[0] == 1:
        in_logs(side, model, size, 0.0, distances, leaving)
        return
    wide = side.scores.shape[1]
    add_moves(
        side.columns, side.emissions, side.scales, side.leave, model.jumps, model.centre, size,
        square[: wide * wide].reshape(wide, wide), distances, leaving,
    )  # fmt: skip


@inner_kernel
def best_side(side: AlignmentSide, model: Direction, size: int, path: Ids) -> float:
    """The best alignment of a side as it is scored now, and its logarithm."""
    steps, wide = side.scores.shape
    for t in range(steps):
        side.nulls[t] = side.scores[t, 0]
    if not model.chain:
        return independent_best(side.scores, side.nulls, size, path)
    for t in range(steps):
        for i in range(wide):
            side.emissions[t, i] = side.scores[t, i]
        side.emissions[t, 0] = -np.inf
    return best_alignment(
        side.emissions, side.nulls, side.log_leave, model.log_jumps, model.centre, size,
        side.columns, side.real, side.work, path,
    )  # fmt: skip
