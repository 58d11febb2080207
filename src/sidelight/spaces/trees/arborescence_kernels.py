"""Trees of heads that may cross, for batches: the best by Chu, Liu and Edmonds, sums by the matrix-tree theorem.

Nodes and scores are as in `eisner_kernels`. Best: every node takes its best head; a cycle is contracted to one node,
and the scores of its incoming arcs are reduced by that of the cycle's arc which they replace. This is repeated until
there is no cycle; then cycles are expanded in reverse order. O(n³) in the worst case, O(n²) with few cycles. With a
single root, all arcs from 0 are lowered by more than the difference of any two trees.

Sums: eliminating node v from weights A[h, m] = exp(score) puts A[h, v] A[v, m] / D_v to each A[h, m], D_v = Σ_h A[h, v]
and the log-sum is Σ_v log D_v (the determinant of the matrix-tree theorem, Tutte 1984; Koo et al. 2007). Done this way,
as Grassmann, Taksar and Heyman (1985) do for Markov chains, nothing is subtracted; and everything is in logarithms, so
extreme scores do no harm. With a single root, D_v is without the arc from 0, except for the last node, whose D_v is
only this arc: this is the part of the determinant that is linear in the arcs from 0.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest


@kernel
def best(starts: Ints, lo: int, hi: int, scores: Floats, single: bool, heads: Ids, values: Floats) -> None:
    """The best tree of the sentences lo..hi; a value of −inf if there is none. # scores: [T, H]"""
    most = 2 * longest(starts, lo, hi) + 2
    worth = np.empty((most, most))  # of the best arc between two nodes, some of which are cycles
    arcs = np.empty((2, most, most), np.int32)  # which arc that is: head and dependent
    for sentence in range(lo, hi):
        first = starts[sentence]
        n = starts[sentence + 1] - first
        own = scores[first : first + n]
        lowered = _lowering(own, n) if single else 0.0
        for m in range(1, n + 1):
            for h in range(n + 1):
                worth[h, m] = own[m - 1, h] - (lowered if h == 0 else 0.0) if h != m else -np.inf
                arcs[0, h, m] = h
                arcs[1, h, m] = m
        values[sentence] = -np.inf
        if _tree(n, worth, arcs, heads[first : first + n]):
            total, roots = 0.0, 0
            for m in range(n):
                total += own[m, heads[first + m]]
                roots += heads[first + m] == 0
            if not single or roots <= 1:
                values[sentence] = total


@inner_kernel
def _lowering(own: Floats, n: int) -> float:
    """More than two trees can differ by."""
    low, high = np.inf, -np.inf
    for m in range(n):
        for h in range(n + 1):
            if own[m, h] > -np.inf and h != m + 1:
                low, high = min(low, own[m, h]), max(high, own[m, h])
    return (n + 1) * (high - low) + 1.0 if high >= low else 0.0


@inner_kernel
def _tree(n: int, worth: Floats, arcs: Ids, heads: Ids) -> bool:
    """Write the heads of the best tree; False if there is none."""
    most = 2 * n + 2
    alive = np.zeros(most, np.uint8)
    alive[: n + 1] = 1
    above = np.full(most, -1, np.int32)  # the cycle that a node has become part of
    chosen = np.zeros((most, 2), np.int32)  # the arc into a node
    head_of = np.zeros(most, np.int32)  # the node that it comes from
    seen = np.zeros(most, np.int32)
    size = n + 1
    while True:
        for m in range(1, size):
            if alive[m]:
                top, at = -np.inf, -1
                for h in range(size):
                    if alive[h] and h != m and worth[h, m] > top:
                        top, at = worth[h, m], h
                if at < 0:
                    return False
                head_of[m] = at
                chosen[m, 0] = arcs[0, at, m]
                chosen[m, 1] = arcs[1, at, m]
        on = _cycle(size, alive, head_of, seen)
        if on < 0:
            break
        _contract(size, on, alive, above, head_of, worth, arcs)
        size += 1
    for c in range(size - 1, n, -1):
        m = chosen[c, 1]
        while above[m] != c:
            m = above[m]
        chosen[m] = chosen[c]
    for m in range(1, n + 1):
        heads[m - 1] = chosen[m, 0]
    return True


@inner_kernel
def _cycle(size: int, alive: Bytes, head_of: Ids, seen: Ids) -> int:
    """A node on a cycle of heads, or −1."""
    seen[:size] = 0
    for start in range(1, size):
        if not alive[start] or seen[start]:
            continue
        v = start
        while v != 0 and seen[v] == 0:
            seen[v] = start
            v = head_of[v]
        if v != 0 and seen[v] == start:
            return v
    return -1


