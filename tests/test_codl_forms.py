"""CoDL in its two forms: what beta mixes, over which base, and the penalties that belong to its weights."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.errors import Intractable
from sidelight.rules import count, rule
from sidelight.rules.lowering.penalties import mixed, penalties_of

LABELS = ["N", "V", "D"]


def corpus(length, seed):
    rng = np.random.default_rng(seed)
    words = {"N": ["dog", "cat", "run"], "V": ["runs", "sees", "run"], "D": ["the", "a", "a"]}
    ys = [[LABELS[k] for k in rng.integers(0, 3, rng.integers(2, 6))] for _ in range(length)]
    return [[words[label][rng.integers(3)] for label in y] for y in ys], ys


@rule
def one_verb(x, y):
    return count(y[t] == "V" for t in x.positions) == 1


GOLD, POOL = corpus(6, 0), corpus(12, 1)[0]
SETTINGS = {"labels": LABELS, "n_jobs": 1}


def fitted(learner, **settings):
    return sl.Tagger(learner=learner, **SETTINGS, **settings).fit([*sl.gold(*GOLD), *sl.unlabeled(POOL)])


@pytest.mark.parametrize("base", ["hmm", "crf"])
def test_penalties_are_counted_on_the_outputs_that_the_weights_are_learned_from(base):
    """One cycle: both are learned from what the model of Gold says of the pool."""
    rules = [one_verb.soft()]
    features = sl.features.emissions() if base == "hmm" else sl.features.words()
    driven = fitted(recipes.codl(base=base, beta=0.25, cycles=1), rules=rules, features=features)
    first = sl.Tagger(learner=base, rules=rules, features=features, **SETTINGS).fit(sl.gold(*GOLD))
    before, completed = penalties_of(rules, *GOLD), first.predict(POOL)
    expected = mixed(before, penalties_of(rules, POOL, completed), 0.25)
    assert driven.model_.about["penalties"]["one_verb"] == pytest.approx(expected[0])
    assert expected[0] != pytest.approx(before[0])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("ends", [False, True])
def test_as_printed_beta_mixes_the_logarithms_of_an_hmm(order, ends):
    base = recipes.hmm(ends=ends, transition_amount=0.5)
    settings = {**SETTINGS, "order": order, "features": sl.features.emissions()}
    shown = [*sl.gold(*GOLD), *sl.unlabeled(POOL)]
    weights = {
        beta: sl.Tagger(learner=recipes.codl_as_printed(base=base, beta=beta, cycles=1), **settings).fit(shown).model_
        for beta in (0.0, 0.3, 1.0)
    }
    expected = 0.3 * weights[1.0].weights + 0.7 * weights[0.0].weights
    np.testing.assert_allclose(weights[0.3].weights, expected, atol=1e-9)
    improved = sl.Tagger(learner=recipes.codl(base=base, beta=0.3, cycles=1), **settings).fit(shown).model_
    assert not np.allclose(improved.weights, expected, atol=1e-3)
    assert improved.about["learner"] == "codl" and weights[0.3].about["learner"] == "codl_as_printed"


def test_over_other_bases_both_forms_are_the_same():
    forms = [make(base="crf", beta=0.5, cycles=2) for make in (recipes.codl, recipes.codl_as_printed)]
    one, other = (fitted(form, features=sl.features.words(), rules=[one_verb.soft()]).model_ for form in forms)
    np.testing.assert_array_equal(one.weights, other.weights)
    with pytest.raises(ValueError, match="beta is None; give a number"):
        recipes.codl_as_printed(beta=None)


def test_codl_is_over_a_crf_unless_told_otherwise():
    assert recipes.codl() == recipes.codl(base="crf")
    assert recipes.codl_as_printed() == recipes.codl_as_printed(base="hmm")
    classes = sl.Classifier(learner="codl", labels=["a", "b"], n_jobs=1)
    xs, ys = [{"u": 1.0}, {"v": 1.0}] * 3, ["a", "b"] * 3
    assert classes.fit([*sl.gold(xs, ys), *sl.unlabeled(xs)]).score(xs, ys) == 1.0


@pytest.mark.parametrize("base", ["crf", "structural_svm"])
def test_second_order_bases_are_driven_too(base):
    """One cycle without Gold's share is the base on what the base of Gold says."""
    settings = {**SETTINGS, "features": sl.features.words(), "order": 2, "rules": [one_verb.soft(2.0)]}
    evidence = [*sl.gold(*GOLD), *sl.unlabeled(POOL)]
    driven = sl.Tagger(learner=recipes.codl(base=base, beta=0.0, cycles=1), **settings).fit(evidence)
    first = sl.Tagger(learner=base, **settings).fit(sl.gold(*GOLD))
    again = sl.Tagger(learner=base, **settings).fit(sl.gold(POOL, first.predict(POOL)))
    assert driven.model_.layout.order == 2
    xs = corpus(20, 5)[0]
    known = [[word for word in x if any(word in seen for seen in POOL)] for x in xs]
    known = [x for x in known if x]
    assert driven.predict(known) == again.predict(known)


@pytest.mark.parametrize("learner", ["posterior_regularization", recipes.unified_em(gamma=0.5)])
def test_beliefs_under_rules_in_second_order_are_refused_at_once(learner):
    with pytest.raises(Intractable, match="beliefs under rules are for chains of first order; use codl over an HMM, a"):
        fitted(learner, order=2, rules=[one_verb])
    assert fitted(learner, order=2).model_.layout.order == 2  # without rules there is nothing to refuse


def test_below_zero_second_order_takes_rules():
    settings = {"order": 2, "rules": [one_verb], "features": sl.features.emissions()}
    hard = fitted(recipes.posterior_regularization(gamma=float("-inf"), iterations=3), **settings)
    driven = fitted(recipes.codl(base="hmm", beta=None, cycles=3), **settings)
    np.testing.assert_array_equal(hard.model_.weights, driven.model_.weights)
