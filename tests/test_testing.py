"""`sidelight.testing` finds what is wrong with a structure or a solver, and says so in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from sidelight.errors import Intractable
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.completion import latent_problem
from sidelight.objective.scorers.chain_scorer import ChainScorer, chain_batch
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.spaces import ChainSpace
from sidelight.testing import BrokenLaw, check_solver, check_structure


def small_batch(seed: int = 0, *, labels: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    starts = offsets_of([2, 3])
    dense = rng.normal(size=(5, 1)).astype(np.float32)
    rows = Rows(starts, np.arange(6), rng.integers(0, 3, 5).astype(np.int32), np.zeros(0), dense)
    return chain_batch(rows, Layout(labels, 3, 1, chain=True, bias=True))


def test_a_structure_that_keeps_the_laws():
    checked = check_structure(small_batch())
    assert checked.outputs == 9 + 27 and checked.k_best and checked.sums and checked.likelihood


def broken_space(**methods: Any) -> Any:
    """A chain space of which some methods are replaced."""
    batch = small_batch()
    own = {field: getattr(batch.space, field) for field in ("starts", "n_labels")}
    kind = dataclass(frozen=True)(type("Broken", (ChainSpace,), methods))
    return replace(batch, space=kind(**own))


def broken_scorer(**methods: Any) -> Any:
    batch = small_batch()
    kind = dataclass(frozen=True)(type("Broken", (ChainScorer,), methods))
    return replace(batch, scorer=kind(batch.scorer.rows, batch.scorer.layout))


def worse(self, scores, **options):
    found = ChainSpace.best(self, scores, **options)
    return found._replace(labels=np.zeros_like(found.labels), values=self.score(scores, np.zeros_like(found.labels)))


def without_cost(self, scores, *, cost=None, rng=None, n_jobs=None):
    found = ChainSpace.best(self, scores, rng=rng)
    return found if cost is None else found._replace(targets=self.score(scores, cost.targets))


def halved(self, *arguments, **options):
    rows = ChainScorer.differences(self, *arguments, **options)
    return replace(rows, values=rows.values / 2)


def unsure(self, rng, *, n_jobs=None):
    return np.random.default_rng().integers(0, self.n_labels, int(self.starts[-1])).astype(np.int32)


def starts_with_zero(self, labels):
    return (labels[self.starts[:-1]] == 0).astype(np.uint8)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (broken_space(best=worse), r"best: input 0: \(0, 0\) has .*, but \(\d, \d\) "),
        (broken_space(best=without_cost), "best with a cost: input 0: the value of"),
        (broken_space(inside=lambda self, admitted: self), "inside candidates: "),
        (broken_space(outside=lambda self, admitted: self), "outside candidates: "),
        (broken_space(admits=starts_with_zero), r"admits: input 0: \(1, 0\) is an output, and admits denies it"),
        (broken_space(feasible=lambda self, **_: np.zeros(len(self.starts) - 1, bool)), "feasible: input 0 has 9 outp"),
        (broken_space(random=unsure), "random: the same seed gives other outputs"),
        (broken_scorer(differences=halved), "score: input 0: the score of"),
        (broken_scorer(summed=lambda self, plus, minus, scales: np.zeros(self.size)), "summed: gives 0 with the weig"),
    ],
)
def test_what_is_wrong_is_said(batch, words):
    with pytest.raises(BrokenLaw, match=words):
        for seed in range(20):
            check_structure(batch, seed=seed, admits=lambda i, y: True)


def test_inputs_must_be_small():
    with pytest.raises(ValueError, match="input 0 has 400 choices for each of 2 slots; give smaller inputs"):
        check_structure(small_batch(labels=400))


def test_what_a_structure_lacks_must_raise_intractable(monkeypatch):
    def silent(space, scores, k, **_):
        raise NotImplementedError("later")

    monkeypatch.setattr("sidelight.spaces.sums.k_best", silent)
    with pytest.raises(BrokenLaw, match=r"k best: NotImplementedError was raised \(later\); .* must raise Intractable"):
        check_structure(small_batch())

    def spoken(space, scores, k, **_):
        raise Intractable("no k best here")

    monkeypatch.setattr("sidelight.spaces.sums.k_best", spoken)
    assert not check_structure(small_batch()).k_best


def cutting_plane(power: int) -> Any:
    def make(terms):
        options = MarginOptions(power=power, tolerance=1e-5, violation=0.0)
        return MarginLearner.fresh(latent_problem(terms), options, size=terms.batch.scorer.size)

    return make


def convex(**options: Any) -> Any:
    return lambda terms: ConvexLearner.fresh(terms, ConvexOptions(**options))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("make", "power"),
    [
        (cutting_plane(1), 1),
        (cutting_plane(2), 2),
        (convex(solver="one_slack", tolerance=1e-5), 1),
        (convex(solver="n_slack_qp", tolerance=1e-7, violation=0.0), 1),
        (convex(solver="n_slack_qp", tolerance=1e-7, violation=0.0, power=2), 2),
        (convex(solver="frank_wolfe", tolerance=1e-4, max_rounds=2000), 1),
    ],
)
def test_solvers(make, power, seed):
    best = check_solver(make, power=power, seed=seed)
    assert best.dual <= best.primal <= best.dual + 1e-6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dual": 1e3}, "round 1: the dual value is 1000, above the optimum"),
        ({"primal": -1.0}, "round 1: the primal value is -1, below the optimum"),
        ({"weights": "zero"}, "the end: the objective is .*, and the least is"),
        ({"weights": "random"}, "a second run: it ends with other weights"),
        ({"state": "lost"}, "state and resume: a run stopped after round"),
    ],
)
def test_what_is_wrong_with_a_solver_is_said(changes, words):
    class Wrong(MarginLearner):
        def round(self):
            record = super().round()
            return replace(record, **{name: changes[name] for name in ("dual", "primal") if name in changes})

        def finish(self):
            found = super().finish()
            if changes.get("weights") == "zero":
                return np.zeros(len(found))
            return found + 1e-9 * np.random.default_rng().random() if changes.get("weights") == "random" else found

        def resume(self, state):
            self.done = True

    def make(terms):
        options = MarginOptions(power=1, tolerance=1e-5, violation=0.0)
        return Wrong.fresh(latent_problem(terms), options, size=terms.batch.scorer.size)

    with pytest.raises(BrokenLaw, match=words):
        check_solver(make)


def test_a_solver_by_its_cached_steps_too():
    check_solver(convex(solver="frank_wolfe", tolerance=1e-4, max_rounds=2000, frank_wolfe=FrankWolfeOptions(cached=0)))
