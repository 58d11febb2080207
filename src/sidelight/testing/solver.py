"""`check_solver`: the laws of a solver of the margin problem, checked against the optimum over all outputs.

The problem is  min_w ½ ‖w‖² + Σ_i C_i max(0, max over outputs of offset + slope · w)^p. Here all outputs are listed, so
the dual is a small quadratic program (`solvers.duals.block_qp`), whose gap bounds the error of its solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.cuts import LOGISTIC, Worst, losses_of
from sidelight.objective.margin import TargetTerms
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.rounds.learner import Learner
from sidelight.solvers.duals.block_qp import solve
from sidelight.spaces import Cost
from sidelight.testing.outputs import BrokenLaw, listed

MOST_ROUNDS = 3000

Make = Callable[[TargetTerms], Learner]  # a fresh learner of these terms, before its first round


class ListedCuts(NamedTuple):
    """Every output of every term."""

    slopes: Floats  # [R, size]
    offsets: Floats  # [R]
    terms: Ints  # [R]


@dataclass(frozen=True, slots=True)
class LeastObjective:
    """Bounds of the least objective."""

    primal: float
    dual: float
    weights: Floats


def check_solver(
    make: Make, *, power: int = 1, tolerance: float = 1e-3, seed: int = 0, terms: TargetTerms | None = None
) -> LeastObjective:
    """Check a solver on a small problem (a random one from `seed` if none is given); raises `BrokenLaw` with an
    explanation.

    No dual value is above the optimum and no objective below it; the last objective is within `tolerance` of it (of
    the objective at zero); two runs give the same bits; so does a run that was stopped after any round, stored, and
    resumed by a fresh learner.
    """
    rng = np.random.default_rng(seed)
    if terms is None:
        terms = terms_at_random(rng)
    best = optimum(all_cuts(terms), terms.prices, power=power)
    at_zero = float(terms.prices @ losses_of(terms.worst(np.zeros(terms.batch.scorer.size)).values, power))
    room = 1e-6 * (1.0 + at_zero) + best.primal - best.dual
    learner, lowest = make(terms), np.inf
    for record in learner.run():
        where = f"round {record.number}"
        if record.dual is not None and record.dual > best.primal + room:
            raise BrokenLaw(f"{where}: the dual value is {record.dual:.9g}, above the optimum {best.primal:.9g}")
        if record.primal is not None and record.primal < best.dual - room:
            raise BrokenLaw(f"{where}: the primal value is {record.primal:.9g}, below the optimum {best.dual:.9g}")
        if record.objective is not None:
            if record.objective > lowest + room:
                raise BrokenLaw(
                    f"{where}: the objective of the best weights rose from {lowest:.9g} to {record.objective:.9g}"
                )
            lowest = record.objective
        if record.number > MOST_ROUNDS:
            raise BrokenLaw(f"{where}: no end is in sight; give the learner a limit of rounds")
    weights = learner.finish().copy()
    reached = 0.5 * float(weights @ weights) + float(terms.prices @ losses_of(terms.worst(weights).values, power))
    if reached > best.primal + tolerance * at_zero + room:
        raise BrokenLaw(f"the end: the objective is {reached:.9g}, and the least is {best.primal:.9g}")
    _check_bits(make, terms, weights, learner.rounds, rng)
    return best


def _check_bits(make: Make, terms: TargetTerms, weights: Floats, rounds: int, rng: np.random.Generator) -> None:
    again = make(terms)
    for _ in again.run():
        pass
    if not np.array_equal(again.finish(), weights):
        raise BrokenLaw("a second run: it ends with other weights; all that is random must come from a seed")
    stop, first, later = int(rng.integers(0, rounds)), make(terms), make(terms)
    for number, _ in zip(range(stop), first.run()):
        assert number < stop
    values, arrays = first.state()
    later.resume((values, {name: array.copy() for name, array in arrays.items()}))
    for _ in later.run():
        pass
    if not np.array_equal(later.finish(), weights):
        raise BrokenLaw(
            f"state and resume: a run stopped after round {stop} and taken up again ends with other weights"
        )


def terms_at_random(rng: np.random.Generator, *, inputs: int = 3, longest: int = 3, labels: int = 3) -> TargetTerms:
    """The terms of a few short sequences with random features and costs."""
    starts = offsets_of(rng.integers(1, longest + 1, inputs))
    tokens = int(starts[-1])
    dense = rng.normal(size=(tokens, 2)).astype(np.float32)
    rows = Rows(starts, np.arange(tokens + 1), rng.integers(0, 4, tokens).astype(np.int32), np.zeros(0), dense)
    batch = chain_batch(rows, Layout(labels, 4, 2, chain=True, bias=True))
    costs = rng.uniform(0.2, 2.0, (labels, labels))
    np.fill_diagonal(costs, 0.0)
    return TargetTerms(batch, Cost(batch.space.random(rng), costs), rng.uniform(0.1, 2.0, inputs))


def all_cuts(terms: TargetTerms) -> ListedCuts:
    """Every output of every term as a cut."""
    batch, size = terms.batch, terms.batch.scorer.size
    slopes, offsets, numbers = [], [], []
    for one in listed(batch, np.zeros(size)):
        outputs = np.array(terms.cost.targets)
        for y in one.outputs:
            outputs[one.slots] = y
            cuts = terms.cuts(Worst(np.zeros(len(terms)), outputs), np.array([one.number]))
            row = np.zeros(size)
            np.add.at(row, cuts.slopes.indices, cuts.slopes.values)
            slopes.append(row)
            offsets.append(cuts.offsets[0])
            numbers.append(one.number)
    return ListedCuts(np.array(slopes).reshape(-1, size), np.array(offsets), np.array(numbers, np.int64))


def optimum(cuts: ListedCuts, prices: Floats, *, power: int) -> LeastObjective:
    """The least ½ ‖w‖² + Σ C max(0, value)^power, power 1 or 2, over listed cuts."""
    if power == LOGISTIC:
        raise ValueError("the optimum of the logistic loss is not a quadratic program; give power 1 or 2")
    caps = prices if power == 1 else np.full(len(prices), np.inf)
    eases = np.zeros(len(prices)) if power == 1 else 0.5 / np.maximum(prices, 1e-300)
    alphas, gram = np.zeros(len(cuts.offsets)), cuts.slopes @ cuts.slopes.T
    largest = float(np.abs(cuts.offsets).max(initial=0.0))
    dual = solve(gram, cuts.offsets, cuts.terms, caps, eases, alphas, tolerance=1e-9 * max(1e-12, largest))
    weights = -(alphas @ cuts.slopes)
    values = np.full(len(prices), -np.inf)
    np.maximum.at(values, cuts.terms, cuts.offsets + cuts.slopes @ weights)
    return LeastObjective(0.5 * float(weights @ weights) + float(prices @ losses_of(values, power)), dual, weights)
