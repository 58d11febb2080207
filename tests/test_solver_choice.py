"""Solvers and online learners through the estimators."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.learners.likelihood import lbfgs_options
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions
from sidelight.training import Training

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
        ("frank_wolfe", 0.001),
        ("one_slack", 0.001),
        ("n_slack_qp", 0.001),
        ("subgradient", 0.001),
        ("exponentiated_gradient", 0.001),
    ],
)
def test_all_solvers_come_to_the_same_objective(solver, within, optimum):
    fitted = tagger(recipes.structural_svm(solver=solver), loss="hinge", tolerance=1e-3).fit(XS, YS)
    found = min(r.objective for r in fitted.rounds_ if r.objective is not None)
    assert optimum * (1 - 1e-3) <= found <= optimum * (1 + within)
    assert fitted.score(XS, YS) > 0.85


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_subgradient_steps_have_every_loss(loss):
    least = tagger("structural_svm", loss=loss, tolerance=1e-4).fit(XS, YS).rounds_[-1].objective
    recipe = recipes.structural_svm(solver="subgradient")
    fitted = tagger(recipe, loss=loss, tolerance=0.01, max_rounds=3000).fit(XS, YS)
    last = fitted.rounds_[-1]
    assert last.gap <= 0.01 * last.objective
    assert least * (1 - 1e-3) <= last.objective <= least * 1.01
    assert fitted.score(XS, YS) > 0.85


@pytest.mark.parametrize("learner", ["crf", "partial_crf", recipes.crf(l1=0.1), "contrastive"])
def test_likelihoods_by_lbfgs_heed_the_tolerance(learner):
    evidence = [*sl.gold(XS[:20], YS[:20]), *(sl.unlabeled(XS[20:]) if learner == "contrastive" else ())]
    found = []
    for tolerance in (0.5, 0.01, 1e-6):
        rounds = tagger(learner, tolerance=tolerance).fit(evidence).rounds_
        found.append((len(rounds), rounds[-1].objective))
    assert found[0][0] < found[1][0] < found[2][0]
    assert found[0][1] > found[1][1] > found[2][1]
    usual = tagger(learner).fit(evidence).rounds_
    assert (len(usual), usual[-1].objective) == found[1]


@pytest.mark.parametrize("support", ["seen", "all"])
def test_partial_labels_by_stochastic_gradient_descent(support):
    evidence = [sl.Partial(x, [y if t % 3 else None for t, y in enumerate(ys)]) for x, ys in zip(XS, YS)]
    least = tagger(recipes.partial_crf(support=support), tolerance=1e-5).fit(evidence).rounds_[-1].objective
    learner = recipes.partial_crf(solver="sgd", support=support)
    found = tagger(learner, tolerance=1e-4).fit(evidence).rounds_[-1].objective
    assert found == pytest.approx(least, rel=0.01)
    with pytest.raises(ValueError, match="solver is 'eg'; give 'lbfgs' or 'sgd'"):
        recipes.partial_crf(solver="eg")
    with pytest.raises(ValueError, match="sgd has no l1"):
        recipes.partial_crf(solver="sgd", l1=0.1)


def test_the_usual_tolerance_is_the_usual_precision_of_lbfgs():
    assert lbfgs_options(tagger("crf").tolerance, l1=0.5) == LbfgsOptions(l1=0.5)


@pytest.mark.parametrize("price", [0.1, 1.0, 10.0])
def test_stochastic_gradient_descent_ends_within_its_tolerance(price):
    shared = {"prices": {"gold": price}}
    least = tagger(recipes.crf(support="all"), tolerance=1e-6, **shared).fit(XS, YS).rounds_[-1].objective
    for tolerance in (0.01, 1e-3):
        rounds = tagger(recipes.crf(solver="sgd", support="all"), tolerance=tolerance, **shared).fit(XS, YS).rounds_
        assert least * (1 - 1e-4) <= rounds[-1].objective <= least * (1 + tolerance)


def solver_of(recipe, **settings):
    """The solver that an estimator would use, before its first round."""
    made = tagger(recipe, loss="hinge", **settings)
    return Training(made._settings(), list(sl.gold(XS, YS))).learner.solver


def test_options_of_solvers_reach_them():
    svm = recipes.structural_svm
    assert solver_of(svm(solver="frank_wolfe")).options == FrankWolfeOptions()
    chosen = svm(solver="frank_wolfe", sampling="gap", steps=4, cached=0, average="weighted")
    assert solver_of(chosen).options == FrankWolfeOptions("gap", 4, cached=0, average=True)
    assert solver_of(svm(solver="one_slack")).options == OneSlackOptions()
    assert solver_of(svm(solver="one_slack", cache=0, idle=7)).options == OneSlackOptions(0, idle=7)
    assert solver_of(svm(solver="subgradient")).options == SubgradientOptions()
    chosen = svm(solver="subgradient", average="suffix", project=True)
    assert solver_of(chosen).options == SubgradientOptions("suffix", project=True)
    assert solver_of(chosen, seed=9).options.seed == 9
    assert solver_of(svm(solver="frank_wolfe"), seed=9).options.seed == 9


@pytest.mark.parametrize(
    ("options", "within"),
    [
        ({"solver": "frank_wolfe", "sampling": "gap"}, 0.005),
        ({"solver": "frank_wolfe", "sampling": "gap", "steps": 0, "average": "weighted"}, 0.005),
        ({"solver": "one_slack", "cache": 0, "idle": 5}, 0.005),
        ({"solver": "subgradient", "average": "suffix", "project": True}, 0.002),
    ],
)
def test_solvers_with_options_come_to_the_same_objective(options, within, optimum):
    falling = options["solver"] == "subgradient"  # without a gap: it goes on as long as it may
    settings = {"tolerance": 0.0, "max_rounds": 2000} if falling else {"tolerance": 1e-3}
    fitted = tagger(recipes.structural_svm(**options), loss="hinge", **settings).fit(XS, YS)
    assert len(fitted.rounds_) == 2000 or not falling
    assert optimum * (1 - 1e-3) <= fitted.rounds_[-1].objective <= optimum * (1 + within)


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
def test_the_seed_is_that_of_the_estimator(solver):
    recipe = recipes.structural_svm(solver=solver)
    found = [tagger(recipe, loss="hinge", max_rounds=3, seed=seed).fit(XS, YS).model_.weights for seed in (0, 1, 1)]
    np.testing.assert_array_equal(found[1], found[2])
    assert not np.array_equal(found[0], found[1])
    usual = tagger(recipe, loss="hinge", max_rounds=3).fit(XS, YS).model_.weights
    np.testing.assert_array_equal(usual, found[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "gap"}, "sampling goes with solver='frank_wolfe', and solver is 'dual_coordinate'; leave it out"),
        ({"solver": "n_slack_qp", "average": "last"}, "average goes with solver='frank_wolfe' or solver='subgradient'"),
        ({"solver": "frank_wolfe", "sampling": "gaps"}, "sampling is 'gaps'; give 'uniform' or 'gap'"),
        ({"solver": "frank_wolfe", "average": "suffix"}, "frank_wolfe has 'weighted' and 'last'"),
        ({"solver": "frank_wolfe", "steps": 2.5}, "steps is 2.5; give a whole number"),
        ({"solver": "one_slack", "cache": -1}, "cache is -1; give a whole number from 0 on"),
        ({"solver": "one_slack", "idle": 0}, "idle is 0; give a whole number from 1 on"),
        ({"solver": "subgradient", "project": 2}, "project is 2; give True or False"),
    ],
)
def test_options_that_a_solver_does_not_have_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        recipes.structural_svm(**options)


@pytest.mark.parametrize(
    "name",
    ["jlis", "latent_svm", "transductive_svm", "self_training", "cl_svm", "partial_crf", "em", "contrastive", "codl"],
)
def test_learners_that_take_no_chunks_give_their_own_name(name):
    chunk = sl.Candidates(["a0", "b1"], [None, None], chunks=[sl.Chunk(0, [["A", "B"], ["B", "C"]])])
    says = rf"^evidence 30 \(Candidates\): {name} takes candidates of single tokens.*; use cllp or mms"
    evidence = [*sl.gold(XS, YS), chunk]
    with pytest.raises(sl.DataError, match=says):
        sl.Tagger(learner=name, labels=list("ABC"), features=sl.features.emissions()).fit(evidence)


def test_restarts_do_not_go_on():
    many = tagger(recipes.jlis(restarts=2)).partial_fit(sl.gold(XS, YS))
    with pytest.raises(ValueError, match="not from earlier weights; leave restarts at 1 for partial_fit"):
        many.partial_fit(sl.gold(XS, YS))
    warm = tagger(recipes.jlis(restarts=2), warm_start=True).fit(XS, YS)
    with pytest.raises(ValueError, match="not from earlier weights; leave warm_start out"):
        warm.fit(XS, YS)


@pytest.mark.parametrize(
    "learner",
    [
        "mira",
        recipes.mira(k=4),
        recipes.mira(outputs="prediction"),
        recipes.mira(k=4, outputs="prediction"),
        "passive_aggressive",
        recipes.passive_aggressive(rule="PA-II"),
        recipes.passive_aggressive(rule="PA", outputs="prediction", margin="root"),
        "arow",
        recipes.arow(variance=0.5, r=3.0, outputs="prediction", margin="root"),
    ],
)
def test_online_learners_learn(learner):
    fitted = tagger(learner).fit(XS, YS)
    assert fitted.score(XS, YS) > 0.85
    again = tagger(learner).fit(XS, YS)
    np.testing.assert_array_equal(fitted.model_.weights, again.model_.weights)


@pytest.mark.parametrize("solver", ["frank_wolfe", "one_slack", "n_slack_qp", "exponentiated_gradient"])
def test_solvers_of_order_2_come_to_the_same_objective(solver):
    options = {"loss": "hinge", "order": 2, "tolerance": 0.02, "max_rounds": 2000}
    usual = tagger("structural_svm", **options).fit(XS, YS)
    found = tagger(recipes.structural_svm(solver=solver), **options).fit(XS, YS)
    assert found.rounds_[-1].objective == pytest.approx(usual.rounds_[-1].objective, rel=0.04)
    assert found.model_.layout.order == 2


def test_what_does_not_fit_is_refused():
    said = r"frank_wolfe minimises the hinge, and the loss is squared_hinge; give loss='hinge' \(--loss hinge on"
    with pytest.raises(ValueError, match=said):
        tagger(recipes.structural_svm(solver="frank_wolfe")).fit(XS, YS)
    with pytest.raises(ValueError, match="all prices are 0, so subgradient has nothing to learn from; give prices"):
        tagger(recipes.structural_svm(solver="subgradient"), loss="hinge", prices={"gold": 0.0}).fit(XS, YS)
    with pytest.raises(ValueError, match="solver is 'simplex'; give 'dual_coordinate', 'frank_wolfe'"):
        recipes.structural_svm(solver="simplex")
    with pytest.raises(ValueError, match="rule is 'MIRA'; give 'PA', 'PA-I' or 'PA-II'"):
        recipes.passive_aggressive(rule="MIRA")
    with pytest.raises(sl.DataError, match="the learner mira learns from Gold only"):
        tagger("mira").fit([*sl.gold(XS, YS), sl.Unlabeled(["w"])])


@pytest.mark.parametrize("solver", ["one_slack", "n_slack_qp"])
def test_solvers_that_see_cuts_alone_have_order_2(solver):
    usual = {"loss": "hinge", "order": 2, "tolerance": 1e-3, "max_rounds": 300, "prices": {"gold": 0.1}}
    found = [tagger(recipes.structural_svm(solver=one), **usual).fit(XS, YS) for one in (solver, "dual_coordinate")]
    assert found[0].rounds_[-1].objective == pytest.approx(found[1].rounds_[-1].objective, rel=5e-3)
