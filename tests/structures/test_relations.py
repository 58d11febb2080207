"""Entities and relations as a structure: evidence, learners, files, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.errors import DataError, Intractable
from sidelight.evaluate.relations import score_relations
from sidelight.rules import count, rule
from sidelight.rules.gallery import argument_types
from sidelight.structures.relations import EntityRelation
from sidelight.testing import check_examples

ARGUMENTS = {"Live_In": ("Peop", "Loc"), "Kill": ("Peop", "Peop")}
X = EntitySentence(("Ann", "lives", "in", "Oslo"), ((0, 1), (3, 4)))
Y = Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),))


def tied(**options) -> EntityRelation:
    return EntityRelation(["Peop", "Loc"], list(ARGUMENTS), [argument_types(ARGUMENTS)], **options)


def sentences(number: int, seed: int) -> tuple[list[EntitySentence], list[Extraction]]:
    """Who lives where, who killed whom, by words between, in both directions; names tell types, mostly."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(number):
        people = [f"P{rng.integers(6)}", f"P{rng.integers(6)}"]
        place = f"L{rng.integers(6)}"
        kind = int(rng.integers(4))
        if kind == 0:
            xs.append(EntitySentence((people[0], "lives", "in", place), ((0, 1), (3, 4))))
            ys.append(Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),)))
        elif kind == 1:
            xs.append(EntitySentence((place, "is", "home", "of", people[0]), ((0, 1), (4, 5))))
            ys.append(Extraction(("Loc", "Peop"), ((1, 0, "Live_In"),)))
        elif kind == 2:
            xs.append(EntitySentence((people[0], "shot", people[1], "in", place), ((0, 1), (2, 3), (4, 5))))
            ys.append(Extraction(("Peop", "Peop", "Loc"), ((0, 1, "Kill"),)))
        else:
            xs.append(EntitySentence((people[0], "saw", place), ((0, 1), (2, 3))))
            ys.append(Extraction(("Peop", "Loc")))
    return xs, ys


def test_examples_are_read_back():
    check_examples(tied(), [X], [Y])
    backwards = EntitySentence(("Oslo", "is", "home", "of", "Ann"), ((0, 1), (4, 5)))
    check_examples(tied(), [backwards], [Extraction(("Loc", "Peop"), ((1, 0, "Live_In"),))])


@pytest.mark.parametrize("learner", ["perceptron", "structural_svm", "jlis", "crf", "mira"])
def test_learners_that_ask_for_the_best_output_or_for_sums(learner):
    fitted = sl.Predictor(tied(features="rich"), learner=learner).fit(*sentences(40, 0))
    xs, ys = sentences(30, 1)
    scores = score_relations(ys, fitted.predict(xs))
    assert scores.relations.f1 > 0.9 and scores.accuracy > 0.9


def test_evidence_of_every_kind_and_files(tmp_path):
    xs, ys = sentences(24, 2)
    evidence = [*sl.gold(xs[:12], ys[:12])]
    evidence += [sl.Partial(x, {"entity": {0: y.types[0]}}) for x, y in zip(xs[12:16], ys[12:16])]
    evidence += [sl.Candidates(x, {"relation": {(0, 1): ["none", "Live_In"]}}) for x in xs[16:20] if len(x.spans) == 2]
    evidence += [sl.Unlabeled(x) for x in xs[20:]]
    fitted = sl.Predictor(tied()).fit(evidence)
    fitted.save(tmp_path / "model")
    new, right = sentences(20, 3)
    told = fitted.predict(new)
    assert sl.Predictor(tied()).load(tmp_path / "model").predict(new) == told
    assert score_relations(right, told).relations.f1 > 0.8


def test_predictions_obey_the_rules():
    fitted = sl.Predictor(tied(), learner="perceptron").fit(*sentences(10, 4))
    for y in fitted.predict(sentences(50, 5)[0]):
        for head, tail, name in y.relations:
            assert (y.types[head], y.types[tail]) == ARGUMENTS[name]


