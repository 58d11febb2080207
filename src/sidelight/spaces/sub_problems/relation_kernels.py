"""Types of entities and relations of their pairs, chosen jointly: the best output, and sums over all outputs.

    score(t, r) = Σ_a e[a, t_a] + Σ_(a<b) ( s[ab, r_ab] + c[t_a, t_b, r_ab] )

c are the charges of rules for a pair: −inf, or minus a penalty. Given the types, relations are independent, so each
pair is a table g[t_a, t_b] = max_r s[r] + c[t_a, t_b, r] (of sums: log Σ_r exp), and only the types must be chosen.

Best types by depth-first branch and bound, exact up to rounding: entities in order, the better types first. An upper
bound for completions of the first d types is Σ_(j ≥ d) max_t ( what is known of j and the first d + Σ_(k > j) max
g_jk[t, ·] ). With many entities, scores are first moved between tables and types, which changes no output's score,
until this bound is near that of the linear relaxation (max-product linear programming; Globerson and Jaakkola 2007).
Sums visit all types^entities combinations, so they are only for few entities.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel

FEW = 4  # entities whose types are tried without more ado
SWEEPS = 30
ROUNDING = 1e-10  # relative: outputs within this tolerance count as equal


@inner_kernel
def pair_number(a: int, b: int, count: int) -> int:
    """The place of the pair a < b among those of `count` entities."""
    return a * count - a * (a + 1) // 2 + b - a - 1


@kernel
def best_relations(
    starts: Ints,  # [N + 1] first slot of each input: its entities, then its pairs
    counts: Ints,  # [N] entities
    pair_starts: Ints,  # [N + 1]
    table_of: Ints,  # [P] what rules say of each pair
    tables: Floats,  # [M, types, types, relations]
    lo: int,
    hi: int,
    scores: Floats,  # [T, types + relations]
    most: int,  # nodes of one search
    choices: Ids,  # [T]
    values: Floats,  # [N]
) -> int:
    """The best choices of the inputs lo..hi; gives the number of an input whose search was given up, or −1."""
    types, relations = tables.shape[1], tables.shape[3]
    for number in range(lo, hi):
        first, n = starts[number], counts[number]
        pairs = n * (n - 1) // 2
        table = np.full((pairs, types, types), -np.inf)  # g
        for p in range(pairs):
            own, charges = scores[first + n + p], tables[table_of[pair_starts[number] + p]]
            for s in range(types):
                for t in range(types):
                    for r in range(relations):
                        worth = own[types + r] + charges[s, t, r]
                        if worth > table[p, s, t]:
                            table[p, s, t] = worth
        best, alone = np.zeros(n, np.int64), np.empty((n, types))
        for a in range(n):
            for t in range(types):
                alone[a, t] = scores[first + a, t]
        if n > FEW:
            _tighten(alone, table, n, types)
        highest = _best_types(alone, table, n, types, most, best)
        if highest == np.inf:
            return number
        values[number] = highest
        if highest == -np.inf:
            continue
        values[number] = 0.0
        for a in range(n):
            choices[first + a] = best[a]
            values[number] += scores[first + a, best[a]]
        for a in range(n):
            for b in range(a + 1, n):
                p = pair_number(a, b, n)
                own, charges = scores[first + n + p], tables[table_of[pair_starts[number] + p], best[a], best[b]]
                at = 0
                for r in range(1, relations):
                    if own[types + r] + charges[r] > own[types + at] + charges[at]:
                        at = r
                choices[first + n + p] = types + at
                values[number] += own[types + at] + charges[at]
    return -1


@inner_kernel
def _tighten(alone: Floats, table: Floats, n: int, types: int) -> None:
    """Move worth from tables to types: each pair gives both of its entities half of the best that it has with them."""
    for _ in range(SWEEPS):
        for a in range(n):
            for b in range(a + 1, n):
                own = table[pair_number(a, b, n)]
                one, other = np.full(types, -np.inf), np.full(types, -np.inf)
                for s in range(types):
                    for t in range(types):
                        own[s, t] += alone[a, s] + alone[b, t]
                        one[s] = max(one[s], 0.5 * own[s, t])
                        other[t] = max(other[t], 0.5 * own[s, t])
                for s in range(types):
                    alone[a, s], alone[b, s] = one[s], other[s]
                    for t in range(types):
                        if own[s, t] > -np.inf:
                            own[s, t] -= one[s] + other[t]


@inner_kernel
def _best_types(own: Floats, table: Floats, n: int, types: int, most: int, best: Ints) -> float:
    """The value of the best types, which are written to `best`; −inf if there are none, inf where given up."""
    rest = np.zeros((n, types))  # Σ_(k > j) max g_jk[t, ·]
    for j in range(n):
        for k in range(j + 1, n):
            p = pair_number(j, k, n)
            for t in range(types):
                top = -np.inf
                for s in range(types):
                    top = max(top, table[p, t, s])
                rest[j, t] += top
    known = np.empty((n + 1, n, types))  # [d, j, t] what entity j of type t is worth with the first d
    for j in range(n):
        for t in range(types):
            known[0, j, t] = own[j, t]
    value, tried = np.zeros(n + 1), np.zeros((n, types), np.uint8)
    assignment = np.zeros(n, np.int64)
    highest, depth, nodes = -np.inf, 0, 0
    while depth >= 0:
        if depth == n:
            if value[n] > highest:
                highest = value[n]
                for a in range(n):
                    best[a] = assignment[a]
            depth -= 1
            continue
        pick = -1
        for t in range(types):
            if not tried[depth, t]:
                worth = known[depth, depth, t] + rest[depth, t]
                if worth > -np.inf and (pick < 0 or worth > known[depth, depth, pick] + rest[depth, pick]):
                    pick = t
        if pick < 0:
            for t in range(types):
                tried[depth, t] = 0
            depth -= 1
            continue
        tried[depth, pick] = 1
        nodes += 1
        if nodes > most:
            return np.inf
        assignment[depth] = pick
        value[depth + 1] = value[depth] + known[depth, depth, pick]
        bound = value[depth + 1]
        for j in range(depth + 1, n):
            p = pair_number(depth, j, n)
            top = -np.inf
            for t in range(types):
                worth = known[depth, j, t] + table[p, pick, t]
                known[depth + 1, j, t] = worth
                top = max(top, worth + rest[j, t])
            bound += top
        if bound > highest + ROUNDING * (1.0 + abs(highest)) or highest == -np.inf:
            depth += 1
    return highest


@kernel
def sum_relations(
    starts: Ints,
    counts: Ints,
    pair_starts: Ints,
    table_of: Ints,
    tables: Floats,
    lo: int,
    hi: int,
    scores: Floats,
    with_shares: bool,
    totals: Floats,  # [N]
    shares: Floats,  # [T, types + relations] zeros
) -> None:
    """log Σ exp(score) of the inputs lo..hi, and the probabilities of choices."""
    types, relations = tables.shape[1], tables.shape[3]
    for number in range(lo, hi):
        first, n = starts[number], counts[number]
        pairs = n * (n - 1) // 2
        table = np.empty((pairs, types, types))
        for p in range(pairs):
            own, worth = scores[first + n + p], tables[table_of[pair_starts[number] + p]]
            for s in range(types):
                for t in range(types):
                    top = -np.inf
                    for r in range(relations):
                        top = max(top, own[types + r] + worth[s, t, r])
                    mass = 0.0
                    if top > -np.inf:
                        for r in range(relations):
                            mass += np.exp(own[types + r] + worth[s, t, r] - top)
                    table[p, s, t] = top + np.log(mass) if top > -np.inf else -np.inf
        one, both = np.zeros((n, types)), np.zeros((pairs, types, types))
        total = _visit(scores[first : first + n], table, n, types, 0.0, False, one, both)
        totals[number] = total
        if not with_shares or total == -np.inf:
            continue
        _visit(scores[first : first + n], table, n, types, total, True, one, both)
        for a in range(n):
            for t in range(types):
                shares[first + a, t] = one[a, t]
        for p in range(pairs):
            own, worth = scores[first + n + p], tables[table_of[pair_starts[number] + p]]
            for s in range(types):
                for t in range(types):
                    if both[p, s, t] > 0.0:
                        for r in range(relations):
                            part = np.exp(own[types + r] + worth[s, t, r] - table[p, s, t])
                            shares[first + n + p, types + r] += both[p, s, t] * part


@inner_kernel
def _visit(
    own: Floats, table: Floats, n: int, types: int, less: float, counting: bool, one: Floats, both: Floats
) -> float:
    """Visit all combinations of types: log Σ exp(score), or with `counting` the probabilities exp(score − less) of
    their parts.
    """
    known = np.empty((n + 1, n, types))
    for j in range(n):
        for t in range(types):
            known[0, j, t] = own[j, t]
    value, mass = np.zeros(n + 1), np.zeros(n + 1)
    assignment = np.full(n, -1, np.int64)
    top, total, depth = -np.inf, 0.0, 0
    while depth >= 0:
        if depth == n:
            if counting:
                mass[n] = np.exp(value[n] - less)
            elif value[n] > top:
                total = 1.0 if top == -np.inf else total * np.exp(top - value[n]) + 1.0
                top = value[n]
            else:
                total += np.exp(value[n] - top)
            depth -= 1
            continue
        if assignment[depth] >= 0:  # back from this type
            share, t = mass[depth + 1], assignment[depth]
            mass[depth] += share
            if counting:
                one[depth, t] += share
                for i in range(depth):
                    both[pair_number(i, depth, n), assignment[i], t] += share
        assignment[depth] += 1
        while assignment[depth] < types and known[depth, depth, assignment[depth]] == -np.inf:
            assignment[depth] += 1
        if assignment[depth] == types:
            assignment[depth] = -1
            depth -= 1
            continue
        t = assignment[depth]
        value[depth + 1] = value[depth] + known[depth, depth, t]
        for j in range(depth + 1, n):
            p = pair_number(depth, j, n)
            for s in range(types):
                known[depth + 1, j, s] = known[depth, j, s] + table[p, t, s]
        mass[depth + 1] = 0.0
        depth += 1
    return top + np.log(total) if top > -np.inf else -np.inf
