"""Solvers and online learners through the estimators."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes

RNG = np.random.default_rng(0)
YS = [[str(label) for label in RNG.choice(list("ABC"), RNG.integers(2, 5))] for _ in range(30)]
XS = [[f"{label.lower()}{RNG.integers(3)}" if RNG.random() < 0.9 else "w" for label in y] for y in YS]


def tagger(learner, **settings):
    return sl.Tagger(
        **{"features": sl.features.words(), "prices": {"gold": 0.2}, "n_jobs": 1, "learner": learner, **settings}
    )


@pytest.fixture(scope="module")
def optimum():
    return tagger("structural_svm", loss="hinge", tolerance=1e-4).fit(XS, YS).rounds_[-1].objective


@pytest.mark.parametrize(
    ("solver", "within"),
    [
        ("frank_wolfe", 0.005),
        ("one_slack", 0.005),
        ("n_slack_qp", 0.005),
        ("subgradient", 0.05),
        ("exponentiated_gradient", 0.1),
    ],
)
def test_all_solvers_come_to_the_same_objective(solver, within, optimum):
    most = 300 if solver in ("subgradient", "exponentiated_gradient") else None
    fitted = tagger(recipes.structural_svm(solver=solver), loss="hinge", tolerance=1e-3, max_rounds=most).fit(XS, YS)
    found = min(r.objective for r in fitted.rounds_ if r.objective is not None)
    assert optimum * (1 - 1e-3) <= found <= optimum * (1 + within)
    assert fitted.score(XS, YS) > 0.85


@pytest.mark.parametrize(
    "learner",
    [
        "mira",
        recipes.mira(k=4),
        "passive_aggressive",
        recipes.passive_aggressive(rule="PA-II"),
        recipes.passive_aggressive(rule="PA", outputs="prediction", margin="root"),
    ],
)
def test_online_learners_learn(learner):
    fitted = tagger(learner).fit(XS, YS)
    assert fitted.score(XS, YS) > 0.85
    again = tagger(learner).fit(XS, YS)
    np.testing.assert_array_equal(fitted.model_.weights, again.model_.weights)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="frank_wolfe minimises the hinge; give loss='hinge'"):
        tagger(recipes.structural_svm(solver="frank_wolfe")).fit(XS, YS)
    with pytest.raises(ValueError, match="solver is 'simplex'; there are dual_coordinate, frank_wolfe"):
        recipes.structural_svm(solver="simplex")
    with pytest.raises(ValueError, match="rule is 'MIRA'; use recipes"):
        recipes.passive_aggressive(rule="MIRA")
    with pytest.raises(ValueError, match="k is 0"):
        recipes.mira(k=0)
    with pytest.raises(sl.DataError, match="the learner mira learns from Gold only"):
        tagger("mira").fit([*sl.gold(XS, YS), sl.Unlabeled(["w"])])