def test_a_clamp_changes_what_goes_with_it():
    structure = tied()
    fitted = sl.Predictor(structure, learner="perceptron").fit([X] * 3, [Y] * 3)
    told = fitted.predict([X], clamp=[{"relation": {(0, 1): "Kill"}}])
    assert told == [Extraction(("Peop", "Peop"), ((0, 1, "Kill"),))]


def test_weights_and_explanations_have_names():
    xs, ys = sentences(30, 6)
    fitted = sl.Predictor(tied(), learner="perceptron").fit(xs, ys)
    lives = ("relation", "Live_In")
    best = sl.weights(fitted, label=lives, top=None)
    assert {one.name: one.value for one in best}["word=lives"] > 0 and all(one.label == lives for one in best)
    assert sl.weights(fitted, label=("entity", "Loc"), top=1)[0].value > 0
    assert sl.explain(fitted, xs[0])


def test_lists_are_attributes():
    listed = tied(lists={"cities": {"Oslo"}})
    listed.batch([X])
    assert "list=cities" in listed.names.places


@rule
def one_home(x, y):
    return count(r == "Live_In" for r in y.relation.values()) <= 1


MANY = EntitySentence(("Ann", "Bob", "Oslo"), ((0, 1), (1, 2), (2, 3)))


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda: tied().encode(X, Extraction(("Peop", "Loc"), ((1, 1, "Live_In"),))),
            "the relation Live_In is between entity 1 and itself; give two entities",
        ),
        (
            lambda: tied().encode(X, Extraction(("Peop", "Loc"), ((0, 2, "Kill"),))),
            "the relation Kill is with entity 2",
        ),
        (lambda: tied().encode(X, Extraction(("Peop",))), "2 entities have 1 types"),
        (lambda: tied().encode(X, Extraction(("Peop", "Org"))), "there is no type 'Org'; there are Peop, Loc"),
        (lambda: tied().encode(X, Extraction(("Peop", "Loc"), ((0, 1, "Owns"),))), "there is no relation 'Owns'"),
        (
            lambda: tied().encode(X, Extraction(("Loc", "Loc"), ((0, 1, "Live_In"),))),
            "the output breaks the rule argument_types; correct it",
        ),
        (
            lambda: tied().encode(X, Extraction(("Peop", "Peop"), ((0, 1, "Kill"), (1, 0, "Kill")))),
            "entities 1 and 0 have two relations",
        ),
        (lambda: tied().batch([EntitySentence(("a",), ())]), "input 0 has no entities"),
        (lambda: tied().batch([EntitySentence(("a",), ((0, 2),))]), "input 0: an entity from 0 to 2 of 1 tokens"),
        (lambda: EntityRelation(["a", "a"], ["r"]), "types has a name twice; give every name once"),
        (lambda: EntityRelation(["a"], []), "relations has no names; give at least one, or evidence that names some"),
        (lambda: EntityRelation(["a"], ["none"]), "a relation is called 'none'"),
        (lambda: EntityRelation(["a"], ["r"], features="all"), "features is 'all'"),
        (lambda: EntityRelation(["a"], ["r"], [one_home.soft()]), "the rule one_home is to be learned"),
        (lambda: argument_types({"Live_In": "Peop"}), "the arguments of Live_In are 'Peop'"),
        (lambda: tied().admitted(X, {"entity": {5: "Peop"}}), "there is no entity 5"),
    ],
)
def test_bad_input(act, words):
    with pytest.raises(ValueError, match=words):
        act()


def test_a_rule_about_many_pairs_is_refused_by_name():
    structure = EntityRelation(["Peop", "Loc"], ["Live_In"], [one_home])
    with pytest.raises(Intractable, match=r"the rule one_home ties more than two .*; use sl.Joint"):
        structure.batch([MANY])


def test_a_rule_that_speaks_of_a_type_that_is_not_there():
    structure = EntityRelation(["Peop"], ["Live_In"], [argument_types({"Live_In": ("Peop", "Loc")})])
    with pytest.raises(DataError, match=r"argument_types on example 0: there is no label 'Loc'"):
        structure.batch([X])