@inner_kernel
def _contract(size: int, on: int, alive: Bytes, above: Ids, head_of: Ids, worth: Floats, arcs: Ids) -> None:
    """Make one node, `size`, of the cycle through `on`."""
    v = on
    while above[v] != size:
        above[v] = size
        alive[v] = 0
        v = head_of[v]
    for u in range(size):
        if not alive[u]:
            continue
        worth[u, size], worth[size, u] = -np.inf, -np.inf
        v = on
        while True:
            gain = worth[u, v] - worth[head_of[v], v]
            if gain > worth[u, size]:
                worth[u, size] = gain
                arcs[0, u, size] = arcs[0, u, v]
                arcs[1, u, size] = arcs[1, u, v]
            if u > 0 and worth[v, u] > worth[size, u]:
                worth[size, u] = worth[v, u]
                arcs[0, size, u] = arcs[0, v, u]
                arcs[1, size, u] = arcs[1, v, u]
            v = head_of[v]
            if v == on:
                break
    alive[size] = 1


@inline_kernel
def _plus(a: float, b: float) -> float:
    """log(exp a + exp b)"""
    top, low = max(a, b), min(a, b)
    return top if low == -np.inf else top + np.log1p(np.exp(low - top))


@kernel
def sums(starts: Ints, lo: int, hi: int, scores: Floats, single: bool, log_sums: Floats, shares: Floats) -> None:
    """Log-sums over all trees, and the probability of each head. # shares: out [T, H], of zeros; or [0, H]"""
    most = longest(starts, lo, hi) + 1
    with_shares = shares.shape[0] > 0
    steps = np.empty((most if with_shares else 1, most, most))  # the weights before each elimination
    now, slope = np.empty((most, most)), np.empty((most, most))
    order, weighed = np.empty(most, np.int32), np.empty(most)
    for sentence in range(lo, hi):
        first = starts[sentence]
        n = starts[sentence + 1] - first
        for m in range(1, n + 1):
            for h in range(n + 1):
                now[h, m] = scores[first + m - 1, h] if h != m else -np.inf
        log_sums[sentence] = _eliminate(n, single, now, steps, with_shares, order, weighed)
        if with_shares and log_sums[sentence] > -np.inf:
            _go_back(n, single, now, steps, order, weighed, slope)
            for m in range(n):
                for h in range(n + 1):
                    if h != m + 1:
                        shares[first + m, h] = max(slope[h, m + 1], 0.0)


@inner_kernel
def _eliminate(
    n: int, single: bool, now: Floats, steps: Floats, with_shares: bool, order: Ids, weighed: Floats
) -> float:
    """Take one node after another out; returns the log-sum. # now: [n + 1, n + 1] log-weights of arcs h → m"""
    left = np.ones(n + 1, np.uint8)
    total = 0.0
    for step in range(n):
        alone = single and step < n - 1  # its arc from 0 does not count
        v, weight = -1, -np.inf
        for m in range(1, n + 1):
            if left[m]:
                weight = -np.inf if alone else now[0, m]
                for h in range(1, n + 1):
                    if left[h] and h != m:
                        weight = _plus(weight, now[h, m])
                if weight > -np.inf:
                    v = m
                    break
        if v < 0:
            return -np.inf
        order[step], weighed[step] = v, weight
        total += weight
        left[v] = 0
        if with_shares:
            steps[step, : n + 1, : n + 1] = now[: n + 1, : n + 1]
        for m in range(1, n + 1):
            if left[m] and now[v, m] > -np.inf:
                by = now[v, m] - weight
                for h in range(n + 1):
                    if (h == 0 or left[h]) and h != m and now[h, v] > -np.inf:
                        now[h, m] = _plus(now[h, m], now[h, v] + by)
    return total


@inner_kernel
def _go_back(n: int, single: bool, now: Floats, steps: Floats, order: Ids, weighed: Floats, slope: Floats) -> None:
    """slope[h, m]: the gradient of the log-sum by the log-weight of each arc, which is its probability."""
    slope[: n + 1, : n + 1] = 0.0
    left = np.zeros(n + 1, np.uint8)
    for step in range(n - 1, -1, -1):
        v, weight, before = order[step], weighed[step], steps[step]
        by_weight = 1.0
        for m in range(1, n + 1):
            if left[m] and before[v, m] > -np.inf:
                by = before[v, m] - weight
                for h in range(n + 1):
                    if (h == 0 or left[h]) and h != m and before[h, v] > -np.inf and slope[h, m] != 0.0:
                        added = slope[h, m] * np.exp(before[h, v] + by - now[h, m])
                        slope[h, v] += added
                        slope[v, m] += added
                        slope[h, m] -= added
                        by_weight -= added
        now[: n + 1, : n + 1] = before[: n + 1, : n + 1]
        for h in range(n + 1):
            counts = left[h] if h > 0 else step == n - 1 or not single
            if counts and before[h, v] > -np.inf:
                slope[h, v] += by_weight * np.exp(before[h, v] - weight)
        left[v] = 1
