"""Dynamic programs over batches of labelled segmentations.

All take the sequences `lo..hi` of a batch and `totals`, a block that begins at their first token: totals[t, d − 1, l]
is the score of a segment of length d and label l that ends at token t, including its tokens, or -inf if it is excluded.
It includes masks and costs, so that one recursion serves every kind of inference:

    enter[s, l]   the best (or the log-sum) of everything before a segment of label l that begins at s
    ending[t, l]  the same up to t, where a segment of label l ends;   full[t, l]: where it is as long as can be

First the maximum over the previous label is taken once per token, L² steps, then segments are extended from it, M · L
steps. With `runs`, a segment may follow one of the same label only if that one has the maximum length: then
segmentations and token labelings correspond one to one. Ties go to the shortest last segment and the lowest label.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.core.kernels import copy_row, inline_kernel, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest as longest_sequence
from sidelight.spaces.choice_kernels import choose


@kernel
def add_tokens(starts: Ints, lo: int, hi: int, first: Floats, inside: Floats, longest: Ints, totals: Floats) -> None:
    """Turn segment scores into totals: add the score of the first token and of the others; close what is too long."""
    base = starts[lo]
    rest = np.empty(totals.shape[2])
    for i in range(lo, hi):
        for t in range(starts[i], starts[i + 1]):
            rest[:] = 0.0
            for length in range(1, min(totals.shape[1], t - starts[i] + 1) + 1):
                s = t - length + 1 - base
                row, opening, inner = totals[t - base, length - 1], first[s], inside[s]
                for label in range(row.shape[0]):
                    row[label] += rest[label] + opening[label]
                    rest[label] += inner[label]
                    if length > longest[label]:
                        row[label] = -np.inf


@inline_kernel
def best_before(ending: Floats, full: Floats, transition: Floats, runs: bool, out: Floats) -> None:
    """out[l]: the best previous label's value, with its transition to l."""
    out[:] = -np.inf
    for previous in range(out.shape[0]):
        value = ending[previous]
        row = transition[previous]
        others = out[previous]
        for label in range(out.shape[0]):
            candidate = value + row[label]
            out[label] = candidate if candidate > out[label] else out[label]
        if runs:
            out[previous] = max(others, full[previous] + row[previous])


@inner_kernel
def _forward(
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
    """Fill enter, ending and full with maxima, for the sequence whose block rows begin at `at`."""
    copy_row(start, enter[0])
    for t in range(count):
        now, whole = ending[t], full[t]
        now[:] = -np.inf
        whole[:] = -np.inf
        for length in range(1, min(totals.shape[1], t + 1) + 1):
            row, before = totals[at + t, length - 1], enter[t - length + 1]
            for label in range(row.shape[0]):
                candidate = row[label] + before[label]
                now[label] = candidate if candidate > now[label] else now[label]
                whole[label] = candidate if length == longest[label] else whole[label]
        if t + 1 < count:
            best_before(now, whole, transition, runs, enter[t + 1])


@inline_kernel
def mark(first: int, last: int, label: int, labels: Ids, begins: Bytes) -> None:
    """Write a segment."""
    for u in range(first, last + 1):
        labels[u] = label
        begins[u] = 0
    begins[first] = 1


@inner_kernel
def walk_back(
    totals: Floats,
    transition: Floats,
    end: Floats,
    longest: Ints,
    runs: bool,
    at: int,
    count: int,
    enter: Floats,
    ending: Floats,
    full: Floats,
    state: Keys | None,
    labels: Ids,  # out [count]
    begins: Bytes,  # out [count]
) -> float:
    """A segmentation, from its end to its beginning: the best, whose value is returned, or a draw; see `choose`."""
    size = end.shape[0]
    worth = np.empty(max(size, totals.shape[1]))
    for option in range(size):
        worth[option] = ending[count - 1, option] + end[option]
    label = choose(worth[:size], None, state)
    value: float = worth[label]
    t = count - 1
    whole = False
    while t >= 0:
        lengths = min(totals.shape[1], t + 1)
        length = min(longest[label], t + 1)
        if not whole:
            for option in range(lengths):
                worth[option] = totals[at + t, option, label] + enter[t - option, label]
            length = choose(worth[:lengths], None, state) + 1
        s = t - length + 1
        mark(s, t, label, labels, begins)
        if s > 0:
            for option in range(size):
                own = runs and option == label
                worth[option] = (full[s - 1, option] if own else ending[s - 1, option]) + transition[option, label]
            previous = choose(worth[:size], None, state)
            whole = runs and previous == label
            label = previous
        t = s - 1
    return value


@kernel
def best(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,  # [tokens of the block, M, L]
    transition: Floats,  # [L, L] from, to
    start: Floats,  # [L]
    end: Floats,  # [L]
    longest: Ints,  # [L]
    runs: bool,
    labels: Ids,  # out [T]
    begins: Bytes,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best segmentation of every sequence and its value."""
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending, full = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        place = (longest, runs, first - starts[lo], last - first)
        _forward(totals, transition, start, *place, enter, ending, full)
        out = (labels[first:last], begins[first:last])
        values[i] = walk_back(totals, transition, end, *place, enter, ending, full, None, *out)


@kernel
def scores_of(
    starts: Ints,
    lo: int,
    hi: int,
    tokens: Floats,  # [tokens of the block, L]
    segments: Floats,  # [tokens of the block, M, L] without the tokens' scores
    transition: Floats,
    start: Floats,
    end: Floats,
    labels: Ids,
    begins: Bytes,
    values: Floats,
) -> None:
    """The value of a given segmentation of every sequence, -inf where a segment is longer than M."""
    base = starts[lo]
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        total = start[labels[first]] + end[labels[last - 1]]
        length = 0
        for t in range(first, last):
            if begins[t] != 0:
                length = 0
                if t > first:
                    total += transition[labels[t - 1], labels[t]]
            length += 1
            total += tokens[t - base, labels[t]]
            if t + 1 == last or begins[t + 1] != 0:
                if length > segments.shape[1]:
                    total = -np.inf
                else:
                    total += segments[t - base, length - 1, labels[t]]
        values[i] = total
