"""The k best outputs of any structure that can find its best one (Lawler 1972).

Removing an output from a set leaves one subset per slot: the outputs that agree with it on all previous slots and
differ at this one. Each subset has its own best output. So every further output needs as many inferences as the input
has slots; those of all inputs are computed in one batch.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.rows import offsets_of, taken

# the numbers of inputs [M], the scores of their slots one after another [their slots, K], n_jobs -> outputs and scores
Best = Callable[[Ints, Floats, "int | None"], tuple[Ids, Floats]]


class _Part(NamedTuple):
    """A set of outputs of one input: its best, and the scores that exclude all others."""

    worth: float  # negative score of the best, for the heap
    number: int  # in the order of making, so that ties are broken the same way always
    output: Ids  # [slots]
    scores: Floats  # [slots, K]
    fixed: int  # slots on which all of the set agree


def k_best(starts: Ints, scores: Floats, k: int, best: Best, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
    """The k best outputs [k, T] and their scores [k, N]; labels −1 and score −inf if there are fewer."""
    count = len(starts) - 1
    labels, values = np.full((k, int(starts[-1])), -1, dtype=np.int32), np.full((k, count), -np.inf)
    waiting: list[list[_Part]] = [[] for _ in range(count)]
    numbers = iter(range(2**62))

    def add(which: list[int], parts: list[Floats], fixed: list[int]) -> None:
        every = np.concatenate([np.zeros((0, scores.shape[1])), *parts])
        outputs, worths = best(np.array(which, dtype=np.int64), every, n_jobs)
        ends = offsets_of([len(part) for part in parts])
        for i, part, own, first, last, worth in zip(which, parts, fixed, ends[:-1], ends[1:], worths.tolist()):
            if worth > -np.inf:
                heapq.heappush(waiting[i], _Part(-worth, next(numbers), outputs[first:last].copy(), part, own))

    blocks = [scores[first:last] for first, last in zip(starts[:-1].tolist(), starts[1:].tolist())]
    add(list(range(count)), blocks, [0] * count)
    for rank in range(k):
        which: list[int] = []
        parts: list[Floats] = []
        fixed: list[int] = []
        for i in range(count):
            if not waiting[i]:
                continue
            first = heapq.heappop(waiting[i])
            labels[rank, taken(starts, [i])[1]], values[rank, i] = first.output, -first.worth
            if rank + 1 < k:
                left = _parts(first)
                which, fixed = which + [i] * len(left), fixed + list(range(first.fixed, len(first.output)))
                parts += left
        if not which:
            break
        add(which, parts, fixed)
    return labels, values


def _parts(first: _Part) -> list[Floats]:
    """The subsets of a set without its best output, as scores: one for each slot that was not fixed."""
    parts, agreed = [], first.scores.copy()
    for slot in range(first.fixed, len(first.output)):
        choice = int(first.output[slot])
        other = agreed.copy()
        other[slot, choice] = -np.inf
        parts.append(other)
        own = agreed[slot, choice]
        agreed[slot] = -np.inf
        agreed[slot, choice] = own
    return parts
