"""Log-sums, expectations and samples over batches of labelled segmentations.

The recursions are those of `segment_kernels` with sums of exponentials in the place of maxima. What a state is worth
stays a logarithm; each sum has its largest part taken out, so that nothing overflows and -inf stays -inf. The
exponentials of segments, M · L a token, are made a block at a time (`exponentials`). Those of transitions are made once
for all, with the largest transition taken out, so that a step from label to label multiplies and adds. A sum over
labels that comes out below TINY may have lost its parts to underflow: it is made once more term by term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.kernels import inline_kernel, kernel, uniform
from sidelight.spaces.chain_kernels import longest as longest_sequence
from sidelight.spaces.chain_scaled_kernels import exponentials, largest
from sidelight.spaces.segment_kernels import mark

TINY = 1e-200
STEEP = 300.0  # a factor up to exp of this cannot bring back what was lost below TINY


class Moves(NamedTuple):
    """Transitions, and their exponentials with the largest one taken out; with `runs`, the diagonal apart."""

    transition: Floats  # [L, L]
    onward: Floats  # [L, L] exponentials, by the label before; 0 on the diagonal with `runs`
    back: Floats  # [L, L] the same, by the label after
    own: Floats  # [L] exponentials of the diagonal with `runs`, else 0
    peak: float  # what was taken out


class Room(NamedTuple):
    """Memory for the sums of one sequence at a time."""

    block: Floats  # [M · L]
    work: Floats  # [M · L]
    bits: Ints  # the same memory as `work`
    peaks: Floats  # [L]
    shares: Floats  # [L]
    others: Floats  # [L]


@kernel
def moves_of(transition: Floats, runs: bool) -> Moves:
    """The exponentials of transitions."""
    size = transition.shape[0]
    peak = largest(transition.ravel())
    onward = transition - peak
    work = np.empty(size * size)
    exponentials(onward.ravel(), size * size, work, work.view(np.int64))
    own = np.zeros(size)
    if runs:
        for label in range(size):
            own[label] = onward[label, label]
            onward[label, label] = 0.0
    return Moves(transition, onward, np.ascontiguousarray(onward.T), own, peak)


@kernel
def room_of(lengths: int, size: int) -> Room:
    """Memory for segments of so many lengths and labels."""
    work = np.empty(max(lengths, 1) * size)
    return Room(np.empty(work.shape[0]), work, work.view(np.int64), np.empty(size), np.empty(size), np.empty(size))


@inline_kernel
def _finite(value: float) -> float:
    """What to shift by before exponentials: nothing where all are -inf."""
    return value if value > -np.inf else 0.0


@kernel
def _shares(values: Floats, room: Room) -> float:
    """room.shares = exp(values − top); returns the top, -inf where there is none."""
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


@kernel
def _weighted(shares: Floats, matrix: Floats, out: Floats) -> None:
    """out = shares · matrix, four rows at a time."""
    size = shares.shape[0]
    out[:] = 0.0
    whole = size // 4 * 4
    for k in range(0, whole, 4):
        v0, v1, v2, v3 = shares[k], shares[k + 1], shares[k + 2], shares[k + 3]
        r0, r1, r2, r3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        for label in range(size):
            out[label] += (v0 * r0[label] + v1 * r1[label]) + (v2 * r2[label] + v3 * r3[label])
    for k in range(whole, size):
        value, row = shares[k], matrix[k]
        for label in range(size):
            out[label] += value * row[label]


@kernel
def _exact_before(label: int, ending: Floats, full: Floats, transition: Floats, runs: bool) -> float:
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


@kernel
def _log_before(ending: Floats, full: Floats, moves: Moves, runs: bool, room: Room, out: Floats) -> None:
    """out[l]: the log-sum over the previous label."""
    top = _shares(ending, room)
    if top == -np.inf:
        out[:] = -np.inf
        return
    _weighted(room.shares, moves.onward, out)
    for label in range(out.shape[0]):
        total = out[label]
        if runs:
            total += np.exp(full[label] - top) * moves.own[label]
        if total > TINY:
            out[label] = top + moves.peak + np.log(total)
        else:
            out[label] = _exact_before(label, ending, full, moves.transition, runs)


@kernel
def _sum_block(lengths: int, room: Room, out: Floats) -> None:
    """out[l] = log Σ_d exp(block[d, l]); the block is lost."""
    size = out.shape[0]
    block, peaks = room.block, room.peaks
    peaks[:] = -np.inf
    for d in range(lengths):
        row = block[d * size : (d + 1) * size]
        for label in range(size):
            peaks[label] = row[label] if row[label] > peaks[label] else peaks[label]
    for label in range(size):
        peaks[label] = _finite(peaks[label])
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


@kernel
def _log_forward(
    totals: Floats,
    moves: Moves,
    start: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    room: Room,
    enter: Floats,
    ending: Floats,
    full: Floats,
) -> None:
    """Fill enter, ending and full with log-sums."""
    size = start.shape[0]
    enter[0] = start
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
        _sum_block(lengths, room, ending[t])
        if t + 1 < count:
            _log_before(ending[t], whole, moves, runs, room, enter[t + 1])


@kernel
def _log_sum_of(values: Floats, others: Floats) -> float:
    """log Σ exp(values + others)"""
    peak = _finite(np.max(values + others))
    total = 0.0
    for k in range(values.shape[0]):
        total += np.exp(values[k] + others[k] - peak)
    return float(np.log(total) + peak)


@kernel
def log_sums(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    longest: Ints,
    runs: bool,
    values: Floats,  # out [N]
) -> None:
    """The log of the sum of exp(score) over all segmentations of every sequence."""
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending, full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    moves, room = moves_of(transition, runs), room_of(totals.shape[1], size)
    for i in range(lo, hi):
        count = starts[i + 1] - starts[i]
        _log_forward(totals, moves, start, longest, runs, starts[i] - starts[lo], count, room, enter, ending, full)
        values[i] = _log_sum_of(ending[count - 1], end)


@kernel
def _log_after(begin: Floats, moves: Moves, runs: bool, room: Room, leave: Floats, leave_full: Floats) -> float:
    """The log-sums over the label after a segment, and after one as long as can be; returns the top of `begin`.

    The exponentials of `begin` less its top stay in room.shares.
    """
    size = begin.shape[0]
    top = _shares(begin, room)
    if top == -np.inf:
        leave[:] = -np.inf
        leave_full[:] = -np.inf
        return top
    _weighted(room.shares, moves.back, leave)
    for label in range(size):
        others = leave[label]
        whole = others + room.shares[label] * moves.own[label]
        leave[label] = top + moves.peak + np.log(others) if others > TINY else _exact_after(label, begin, moves, runs)
        if not runs:
            leave_full[label] = leave[label]
        else:
            exact = whole <= TINY
            leave_full[label] = _exact_after(label, begin, moves, False) if exact else top + moves.peak + np.log(whole)
    return top


@kernel
def _exact_after(label: int, begin: Floats, moves: Moves, others_alone: bool) -> float:
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


@kernel
def _add_transitions(
    ending: Floats,
    full: Floats,
    begin: Floats,
    top: float,  # of begin, whose exponentials less this are in room.others
    value: float,
    scale: float,
    moves: Moves,
    runs: bool,
    room: Room,
    pairs: Floats,  # added to [L, L]: times exp(transition − peak), the expected transitions
    transitions: Floats,  # added to [L, L]: those that must be made term by term
) -> None:
    """Add the expected transitions between two tokens."""
    size = ending.shape[0]
    before = _shares(ending, room)
    if before == -np.inf or top == -np.inf:
        return
    steepness = before + top + moves.peak - value
    if steepness > STEEP:
        for label in range(size):
            for follower in range(size):
                own = runs and follower == label
                logs = (full[label] if own else ending[label]) - value + moves.transition[label, follower]
                transitions[label, follower] += scale * np.exp(logs + begin[follower])
        return
    factor = scale * np.exp(steepness)
    for label in range(size):
        share, row = factor * room.shares[label], pairs[label]
        for follower in range(size):
            row[follower] += share * room.others[follower]
    if runs:
        for label in range(size):
            logs = full[label] - value + moves.transition[label, label] + begin[label]
            transitions[label, label] += scale * np.exp(logs)


@kernel
def _log_backward(
    totals: Floats,
    moves: Moves,
    end: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    room: Room,
    begin: Floats,  # out [count, L] log-sum of all from a segment that begins here on
    leave: Floats,  # out [count, L] log-sum of all after a segment that ends here
    leave_full: Floats,  # out [count, L] the same after one that is as long as can be
) -> None:
    size = end.shape[0]
    for s in range(count - 1, -1, -1):
        if s == count - 1:
            leave[s] = end
            leave_full[s] = end
        else:
            _log_after(begin[s + 1], moves, runs, room, leave[s], leave_full[s])
        lengths = min(totals.shape[1], count - s)
        for length in range(1, lengths + 1):
            last = s + length - 1
            row, after, whole = totals[at + last, length - 1], leave[last], leave_full[last]
            out = room.block[(length - 1) * size : length * size]
            for label in range(size):
                out[label] = row[label] + (whole[label] if length == longest[label] else after[label])
        _sum_block(lengths, room, begin[s])


@kernel
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,  # in: totals; out: the probability of every segment, times the scale
    transition: Floats,
    start: Floats,
    end: Floats,
    longest: Ints,
    runs: bool,
    scales: Floats,  # [N] what to multiply the expectations of a sequence by
    values: Floats,  # out [N] log-sums
    tokens: Floats,  # added to [tokens of the block, L] a segment of this label covers the token
    firsts: Floats,  # added to [tokens of the block, L] and begins there
    transitions: Floats,  # added to [L, L]
    starting: Floats,  # added to [L]
    ending_in: Floats,  # added to [L]
) -> None:
    """Expectations of all parts, for the sequences that have any segmentation."""
    base = starts[lo]
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending, full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    begin, leave, leave_full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    moves, room = moves_of(transition, runs), room_of(totals.shape[1], size)
    pairs = np.zeros((size, size))
    for i in range(lo, hi):
        at = starts[i] - base
        count = starts[i + 1] - starts[i]
        scale = scales[i]
        _log_forward(totals, moves, start, longest, runs, at, count, room, enter, ending, full)
        values[i] = _log_sum_of(ending[count - 1], end)
        if not values[i] > -np.inf:
            continue
        _log_backward(totals, moves, end, longest, runs, at, count, room, begin, leave, leave_full)
        for label in range(size):
            starting[label] += scale * np.exp(start[label] + begin[0, label] - values[i])
            ending_in[label] += scale * np.exp(ending[count - 1, label] + end[label] - values[i])
        for t in range(count - 1):
            top = _shares(begin[t + 1], room)
            room.others[:] = room.shares
            rows = ending[t], full[t], begin[t + 1]
            _add_transitions(*rows, top, values[i], scale, moves, runs, room, pairs, transitions)
        _segment_beliefs(totals, longest, at, count, scale, values[i], enter, leave, leave_full, room, tokens, firsts)
    for label in range(size):
        for follower in range(size):
            transitions[label, follower] += pairs[label, follower] * moves.onward[label, follower]


@kernel
def _segment_beliefs(
    totals: Floats,  # in: totals; out: probabilities times the scale
    longest: Ints,
    at: int,
    count: int,
    scale: float,
    value: float,
    enter: Floats,
    leave: Floats,
    leave_full: Floats,
    room: Room,
    tokens: Floats,
    firsts: Floats,
) -> None:
    """The probabilities of the segments of a sequence, and what they cover and begin at."""
    size = leave.shape[1]
    covering = room.peaks
    for t in range(count):
        lengths = min(totals.shape[1], t + 1)
        totals[at + t, lengths:] = 0.0
        after, whole = leave[t], leave_full[t]
        for length in range(1, lengths + 1):
            row, before = totals[at + t, length - 1], enter[t - length + 1]
            for label in range(size):
                onward = whole[label] if length == longest[label] else after[label]
                row[label] += before[label] + onward - value
        exponentials(totals[at + t].ravel(), lengths * size, room.work, room.bits)
        covering[:] = 0.0
        for length in range(lengths, 0, -1):
            s = t - length + 1
            row, covered, opened = totals[at + t, length - 1], tokens[at + s], firsts[at + s]
            for label in range(size):
                row[label] *= scale
                covering[label] += row[label]
                covered[label] += covering[label]
                opened[label] += row[label]


@kernel
def _drawn(logs: Floats, count: int, state: Keys) -> int:
    """A number below `count`, with probability in proportion to exp(logs)."""
    peak = _finite(np.max(logs[:count]))
    total = 0.0
    for k in range(count):
        total += np.exp(logs[k] - peak)
    left = uniform(state) * total
    chosen = 0
    for k in range(count):
        weight = np.exp(logs[k] - peak)
        if weight > 0.0:
            chosen = k
            left -= weight
            if left < 0.0:
                break
    return chosen


@kernel
def sample(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    longest: Ints,
    runs: bool,
    seeds: Keys,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,
    begins: Bytes,
    values: Floats,  # out [N] log-sums
) -> None:
    """A segmentation of every sequence, drawn with probability in proportion to exp(score): forwards, then back."""
    base = starts[lo]
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending, full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    logs = np.empty(max(size, totals.shape[1]))
    moves, room = moves_of(transition, runs), room_of(totals.shape[1], size)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        at = starts[i] - base
        count = starts[i + 1] - starts[i]
        _log_forward(totals, moves, start, longest, runs, at, count, room, enter, ending, full)
        values[i] = _log_sum_of(ending[count - 1], end)
        state[0] = seeds[i]
        for option in range(size):
            logs[option] = ending[count - 1, option] + end[option]
        label = _drawn(logs, size, state)
        t = count - 1
        whole = False
        while t >= 0:
            lengths = min(totals.shape[1], t + 1)
            for option in range(lengths):
                logs[option] = totals[at + t, option, label] + enter[t - option, label]
            length = min(longest[label], t + 1) if whole else _drawn(logs, lengths, state) + 1
            s = t - length + 1
            mark(starts[i] + s, starts[i] + t, label, labels, begins)
            if s > 0:
                for option in range(size):
                    own = runs and option == label
                    logs[option] = (full[s - 1, option] if own else ending[s - 1, option]) + transition[option, label]
                previous = _drawn(logs, size, state)
                whole = runs and previous == label
                label = previous
            t = s - 1
