"""Ready rules at their edges: what they refuse, how they read, and that they travel."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import DataError
from sidelight.rules import Domain, Rule, Sentence, count, gallery, rule

ALL = [
    gallery.starts_with("A", "B"),
    gallery.ends_with("A"),
    gallery.appears_once(["A", "B"]),
    gallery.changes_after_punctuation(),
    gallery.words_are(["x"], "A", name="x"),
    gallery.pattern_is("[a-w]", "B", name="letters"),
    gallery.lexicon({"x": {"A"}, "y": "B"}),
    gallery.minimum_length(2, ["A", "B"]),
    gallery.at_most(1, "A"),
    gallery.at_least(1, "B"),
    gallery.requires("A", "B"),
    gallery.excludes("A", "B"),
    gallery.few_changes(1),
]


@rule
def module_rule(x, y):
    """Few are A."""
    return count(y[t] == "A" for t in x.positions) <= 1


class Holder:
    @rule
    def inside(x, y):
        return y[0] == "A"


@pytest.mark.parametrize("made", [*ALL, module_rule, module_rule.soft(2.0), Holder.inside], ids=lambda made: made.name)
def test_rules_can_be_pickled(made: Rule) -> None:
    again = pickle.loads(pickle.dumps(made))
    assert (again.name, again.penalty, again.sentence, again.labels) == (
        made.name,
        made.penalty,
        made.sentence,
        made.labels,
    )
    for labels in (["A", "B", "A"], ["B", "B", "B"], ["A", "A", "A"]):
        x = Sentence(["x", "y", "c"])
        assert again.violations(x, labels) == made.violations(x, labels)


def test_an_estimator_with_rules_can_be_pickled() -> None:
    xs, ys = [["light", "on"], ["dogs", "off"]], [["A", "B"], ["A", "B"]]
    tagger = sl.Tagger(max_rounds=3, rules=[gallery.at_most(0, "B"), module_rule.soft(0.5)]).fit(xs, ys)
    assert pickle.loads(pickle.dumps(tagger)).predict(xs) == tagger.predict(xs)


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.name)
def test_an_empty_output_obeys_what_is_said_of_its_tokens(made: Rule) -> None:
    empty = Sentence([])
    broken = {"at_least_1_B": 1}.get(made.name, 0)
    assert made.violations(empty, []) == broken
    assert bool(made.on_labels(empty, Domain(["A", "B"]))) is (broken == 0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gallery.starts_with(), "starts_with has no labels; name at least one"),
        (lambda: gallery.ends_with(), "ends_with has no labels"),
        (lambda: gallery.words_are(["x"], name="x"), "words_are has no labels"),
        (lambda: gallery.pattern_is("x", name="x"), "pattern_is has no labels"),
        (lambda: gallery.appears_once([]), "appears_once has no labels"),
        (lambda: gallery.minimum_length(2, ()), "minimum_length has no labels"),
    ],
)
def test_rules_without_labels_are_refused(make, said: str) -> None:
    with pytest.raises(DataError, match=said):
        make()


def test_one_word_and_one_label_are_not_taken_for_letters() -> None:
    pages = gallery.words_are("pp", "A", name="pages")
    assert pages.violations(Sentence(["p", "pp"]), ["B", "B"]) == 1
    listed = gallery.lexicon({"x": "NOUN"})
    assert listed.labels == ("NOUN",) and listed.violations(Sentence(["x"]), ["O"]) == 1


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (gallery.appears_once(["A", "B", "C"]), "Each of A, B and C is one run of tokens, and appears at most once"),
        (gallery.appears_once(["A"]), "A is one run of tokens, and appears at most once"),
        (gallery.minimum_length(2, ["A", "B"]), "A run of A or B has at least 2 tokens"),
        (gallery.minimum_length(1, ["A"]), "A run of A has at least 1 token"),
        (gallery.lexicon({"x": ["B", "A"]}), "A word has one of the labels that the lexicon lists for it, of A and B"),
        (gallery.at_most(1, "A"), "At most 1 token is A"),
        (gallery.at_most(2, "A"), "At most 2 tokens are A"),
        (gallery.at_least(1, "A"), "At least 1 token is A"),
        (gallery.few_changes(1), "The label changes at most 1 time"),
        (gallery.words_are("pp", "A", "B", name="pages"), "The word pp is A or B"),
        (gallery.starts_with(*range(9)), "The first token is 0, 1, 2, 3, 4, 5, …"),
    ],
)
def test_sentences_name_their_labels(made: Rule, sentence: str) -> None:
    assert str(made) == f"{made.name}: {sentence} [must]"


def test_rules_without_a_sentence_say_where_they_stand() -> None:
    nameless = rule(lambda x, y: y[0] == "A")
    line = nameless.says.__code__.co_firstlineno
    assert str(nameless) == f"<lambda>: line {line} of test_gallery.py [must]"
    assert str(rule(lambda x, y: y[0] == "A", name="begins_well")) == "begins_well: begins well [must]"


def test_expressions_show_the_names_of_labels() -> None:
    domain = Domain(["A", "B", "C"])
    assert repr(gallery.starts_with("B").on_labels(Sentence(["x"]), domain)) == "y[0] == 'B'"
    assert repr(gallery.starts_with("A", "C").on_labels(Sentence(["x"]), domain)) == "y[0] in ['A', 'C']"


@pytest.mark.parametrize("penalty", [-3, -0.5, float("nan"), "2", -np.inf])
def test_a_penalty_that_is_none_is_refused_when_it_is_given(penalty) -> None:
    for make in (lambda: rule(penalty=penalty)(module_rule.says), lambda: module_rule.soft(penalty)):
        with pytest.raises(ValueError, match=r"the penalty of module_rule is .*; give a number that is not neg"):
            make()
    assert rule(penalty=np.float32(2.0))(module_rule.says).penalty == 2.0


def test_a_rule_is_made_of_a_function() -> None:
    with pytest.raises(ValueError, match="not of 'few'; name it with name=…"):
        rule("few")
