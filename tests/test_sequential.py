"""`SequentialLearner`: the example of the paper's section 3.2, files, reports, what it refuses."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.errors import DataError, Intractable, ModelFileError, NotFitted
from sidelight.rules import every, rule
from sidelight.rules.gallery import argument_types
from sidelight.structures.relations import EntityRelation
from sidelight.structures.sub_problems import SubProblems
from sidelight.structures.trees import DependencyTree

KINDS = ("one", "two", "three")


@rule
def alike(x, y):
    """All three are alike."""
    return every(y.one[0] == y.two[0], y.two[0] == y.three[0])


def tied(rules=(alike,)) -> SubProblems:
    return SubProblems(
        dict.fromkeys(KINDS, (0, 1)),
        rules,
        variables=lambda x: dict.fromkeys(KINDS, (0,)),
        features=lambda x, kind, key: [f"x={x[KINDS.index(kind)]}"],
    )


XS = list(product((0, 1), repeat=3))
YS = [{kind: {0: int(all(x))} for kind in KINDS} for x in XS]  # (1, 1, 1) where all inputs are 1, else (0, 0, 0)


@pytest.mark.parametrize("order", [list(KINDS), ["three", "one", "two"], "held_out", None])
def test_the_example_of_section_3_2(order):
    """L+I fails on (1, 1, 1), which sequential learning labels right, as it does all inputs."""
    given = {"form": "log_linear", "C": 100.0}
    apart = sl.SequentialLearner(tied(), method="L+I", **given).fit(XS * 8, YS * 8)
    assert [found == y for found, y in zip(apart.predict(XS), YS)] == [True] * 7 + [False]
    alone = sl.SequentialLearner(tied(), method="LO", **given).fit(XS * 8, YS * 8)
    assert alone.predict([(1, 1, 1)]) == [{kind: {0: 0} for kind in KINDS}]
    sequential = sl.SequentialLearner(tied(), method="SL", order=order, **given).fit(XS * 8, YS * 8)
    assert sequential.predict(XS) == YS
    assert sorted(sequential.order_) == sorted(KINDS)
    together = sl.SequentialLearner(tied(), method="IBT", **given).fit(XS * 8, YS * 8)
    assert together.predict(XS) == YS


def test_the_correction_that_section_3_2_tells_of():
    """The second sub-problem makes up for what the first underestimates: P(y = 1 | x1 = x2 = 1) is a half."""
    learner = sl.SequentialLearner(tied(), form="log_linear", C=1e4, order=KINDS).fit(XS * 8, YS * 8)
    layout = learner.prepare(XS).batch.scorer.layout
    weights = learner.model_.weights
    score = (
        layout.bias(weights) + layout.attribute_weights(weights)[learner.model_.structure.plain.names.places["x=1"] - 1]
    )
    gaps = score[1::2] - score[::2]
    assert gaps[0] == pytest.approx(-np.log(3.0), abs=0.05)
    assert gaps[1] == pytest.approx(np.log(3.0), abs=0.1)
    assert gaps[:2].sum() == pytest.approx(0.0, abs=0.1)
    assert gaps.sum() > 3.0


@pytest.mark.parametrize("method", ["LO", "L+I", "IBT", "SL"])
def test_a_file_holds_method_form_and_order(tmp_path, method):
    learner = sl.SequentialLearner(tied(), method=method, passes=20).fit(XS * 4, YS * 4)
    learner.save(tmp_path / "model")
    again = sl.SequentialLearner(tied()).load(tmp_path / "model")
    assert (again.method, again.form, again.order_) == (method, "perceptron", learner.order_)
    assert again.predict(XS) == learner.predict(XS)
    assert again.steps_ == learner.steps_ and again.report() == learner.report()


def test_a_file_of_something_else(tmp_path):
    sl.Predictor(tied(), learner="perceptron").fit(XS, YS).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="not the model of a SequentialLearner"):
        sl.SequentialLearner(tied()).load(tmp_path / "model")


def test_sub_problems_are_a_structure_for_any_learner():
    fitted = sl.Predictor(tied(), learner="crf").fit(XS * 8, YS * 8)
    assert fitted.predict([(0, 1, 0)]) == [YS[2]]


def test_the_report_tells_the_order_and_why():
    learner = sl.SequentialLearner(tied(), passes=3).fit(XS, YS)
    lines = learner.report().splitlines()
    assert lines[0] == "SL, perceptron"
    assert [line.split()[1] for line in lines[1:]] == learner.order_
    assert all(f"{learner.order_[0]} " in lines[1] for _ in range(1)) and lines[1].count(",") == 2
    assert "SL, perceptron" in learner._repr_html_()
    assert {record.learner for record in learner.rounds_} == {f"SL {kind}" for kind in KINDS}
    given = sl.SequentialLearner(tied(), order=["two", "one", "three"], passes=3).fit(XS, YS)
    assert given.report().splitlines()[1:] == ["  1. two", "  2. one", "  3. three"]


def test_entities_before_relations_and_a_bias():
    arguments = {"Live_In": ("Peop", "Loc")}
    structure = EntityRelation(["Peop", "Loc"], ["Live_In"], [argument_types(arguments)])
    xs = [
        EntitySentence((name, verb, "in", place), ((0, 1), (3, 4)))
        for name in ("Ann", "Bob")
        for verb in ("lives", "was")
        for place in ("Oslo", "Rome")
    ]
    ys = [Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),) if x.tokens[1] == "lives" else ()) for x in xs]
    learner = sl.SequentialLearner(structure, order=["entity", "relation"]).fit(sl.gold(xs, ys))
    assert learner.predict(xs) == ys and learner.score(xs, ys) == 1.0
    never = learner.set_params(bias={("relation", "none"): 1e6}).predict(xs)
    assert all(y.relations == () for y in never)
    summed = sl.SequentialLearner(structure, form="log_linear", order=["entity", "relation"], C=10).fit(xs, ys)
    assert summed.predict(xs) == ys


def test_what_cannot_be_summed_names_the_way_out():
    structure = EntityRelation(["Peop", "Loc"], ["Live_In"], [argument_types({"Live_In": ("Peop", "Loc")})])
    x = EntitySentence(("Ann", "lives", "in", "Oslo"), ((0, 1), (3, 4)))
    y = Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),))
    with pytest.raises(Intractable, match=r"relations without the types .*; learn by form='perceptron'"):
        sl.SequentialLearner(structure, form="log_linear", order=["relation", "entity"]).fit([x], [y])
    many = EntitySentence(tuple("abcdefghijklmnopqrstuvwxyz"), tuple((k, k + 1) for k in range(24)))
    with pytest.raises(Intractable, match=r"24 entities has 2\^24 terms; learn by form='perceptron'"):
        sl.SequentialLearner(structure, form="log_linear", order=["entity", "relation"]).fit(
            [many], [Extraction(("Peop",) * 24)]
        )
    wide = SubProblems(
        {"one": range(200), "two": range(200)},
        variables=lambda x: {"one": [0], "two": [0]},
        features=lambda x, kind, key: ["always"],
    )
    with pytest.raises(Intractable, match="too many to sum over; learn by form='perceptron'"):
        sl.SequentialLearner(wide, form="log_linear", order=["one", "two"]).fit(["x"], [{"one": {0: 1}, "two": {0: 2}}])
    by_updates = sl.SequentialLearner(wide, passes=2).fit(["x"], [{"one": {0: 1}, "two": {0: 2}}])
    assert by_updates.predict(["x"]) == [{"one": {0: 1}, "two": {0: 2}}]


def fit(structure=None, evidence=(XS, YS), **options):
    return lambda: sl.SequentialLearner(tied() if structure is None else structure, **options).fit(*evidence)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (fit(method="MEMM"), "method is 'MEMM'; give one of SL, LO, L\\+I, IBT"),
        (fit(form="svm"), "form is 'svm'"),
        (fit(order="random"), "order is 'random'; give 'updates', 'held_out' or a list of names"),
        (fit(order=["one", "two"]), "give every sub-problem once: one, two, three"),
        (fit(order=["one", "two", "two"]), "give every sub-problem once"),
        (fit(form="log_linear", order="updates"), "updates are counted by the perceptron"),
        (fit(method="IBT", order="updates"), "order is for the method SL, and this is IBT"),
        (lambda: sl.SequentialLearner(tied()).fit(XS, YS, validation=(XS, YS)), "validation is for order='held_out'"),
        (fit(passes=0), "passes is 0"),
        (fit(margin={"one": -1.0}), "margin\\['one'\\] is -1.0"),
        (fit(margin={"one": 1.0}), "margin says nothing of two"),
        (fit(C=0), "C is 0"),
        (fit(held_out=1.5), "held_out is 1.5"),
        (fit(order="held_out", evidence=(XS[:1], YS[:1])), "1 examples, of which some are held out"),
        (fit(evidence=([sl.Unlabeled(XS[0])],)), "evidence 0 is unlabeled; sequential learning takes Gold alone"),
        (fit(evidence=([],)), "no evidence"),
        (fit(structure=DependencyTree()), "has no sub-problems; give EntityRelation"),
        (fit(evidence=(XS[:1], [{"one": {0: 0}, "two": {0: 1}, "three": {0: 0}}])), "is not an output of the space"),
        (fit(evidence=(XS[:2], [YS[0], {"one": {0: 1}}])), r"^evidence 1 \(Gold\): two\[0\] has no label"),
        (lambda: fit(bias={("one", "x"): 1.0})().predict(XS), "bias has \\('one', 'x'\\)"),
        (lambda: tied([alike.soft()]), "the penalty of the rule alike is to be learned"),
        (lambda: SubProblems({"one": ()}, variables=len, features=len), "one has no labels"),
    ],
)
def test_bad_input(act, words):
    with pytest.raises(ValueError, match=words):
        act()


def test_not_fitted():
    with pytest.raises(NotFitted, match="call fit first"):
        sl.SequentialLearner(tied()).predict(XS)


def test_rules_that_allow_nothing():
    never = rule(name="never")(lambda x, y: every(y.one[0] == 0, y.one[0] == 1))
    with pytest.raises(sl.Infeasible, match="input 0: the rules allow no output"):
        tied([never]).batch(XS)


def test_held_out_order_takes_validation():
    learner = sl.SequentialLearner(tied(), order="held_out").fit(XS * 2, YS * 2, validation=(XS, YS))
    assert sorted(learner.order_) == sorted(KINDS)
    for step in learner.steps_:
        assert step.errors[step.chosen] == min(step.errors.values())
    with pytest.raises(DataError, match="validation"):
        sl.SequentialLearner(tied(), order="held_out").fit(XS, YS, validation=3)


@pytest.mark.parametrize(("reads", "times"), [(False, 1), (True, 8)])
def test_a_rule_that_does_not_read_the_input_is_read_once(reads, times):
    calls = []

    def counted(x, y):
        calls.append(x)
        return every(y.one[0] == y.two[0], y.two[0] == y.three[0])

    structure = tied([rule(reads_input=reads)(counted).soft(2.0)])
    calls.clear()
    batch = structure.batch(XS)
    assert len(calls) == times and len(batch.space.lists) == 1
    charges = sorted(batch.space.lists[0].charges.tolist())
    assert charges == [0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 4.0, 4.0]  # two labels that are not alike, or four


def test_a_rule_keeps_what_it_says_of_itself():
    known = argument_types({"Live_In": ("Peop", "Loc")})
    assert not pickle.loads(pickle.dumps(known)).reads_input and not known.soft(1.0).reads_input
