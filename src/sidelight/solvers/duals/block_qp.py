"""The dual of a working set small enough for the Gram matrix of its cuts.

The problem, over cuts j of blocks i:

    max_{α >= 0}  b·α − ½ αᵀ H α − ½ Σ_i e_i s_i²        s_i = Σ_{j of i} α_j <= c_i

H holds the inner products of the slopes, b the offsets. The hinge has caps c_i = C_i and e_i = 0; the squared hinge has
no caps and e_i = 1 / (2 C_i); one slack for all terms is one block with cap 1.

Steps change two variables of a block (Platt 1999). The receiving variable has the highest slope of the dual. The giving
variable is chosen by second-order information (Fan, Chen and Lin 2005) among those with weight. The unused part of the
cap counts as a variable with slope zero. Blocks are processed in order, each until its slopes differ by at most the
tolerance; the method ends when a pass makes no step. Then the variables with weight, if there are not too many, are
computed exactly as the solution of a linear system, and used if this is a better feasible point: small steps converge
slowly if cuts are nearly parallel.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner, inner_kernel, kernel
from sidelight.features.rows import offsets_of

MOST_STEPS = 1_000_000
STEPS_OF_A_BLOCK = 200  # maximum steps before the next block
MOST_EXACT = 300  # maximum variables with weight for the linear system
NOBODY = -2


def solve(
    gram: Floats,  # [J, J]
    offsets: Floats,  # [J]
    blocks: Ints,  # [J]
    caps: Floats,  # [B] may be inf
    eases: Floats,  # [B]
    alphas: Floats,  # [J] changes in place
    *,
    tolerance: float,
) -> float:
    """Solve to a difference of slopes of at most `tolerance` in every block; returns the dual value."""
    if len(offsets) == 0:
        return 0.0
    order = np.argsort(blocks, kind="stable")
    ptr = offsets_of(np.bincount(blocks, minlength=len(caps)))
    _steps(gram, offsets, ptr, order, caps, eases, alphas, tolerance, MOST_STEPS, STEPS_OF_A_BLOCK)
    value = _value(gram, offsets, blocks, eases, alphas)
    few = np.count_nonzero(alphas) <= MOST_EXACT
    exact = _exact(gram, offsets, blocks, caps, eases, alphas) if few else None
    if exact is not None:
        better = _value(gram, offsets, blocks, eases, exact)
        if better > value:
            alphas[:] = exact
            return better
    return value


def _value(gram: Floats, offsets: Floats, blocks: Ints, eases: Floats, alphas: Floats) -> float:
    sums = np.bincount(blocks, alphas, minlength=len(eases))
    return inner(offsets, alphas) - 0.5 * _quadratic(gram, alphas) - 0.5 * float(np.sum(eases * sums * sums))


def _exact(gram: Floats, offsets: Floats, blocks: Ints, caps: Floats, eases: Floats, alphas: Floats) -> Floats | None:
    """The best point with the same variables at zero and the same caps active, if it is feasible."""
    which = np.flatnonzero(alphas > 0.0)
    sums = np.bincount(blocks, alphas, minlength=len(caps))
    full = np.flatnonzero(sums >= caps * (1.0 - 1e-12))
    member = (blocks[which][:, None] == full[None, :]).astype(np.float64)
    same = blocks[which][:, None] == blocks[which][None, :]
    matrix = gram[np.ix_(which, which)] + same * eases[blocks[which]][:, None]
    system = np.block([[matrix, member], [member.T, np.zeros((len(full), len(full)))]])
    right = np.concatenate([offsets[which], caps[full]])
    solution = np.linalg.lstsq(system, right, rcond=None)[0][: len(which)]
    if np.any(solution < 0.0):
        return None
    out = np.zeros(len(alphas))
    out[which] = solution
    sums = np.bincount(blocks, out, minlength=len(caps))
    over = np.where(np.isfinite(caps), sums / np.maximum(caps, 1e-300), 0.0)
    if np.any(over > 1.0 + 1e-9):
        return None
    return np.asarray(out / np.maximum(over, 1.0)[blocks])


@kernel
def _quadratic(gram: Floats, alphas: Floats) -> float:
    total = 0.0
    for i in range(alphas.shape[0]):
        if alphas[i] != 0.0:
            row = gram[i]
            one = 0.0
            for j in range(alphas.shape[0]):
                one += row[j] * alphas[j]
            total += alphas[i] * one
    return total


@inner_kernel
def _slopes_of(
    gram: Floats, offsets: Floats, ptr: Ints, order: Ints, eases: Floats, alphas: Floats
) -> tuple[Floats, Floats]:
    """The slope of the dual for every variable, and the sum of every block. # [J], [B]"""
    size = alphas.shape[0]
    slopes = offsets.copy()
    sums = np.zeros(eases.shape[0])
    for i in range(size):
        if alphas[i] != 0.0:
            row = gram[i]
            for j in range(size):
                slopes[j] -= alphas[i] * row[j]
    for block in range(eases.shape[0]):
        for m in range(ptr[block], ptr[block + 1]):
            sums[block] += alphas[order[m]]
        for m in range(ptr[block], ptr[block + 1]):
            slopes[order[m]] -= eases[block] * sums[block]
    return slopes, sums


