"""Rules that limit outputs in training as in prediction."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.rules import gallery

XS = [["a", "b", "c"], ["b", "c"], ["c", "a", "b"], ["a", "c"]]
YS = [["A", "B", "B"], ["B", "B"], ["B", "A", "B"], ["A", "B"]]
ONE_A = gallery.at_most(1, "A", name="OneA")
LEARNERS = (
    recipes.jlis(),
    recipes.structural_svm(),
    recipes.structural_svm(solver="one_slack"),
    recipes.structural_svm(solver="frank_wolfe"),
    recipes.structural_svm(solver="subgradient"),
    recipes.latent_svm(),
    recipes.transductive_svm(),
    recipes.perceptron(),
    recipes.mira(),
    recipes.arow(),
)
MAKERS = {
    "chain": sl.Tagger,
    "second_order": lambda **params: sl.Tagger(order=2, **params),
    "segments": lambda **params: sl.SegmentTagger(max_length=2, **params),
}


@pytest.mark.parametrize("structure", MAKERS)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda recipe: f"{recipe.name} {getattr(recipe, 'solver', '')}")
def test_every_learner_that_asks_for_the_best_output_learns_under_rules(learner, structure):
    made = MAKERS[structure](learner=learner, loss="hinge", rules=[ONE_A], rules_in="training", max_rounds=40, n_jobs=1)
    fitted = made.fit(XS, YS)
    assert fitted.predict(XS) == YS
    assert all(y.count("A") <= 1 for y in fitted.predict([["a", "a", "a"], ["a", "a"]]))


def test_outputs_that_rules_exclude_need_no_margin():
    params = {"learner": "structural_svm", "labels": ["A", "B"], "tolerance": 1e-4, "n_jobs": 1}
    free = sl.Tagger(**params).fit(XS, YS)
    under = sl.Tagger(rules=[ONE_A], rules_in="training", **params).fit(XS, YS)
    assert under.rounds_[-1].objective < free.rounds_[-1].objective - 1e-3  # fewer outputs to beat


def test_soft_rules_charge_in_training_too():
    params = {"learner": "structural_svm", "labels": ["A", "B"], "tolerance": 1e-4, "n_jobs": 1, "rules_in": "training"}
    objectives = [
        sl.Tagger(rules=[ONE_A.soft(price)], **params).fit(XS, YS).rounds_[-1].objective for price in (0.0, 0.5, 50.0)
    ]
    hard = sl.Tagger(rules=[ONE_A], **params).fit(XS, YS).rounds_[-1].objective
    assert objectives[0] > objectives[1] > objectives[2]
    np.testing.assert_allclose(objectives[2], hard, rtol=1e-2)


def test_companions_and_candidates_are_completed_under_rules():
    evidence = [*sl.gold(XS[:2], YS[:2]), *sl.companion(XS[2:], 1), *sl.companion([["c", "c"]], -1)]
    evidence += sl.candidates([["a", "a"]], [[("A", "B"), ("A", "B")]])
    fitted = sl.Tagger(learner="jlis", rules=[ONE_A], rules_in="training", n_jobs=1).fit(evidence)
    told = [record.objective for record in fitted.rounds_ if record.last or record.changed]
    assert all(np.isfinite(told))


def test_classes_under_rules():
    never = gallery.at_most(0, "C", name="NoC")
    fitted = sl.Classifier(
        learner="structural_svm", labels=["A", "B", "C"], rules=[never], rules_in="training", n_jobs=1
    )
    xs = [{"x": 1.0}, {"y": 1.0}]
    assert fitted.fit(xs, ["A", "B"]).predict([*xs, {"z": 1.0}])[:2] == ["A", "B"]


@pytest.mark.parametrize("learner", ["crf", "partial_crf", "hmm", "cllp", "naive_bayes", "codl"])
def test_learners_that_ask_for_more_are_refused(learner):
    with pytest.raises(ValueError, match=r"rules_in is 'training', and .* needs more than the best output; use jlis"):
        sl.Tagger(learner=learner, rules=[ONE_A], rules_in="training").fit(XS, YS)


def test_what_rules_are_in_is_checked():
    with pytest.raises(ValueError, match="rules_in is 'both'; give 'prediction' or 'training'"):
        sl.Tagger(rules_in="both").fit(XS, YS)


def test_auto_goes_to_margins_under_rules():
    fitted = sl.Tagger(rules=[ONE_A], rules_in="training", n_jobs=1, max_rounds=10).fit(XS, YS)
    assert fitted.choice_.chosen.learner.name == "jlis"
