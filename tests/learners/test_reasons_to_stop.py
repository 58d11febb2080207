"""Every learner says in its last round why training ends, and nowhere else."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.core import records as stopping
from sidelight.recipes import LEARNERS
from sidelight.specs import Need

XS = [
    ["the", "lamp", "shines"],
    ["a", "sun", "is", "good"],
    ["light", "is", "good"],
    ["the", "good", "sun", "shines"],
] * 3
YS = [["D", "N", "V"], ["D", "N", "V", "A"], ["N", "V", "A"], ["D", "A", "N", "V"]] * 3
OTHERS = {
    "crf by sgd": recipes.crf(solver="sgd"),
    "crf by eg": recipes.crf(solver="eg"),
    **{
        f"structural_svm by {solver}": recipes.structural_svm(solver=solver)
        for solver in ("frank_wolfe", "one_slack", "n_slack_qp", "subgradient", "exponentiated_gradient")
    },
}
RECIPES = {**{name: recipes.recipe_of(name) for name in LEARNERS}, **OTHERS}

ANSWERS = [*sl.companion(XS, +1), *sl.companion(sl.shuffled(XS, seed=1), -1)]


def rounds_of(name, **settings):
    recipe = RECIPES[name]
    shared = {"features": sl.features.words(), "n_jobs": 1, "loss": "hinge", **settings}
    if name == "one_against_rest":
        gold = sl.gold([{word: 1.0} for x in XS for word in x], [label for y in YS for label in y])
        return sl.Classifier(learner=recipe, **{k: v for k, v in shared.items() if k != "features"}).fit(gold).rounds_
    if Need.SEGMENTS in recipe.needs:
        return sl.SegmentTagger(learner=recipe, **shared).fit(XS, YS).rounds_
    gold = list(sl.gold(XS, YS)) if "gold" in recipe.takes else ANSWERS
    if name in ("self_training", "transductive_svm", "latent_svm", "jlis", "contrastive", "em"):
        gold = [*gold[:5], *sl.unlabeled(XS)]
    return sl.Tagger(learner=recipe, labels=list("DNVA"), **shared).fit(gold).rounds_


@pytest.mark.parametrize("name", RECIPES)
def test_the_last_round_says_why(name):
    rounds = rounds_of(name)
    assert rounds[-1].last and sum(record.last for record in rounds) == 1
    starts = {record.restart for record in rounds}  # each says why it ended
    assert sum(record.stopped is not None for record in rounds) == len(starts) and rounds[-1].stopped is not None


@pytest.mark.parametrize(
    "name",
    ["crf", "mira", "passive_aggressive", "arow", "semi_crf", "semi_svm", "self_training", "transductive_svm", *OTHERS],
)
def test_the_limit_of_rounds_is_a_reason(name):
    rounds = rounds_of(name, max_rounds=1, tolerance=0.0)
    assert len(rounds) == 1 and rounds[0].stopped == stopping.MAX_ROUNDS


def test_what_ends_solvers():
    assert rounds_of("structural_svm by frank_wolfe")[-1].stopped == stopping.SMALL_GAP
    assert rounds_of("structural_svm by one_slack")[-1].stopped == stopping.SMALL_GAP
    assert rounds_of("structural_svm by exponentiated_gradient")[-1].stopped == stopping.SMALL_GAP
    assert rounds_of("structural_svm by subgradient")[-1].stopped == stopping.SMALL_GAP
    assert rounds_of("crf")[-1].stopped in (stopping.FLAT, stopping.NO_FALL)
    assert rounds_of("crf by sgd")[-1].stopped == stopping.NO_FALL
    assert rounds_of("mira", max_rounds=200)[-1].stopped == stopping.NO_STEPS
    assert rounds_of("semi_crf")[-1].stopped == stopping.FLAT
    assert rounds_of("semi_svm")[-1].stopped == stopping.SMALL_GAP


def test_exact_constraints_without_a_violation_are_the_end():
    """Whatever the gap: another round would find the same."""
    rounds = rounds_of("structural_svm by n_slack_qp", tolerance=0.0, violation=0.5)
    assert rounds[-1].stopped == stopping.NO_CUTS
    assert rounds[-1].new_cuts == 0 and all(record.new_cuts > 0 for record in rounds[:-1])


def test_patience_is_a_reason():
    held = [["sun", "shines"]], [["N", "V"]]
    fitted = sl.Tagger(learner="perceptron", features=sl.features.words(), patience=2, max_rounds=50)
    fitted.fit(XS[:4], [["A"] * len(y) if i == 0 else y for i, y in enumerate(YS[:4])], validation=held)
    last = fitted.rounds_[-1]
    assert last.number < 50 and last.last and last.stopped == stopping.PATIENCE


SAID = {  # words of the table of learners, and the reasons that they stand for
    "duality gap": (stopping.SMALL_GAP,),
    "decrease": (stopping.NO_FALL,),
    "no change": (stopping.NO_CHANGE,),
    "no label changes": (stopping.NO_CHANGE,),
    "gradient": (stopping.FLAT, stopping.NO_DESCENT),
    "closed form": (stopping.CLOSED_FORM,),
    "nothing left to label": (stopping.NOTHING_LEFT,),
    "no mistakes": (stopping.NO_MISTAKES,),
    "no updates": (stopping.NO_STEPS,),
    "epochs": (stopping.MAX_ROUNDS,),
    "iterations": (stopping.MAX_ROUNDS,),
    "cycles": (stopping.MAX_ROUNDS, stopping.MAX_COMPLETIONS),
}
OPEN = [sl.Partial(x, [None, *y[1:]]) for x, y in zip(XS, YS)]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_table_names_the_reason(name):
    entry = LEARNERS[name]
    reasons = {reason for words, found in SAID.items() if words in entry.stops for reason in found}
    gold = list(sl.gold(XS, YS)) if "gold" in entry.takes else ANSWERS
    mixed = [*gold[:5], *OPEN] if "partial" in entry.takes else gold
    estimator = sl.SegmentTagger if Need.SEGMENTS in entry.needs else sl.Tagger
    known = name == "contrastive" or stopping.MAX_ROUNDS in reasons  # EM of Gold alone counts, as hmm does
    for evidence in (mixed,) if known else (gold, mixed):
        fitted = estimator(learner=name, features=sl.features.words(), n_jobs=1, labels=list("DNVA")).fit(evidence)
        assert fitted.rounds_[-1].stopped in reasons


def test_one_label_leaves_segments_nothing_to_learn():
    found = sl.SegmentTagger(n_jobs=1).fit([["a", "b"], ["b"]], [["X", "X"], ["X"]]).rounds_
    assert found[-1].stopped == stopping.FLAT
