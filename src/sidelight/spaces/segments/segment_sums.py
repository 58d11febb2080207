"""Log-sums, expectations and samples over labelled segmentations; `segment_log_kernels` has the recursions."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.core.kernels import copy_row, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest as longest_sequence
from sidelight.spaces.chains.chain_log_kernels import log_sum_with
from sidelight.spaces.chains.chain_scaled_kernels import exponentials
from sidelight.spaces.segments.segment_kernels import walk_back
from sidelight.spaces.segments.segment_log_kernels import (
    Moves,
    SegmentRoom,
    exp_shares,
    log_backward,
    log_forward,
    room_of,
)

STEEP = 300.0  # a factor of at most exp of this cannot make a value lost below TINY relevant


@kernel
def log_sums(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,
    moves: Moves,
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
    room = room_of(totals.shape[1], size)
    for i in range(lo, hi):
        count = starts[i + 1] - starts[i]
        log_forward(totals, moves, start, longest, runs, starts[i] - starts[lo], count, room, enter, ending, full)
        values[i] = log_sum_with(ending[count - 1], end)


@inner_kernel
def _add_transitions(
    ending: Floats,
    full: Floats,
    begin: Floats,
    top: float,  # of begin, whose exponentials less this are in room.others
    value: float,
    scale: float,
    moves: Moves,
    runs: bool,
    room: SegmentRoom,
    pairs: Floats,  # added to [L, L]: times exp(transition − peak), the expected transitions
    transitions: Floats,  # added to [L, L]: those that must be made term by term
) -> None:
    """Add the expected transitions between two tokens."""
    size = ending.shape[0]
    before = exp_shares(ending, room)
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
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,  # in: totals; out: the probability of every segment, times the scale
    moves: Moves,
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
    room = room_of(totals.shape[1], size)
    pairs = np.zeros((size, size))
    for i in range(lo, hi):
        at = starts[i] - base
        count = starts[i + 1] - starts[i]
        scale = scales[i]
        log_forward(totals, moves, start, longest, runs, at, count, room, enter, ending, full)
        values[i] = log_sum_with(ending[count - 1], end)
        if not values[i] > -np.inf:
            continue
        log_backward(totals, moves, end, longest, runs, at, count, room, begin, leave, leave_full)
        for label in range(size):
            starting[label] += scale * np.exp(start[label] + begin[0, label] - values[i])
            ending_in[label] += scale * np.exp(ending[count - 1, label] + end[label] - values[i])
        for t in range(count - 1):
            top = exp_shares(begin[t + 1], room)
            copy_row(room.shares, room.others)
            rows = ending[t], full[t], begin[t + 1]
            _add_transitions(*rows, top, values[i], scale, moves, runs, room, pairs, transitions)
        _segment_beliefs(totals, longest, at, count, scale, values[i], enter, leave, leave_full, room, tokens, firsts)
    for label in range(size):
        for follower in range(size):
            transitions[label, follower] += pairs[label, follower] * moves.onward[label, follower]


@inner_kernel
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
    room: SegmentRoom,
    tokens: Floats,
    firsts: Floats,
) -> None:
    """The probabilities of a sequence's segments, added to the tokens that they cover and to their first tokens."""
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
def sample(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,
    moves: Moves,
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
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending, full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    room = room_of(totals.shape[1], size)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        place = (longest, runs, first - starts[lo], last - first)
        log_forward(totals, moves, start, *place, room, enter, ending, full)
        values[i] = log_sum_with(ending[last - first - 1], end)
        state[0] = seeds[i]
        out = (labels[first:last], begins[first:last])
        walk_back(totals, moves.transition, end, *place, enter, ending, full, state, *out)
