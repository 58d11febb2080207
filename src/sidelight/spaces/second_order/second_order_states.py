"""The states of second-order chains: pairs of open labels, token after token.

A label is open where its score is not -inf. The states of token t are the pairs (label of t - 1, label of t) of open
labels, token 0 has one state a label; so a step from token to token costs the product of three consecutive numbers of
open labels, and the cube of the number of labels only where all are open. The values of all states of a sequence lie in
a flat array, those of token t from `at[t]` on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inline_kernel, inner_kernel


@inner_kernel
def open_labels(scores: Floats) -> tuple[Ints, Ints]:
    """The open labels of all tokens of a block, one token after another, and where each token's begin."""
    tokens, size = scores.shape
    begins = np.zeros(tokens + 1, np.int64)
    opened = np.empty(tokens * size, np.int64)
    count = 0
    for t in range(tokens):
        for label in range(size):
            if scores[t, label] > -np.inf:
                opened[count] = label
                count += 1
        begins[t + 1] = count
    return opened, begins


@inner_kernel
def most_states(starts: Ints, lo: int, hi: int, begins: Ints) -> tuple[int, int]:
    """The largest numbers of tokens and of states that a sequence has."""
    base = starts[lo]
    longest = 1
    most = 1
    for i in range(lo, hi):
        longest = max(longest, starts[i + 1] - starts[i])
        before = 1
        total = 0
        for t in range(starts[i] - base, starts[i + 1] - base):
            here = begins[t + 1] - begins[t]
            total += before * here
            before = here
        most = max(most, total)
    return longest, most


class SequenceStates(NamedTuple):
    """The states of one sequence."""

    opened: Ints  # open labels of all tokens of a block
    begins: Ints  # where each token's begin
    at: Ints  # [length + 1]
    first: int  # token of the block
    length: int  # in tokens


@inner_kernel
def frame_of(opened: Ints, begins: Ints, at: Ints, first: int, count: int) -> SequenceStates:
    """The states of a sequence; `at` is where they are written down."""
    before = 1
    at[0] = 0
    for t in range(count):
        here = begins[first + t + 1] - begins[first + t]
        at[t + 1] = at[t] + before * here
        before = here
    return SequenceStates(opened, begins, at, first, count)


@inline_kernel
def states(t: int, frame: SequenceStates, values: Floats) -> Floats:
    """A view of the values of the states of token t. # [open labels of t - 1, open labels of t]"""
    place = frame.first + t
    before = frame.begins[place] - frame.begins[place - 1] if t > 0 else 1
    here = frame.begins[place + 1] - frame.begins[place]
    return values[frame.at[t] : frame.at[t + 1]].reshape(before, here)


@inline_kernel
def labels_of(t: int, frame: SequenceStates) -> Ints:
    """A view of the open labels of token t."""
    return frame.opened[frame.begins[frame.first + t] : frame.begins[frame.first + t + 1]]
