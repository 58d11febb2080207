"""Log-sums, expectations and samples over batches of labelled segmentations.

The recursions are those of `segment_kernels` with sums of exponentials in the place of maxima, shifted by the largest
one, so that nothing overflows and -inf stays -inf.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.kernels import inline_kernel, kernel, uniform
from sidelight.spaces.chain_kernels import longest as longest_sequence
from sidelight.spaces.segment_kernels import best_before, mark


@inline_kernel
def _finite(value: float) -> float:
    """What to shift by before exponentials: nothing where all are -inf."""
    return value if value > -np.inf else 0.0


@kernel
def _log_before(ending: Floats, full: Floats, transition: Floats, runs: bool, peaks: Floats, out: Floats) -> None:
    """out[l]: the log-sum over the previous label."""
    size = out.shape[0]
    best_before(ending, full, transition, runs, peaks)
    for label in range(size):
        peaks[label] = _finite(peaks[label])
    out[:] = 0.0
    for previous in range(size):
        value = ending[previous]
        row = transition[previous]
        others = out[previous]
        for label in range(size):
            out[label] += np.exp(value + row[label] - peaks[label])
        if runs:
            out[previous] = others + np.exp(full[previous] + row[previous] - peaks[previous])
    for label in range(size):
        out[label] = np.log(out[label]) + peaks[label]


@kernel
def _log_forward(
    totals: Floats,
    transition: Floats,
    start: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    enter: Floats,
    ending: Floats,
    full: Floats,
) -> None:
    """Fill enter, ending and full with log-sums."""
    peaks = np.empty(start.shape[0])
    enter[0] = start
    for t in range(count):
        now, whole = ending[t], full[t]
        peaks[:] = -np.inf
        whole[:] = -np.inf
        lengths = min(totals.shape[1], t + 1)
        for length in range(1, lengths + 1):
            row, before = totals[at + t, length - 1], enter[t - length + 1]
            for label in range(row.shape[0]):
                candidate = row[label] + before[label]
                peaks[label] = candidate if candidate > peaks[label] else peaks[label]
                whole[label] = candidate if length == longest[label] else whole[label]
        for label in range(peaks.shape[0]):
            peaks[label] = _finite(peaks[label])
        now[:] = 0.0
        for length in range(1, lengths + 1):
            row, before = totals[at + t, length - 1], enter[t - length + 1]
            for label in range(row.shape[0]):
                now[label] += np.exp(row[label] + before[label] - peaks[label])
        for label in range(peaks.shape[0]):
            now[label] = np.log(now[label]) + peaks[label]
        if t + 1 < count:
            _log_before(now, whole, transition, runs, peaks, enter[t + 1])


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
    for i in range(lo, hi):
        count = starts[i + 1] - starts[i]
        _log_forward(totals, transition, start, longest, runs, starts[i] - starts[lo], count, enter, ending, full)
        values[i] = _log_sum_of(ending[count - 1], end)


@kernel
def _log_backward(
    totals: Floats,
    transition: Floats,
    end: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    begin: Floats,  # out [count, L] log-sum of all from a segment that begins here on
    leave: Floats,  # out [count, L] log-sum of all after a segment that ends here
    leave_full: Floats,  # out [count, L] the same after one that is as long as can be
) -> None:
    size = end.shape[0]
    peaks = np.empty(size)
    onward = np.empty(size)
    for s in range(count - 1, -1, -1):
        for label in range(size):
            if s == count - 1:
                leave[s, label] = leave_full[s, label] = end[label]
                continue
            for follower in range(size):
                onward[follower] = begin[s + 1, follower]
            if runs:
                onward[label] = -np.inf
            leave[s, label] = leave_full[s, label] = _log_sum_of(transition[label], onward)
            if runs:
                onward[label] = begin[s + 1, label]
                leave_full[s, label] = _log_sum_of(transition[label], onward)
        lengths = min(totals.shape[1], count - s)
        now = begin[s]
        peaks[:] = -np.inf
        for length in range(1, lengths + 1):
            row, after = totals[at + s + length - 1, length - 1], leave[s + length - 1]
            whole = leave_full[s + length - 1]
            for label in range(size):
                candidate = row[label] + (whole[label] if length == longest[label] else after[label])
                peaks[label] = candidate if candidate > peaks[label] else peaks[label]
        for label in range(size):
            peaks[label] = _finite(peaks[label])
        now[:] = 0.0
        for length in range(1, lengths + 1):
            row, after = totals[at + s + length - 1, length - 1], leave[s + length - 1]
            whole = leave_full[s + length - 1]
            for label in range(size):
                candidate = row[label] + (whole[label] if length == longest[label] else after[label])
                now[label] += np.exp(candidate - peaks[label])
        for label in range(size):
            now[label] = np.log(now[label]) + peaks[label]


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
    covering = np.empty(size)
    for i in range(lo, hi):
        at = starts[i] - base
        count = starts[i + 1] - starts[i]
        scale = scales[i]
        _log_forward(totals, transition, start, longest, runs, at, count, enter, ending, full)
        values[i] = _log_sum_of(ending[count - 1], end)
        if not values[i] > -np.inf:
            continue
        _log_backward(totals, transition, end, longest, runs, at, count, begin, leave, leave_full)
        for label in range(size):
            starting[label] += scale * np.exp(start[label] + begin[0, label] - values[i])
            ending_in[label] += scale * np.exp(ending[count - 1, label] + end[label] - values[i])
        for t in range(count - 1):
            for label in range(size):
                row, before, onward = transition[label], ending[t, label] - values[i], begin[t + 1]
                for follower in range(size):
                    own = runs and follower == label
                    value = (full[t, label] - values[i] if own else before) + row[follower] + onward[follower]
                    transitions[label, follower] += scale * np.exp(value)
        for t in range(count):
            lengths = min(totals.shape[1], t + 1)
            covering[:] = 0.0
            totals[at + t, lengths:] = 0.0
            for length in range(lengths, 0, -1):
                s = t - length + 1
                row, before, after, whole = totals[at + t, length - 1], enter[s], leave[t], leave_full[t]
                covered, opened = tokens[at + s], firsts[at + s]
                for label in range(size):
                    onward = whole[label] if length == longest[label] else after[label]
                    row[label] = scale * np.exp(row[label] + before[label] + onward - values[i])
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
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        at = starts[i] - base
        count = starts[i + 1] - starts[i]
        _log_forward(totals, transition, start, longest, runs, at, count, enter, ending, full)
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
