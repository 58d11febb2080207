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
from sidelight.errors import DataError, Infeasible, NotProved
from sidelight.estimators.constrained import Constrained, HandedScores
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


@pytest.mark.parametrize("make", [sl.Tagger, sl.SegmentTagger])
def test_rules_that_are_set_later_have_penalties_of_their_own(make) -> None:
    learned, dear = gallery.at_most(0, "A").soft(), gallery.at_most(0, "V").soft(1000.0)
    tagger = make(labels=LABELS, rules=[learned]).fit(XS, YS)
    for rules in ([dear], [dear, one_verb], []):
        tagger.set_params(rules=rules)
        assert tagger.predict(POOL) == tagger.predict(POOL, rules=rules)
    assert "V" not in str(tagger.set_params(rules=[dear]).predict(POOL))
    tagger.set_params(rules=[learned])
    assert tagger._under(None).prices() == tagger.penalties_


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


def flat(*labels: str, **more: object) -> HandedScores:
    """The first label is the better one, everywhere."""
    return HandedScores(labels, lambda x: np.tile(-np.arange(float(len(labels))), (len(x), 1)), **more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"transition": np.zeros((2, 2))},
            r"transitions have the shape \(2, 2\) and not \(3, 3\); give one",
        ),
        ({"transition": np.zeros(3)}, r"transitions have the shape \(3,\)"),
        ({"transition": [[0.0, 1.0, 2.0], [0.0]]}, "transitions are not numbers in rows of one length"),
        ({"start": np.zeros(2)}, r"first labels have the shape \(2,\)"),
        ({"start": [0.0, np.nan, 0.0]}, "first labels have nan or inf among them; give finite numbers, or -inf"),
        ({"end": np.full(3, np.inf)}, "last labels have nan or inf"),
        ({"labels": ["A", "B", "A"]}, "the label 'A' is listed twice; give every label once"),
        ({"labels": []}, "there are no labels to score"),
        ({"tokens": np.zeros((2, 3))}, "the scores of tokens are a ndarray; give a function of an input"),
    ],
)
def test_handed_scores_are_checked_when_they_are_given(more: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        HandedScores(**{"labels": ["A", "B", "C"], "tokens": lambda x: np.zeros((len(x), 3)), **more})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.zeros((1, 2)), r"the scores of input 1 have the shape \(1, 2\) and not \(2, 2\); .* 2 tokens and 2 labels"),
        (np.zeros(4), r"the shape \(4,\)"),
        ([[0.0, np.nan], [0.0, 0.0]], "input 1 have nan or inf among them"),
        ([[0.0, np.inf], [0.0, 0.0]], "input 1 have nan or inf among them"),
        ([["a", "b"], ["c", "d"]], "input 1 are not numbers"),
    ],
)
def test_handed_scores_of_tokens_are_checked_when_they_come(rows: object, said: str) -> None:
    scorer = HandedScores(["A", "B"], lambda x: np.zeros((1, 2)) if len(x) == 1 else rows)
    with pytest.raises(DataError, match=said):
        Constrained(scorer, [gallery.at_most(1, "A")]).predict([["x"], ["x", "y"]])


def test_labels_of_handed_scores_are_clamped_input_by_input() -> None:
    under = Constrained(flat("A", "B"), [gallery.at_most(2, "A")])
    xs = [["x", "y"], ["x", "y"]]
    assert under.predict(xs, clamp=[["B", None], [None, "B"]]) == [["B", "A"], ["A", "B"]]
    for clamp, said in (
        ([["A"], [None, "A"]], "clamp does not fit the inputs"),
        ([["A", "A"]], "clamp does not fit the inputs"),
        ([["A", "A"], ["A", "C"]], "clamp names the unknown label 'C'"),
    ):
        with pytest.raises(DataError, match=said):
            under.predict(xs, clamp=clamp)


@pytest.mark.parametrize("method", ["auto", "ilp", "beam"])
def test_inputs_without_tokens_have_an_empty_output(method: str) -> None:
    some = gallery.at_least(1, "B")
    found = Constrained(flat("A", "B"), [some.soft(2.0)], method=method).solutions([[], ["x"]])
    assert [(one.labels, one.value) for one in found] == [((), -2.0), ((1,), -1.0)]
    with pytest.raises(Infeasible, match="example 0: the input has no tokens, and the rule at_least_1_B requires some"):
        Constrained(flat("A", "B"), [some], method=method).predict([[]])


