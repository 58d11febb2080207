"""Learners that rules drive: what they take, what they refuse, and what they say of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.rules import count, gallery, implies, rule

LABELS = ["N", "V", "A"]
XS = [s.split() for s in ("light shines", "dogs bark loud", "red light shines", "dogs shine", "loud dogs bark")]
YS = [list(s) for s in ("NV", "NVA", "ANV", "NV", "ANV")]
POOL = [s.split() for s in ("light bark", "red dogs shine loud", "dogs", "loud red light", "bark shines")]


@pytest.mark.parametrize("beta", [7, -0.1, math.nan])
@pytest.mark.parametrize("recipe", [recipes.codl, recipes.posterior_regularization, recipes.em, recipes.unified_em])
def test_beta_is_a_share(recipe, beta: float) -> None:
    with pytest.raises(ValueError, match="give a number"):
        recipe(beta=beta)


def _evidence(**kwargs):
    return [*sl.gold(XS, YS), *sl.unlabeled(POOL, **kwargs)]


def called(recipe) -> str:
    base = recipe.base.name if hasattr(recipe, "base") else "hmm"
    return f"{recipe.name} of {base} {getattr(recipe, 'gamma', getattr(getattr(recipe, 'options', None), 'gamma', ''))}"


BLIND = [
    "em",
    "hard_em",
    "jlis",
    "latent_svm",
    "transductive_svm",
    "self_training",
    "partial_crf",
    "contrastive",
    "crf",
]


@pytest.mark.parametrize("learner", BLIND)
def test_rules_of_an_input_that_a_learner_would_not_look_at_are_refused(learner: str) -> None:
    first = gallery.starts_with("N", name="begin")
    evidence = [*_evidence(), sl.Unlabeled(["red", "dogs"], rules=(first,))]
    with pytest.raises(DataError, match=rf"evidence 10 .*{learner} does not look at the rules .*begin.* use codl"):
        sl.Tagger(learner=learner, labels=LABELS).fit(evidence)


DRIVEN = [
    recipes.unified_em(iterations=1),
    recipes.posterior_regularization(iterations=1),
    recipes.posterior_regularization(base="crf", iterations=1),
    recipes.codl(cycles=1),
    recipes.codl(base="structural_svm", cycles=1),
    recipes.codl(base="transductive_svm", cycles=1),
]


@pytest.mark.parametrize("learner", DRIVEN, ids=called)
def test_learners_that_rules_drive_look_at_the_rules_of_an_input(learner) -> None:
    with_rule = sl.Tagger(learner=learner, labels=LABELS).fit(_evidence(rules=[gallery.at_most(0, "N")]))
    without = sl.Tagger(learner=learner, labels=LABELS).fit(_evidence())
    assert not (with_rule.model_.weights == without.model_.weights).all()


BELIEVING = [
    recipes.codl(base="hmm"),
    *(recipes.posterior_regularization(gamma=gamma) for gamma in (0.0, 1.0, 2.5, math.inf)),
    recipes.posterior_regularization(base="crf"),
]


@pytest.mark.parametrize("learner", BELIEVING, ids=called)
def test_rules_that_no_belief_obeys_are_named_with_the_example(learner) -> None:
    many, few = gallery.at_least(9, "A", name="many"), gallery.at_most(1, "A", name="few")
    some, none = gallery.at_least(2, "A", name="some"), gallery.at_most(3, "V", name="verbs").soft(1.0)
    tagger = sl.Tagger(learner=learner, labels=LABELS, rules=[gallery.starts_with("N", "A", name="begin"), none])
    with pytest.raises(Infeasible, match=r"^example 7: no output obeys the rule many;"):
        tagger.fit([*_evidence()[:7], *sl.unlabeled(POOL[:1], rules=[few, many])])
    with pytest.raises(Infeasible, match=r"^example 6: no output obeys the rules (few and some|some and few) together"):
        tagger.fit([*_evidence()[:6], *sl.unlabeled(POOL[:1], rules=[few, some])])


@rule
def two_nouns_ask_for_an_adjective(x, y):
    nouns, adjectives = (count(y[t] == label for t in x.positions) for label in "NA")
    return implies(nouns >= 2, adjectives >= 1)


@pytest.mark.parametrize(("base", "gamma"), [("hmm", 0.0), ("hmm", 1.0), ("crf", 1.0)])
@pytest.mark.parametrize("penalty", [None, 3.0])
def test_counts_inside_implications_are_believed(base: str, penalty: float | None, gamma: float) -> None:
    """The rule has no linear reading; the pool has two nouns without an adjective unless it says otherwise."""
    asks = two_nouns_ask_for_an_adjective if penalty is None else two_nouns_ask_for_an_adjective.soft(penalty)
    learner = recipes.posterior_regularization(base=base, gamma=gamma, iterations=4)
    pool = [["light", "dogs", "blue"], ["dogs", "light", "blue"], ["dogs", "blue", "light"]] * 3
    evidence = [*sl.gold(XS, YS), *sl.unlabeled(pool)]
    blue = []
    for rules in ([asks], [asks.soft(1e-9)]):
        tagger = sl.Tagger(learner=learner, labels=LABELS, rules=rules, prices={"unlabeled": 1.0}).fit(evidence)
        plain = tagger.predict_marginals(pool)
        blue.append(np.mean([token["A"] for x, found in zip(pool, plain) for w, token in zip(x, found) if w == "blue"]))
    assert blue[0] > blue[1] + 0.05


def test_steps_of_believing_crfs_heed_the_tolerance() -> None:
    learner = recipes.posterior_regularization(base="crf", iterations=1)
    ends = []
    for tolerance in (10.0, 0.01, 1e-5):
        tagger = sl.Tagger(learner=learner, labels=LABELS, tolerance=tolerance, rules=[gallery.at_most(1, "N")])
        ends.append(tagger.fit(_evidence()).rounds_[-1].objective)
    assert ends[0] > ends[2] + 1e-5
    assert ends[1] == pytest.approx(ends[2], abs=1e-6)


def test_beliefs_with_too_many_states_say_what_to_do() -> None:
    @rule
    def nested(x, y):
        often = [count(y[t] == label for t in x.positions) for label in LABELS]
        return implies(often[0] >= 20, implies(often[1] >= 15, often[2] >= 10))

    evidence = [*sl.gold(XS, YS), *sl.unlabeled([["light", "dogs", "red"] * 20])]
    with pytest.raises(Intractable, match=r"the rule nested has no linear reading .* more than 400 states: use codl"):
        sl.Tagger(learner=recipes.unified_em(gamma=1.0), labels=LABELS, rules=[nested]).fit(evidence)
    sl.Tagger(learner=recipes.codl(cycles=1), labels=LABELS, rules=[nested]).fit(evidence)


@pytest.mark.parametrize("maker", [sl.Tagger, sl.SegmentTagger])
def test_what_codl_completes_has_the_price_of_unlabelled_inputs_or_its_own(maker) -> None:
    sets = [[LABELS for _ in x] for x in POOL]
    evidence = [*sl.gold(XS, YS), *sl.candidates(POOL, sets)]

    def weights(**prices: float) -> np.ndarray:
        learner = recipes.codl(base="crf" if maker is sl.Tagger else "semi_crf", beta=None)
        rules = [gallery.starts_with("N", name="begin")]
        return maker(learner=learner, rules=rules, prices=prices, n_jobs=1).fit(evidence).model_.weights

    usual = weights(unlabeled=0.5)
    np.testing.assert_array_equal(weights(candidates=0.5), usual)
    np.testing.assert_array_equal(weights(candidates=0.5, unlabeled=3.0), usual)
    assert not np.allclose(weights(candidates=3.0, unlabeled=0.5), usual)
