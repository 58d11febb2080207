"""Forward and backward recursions over labelled segmentations, in the domain of logarithms.

The recursions are those of `segment_kernels` with sums of exponentials instead of maxima. The value of a state is a
logarithm; the largest term of each sum is factored out, so that nothing overflows and -inf stays -inf. The exponentials
of segments, M · L a token, are made a block at a time (`exponentials`). Those of transitions are made once for all,
with the largest transition taken out, so that a step from label to label multiplies and adds. A sum over labels below
TINY may have lost terms to underflow: it is recomputed term by term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import copy_row, inline_kernel, inner_kernel
from sidelight.spaces.chains.chain_scaled_kernels import exponentials, weighted

TINY = 1e-200


class Moves(NamedTuple):
    """Transitions, and their exponentials with the largest one taken out; with `runs`, the diagonal apart."""

    transition: Floats  # [L, L]
    onward: Floats  # [L, L] exponentials, by the label before; 0 on the diagonal with `runs`
    back: Floats  # [L, L] the same, by the label after
    own: Floats  # [L] exponentials of the diagonal with `runs`, else 0
    peak: float  # what was taken out


class SegmentRoom(NamedTuple):
    """Memory for the sums of one sequence at a time."""

    block: Floats  # [M · L]
    work: Floats  # [M · L]
    bits: Ints  # the same memory as `work`
    peaks: Floats  # [L]
    shares: Floats  # [L]
    others: Floats  # [L]


def moves_of(transition: Floats, runs: bool) -> Moves:
    """The exponentials of transitions."""
    peak = float(transition.max(initial=-np.inf))
    peak = peak if peak > -np.inf else 0.0
    onward = np.zeros(transition.shape)
    np.exp(np.maximum(transition - peak, -700.0), out=onward, where=transition > -np.inf)
    own = np.zeros(len(onward))
    if runs:
        own = onward.diagonal().copy()
        np.fill_diagonal(onward, 0.0)
    return Moves(transition, onward, np.ascontiguousarray(onward.T), own, peak)


@inner_kernel
def room_of(lengths: int, size: int) -> SegmentRoom:
    """Memory for segments of so many lengths and labels."""
    work = np.empty(max(lengths, 1) * size)
    return SegmentRoom(
        np.empty(work.shape[0]), work, work.view(np.int64), np.empty(size), np.empty(size), np.empty(size)
    )


@inline_kernel
def finite_or_zero(value: float) -> float:
    """The shift before exponentials: 0 if all are -inf."""
    return value if value > -np.inf else 0.0


@inner_kernel
def exp_shares(values: Floats, room: SegmentRoom) -> float:
    """room.shares = exp(values − top); returns the top, -inf if there is none."""
    top = -np.inf
    for label in range(values.shape[0]):
        top = max(top, values[label])
    if top == -np.inf:
        room.shares[:] = 0.0
        return top
    for label in range(values.shape[0]):
        room.shares[label] = values[label] - top
    exponentials(room.shares, values.shape[0], room.work, room.bits)
    return top


@inner_kernel
def exact_before(label: int, ending: Floats, full: Floats, transition: Floats, runs: bool) -> float:
    """The log-sum over labels before this one, term by term."""
    top = -np.inf
    for previous in range(ending.shape[0]):
        value = full[previous] if runs and previous == label else ending[previous]
        top = max(top, value + transition[previous, label])
    if top == -np.inf:
        return top
    total = 0.0
    for previous in range(ending.shape[0]):
        value = full[previous] if runs and previous == label else ending[previous]
        total += np.exp(value + transition[previous, label] - top)
    return top + float(np.log(total))


@inner_kernel
def log_before(ending: Floats, full: Floats, moves: Moves, runs: bool, room: SegmentRoom, out: Floats) -> None:
    """out[l]: the log-sum over the previous label."""
    top = exp_shares(ending, room)
    if top == -np.inf:
        out[:] = -np.inf
        return
    weighted(room.shares, moves.onward, out)
    for label in range(out.shape[0]):
        total = out[label]
        if runs:
            total += np.exp(full[label] - top) * moves.own[label]
        if total > TINY:
            out[label] = top + moves.peak + np.log(total)
        else:
            out[label] = exact_before(label, ending, full, moves.transition, runs)


@inner_kernel
def sum_block(lengths: int, room: SegmentRoom, out: Floats) -> None:
    """out[l] = log Σ_d exp(block[d, l]); the block is lost."""
    size = out.shape[0]
    block, peaks = room.block, room.peaks
    peaks[:] = -np.inf
    for d in range(lengths):
        row = block[d * size : (d + 1) * size]
        for label in range(size):
            peaks[label] = row[label] if row[label] > peaks[label] else peaks[label]
    for label in range(size):
        peaks[label] = finite_or_zero(peaks[label])
    for d in range(lengths):
        row = block[d * size : (d + 1) * size]
        for label in range(size):
            row[label] -= peaks[label]
    exponentials(block, lengths * size, room.work, room.bits)
    out[:] = 0.0
    for d in range(lengths):
        row = block[d * size : (d + 1) * size]
        for label in range(size):
            out[label] += row[label]
    for label in range(size):
        out[label] = np.log(out[label]) + peaks[label]


@inner_kernel
def log_forward(
    totals: Floats,
    moves: Moves,
    start: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    room: SegmentRoom,
    enter: Floats,
    ending: Floats,
    full: Floats,
) -> None:
    """Fill enter, ending and full with log-sums."""
    size = start.shape[0]
    copy_row(start, enter[0])
    for t in range(count):
        whole = full[t]
        whole[:] = -np.inf
        lengths = min(totals.shape[1], t + 1)
        for length in range(1, lengths + 1):
            row, before = totals[at + t, length - 1], enter[t - length + 1]
            out = room.block[(length - 1) * size : length * size]
            for label in range(size):
                out[label] = row[label] + before[label]
        for label in range(size):
            if longest[label] <= lengths:
                whole[label] = room.block[(longest[label] - 1) * size + label]
        sum_block(lengths, room, ending[t])
        if t + 1 < count:
            log_before(ending[t], whole, moves, runs, room, enter[t + 1])


@inner_kernel
def log_after(begin: Floats, moves: Moves, runs: bool, room: SegmentRoom, leave: Floats, leave_full: Floats) -> float:
    """The log-sums over the label after a segment, and after one as long as can be; returns the top of `begin`.

    The exponentials of `begin` less its top stay in room.shares.
    """
    size = begin.shape[0]
    top = exp_shares(begin, room)
    if top == -np.inf:
        leave[:] = -np.inf
        leave_full[:] = -np.inf
        return top
    weighted(room.shares, moves.back, leave)
    for label in range(size):
        others = leave[label]
        whole = others + room.shares[label] * moves.own[label]
        leave[label] = top + moves.peak + np.log(others) if others > TINY else exact_after(label, begin, moves, runs)
        if not runs:
            leave_full[label] = leave[label]
        else:
            exact = whole <= TINY
            leave_full[label] = exact_after(label, begin, moves, False) if exact else top + moves.peak + np.log(whole)
    return top


@inner_kernel
def exact_after(label: int, begin: Floats, moves: Moves, others_alone: bool) -> float:
    """The log-sum over labels after this one, or over the other labels alone, term by term."""
    row = moves.transition[label]
    top = -np.inf
    for follower in range(begin.shape[0]):
        if not (others_alone and follower == label):
            top = max(top, row[follower] + begin[follower])
    if top == -np.inf:
        return top
    total = 0.0
    for follower in range(begin.shape[0]):
        if not (others_alone and follower == label):
            total += np.exp(row[follower] + begin[follower] - top)
    return top + float(np.log(total))


@inner_kernel
def log_backward(
    totals: Floats,
    moves: Moves,
    end: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    room: SegmentRoom,
    begin: Floats,  # out [count, L] log-sum of all from a segment that begins here on
    leave: Floats,  # out [count, L] log-sum of all after a segment that ends here
    leave_full: Floats,  # out [count, L] the same after one that is as long as can be
) -> None:
    size = end.shape[0]
    for s in range(count - 1, -1, -1):
        if s == count - 1:
            copy_row(end, leave[s])
            copy_row(end, leave_full[s])
        else:
            log_after(begin[s + 1], moves, runs, room, leave[s], leave_full[s])
        lengths = min(totals.shape[1], count - s)
        for length in range(1, lengths + 1):
            last = s + length - 1
            row, after, whole = totals[at + last, length - 1], leave[last], leave_full[last]
            out = room.block[(length - 1) * size : length * size]
            for label in range(size):
                out[label] = row[label] + (whole[label] if length == longest[label] else after[label])
        sum_block(lengths, room, begin[s])
