"""How much the score of the best labeling would decrease if one token had another label.

The best value of a labeling in which token t has label l is forward[t, l] + backward[t, l], both maxima over the tokens
on one side; the two largest of these over l are the best value of all, and the best with another label at t.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import kernel
from sidelight.parallel import shards, threads
from sidelight.spaces.chains import chain_kernels
from sidelight.spaces.chains.chain import ChainScores, ChainSpace


def token_margins(space: ChainSpace, scores: ChainScores, *, n_jobs: int | None = None) -> Floats:
    """The fall for every token, infinite where its label has no alternative. # [T]

    The space must leave every sequence a labeling, and have nothing left out.
    """
    out = np.empty(int(space.starts[-1]))
    transition, start, end = space.masked(scores)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        first = int(space.starts[lo])
        block = scores.block(first, int(space.starts[hi]))
        if space.admitted is not None:
            chain_kernels.close_labels(block, first, space.admitted)
        _margins(space.starts, lo, hi, block, transition, start, end, out)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    return out


@kernel
def _margins(
    starts: Ints, lo: int, hi: int, scores: Floats, transition: Floats, start: Floats, end: Floats, out: Floats
) -> None:
    base = starts[lo]
    size = start.shape[0]
    best = np.empty((chain_kernels.longest(starts, lo, hi), size))
    into = transition.T.copy()
    after = np.empty(size)  # backward values, the token's own score left out
    reach = np.empty(size)  # the same with the score of the token after
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        chain_kernels.forward(scores, transition, start, first - base, count, best)
        after[:] = end
        for t in range(count - 1, -1, -1):
            top, second = -np.inf, -np.inf
            for label in range(size):
                value = best[t, label] + after[label]
                if value > top:
                    second = top
                    top = value
                elif value > second:
                    second = value
            out[first + t] = top - second
            if t > 0:
                for label in range(size):
                    reach[label] = after[label] + scores[first - base + t, label]
                    after[label] = -np.inf
                for label in range(size):
                    value = reach[label]
                    row = into[label]
                    for previous in range(size):
                        candidate = value + row[previous]
                        after[previous] = candidate if candidate > after[previous] else after[previous]
