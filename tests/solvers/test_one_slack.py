"""One slack for all terms: the cache spares inference, and constraints that have no weight are dropped."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from drawing import random_rows

from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.objective.cuts import Cuts, total_loss
from sidelight.objective.margin import TargetTerms, Worst
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.solvers.one_slack import OneSlack, OneSlackOptions
from sidelight.spaces import Cost

TOLERANCE = 1e-3


def problem() -> TargetTerms:
    """Sequences with noisy labels."""
    rng = np.random.default_rng(0)
    layout = Layout(4, 30, 3)
    rows = random_rows(rng, offsets_of(rng.integers(1, 20, 60)), 30, 3, valued=False)
    batch = chain_batch(rows, layout, n_jobs=1)
    targets = batch.best(rng.normal(size=layout.size)).labels
    noisy = np.where(rng.random(len(targets)) < 0.1, rng.integers(0, 4, len(targets)), targets).astype(np.int32)
    return TargetTerms(batch, Cost(noisy, 1.0 - np.eye(4)), np.full(60, 0.1))


class Counted:
    """Terms that count how often their worst outputs are looked for."""

    def __init__(self, terms: TargetTerms) -> None:
        self.terms = terms
        self.prices = terms.prices
        self.inferences = 0

    def __len__(self) -> int:
        return len(self.terms)

    def worst(self, weights: np.ndarray) -> Worst:
        self.inferences += 1
        return self.terms.worst(weights)

    def cuts(self, worst: Worst, which: np.ndarray) -> Cuts:
        return self.terms.cuts(worst, which)


def solved(options: OneSlackOptions) -> tuple[OneSlack, list[tuple[bool, float, int]], int]:
    """The solver, whether each round had inference, its dual and its constraints, and all inferences."""
    terms = Counted(problem())
    solver = OneSlack.fresh(terms.terms.batch.scorer.size, options)
    rounds = []
    while not solver.finished(TOLERANCE):
        before = terms.inferences
        reached = solver.round(terms)
        assert (reached.primal is not None) == (terms.inferences > before)
        rounds.append((terms.inferences > before, reached.dual, reached.working_set))
        assert len(rounds) < 2000
    return solver, rounds, terms.inferences


def test_the_cache_spares_inference():
    plain, without, looked = solved(OneSlackOptions(remember=0))
    assert looked == len(without) and plain.cache == []
    cached, rounds, fewer = solved(OneSlackOptions())
    assert fewer < len(rounds)
    assert fewer < 0.6 * looked
    assert cached.best_primal == pytest.approx(plain.best_primal, rel=2 * TOLERANCE)
    terms = problem()
    primal = 0.5 * cached.best @ cached.best + total_loss(terms.worst(cached.best).values, terms.prices, 1)
    assert primal == pytest.approx(cached.best_primal, rel=1e-9)


def test_every_constraint_raises_the_dual():
    """From the cache as from inference: else it would spare nothing."""
    _, rounds, _ = solved(OneSlackOptions())
    duals = [dual for _, dual, _ in rounds]
    assert all(after >= before - 1e-9 for before, after in pairwise(duals))
    gained = [after - before for (_, before, _), (looked, after, _) in pairwise(rounds) if not looked]
    assert gained and min(gained) > 0.0


@pytest.mark.parametrize("most", [1, 4])
def test_the_cache_is_used_so_many_times_in_a_row_at_most(most):
    _, rounds, _ = solved(OneSlackOptions(most_cached=most))
    runs = "".join("i" if looked else "c" for looked, _, _ in rounds).split("i")
    assert max(map(len, runs)) == most


def test_idle_constraints_are_dropped():
    kept, rounds, _ = solved(OneSlackOptions(idle=10_000))
    assert [count for _, _, count in rounds] == list(range(1, len(rounds) + 1))
    pruned, fewer, _ = solved(OneSlackOptions(idle=5))
    assert max(count for _, _, count in fewer) < len(fewer)
    assert len(pruned.rows) < len(kept.rows)
    assert pruned.best_primal == pytest.approx(kept.best_primal, rel=2 * TOLERANCE)
