"""Rules over trained models, and learning with rules."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight import recipes
from sidelight.constrained import Constrained, HandedScores
from sidelight.corpus import references
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.rules import Sentence, count, every, gallery, implies, rule

LABELS = ["N", "V", "A"]
XS = [s.split() for s in ("light shines", "dogs bark loud", "red light shines", "dogs shine", "loud dogs bark")]
YS = [list(s) for s in ("NV", "NVA", "ANV", "NV", "ANV")]
POOL = [s.split() for s in ("light bark", "red dogs shine loud", "dogs", "loud red light", "bark shines")]


@rule
def one_verb(x, y):
    """There is exactly one verb."""
    return count(y[t] == "V" for t in x.positions) == 1


def broken(rules, xs, ys) -> int:
    return sum(one.violations(Sentence(x), y) for one in rules for x, y in zip(xs, ys))


@pytest.mark.parametrize("learner", ["structural_svm", "crf", "perceptron", "hmm", "naive_bayes", "mira"])
def test_rules_are_added_to_any_trained_model_without_retraining(learner: str) -> None:
    tagger = sl.Tagger(learner=learner, labels=LABELS).fit(XS, YS)
    before = tagger.model_.weights.copy()
    plain = tagger.predict(POOL)
    assert broken([one_verb], POOL, plain) > 0
    assert broken([one_verb], POOL, tagger.predict(POOL, rules=[one_verb])) == 0
    assert tagger.predict(POOL) == plain and np.array_equal(before, tagger.model_.weights)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_handed_scores_under_rules_are_the_best_of_all_outputs(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    length = data.draw(st.integers(1, 4))
    tokens, transition = rng.normal(size=(length, 3)), rng.normal(size=(3, 3))
    start, end = rng.normal(size=3), rng.normal(size=3)
    rules = [one_verb.soft(0.7), gallery.few_changes(1), gallery.requires("A", "N").soft(float(rng.exponential()))]
    x = [f"w{t}" for t in range(length)]
    scorer = HandedScores(LABELS, lambda _: tokens, transition, start, end)

    def worth(labels: tuple[int, ...]) -> float:
        score = start[labels[0]] + end[labels[-1]] + sum(tokens[t, a] for t, a in enumerate(labels))
        score += sum(transition[a, b] for a, b in itertools.pairwise(labels))
        named = [LABELS[a] for a in labels]
        degrees = [one.violations(Sentence(x), named) for one in rules]
        return float(score - sum(0.0 if not d else d * (one.penalty or 0.0) for one, d in zip(rules, degrees)))

    best = max(worth(labels) for labels in itertools.product(range(3), repeat=length))
    found = Constrained(scorer, rules).solutions([x])[0]
    assert found.exact and found.value == pytest.approx(best) and worth(found.labels) == pytest.approx(best)


def test_hard_rules_in_conflict_are_named() -> None:
    tagger = sl.Tagger(labels=LABELS).fit(XS, YS)
    rules = [gallery.at_least(2, "V", name="two_verbs"), one_verb, gallery.starts_with("N")]
    with pytest.raises(Infeasible, match="two_verbs") as raised:
        tagger.predict([["dogs", "bark", "loud"]], rules=rules)
    assert "one_verb" in str(raised.value) and "start" not in str(raised.value)


def test_unknown_labels_are_refused_when_the_rule_is_given() -> None:
    tagger = sl.Tagger(labels=LABELS).fit(XS, YS)
    wrong = rule(
        lambda x, y: count(y[t] == "VERB" for t in x.positions) == 1,
    )
    with pytest.raises(DataError, match="no label 'VERB'"):
        Constrained(tagger, [wrong])
    with pytest.raises(DataError, match="no label 'X'"):
        sl.Tagger(labels=LABELS, rules=[gallery.starts_with("X")]).fit(XS, YS)
    with pytest.raises(ValueError, match="make a rule of a function"):
        sl.Tagger(labels=LABELS, rules=[lambda x, y: True]).fit(XS, YS)


def test_clamped_labels_and_rules_hold_together() -> None:
    tagger = sl.Tagger(labels=LABELS, rules=[one_verb]).fit(XS, YS)
    x = ["dogs", "bark", "loud"]
    for t in range(3):
        clamp = [["V" if t == at else None for at in range(3)]]
        (found,) = tagger.predict([x], clamp=clamp)
        assert found[t] == "V" and found.count("V") == 1


def test_learned_penalties_are_counted_on_gold_kept_in_the_file_and_used_again(tmp_path: Path) -> None:
    soft = gallery.starts_with("N").soft()
    tagger = sl.Tagger(labels=LABELS, rules=[soft, one_verb]).fit(XS, YS)
    share = (2 + 1) / (13 + 2)
    assert tagger.penalties_ == pytest.approx([np.log((1 - share) / share), np.inf])
    tagger.save(tmp_path / "m.sidelight")
    loaded = sl.load_model(tmp_path / "m.sidelight")
    again = Constrained(loaded, [soft, one_verb])
    assert again.predict(POOL) == tagger.predict(POOL)
    with pytest.raises(DataError, match="penalty of the rule end has not been learned"):
        Constrained(loaded, [gallery.ends_with("V", name="end").soft()]).predict(POOL)
    Constrained(loaded, [gallery.ends_with("V", name="end").soft()]).learn_penalties(XS, YS).predict(POOL)


def test_rules_are_for_paths() -> None:
    tagger = sl.Tagger(labels=LABELS, rules=[one_verb]).fit(XS, YS)
    with pytest.raises(ValueError, match="best path"):
        tagger.predict(POOL, by="marginals")
    with pytest.raises(DataError, match="no inference method 'magic'"):
        sl.Tagger(labels=LABELS, rules=[one_verb], inference="magic").fit(XS, YS)


@pytest.mark.parametrize("method", ["auto", "dynamic", "a_star", "ilp"])
def test_exact_methods_predict_the_same(method: str) -> None:
    tagger = sl.Tagger(labels=LABELS, rules=[one_verb, gallery.few_changes(2).soft(0.3)], inference=method).fit(XS, YS)
    plain = sl.Tagger(labels=LABELS, rules=tagger.rules).fit(XS, YS)
    values = [[one.value for one in each._under(None).solutions(POOL)] for each in (tagger, plain)]
    assert values[0] == pytest.approx(values[1])


def _evidence(**kwargs):
    return [*sl.gold(XS, YS), *sl.unlabeled(POOL, **kwargs)]


def _weights(learner, evidence, rules=(), **more):
    return sl.Tagger(learner=learner, labels=LABELS, rules=rules, **more).fit(evidence).model_.weights


def test_codl_without_rules_is_hard_em_and_posterior_regularisation_is_em() -> None:
    base = recipes.hmm()
    hard = _weights(recipes.hard_em(iterations=3, beta=0.8), _evidence())
    assert np.array_equal(_weights(recipes.codl(base=base, beta=0.8, cycles=3), _evidence()), hard)
    soft = _weights(recipes.em(iterations=3), _evidence())
    assert np.array_equal(_weights(recipes.posterior_regularization(base=base, iterations=3), _evidence()), soft)


@pytest.mark.parametrize("base", ["hmm", "crf", "structural_svm", "perceptron"])
def test_beta_one_is_the_model_of_gold(base: str) -> None:
    alone = sl.Tagger(learner=base, labels=LABELS, freeze_vocabulary=False).fit(_evidence()[: len(XS)])
    driven = sl.Tagger(learner=recipes.codl(base=base, beta=1.0, cycles=2), labels=LABELS, rules=[one_verb])
    driven.fit(_evidence())
    assert driven.predict(XS, rules=()) == alone.predict(XS)


@pytest.mark.parametrize("base", ["hmm", "crf", "structural_svm"])
def test_codl_learns_what_only_the_rule_says(base: str) -> None:
    """Gold shows no A at all; the rule says that the words of a lexicon are A."""
    words_are_a = gallery.words_are(["red", "loud"], "A", name="adjectives")
    gold = sl.gold(*zip(*[(x, y) for x, y in zip(XS, YS) if "A" not in y]))
    pool = [["red", "light"], ["loud", "dogs"], ["red", "dogs"], ["loud", "light"]] * 5
    evidence = [*gold, *sl.unlabeled(pool)]
    tagger = sl.Tagger(learner=recipes.codl(base=base, beta=0.5, cycles=3), labels=LABELS, rules=[words_are_a])
    found = tagger.fit(evidence).predict(pool, rules=())
    assert sum(y[0] == "A" for y in found) == len(pool)


def test_rules_of_the_evidence_bear_on_their_inputs_alone() -> None:
    no_noun = gallery.at_most(0, "N")
    first = [*sl.gold(XS, YS), *sl.unlabeled(POOL[:2], rules=[no_noun]), *sl.unlabeled(POOL[2:])]
    from sidelight.inference.ruled import RuledInputs

    inputs = RuledInputs.of(
        [piece.x for piece in first], LABELS, [one_verb], [getattr(piece, "rules", ()) for piece in first]
    )
    members = {tuple(inputs.rules[k].name for k in rules): which.tolist() for rules, which in inputs.groups}
    assert members == {("one_verb",): [0, 1, 2, 3, 4, 7, 8, 9], ("one_verb", "at_most_0_N"): [5, 6]}
    assert not np.array_equal(_weights("codl", first), _weights("codl", _evidence()))
    starts = gallery.starts_with("N").soft()
    inputs = RuledInputs.of(POOL[:3], LABELS, [one_verb], [[starts], [], [starts]])
    labels = np.array([0, 1, 2, 0, 0, 0, 1])  # N V | A N N N | V
    share = (1 + 1) / (3 + 2)  # of the three tokens that the rule is about, not of all
    assert inputs.counted(labels, np.array([0, 2, 6, 7])) == pytest.approx([np.inf, np.log((1 - share) / share)])
    with pytest.raises(Infeasible, match="example 5: no output obeys the rule many"):
        _weights("codl", [*sl.gold(XS, YS), *sl.unlabeled(POOL[:1], rules=[gallery.at_least(9, "N", name="many")])])


@pytest.mark.parametrize("gamma", [1.0, 0.5, 0.0])
def test_constrained_em_never_lets_its_objective_rise(gamma: float) -> None:
    found = references(30, seed=4)
    xs, ys = [r.tokens for r in found], [r.labels for r in found]
    labels = sorted({label for y in ys for label in y})
    rules = [gallery.appears_once(labels).soft(2.0), gallery.changes_after_punctuation().soft(1.0)]
    evidence = [*sl.gold(xs[:5], ys[:5]), *sl.unlabeled(xs[5:15])]
    learner = recipes.posterior_regularization(gamma=gamma, iterations=4)
    tagger = sl.Tagger(learner=learner, rules=rules, labels=labels, decrease=0.0).fit(evidence)
    objectives = [record.objective for record in tagger.rounds_]
    assert len(objectives) >= 2
    assert all(after <= before + 1e-4 * abs(before) for before, after in itertools.pairwise(objectives))


def test_posterior_regularisation_of_a_crf_never_lets_its_objective_rise_and_obeys() -> None:
    third = rule(lambda x, y: every(count(y[t] == "N" for t in x.positions) == 0), name="no_noun")
    learner = recipes.posterior_regularization(base="crf", iterations=5)
    tagger = sl.Tagger(learner=learner, rules=[third.soft(4.0)], labels=LABELS, decrease=0.0, prices={"unlabeled": 1.0})
    tagger.fit(_evidence())
    objectives = [record.objective for record in tagger.rounds_]
    assert all(after <= before + 1e-3 for before, after in itertools.pairwise(objectives)) and len(objectives) > 2
    plain = sl.Tagger(learner="crf", labels=LABELS).fit(XS, YS)
    nouns = [sum(float(np.sum([t["N"] for t in x])) for x in one.predict_marginals(POOL)) for one in (tagger, plain)]
    assert nouns[0] < 0.8 * nouns[1]


@pytest.mark.parametrize("base", ["hmm", "structural_svm"])
def test_codl_goes_on_from_a_checkpoint_to_the_same_bits(base: str, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def interrupt(record: sl.Round) -> None:
        if record.number == 2:
            raise Stop

    learner = recipes.codl(base=base, beta=0.7, cycles=4)
    rules = [one_verb.soft(), gallery.starts_with("A").soft(0.5)]
    whole = _weights(learner, _evidence(), rules)
    path = tmp_path / "c"
    with pytest.raises(Stop):
        _weights(learner, _evidence(), rules, checkpoint=path, callbacks=[interrupt])
    assert np.array_equal(_weights(learner, _evidence(), rules, checkpoint=path), whole)


def test_codl_needs_gold_and_gives_no_partial_fit() -> None:
    with pytest.raises(DataError, match="there is none"):
        sl.Tagger(learner=recipes.codl(base="crf"), labels=LABELS).fit(sl.unlabeled(POOL))
    with pytest.raises(ValueError, match="from 0 to 1"):
        recipes.codl(beta=2.0)
    chunked = sl.Candidates(["red", "light"], [None, None], chunks=[sl.Chunk(0, [("A", "N"), ("N", "V")])])
    with pytest.raises(Intractable, match="single tokens; use cllp for chunks"):
        sl.Tagger(learner=recipes.codl(base="crf"), labels=LABELS).fit([*sl.gold(XS, YS), chunked])
    with pytest.raises(DataError, match="make a rule of a function"):
        sl.Tagger(learner="codl", labels=LABELS).fit([*sl.gold(XS, YS), *sl.unlabeled(POOL, rules=[len])])
    with pytest.raises(ValueError, match="hmm or crf"):
        recipes.posterior_regularization(base="perceptron")
    with pytest.raises(ValueError, match="there are"):
        recipes.codl(base="nothing")


def test_validation_keeps_the_penalties_of_the_model_that_it_keeps() -> None:
    rules = [one_verb.soft(), gallery.starts_with("N").soft()]
    learner = recipes.codl(base="structural_svm", beta=0.5, cycles=3)
    tagger = sl.Tagger(learner=learner, labels=LABELS, rules=rules).fit(_evidence(), validation=(XS, YS))
    scores = [record.validation for record in tagger.rounds_]
    assert tagger.score(XS, YS) == max(score for score in scores if score is not None)
    names = [one.name for one in rules]
    assert tagger.model_.about["penalties"] == dict(zip(names, tagger.penalties_))


def test_rules_about_classes() -> None:
    """For classes the label is y[0] and the input x[0]."""
    xs = [{"big": 1.0}, {"small": 1.0}, {"big": 1.0, "red": 1.0}, {"small": 1.0, "red": 1.0}]
    ys = ["A", "B", "A", "C"]

    @rule
    def red_is_c(x, y):
        return implies("red" in x[0], y[0] == "C")

    plain = sl.Classifier().fit(xs, ys)
    assert plain.predict(xs[2:3]) == ["A"] and plain.predict(xs[2:3], rules=[red_is_c]) == ["C"]
    ruled = sl.Classifier(rules=[red_is_c.soft()]).fit(xs, ys)
    assert ruled.penalties_ == pytest.approx([np.log(2.0)])
    pool = [{"red": 1.0, "new": 1.0}] * 3
    evidence = [*sl.gold(xs, ys), *sl.unlabeled(pool)]
    driven = sl.Classifier(learner=recipes.codl(base="structural_svm", beta=0.5, cycles=2), rules=[red_is_c]).fit(
        evidence
    )
    assert driven.predict([{"new": 1.0}], rules=()) == ["C"] and driven.score(xs, ys) == 0.75
