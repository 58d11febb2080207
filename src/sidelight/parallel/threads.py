"""Shards of a batch on threads; kernels release the GIL, so threads are enough.

The cut into shards depends only on the data, never on the number of threads, and every shard writes only to its own
cells. So the same input gives the same bits on one thread and on many.

Pools are kept. A fork (`multiprocessing` on Linux, servers that load before they fork) copies a pool without its
threads, and waiting for it would never end. So a forked child starts without pools and creates its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.core.checks import shown

Item = TypeVar("Item")
Result = TypeVar("Result")

SHARD_TOKENS = 2048  # a block of scores of this many tokens stays in a core's cache


def shards(starts: Ints, *, tokens: int = SHARD_TOKENS) -> list[tuple[int, int]]:
    """Ranges of sequences with about `tokens` tokens each.

    >>> shards(np.array([0, 3, 6, 9]), tokens=5)
    [(0, 2), (2, 3)]
    """
    count = len(starts) - 1
    if count == 0:
        return []
    total = int(starts[-1])
    marks = np.arange(tokens, total + tokens, tokens)
    ends = np.unique(np.minimum(np.searchsorted(starts, marks, side="left"), count))
    bounds = [0, *(int(end) for end in ends if end > 0)]
    if bounds[-1] != count:
        bounds.append(count)
    return list(pairwise(bounds))


def thread_count(n_jobs: int | None) -> int:
    """The number of threads for a scikit-learn style `n_jobs`: None is 1, -1 all cores.

    >>> thread_count(None), thread_count(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer):
        raise ValueError(f"n_jobs is {shown(n_jobs)}; give a whole number, or None for one thread")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a positive number, -1 for all cores, or None for one thread")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs)


@lru_cache(maxsize=4)
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=count, thread_name_prefix="sidelight")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def threads(function: Callable[[Item], Result], items: Iterable[Item], *, n_jobs: int | None) -> list[Result]:
    """The function of every item, in the order of the items."""
    work = list(items)
    count = min(thread_count(n_jobs), len(work))
    if count <= 1:
        return [function(item) for item in work]
    return list(_pool(count).map(function, work))
