"""What people get wrong on the first day ends with one clear line, and what they may expect works."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.rules import gallery, rule

XS = [["Anna", "visits", "Rome"], ["Paul", "is", "in", "Oslo"], ["Rome", "is", "old"], ["Anna", "sees", "Paul"]]
YS = [["PER", "O", "LOC"], ["PER", "O", "O", "LOC"], ["LOC", "O", "O"], ["PER", "O", "PER"]]


@rule
def second_is_outside(x, y):
    return y[1] == "O"


@pytest.fixture(scope="module")
def tagger() -> sl.Tagger:
    return sl.Tagger(n_jobs=1, features=sl.features.words()).fit(XS, YS)


@pytest.mark.parametrize("wrong", [["Anna", "visits"], ["Anna visits Rome"], [["Anna"], "Rome"]])
def test_a_string_is_no_sentence(tagger, wrong):
    with pytest.raises(sl.DataError, match=r"input \d is a string; give a list of tokens"):
        tagger.predict(wrong)
    with pytest.raises(sl.DataError, match=r"input \d is a string"):
        sl.Tagger().fit(wrong, [["O"]] * len(wrong))
    with pytest.raises(sl.DataError, match=r"evidence 0 \(Unlabeled\): the input is a string"):
        sl.Tagger(learner="em", labels="AB").fit(sl.unlabeled(["Anna visits"]))
    with pytest.raises(sl.DataError, match="input 0 is a string; give a list of words, or a dict of features"):
        sl.Classifier().fit(["good film", "bad film"], ["p", "n"])


@pytest.mark.parametrize("estimator", [sl.Tagger, sl.SegmentTagger])
@pytest.mark.parametrize("wrong", [{"w": "Anna"}, {}, {"Anna", "visits"}, 3, None])
def test_what_has_no_tokens_is_no_sentence(estimator, wrong):
    """Of a dict the keys would be read as words."""
    problem = rf"is not a sequence of tokens \({type(wrong).__name__}\); give a list of tokens"
    fitted = estimator(n_jobs=1, max_rounds=2).fit([[{"w": word} for word in x] for x in XS], YS)
    for method in ("predict", "predict_marginals", "log_partition", "solutions", "sample"):
        with pytest.raises(sl.DataError, match=f"input 1 {problem}"):
            getattr(fitted, method)([[{"w": "Anna"}], wrong])
    for name, more in (("log_probability", [["O"], ["O"]]), ("k_best", 2), ("score", [["O"], ["O"]])):
        with pytest.raises(sl.DataError, match=f"input 1 {problem}"):
            getattr(fitted, name)([[{"w": "Anna"}], wrong], more)
    with pytest.raises(sl.DataError, match=f"input 0 {problem}"):
        fitted.explain_rules(wrong)
    with pytest.raises(sl.DataError, match=f"input 0 {problem}"):
        estimator().fit([wrong], [["O"]])
    with pytest.raises(sl.DataError, match="input 0 is a string"):
        fitted.explain_rules("Anna")
    for piece in (sl.Gold(wrong, ["O", "O"]), sl.Candidates(wrong, [{"O", "PER"}] * 2), sl.Partial(wrong, ["O", None])):
        with pytest.raises(sl.DataError, match=rf"evidence 0 \({type(piece).__name__}\): the input {problem}"):
            estimator().fit([piece])


def test_more_of_a_tagger_alone_wants_sentences(tagger):
    for method in (tagger.prepare, tagger.judge):
        with pytest.raises(sl.DataError, match=r"input 0 is not a sequence of tokens \(dict\)"):
            method([{"w": "Anna"}])
    with pytest.raises(sl.DataError, match=r"input 0 is not a sequence of tokens \(dict\)"):
        sl.Tagger(max_rounds=2).fit(XS, YS, validation=([{"w": "Anna"}], [["O"]]))


def test_arrays_and_iterators_of_strings_are_inputs(tagger):
    arrays = [np.array(x) for x in XS]
    assert tagger.predict(arrays) == tagger.predict(XS) == tagger.predict(iter(XS))
    again = sl.Tagger(n_jobs=1, features=sl.features.words()).fit((x for x in arrays), (y for y in YS))
    np.testing.assert_array_equal(again.model_.weights, tagger.model_.weights)
    with pytest.raises(sl.DataError, match=r"input 0 is an array of numbers; sidelight.Matrix takes"):
        sl.Tagger().fit([np.zeros((3, 2))], [["O", "O", "O"]])


def test_tokens_of_another_kind_are_named(tagger):
    class Token:
        pass

    with pytest.raises(sl.DataError, match=r"input 0, token 0: a dict where these features read strings"):
        tagger.predict([[{"w": "Anna"}]])
    with pytest.raises(sl.DataError, match=r"input 1, token 1: a Token where these features read strings"):
        tagger.predict([["Anna"], ["Anna", Token()]])


def test_evidence_or_outputs_but_not_both(tagger):
    with pytest.raises(sl.DataError, match="evidence has its own outputs, and others are given"):
        tagger.fit(sl.gold(XS, YS), YS)


@pytest.mark.parametrize("learner", ["crf", "hmm", "perceptron", "partial_crf"])
def test_class_weights_are_not_ignored(learner):
    with pytest.raises(ValueError, match=f"{learner} knows no cost and no class_weight"):
        sl.Tagger(learner=learner, class_weight={"O": 5.0}).fit(XS, YS)


def test_one_rule_is_no_list():
    with pytest.raises(ValueError, match=r"rules is the rule second_is_outside; give a list"):
        sl.Tagger(rules=second_is_outside).fit(XS, YS)


def test_a_rule_may_speak_of_any_token_that_inputs_have(tagger):
    under = sl.Constrained(tagger, [second_is_outside])
    assert [y[1] for y in under.predict(XS)] == ["O"] * len(XS)
    assert [y[1] for y in tagger.predict(XS, rules=[second_is_outside])] == ["O"] * len(XS)
    with pytest.raises(sl.DataError, match=r"outside on example 0: the rule uses y\[1\] of an output"):
        under.predict([["Anna"]])


def test_a_segment_is_no_longer_than_inputs():
    with pytest.raises(sl.DataError, match="max_length is 1000000, and the longest input has 4 tokens"):
        sl.SegmentTagger(max_length=10**6).fit(XS, YS)


def test_models_come_back_as_estimators(tmp_path, tagger):
    path = tmp_path / "m"
    rules = [gallery.at_most(0, "PER"), gallery.starts_with("LOC").soft()]
    under = sl.Tagger(learner="jlis", n_jobs=1, features=sl.features.words(), rules=rules).fit(XS, YS)
    under.save(path)
    back = sl.Tagger.load(path, rules=rules)
    assert back.predict(XS) == under.predict(XS) != back.predict(XS, rules=())
    assert back.penalties_ == under.penalties_
    assert back.model_.about["rules"] == [one.name for one in rules]
    assert back.predict_marginals(XS) == under.predict_marginals(XS)
    assert sl.Tagger.load(path).predict(XS) == under.predict(XS, rules=())
    with pytest.raises(sl.ModelFileError, match=r"not the model of a Classifier; use Tagger.load"):
        sl.Classifier.load(path)
    with pytest.raises(sl.ModelFileError, match=r"not the model of a SegmentTagger; use Tagger.load"):
        sl.SegmentTagger.load(path)
    segments = tmp_path / "s"
    sl.SegmentTagger(max_rounds=2, n_jobs=1).fit(XS, YS).save(segments)
    with pytest.raises(sl.ModelFileError, match=r"not the model of a Tagger; use SegmentTagger.load"):
        sl.Tagger.load(segments)
    (tmp_path / "text").write_text("Anna PER\n")
    with pytest.raises(sl.ModelFileError, match="this is text, not a model"):
        sl.load_model(tmp_path / "text")


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive", "cl_svm", "contrastive", "crf", "hmm"])
def test_learners_that_would_forget_have_no_partial_fit(learner):
    with pytest.raises(ValueError, match=f"{learner} has no partial_fit"):
        sl.Tagger(learner=learner, labels=["LOC", "O", "PER"]).partial_fit(
            sl.candidates(XS, [[[y] for y in one] for one in YS]) if learner not in ("crf", "hmm") else sl.gold(XS, YS)
        )


def test_what_was_loaded_goes_on_as_it_was(tmp_path):
    ys = [["B-P", "O", "B-L"], ["B-P", "I-P", "O", "B-L"], ["B-L", "I-L", "O"], ["B-P", "O", "B-P"]]
    sl.Tagger(learner="perceptron", scheme="BIO", n_jobs=1).fit(XS, ys).save(tmp_path / "m")
    back = sl.Tagger.load(tmp_path / "m")
    assert back.learner == "perceptron" and back.model_.allowed is not None
    back.partial_fit(XS[:1], ys[:1])
    assert back.model_.allowed is not None
    segments = sl.SegmentTagger(scheme="BIO", max_rounds=3, rules=[gallery.at_most(0, "B-P").soft()], n_jobs=1).fit(
        XS, ys
    )
    segments.save(tmp_path / "s")
    again = sl.SegmentTagger.load(tmp_path / "s", rules=segments.rules)
    assert again.predict(XS) == segments.predict(XS) and again.penalties_ == segments.penalties_


def test_inputs_may_be_an_iterator():
    """By every way to predict: with rules and without, of tokens and of segments."""
    evidence = [sl.Gold(["a", "b"], ["X", "Y"]), sl.Gold(["b", "a"], ["Y", "X"])]
    few = [gallery.at_most(1, "X")]
    for estimator in (sl.Tagger(learner="crf", n_jobs=1), sl.SegmentTagger(max_length=2, n_jobs=1)):
        fitted = estimator.fit(evidence)
        for rules in ((), few):
            expected = fitted.predict([["a", "a"]], rules=rules)
            assert fitted.predict((x for x in [["a", "a"]]), rules=rules) == expected


def test_arrays_of_words_are_sentences():
    xs, ys = [["a", "b"], ["b", "a", "a"]], [["X", "Y"], ["Y", "X", "X"]]
    arrays = [np.array(x) for x in xs], [np.array(y) for y in ys]
    plain, other = sl.Tagger(n_jobs=1).fit(xs, ys), sl.Tagger(n_jobs=1).fit(*arrays)
    assert np.array_equal(plain.model_.weights, other.model_.weights)
    assert plain.predict(arrays[0]) == other.predict(xs) == ys
    assert other.predict([["a", np.str_("b")]]) == [["X", "Y"]]


@pytest.mark.parametrize("make", [sl.Tagger, sl.SegmentTagger])
@pytest.mark.parametrize(
    ("y", "says"),
    [
        (np.array(["X"]), "3 tokens but an output for 1"),
        (np.array(["X", "Y"]), "3 tokens but an output for 2"),
        ("X", "the output 'X' is a str"),
        ("XYX", "the output 'XYX' is a str"),
        ({"X", "Y", "Z"}, "is a set"),
        (5, "the output 5 is a int"),
        (None, "the output None is a NoneType"),
        ((label for label in "XYX"), "is a generator"),
        (np.array(["X", None, "Y"], dtype=object), "token 1: no label"),
    ],
)
def test_gold_has_one_label_for_every_token(make, y, says) -> None:
    with pytest.raises(sl.DataError, match=says):
        make().fit([sl.Gold(["a", "b", "c"], y), sl.Gold(["d"], ["Y"])])
    with pytest.raises(sl.DataError, match=says):
        make().fit([["a", "b", "c"], ["d"]], [y, ["Y"]])


def test_arrays_of_labels_are_lists_of_them() -> None:
    xs = [["a", "b"], ["b"]]
    same = [sl.Tagger().fit(xs, ys).model_.weights for ys in ([["X", "Y"], ["Y"]], [np.array(["X", "Y"]), ("Y",)])]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("make", [sl.Tagger, sl.SegmentTagger])
def test_scores_are_of_outputs_that_fit(make) -> None:
    xs, ys = [["a", "b"], ["b"], ["a"]], [["X", "Y"], ["Y"], ["X"]]
    fitted = make().fit(xs, ys)
    for more, says in (
        ((xs, ys[:2]), "3 inputs but 2 outputs"),
        ((xs, [y[:1] for y in ys]), "input 0 has 2 tokens but labels for 1"),
        ((xs, ["X", "Y", "X"]), "input 0 has 2 tokens but labels for no list"),
        ((xs, ys, [1.0, 2.0]), r"weights of shape \(2,\)"),
        (([], []), "nothing to score"),
    ):
        with pytest.raises(sl.DataError, match=says):
            fitted.score(*more)
    assert fitted.score(xs, [np.array(y) for y in ys]) == 1.0


def test_classes_are_scored_with_as_many_outputs() -> None:
    xs, ys = [["a", "b"], ["b"], ["a"]], ["X", "Y", "X"]
    with pytest.raises(sl.DataError, match="3 inputs but 2 outputs"):
        sl.Classifier().fit(xs, ys).score(xs, ys[:2])


def test_validation_is_checked_before_training() -> None:
    xs, ys = [["a", "b"], ["b"]], [["X", "Y"], ["Y"]]
    for validation, says in (
        ((xs, ys[:1]), "validation has 2 inputs but 1 outputs"),
        (([], []), "validation has no outputs"),
        ((xs, [["X"], ["Y"]]), "input 0 of validation has 2 tokens, and other labels"),
        (xs[0][0], "validation is a str"),
        (sl.unlabeled(xs), "nothing to score"),
    ):
        with pytest.raises(sl.DataError, match=says):
            sl.Tagger(callbacks=[lambda record: pytest.fail("a round was made")]).fit(xs, ys, validation=validation)
    fitted = [sl.Tagger(learner="crf").fit(xs, ys, validation=given) for given in ((xs, ys), sl.gold(xs, ys))]
    assert fitted[0].rounds_[-1].validation == fitted[1].rounds_[-1].validation is not None


@pytest.mark.parametrize("make", [sl.Tagger, sl.SegmentTagger])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("prices", 3.0),
        ("prices", {"gold": None}),
        ("tolerance", "a"),
        ("max_rounds", "5"),
        ("max_rounds", 2.5),
        ("n_jobs", 1.5),
        ("seed", None),
        ("seed", -1),
        ("callbacks", print),
        ("callbacks", ["x"]),
    ],
)
def test_settings_of_another_type_are_named(make, setting, value) -> None:
    with pytest.raises(ValueError, match=f"{setting}|price"):
        make(**{setting: value}).fit(XS, YS)


@pytest.mark.parametrize(
    ("setting", "value"), [("cost", 3.0), ("cost", {"O": 2}), ("seed", -1), ("features", "words"), ("patience", "3")]
)
def test_settings_of_taggers_that_mean_nothing_are_named(setting, value) -> None:
    with pytest.raises(ValueError, match=f"^{setting} is "):
        sl.Tagger(**{setting: value}).fit(XS, YS)


def test_the_length_of_segments_is_a_number() -> None:
    with pytest.raises(ValueError, match=r"^max_length is '3'; give a whole number"):
        sl.SegmentTagger(max_length="3").fit(XS, YS)


def test_options_of_recipes_are_set_with_the_recipe() -> None:
    with pytest.raises(ValueError, match=r"learner__l1: learner is .* set learner itself instead"):
        sl.Tagger(learner=sl.recipes.crf()).set_params(learner__l1=0.1)
    with pytest.raises(ValueError, match="l1 is 'a'"):
        sl.recipes.crf(l1="a")
    with pytest.raises(ValueError, match="copies goes with neighbours='shuffle', and neighbours is 'swaps'"):
        sl.recipes.contrastive(neighbours="swaps", copies=3)


def test_probabilities_of_candidates_are_not_passed_over() -> None:
    with pytest.raises(sl.DataError, match=r"token 0: the candidates .* are a dict"):
        sl.Tagger(learner="cllp").fit([sl.Candidates(["a"], [{"A": 0.3, "B": 0.7}])])


@pytest.mark.parametrize("make", [sl.Tagger, sl.SegmentTagger])
def test_clamped_labels_that_no_output_has_are_named_so(make) -> None:
    fitted = make(scheme="BIO").fit([["Ann", "Lee", "sat"]], [["B-PER", "I-PER", "O"]])
    for ask in (
        fitted.predict,
        fitted.predict_marginals,
        fitted.log_partition,
        lambda xs, clamp: fitted.k_best(xs, 2, clamp=clamp),
    ):
        with pytest.raises(sl.Infeasible, match=r"example 1: no output has the clamped labels.*; clamp fewer"):
            ask([["Ann"], ["sat", "Lee"]], clamp=[None, ["O", "I-PER"]])


def test_a_price_of_zero_is_no_warning() -> None:
    learner = sl.recipes.structural_svm(solver="exponentiated_gradient")
    fitted = sl.Tagger(learner=learner, loss="hinge", prices={"gold": 0.0}).fit(XS, YS)  # warnings are errors here
    assert not fitted.model_.weights.any()