def test_penalties_and_outputs_are_as_many_as_they_should_be() -> None:
    scorer = flat(*LABELS)
    rules = [gallery.at_most(0, "A", name="few").soft(), one_verb]
    for penalties, said in (
        ([1.0], "1 penalties for 2 rules; give every rule one"),
        ([], "0 penalties for 2 rules"),
        ([1.0, 2.0, 3.0], "3 penalties for 2 rules"),
        ([-1.0, 2.0], "the penalty of few is -1.0; give a number that is not negative"),
        ([np.nan, 2.0], "the penalty of few is nan"),
    ):
        with pytest.raises(DataError, match=said):
            Constrained(scorer, rules, penalties=penalties)
    under = Constrained(scorer, rules)
    for ys, said in (
        ([["N", "V"]], "there are 2 inputs and 1 outputs; give every input one output"),
        ([["N", "V"], ["N"]], "output 1 has 1 labels for 2 tokens; give one label per token"),
        ([["N", "V"], ["N", "v"]], "output 1: there is no label 'v'"),
    ):
        for count_them in (under.learn_penalties, under.violations):
            with pytest.raises(DataError, match=said):
                count_them([["a", "b"], ["c", "d"]], ys)


def test_what_is_no_list_of_rules_is_said() -> None:
    scorer = flat(*LABELS)
    for rules, said in (
        ([lambda x, y: True], "make a rule of a function"),
        (one_verb, r"rules is the rule one_verb; give a list of rules: \[one_verb\]"),
        ([gallery.starts_with(label, name="first").soft() for label in "NV"], "are called first; rename one of them"),
    ):
        with pytest.raises(DataError, match=said):
            Constrained(scorer, rules)
    assert Constrained(scorer, None).predict([["a"]]) == [["N"]]


def test_a_rule_that_is_given_twice_counts_once_and_the_next_keeps_its_price() -> None:
    soft, other = gallery.at_most(0, "N", name="no_noun").soft(0.75), gallery.at_most(0, "V", name="no_verb").soft(9.0)
    under = Constrained(flat(*LABELS), [soft, soft, other], penalties=[0.75, 0.75, 9.0])
    assert under.prices() == [0.75, 9.0] and under.solutions([["a"]])[0].value == -0.75
    assert [effect.penalty for effect in under.explain_rules(["a"]).rules] == [0.75, 9.0]


def test_where_clamped_labels_are_the_cause_rules_are_not_blamed() -> None:
    x, few = ["x", "y", "z"], gallery.at_most(1, "V", name="few_verbs")
    forbidding = np.zeros((3, 3))
    forbidding[0, 1] = -np.inf
    under = Constrained(flat(*LABELS, transition=forbidding), [few, gallery.starts_with("N", "A")])
    for clamp, said in (
        (["V", None, None], "example 1: no output has the clamped labels and obeys the rule start; clamp fewer"),
        (["A", "V", "V"], "has the clamped labels and obeys the rule few_verbs; clamp fewer, or make it soft"),
        (["N", "V", None], "example 1: no output has the clamped labels: .* is ruled out; clamp fewer"),
    ):
        with pytest.raises(Infeasible, match=said):
            under.predict([x, x], clamp=[[None] * 3, clamp])
    with pytest.raises(Infeasible, match="example 0: no output obeys the rules few_verbs and many together"):
        rules = [few, gallery.at_least(3, "V", name="many")]
        Constrained(flat(*LABELS), rules).predict([x], clamp=[[None, None, "V"]])
    with pytest.raises(Infeasible, match=r"obeys the rules few_verbs and end; .* make one of them soft"):
        Constrained(flat("N", "V"), [few, gallery.ends_with("V")]).predict([x], clamp=[["V", None, None]])


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


