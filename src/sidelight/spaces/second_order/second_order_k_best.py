"""The k best labelings of every sequence under second-order scores.

The recursion of `second_order_kernels` with a descending list of the k best values in every state instead of one; of
equal values, the one found first comes first.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.errors import Intractable
from sidelight.parallel import shards, threads
from sidelight.spaces.chains.chain import check_feasible
from sidelight.spaces.chains.chain_kernels import close_labels
from sidelight.spaces.chains.k_best_kernels import insert
from sidelight.spaces.second_order.second_order import SecondOrderScores, SecondOrderSpace
from sidelight.spaces.second_order.second_order_states import frame_of, labels_of, most_states, open_labels


def k_best(
    space: SecondOrderSpace, scores: SecondOrderScores, k: int, *, n_jobs: int | None = None
) -> tuple[Ids, Floats]:
    """The k best labelings [k, T], best first, and their scores [N, k].

    Where a sequence has fewer, their score is -inf and their labels are -1. Raises `Infeasible` if it has none, and
    `Intractable` for labelings outside candidate sets.
    """
    if k < 1:
        raise ValueError(f"k is {k}; give 1 or more")
    if space.left_out is not None:
        raise Intractable("only the best labeling outside candidate sets is found, not the k best")
    labels = np.full((k, int(space.starts[-1])), -1, dtype=np.int32)
    values = np.empty((len(space.starts) - 1, k))
    steps = space.masked(scores)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        first = int(space.starts[lo])
        block = scores.block(first, int(space.starts[hi]))
        if space.admitted is not None:
            close_labels(block, first, space.admitted)
        _k_best(space.starts, lo, hi, block, *steps, labels, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values[:, 0])
    return labels, values


@kernel
def _k_best(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    second: Floats,  # [L, L, L]
    transition: Floats,  # [L, L]
    start: Floats,  # [L]
    end: Floats,  # [L]
    labels: Ids,  # out [k, T], -1 at first
    values: Floats,  # out [N, k]
) -> None:
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    ranks = labels.shape[0]
    best, back = np.empty((most, ranks)), np.empty((most, ranks), np.int64)  # back: state of t - 1, times k, plus rank
    last = np.empty(ranks, np.int64)
    at = np.empty(longest + 1, np.int64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        frame = frame_of(opened, begins, at, first, count)
        best[: at[count]] = -np.inf
        here = labels_of(0, frame)
        for k in range(here.shape[0]):
            best[k, 0] = start[here[k]] + scores[first, here[k]]
        for t in range(1, count):
            here, middle = labels_of(t, frame), labels_of(t - 1, frame)
            earlier = labels_of(max(t - 2, 0), frame)
            for j in range(middle.shape[0]):
                for k in range(here.shape[0]):
                    state = at[t] + j * here.shape[0] + k
                    for e in range(earlier.shape[0] if t > 1 else 1):
                        before = at[t - 1] + e * middle.shape[0] + j
                        weight = second[earlier[e], middle[j], here[k]] if t > 1 else 0.0
                        for rank in range(ranks):
                            value = best[before, rank] + weight
                            if not insert(best[state], back[state], value, before * ranks + rank):
                                break
                    best[state] += transition[middle[j], here[k]] + scores[first + t, here[k]]
        values[i] = -np.inf
        here = labels_of(count - 1, frame)
        for state in range(at[count - 1], at[count]):
            ending = end[here[(state - at[count - 1]) % here.shape[0]]]
            for rank in range(ranks):
                if not insert(values[i], last, best[state, rank] + ending, state * ranks + rank):
                    break
        for place in range(ranks):
            if values[i, place] == -np.inf:
                break
            pointer = last[place]
            for t in range(count - 1, -1, -1):
                state = pointer // ranks
                here = labels_of(t, frame)
                labels[place, starts[i] + t] = here[(state - at[t]) % here.shape[0]]
                pointer = back[state, pointer % ranks]