@inner_kernel
def _pair(
    gram: Floats, members: Ints, alphas: Floats, slopes: Floats, left: float, ease: float, tolerance: float
) -> tuple[int, int, float]:
    """The receiving member, the giving one (-1: the unused part of the cap), and the curvature between the two.

    If slopes differ by at most the tolerance, or no variable can give, the second is NOBODY.
    """
    up, high = -1, 0.0
    low = 0.0 if left > 0.0 else np.inf
    for m in range(members.shape[0]):
        if slopes[m] > high:
            up, high = m, slopes[m]
        if slopes[m] < low and alphas[members[m]] > 0.0:
            low = slopes[m]
    down, gain, curve = NOBODY, 0.0, 0.0
    if not high - low > tolerance:
        return up, down, curve
    if left > 0.0 and up >= 0:
        down = -1
        curve = gram[members[up], members[up]] + ease
        gain = high * high / max(curve, 1e-300)
    for m in range(members.shape[0]):
        j = members[m]
        if alphas[j] > 0.0 and slopes[m] < high and m != up:
            bend = gram[j, j] + ease
            if up >= 0:
                bend = gram[j, j] + gram[members[up], members[up]] - 2.0 * gram[members[up], j]
            promise = (high - slopes[m]) ** 2 / max(bend, 1e-300)
            if promise > gain:
                down, gain, curve = m, promise, bend
    return up, down, curve


@inner_kernel
def _give(
    gram: Floats, members: Ints, alphas: Floats, slopes: Floats, moves: Floats, which: int, step: float, whole: bool
) -> None:
    """Change one member of a block by a step, or set it to zero, and update the block's slopes."""
    alphas[members[which]] = 0.0 if whole else alphas[members[which]] + step
    moves[which] += step
    row = gram[members[which]]
    for m in range(members.shape[0]):
        slopes[m] -= step * row[members[m]]


@inner_kernel
def _block_steps(
    gram: Floats,
    members: Ints,
    alphas: Floats,
    slopes: Floats,  # [members] change in place
    moves: Floats,  # [members] how far each has gone
    total: float,
    cap: float,
    ease: float,
    tolerance: float,
    at_most: int,
) -> tuple[int, float]:
    """Make steps of two members until slopes differ by at most the tolerance; returns their number, and the sum of the
    block.
    """
    for count in range(at_most):
        left = cap - total
        up, down, curve = _pair(gram, members, alphas, slopes, left, ease, tolerance)
        if down == NOBODY:
            return count, total
        high = slopes[up] if up >= 0 else 0.0
        difference = high - (slopes[down] if down >= 0 else 0.0)
        room = alphas[members[down]] if down >= 0 else left
        step = room if curve * room <= difference else difference / curve
        if up >= 0:
            _give(gram, members, alphas, slopes, moves, up, step, False)
        if down >= 0:
            _give(gram, members, alphas, slopes, moves, down, -step, step == room)
        if up < 0 or down < 0:
            change = step if up >= 0 else -step
            total = cap if down < 0 and step == room else total + change
            for m in range(members.shape[0]):
                slopes[m] -= ease * change
    return at_most, total


@kernel
def _steps(
    gram: Floats,
    offsets: Floats,
    ptr: Ints,
    order: Ints,
    caps: Floats,
    eases: Floats,
    alphas: Floats,
    tolerance: float,
    at_most: int,
    of_a_block: int,
) -> None:
    slopes, sums = _slopes_of(gram, offsets, ptr, order, eases, alphas)
    most = 1
    for block in range(caps.shape[0]):
        most = max(most, ptr[block + 1] - ptr[block])
    mine, moves = np.empty(most), np.empty(most)
    count = 0
    moved = True
    while moved and count < at_most:
        moved = False
        for block in range(caps.shape[0]):
            members = order[ptr[block] : ptr[block + 1]]
            for m in range(members.shape[0]):
                mine[m] = slopes[members[m]]
                moves[m] = 0.0
            steps, sums[block] = _block_steps(
                gram, members, alphas, mine, moves, sums[block], caps[block], eases[block], tolerance, of_a_block
            )
            if steps == 0:
                continue
            moved = True
            count += steps
            for m in range(members.shape[0]):
                if moves[m] != 0.0:
                    row = gram[members[m]]
                    for j in range(slopes.shape[0]):
                        slopes[j] -= moves[m] * row[j]
            for m in range(members.shape[0]):
                slopes[members[m]] = mine[m]