@rule
def palindrome(x, y):
    """The labels read the same from both ends."""
    return every(y[t] == y[-1 - t] for t in range(len(x) // 2))


def test_methods_that_prove_nothing_say_so() -> None:
    rng = np.random.default_rng(1)
    drawn = {length: rng.normal(size=(length, 3)) for length in range(1, 13)}
    scorer = HandedScores(LABELS, lambda x: drawn[len(x)], rng.normal(size=(3, 3)))
    xs, rules = [["w"] * length for length in drawn], [palindrome.soft(0.8), gallery.few_changes(2).soft(0.5)]
    exact = Constrained(scorer, rules)
    best = exact.solutions(xs)
    assert exact.predict(xs) == exact.outputs(best)  # and no warning
    narrow = Constrained(scorer, rules, method="beam", beam_width=4)
    found = narrow.solutions(xs)
    left = [one for one in found if not one.exact]
    assert 0 < len(left) < len(xs)
    for one, right in zip(found, best):
        assert one.value <= right.value + 1e-9 <= one.bound + 2e-9
        assert not one.exact or one.value == pytest.approx(right.value)
    said = rf"{len(left)} of 12 outputs are not proved best \(beam search\); solutions\(…\) shows which"
    with pytest.warns(NotProved, match=said):
        assert narrow.predict(xs) == narrow.outputs(found)
    wide = Constrained(scorer, rules, method="beam", beam_width=3000).solutions(xs)
    assert all(one.exact for one in wide) and wide[-1].steps > found[-1].steps
    assert not narrow.explain_rules(xs[-1]).solution.exact
    with pytest.raises(DataError, match="beam_width is 0; a beam is at least 1 wide"):
        Constrained(scorer, rules, beam_width=0)


@pytest.mark.parametrize("estimator", [sl.Tagger, sl.SegmentTagger])
def test_estimators_tell_how_outputs_were_found(estimator) -> None:
    tagger = estimator(labels=LABELS, rules=[one_verb], max_rounds=5).fit(XS, YS)
    found = tagger.solutions(POOL)
    names = [[tagger.classes_[label] for label in one.labels] for one in found]
    assert names == tagger.predict(POOL) and all(one.exact and one.method for one in found)
    clamp = [["V", *[None] * (len(x) - 1)] for x in POOL]
    assert {tagger.classes_[one.labels[0]] for one in tagger.solutions(POOL, clamp=clamp)} == {"V"}
    free = tagger.solutions(POOL, rules=())
    assert [[tagger.classes_[label] for label in one.labels] for one in free] == tagger.predict(POOL, rules=())
    classes = sl.Classifier(learner="crf", rules=[gallery.at_most(0, "a")]).fit([{"x": 1.0}, {"y": 1.0}], ["a", "b"])
    assert [one.labels for one in classes.solutions([{"x": 1.0}])] == [(1,)]


def _evidence(**kwargs):
    return [*sl.gold(XS, YS), *sl.unlabeled(POOL, **kwargs)]


def _weights(learner, evidence, rules=(), **more):
    return sl.Tagger(learner=learner, labels=LABELS, rules=rules, **more).fit(evidence).model_.weights


def test_codl_without_rules_is_hard_em_and_posterior_regularisation_is_em() -> None:
    base = recipes.hmm()
    hard = _weights(recipes.hard_em(iterations=3, beta=0.8), _evidence())
    assert np.array_equal(_weights(recipes.codl(base=base, beta=0.8, cycles=3), _evidence()), hard)
    soft = _weights(recipes.em(iterations=3, beta=None), _evidence())
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
    from sidelight.inference.ruled_inputs import RuledInputs

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


def test_posterior_regularisation_of_a_crf_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def interrupt(record: sl.Round) -> None:
        if record.number == 3:
            raise Stop

    learner = recipes.posterior_regularization(base="crf", iterations=5)
    rules = [one_verb.soft(), gallery.starts_with("A").soft(0.5)]
    options = {"prices": {"unlabeled": 1.0}, "decrease": 0.0}
    whole = _weights(learner, _evidence(), rules, **options)
    path = tmp_path / "c"
    with pytest.raises(Stop):
        _weights(learner, _evidence(), rules, checkpoint=path, callbacks=[interrupt], **options)
    assert np.array_equal(_weights(learner, _evidence(), rules, checkpoint=path, **options), whole)


def test_posterior_regularisation_of_a_crf_has_warm_starts_and_l1() -> None:
    learner = recipes.posterior_regularization(base=recipes.crf(l1=0.3), iterations=8)
    tagger = sl.Tagger(learner=learner, rules=[one_verb.soft()], labels=LABELS, warm_start=True, decrease=0.0)
    first = tagger.fit(_evidence()).rounds_
    assert np.count_nonzero(tagger.model_.weights == 0.0) > len(tagger.model_.weights) / 2
    again = tagger.fit(_evidence()).rounds_
    assert again[0].objective <= first[-1].objective + 1e-6
    with pytest.raises(ValueError, match="by L-BFGS, and the solver is sgd"):
        sgd = recipes.posterior_regularization(base=recipes.crf(solver="sgd"))
        sl.Tagger(learner=sgd, rules=[one_verb.soft()], labels=LABELS).fit(_evidence())


def test_codl_needs_gold_and_gives_no_partial_fit() -> None:
    with pytest.raises(DataError, match="there is none"):
        sl.Tagger(learner=recipes.codl(base="crf"), labels=LABELS).fit(sl.unlabeled(POOL))
    with pytest.raises(ValueError, match="from 0 to 1"):
        recipes.codl(beta=2.0)
    chunked = sl.Candidates(["red", "light"], [None, None], chunks=[sl.Chunk(0, [("A", "N"), ("N", "V")])])
    with pytest.raises(DataError, match=r"evidence 5 \(Candidates\): codl takes candidates of single tokens"):
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
