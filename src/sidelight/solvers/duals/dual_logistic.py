"""Dual coordinate descent over a working set of cuts, for the logistic loss.

The problem, over cuts j of terms i with price C_i:

    min_w  ½ ‖w‖² + Σ_i C_i log(1 + exp v_i)        v_i = max of offset_j + slope_j · w  over the cuts j of term i

Its dual has a binary entropy for each term (the conjugate of the loss):

    max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖² − Σ_i C_i h(s_i / C_i)      h(a) = a log a + (1 − a) log(1 − a)

where s_i = Σ_{j of i} α_j is less than C_i and w(α) = −Σ_j α_j slope_j. At the optimum, the violation offset + slope ·
w of every cut with weight is log(s / (C − s)), the log-odds of its term, and no cut has a larger violation. A term
without cuts has v = −inf and costs nothing.

Steps are made term by term, with its violations and the inner products of its slopes (`cut_products`), as for the
hinge. If the log-odds are between the violations of the most violated cut and of the least violated cut with weight,
weight moves from the latter to the former by an exact step. If they are below both, the most violated cut gets more
weight; if they are above both, the least violated one gets less. This changes one variable with its entropy, by
Newton's method on the log-odds θ of the weight after the step, which solve

    θ = violation + ‖slope‖² (s − C / (1 + exp −θ))

(`objective.logistic`; Yu, Huang and Lin 2011 do the same for logistic regression, in s).
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.objective.cuts import logistic_slope
from sidelight.solvers.duals.term_steps import NEAR, STEPS, TermCuts, products, shuffle
from sidelight.solvers.duals.working_set import dot, subtract

FULL = 1.0 - 1e-14  # the largest share of its price that a term may use as weight
SMALL = 1e-12  # differences of violations that count as zero


@kernel
def logistic_steps(cuts: TermCuts, at_most: int, enough: float, state: Keys) -> tuple[int, float]:
    begin, end, indices, values, offsets, norms, prices, alphas, sums, weights = cuts[:10]
    ptr, members, places, rooms, ats, gram, active = cuts[10:]
    most = 1
    for i in active:
        most = max(most, ptr[i + 1] - ptr[i])
    violations, moves = np.empty(most), np.empty(most)
    up_row, down_row = np.empty(most), np.empty(most)
    place = (begin, end, indices, values, norms, places)
    all_gained = 0.0
    for sweep in range(at_most):
        shuffle(active, active.shape[0], state)
        gained = 0.0
        for i in active:
            mine = members[ptr[i] : ptr[i + 1]]
            count = mine.shape[0]
            for m in range(count):
                j = mine[m]
                violations[m] = offsets[j] + dot(indices, values, weights, begin[j], end[j], end[j])
                moves[m] = 0.0
            near = -1.0
            for _ in range(STEPS):
                up, down = _ends(violations, alphas, mine)
                odds = _log_odds(sums[i], prices[i])
                low = violations[down] if down >= 0 else np.inf
                wrong = max(violations[up] - odds, odds - low) if down >= 0 else np.inf
                if near < 0.0:
                    near = NEAR * wrong if wrong < np.inf else 0.0
                if wrong <= near + SMALL:
                    break
                if down >= 0 and up != down and low <= odds <= violations[up]:
                    products(place, mine, up, rooms[i], ats[i], gram, up_row)
                    products(place, mine, down, rooms[i], ats[i], gram, down_row)
                    gained += _exchange(violations, alphas, moves, mine, up, down, up_row, down_row)
                    continue
                one = up if odds < low else down
                products(place, mine, one, rooms[i], ats[i], gram, up_row)
                step = _new_sum(violations[one], up_row[one], sums[i], prices[i]) - sums[i]
                if step < -alphas[mine[one]]:
                    step = -alphas[mine[one]]
                if step == 0.0:
                    break
                after = sums[i] + step
                gained += step * (violations[one] - 0.5 * step * up_row[one])
                gained -= _entropy(after, prices[i]) - _entropy(sums[i], prices[i])
                sums[i] = after
                alphas[mine[one]] += step
                moves[one] += step
                for m in range(count):
                    violations[m] -= step * up_row[m]
            for m in range(count):
                if moves[m] != 0.0:
                    j = mine[m]
                    subtract(indices, values, weights, begin[j], end[j], end[j], moves[m])
        all_gained += gained
        if gained <= enough:
            return sweep + 1, all_gained
    return at_most, all_gained


@inner_kernel
def _ends(violations: Floats, alphas: Floats, mine: Ints) -> tuple[int, int]:
    """The most violated cut, and the least violated one with weight, or −1."""
    up, down = 0, -1
    for m in range(mine.shape[0]):
        if violations[m] > violations[up]:
            up = m
        if alphas[mine[m]] > 0.0 and (down < 0 or violations[m] < violations[down]):
            down = m
    return up, down


@inner_kernel
def _exchange(
    violations: Floats,
    alphas: Floats,
    moves: Floats,
    mine: Ints,
    up: int,
    down: int,
    up_row: Floats,
    down_row: Floats,
) -> float:
    """Move weight from one cut of a term to another; returns the gain."""
    curve = up_row[up] - down_row[up] + down_row[down] - up_row[down]
    differ = violations[up] - violations[down]
    room = alphas[mine[down]]
    step = room if curve * room <= differ else differ / curve
    for m in range(mine.shape[0]):
        violations[m] -= step * (up_row[m] - down_row[m])
    alphas[mine[up]] += step
    alphas[mine[down]] = 0.0 if step == room else room - step
    moves[up] += step
    moves[down] -= step
    return float(step * (differ - 0.5 * step * curve))


@inner_kernel
def _log_odds(total: float, price: float) -> float:
    return math.log(total / (price - total)) if total > 0.0 else -np.inf


@inner_kernel
def _entropy(total: float, price: float) -> float:
    """C h(s / C)."""
    share = total / price
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return price * (share * math.log(share) + (1.0 - share) * math.log1p(-share))


@inner_kernel
def _new_sum(violation: float, norm: float, total: float, price: float) -> float:
    """The weight of a term after the best step of one of its variables, without other bounds."""
    share = logistic_slope(violation + norm * total, norm * price, _log_odds(total, price))
    return price * min(share, FULL)
