"""The rule language: what can be said, how it reads, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import DataError
from sidelight.rules import (
    Domain,
    Labels,
    Sentence,
    begins,
    changes,
    count,
    ends,
    every,
    gallery,
    implies,
    not_,
    one_of,
    read_rules,
    rule,
    some,
    weighted,
)
from sidelight.rules.expr import as_expr
from sidelight.rules.lowering.penalties import mixed, penalties_of, penalty_of
from sidelight.rules.lowering.truth import degree, truth
from sidelight.rules.output import Groups, VariableGroup, symbolic_labels

DOMAIN = Domain(["A", "B", "C"])
Y = symbolic_labels(3, DOMAIN)
X = Sentence(["x", "y", "z"])


@pytest.mark.parametrize(
    "misuse",
    [
        lambda y: (y[0] == "A") and (y[1] == "B"),
        lambda y: not one_of(y[0], {"A"}),
        lambda y: 0 <= count(y[0] == "A") <= 1,
        lambda y: y[0] in ("B", "C"),
        lambda y: [t for t in range(3) if y[t]],
    ],
)
def test_python_s_own_connectives_are_refused_with_advice(misuse) -> None:
    with pytest.raises(TypeError, match=r"every\(|compare it"):
        misuse(Y)


def test_a_rule_prints_as_a_sentence_with_its_price() -> None:
    @rule
    def has_a(x, y):
        """There is an A somewhere."""
        return some(y[t] == "A" for t in x.positions)

    assert str(has_a) == "has_a: There is an A somewhere [must]"
    assert str(has_a.soft(2.5)) == "has_a: There is an A somewhere [should] (penalty 2.5)"
    assert str(has_a.soft()).endswith("(penalty to be learned)")
    assert has_a.soft(1.0).strict() == has_a
    with pytest.raises(ValueError, match="not negative"):
        has_a.soft(-1.0)


@pytest.mark.parametrize(
    ("says", "labels", "violations"),
    [
        (lambda y: every(y[t] == "A" for t in range(3)), "ABC", 2),
        (lambda y: count(y[t] == "A" for t in range(3)) <= 1, "AAA", 2),
        (lambda y: count(y[t] == "A" for t in range(3)) == 2, "ABB", 1),
        (lambda y: count(y[t] == "A" for t in range(3)) != 1, "ABB", 1),
        (lambda y: 2 * count(y[0] == "A") - count(y[1] == "B", y[2] == "B") > 0, "ABB", 1),
        (lambda y: weighted([(3, y[0] == "A"), (-2, y[1] == "A")]) >= 2, "AAB", 1),
        (lambda y: count(y[0] == "A") < count(y[1] == "A", y[2] == "A"), "ABA", 1),
        (lambda y: implies(count(y[t] == "A" for t in range(3)) >= 2, y[2] == "C"), "AAB", 1),
        (lambda y: implies(count(y[t] == "A" for t in range(3)) >= 2, y[2] == "C"), "ABB", 0),
        (lambda y: not_(every(y[0] == y[1], y[1] == y[2])), "AAA", 1),
        (lambda y: one_of(y[1], {"A", "C"}), "ABA", 1),
        (lambda y: some(begins(y, t, "B") for t in range(3)), "ABB", 0),
        (lambda y: count(ends(y, t, "B") for t in range(3)) == 1, "BAB", 1),
        (lambda y: count(changes(y, t) for t in range(3)) <= 1, "ABA", 1),
        (lambda y: implies(True, every(y[0] == "A", y[1] == "A")), "BBB", 1),
        (lambda y: implies(True, count(y[t] == "B" for t in range(3)) <= 0), "BBB", 1),
        (lambda y: some(False, every(y[0] == "A", y[1] == "A")), "BBB", 1),
        (lambda y: not_(not_(every(y[0] == "A", y[1] == "A"))), "BBB", 1),
        (lambda y: every(some(every(y[0] == "A", y[1] == "A")), y[2] == "A"), "BBB", 2),
        (lambda y: (y[0] == "B") != (y[1] != "B"), "BAA", 1),
        (lambda y: (y[0] == "B") != (y[1] != "B"), "AAA", 0),
        (lambda y: (y[0] == "B") == (y[1] == "B"), "BAA", 1),
        (lambda y: (y[0] == "B") == (y[1] == "B"), "CAA", 0),
        (lambda y: (y[0] == y[1]) == (y[1] == y[2]), "ABC", 0),
        (lambda y: every(y[0] == "A", y[1] == "A") == some(y[2] == "A", y[1] == "B"), "BBC", 1),
        (lambda y: (count(y[t] == "A" for t in range(3)) >= 2) == begins(y, 1, "A"), "BAA", 0),
        (lambda y: (count(y[t] == "A" for t in range(3)) >= 2) != begins(y, 1, "A"), "BAA", 1),
        (lambda y: every(y[0] == "A", y[1] == "A") == True, "BBC", 1),  # noqa: E712
        (lambda y: (count(y[t] == "A" for t in range(3)) <= 0) != False, "AAA", 1),  # noqa: E712
        (lambda y: (y[0] == "A") == np.bool_(True), "BBC", 1),
        (lambda y: np.True_ == (y[0] == "A"), "ABC", 0),
        (lambda y: count(y[t] == "A" for t in range(3)) <= np.int64(1), "AAA", 2),
        (lambda y: np.int64(2) * count(y[t] == "A" for t in range(3)) == np.int32(4), "AAA", 2),
        (lambda y: weighted([(np.int64(3), y[0] == "A"), (True, y[1] == "A")]) <= 1, "AAA", 3),
    ],
)
def test_known_and_symbolic_readings_agree(says, labels: str, violations: int) -> None:
    known = as_expr(says(Labels(list(labels))))
    symbolic = says(Y)
    numbers = [DOMAIN.numbers[label] for label in labels]
    assert known.degree == degree(symbolic, numbers) == violations
    assert truth(symbolic, numbers) == (violations == 0, violations == 0)


def test_labels_and_variables_that_do_not_exist_are_refused() -> None:
    with pytest.raises(DataError, match="there is no label 'a'; did you mean 'aa'"):
        Domain(["A", "aa"]).number("a")
    with pytest.raises(DataError, match=r"y\[7\] of an output with 3 tokens"):
        _ = Y[7]
    with pytest.raises(DataError, match="there are entity"):
        _ = Groups({"entity": VariableGroup("entity", {})}).relation
    with pytest.raises(DataError, match=r"no variable entity\['x'\]"):
        _ = VariableGroup("entity", {})["x"]
    with pytest.raises(DataError, match="no label 'D'"):
        gallery.starts_with("D").check(["A", "B"])


def test_a_rule_that_fails_names_itself_the_example_and_the_line() -> None:
    @rule
    def broken(x, y):
        return y[0] == {"A": "A"}[x.words[0]]

    line = broken.says.__code__.co_firstlineno + 2
    with pytest.raises(DataError, match=rf"test_language.py:{line}: the rule broken on example 4: KeyError: 'x'"):
        broken.on_labels(X, DOMAIN, example=4)
    with pytest.raises(DataError, match="true or false of y, not 3"):
        rule(lambda x, y: 3).on_labels(X, DOMAIN)


@pytest.mark.parametrize(
    ("made", "words", "labels", "violations"),
    [
        (gallery.starts_with("A", "B"), "x y z", "CAB", 1),
        (gallery.ends_with("A"), "x y z", "CAB", 1),
        (gallery.appears_once("ABC"), "w x y z", "ABAB", 2),
        (gallery.changes_after_punctuation(), "x , y z", "AABC", 1),
        (gallery.changes_after_punctuation(), "x , y z", "ABBC", 2),
        (gallery.words_are(["Pages", "pp"], "C", name="pages"), "PAGES pp z", "CAB", 1),
        (gallery.words_are(["CA"], "C", name="place", case=True), "ca CA", "AA", 1),
        (gallery.pattern_is("(19|20)[0-9]{2}", "B", name="date"), "1994 2094 20945", "AAA", 2),
        (gallery.lexicon({"x": {"A", "B"}}), "x y x", "ACC", 1),
        (gallery.minimum_length(2, "ABC"), "x y z", "ABB", 1),
        (gallery.minimum_length(2, "ABC"), "x y z", "AAB", 1),
        (gallery.at_most(1, "A"), "x y z", "AAA", 2),
        (gallery.at_least(2, "A"), "x y z", "ABB", 1),
        (gallery.requires("A", "B"), "x y z", "ACC", 1),
        (gallery.excludes("A", "B"), "x y z", "ABC", 1),
        (gallery.few_changes(1), "x y z", "ABA", 1),
    ],
)
def test_the_gallery(made, words: str, labels: str, violations: int) -> None:
    x = Sentence(words.split())
    assert made.violations(x, list(labels)) == violations
    symbolic = made.on_labels(x, DOMAIN)
    assert degree(symbolic, [DOMAIN.numbers[label] for label in labels]) == violations


def test_words_of_every_sort_of_token() -> None:
    assert Sentence([("a", "NN")]).words == Sentence([{"word": "a"}]).words == Sentence(["a"]).words == ["a"]
    with pytest.raises(KeyError, match="attributes without 'word'"):
        _ = Sentence([{"w[0]=a": 1.0}]).words


def test_rules_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from sidelight.rules import gallery, rule\n"
        "@rule\ndef first(x, y):\n    return y[0] == 'A'\n"
        "second = gallery.at_most(1, 'A').soft(2.0)\n"
    )
    assert [one.name for one in read_rules(path)] == ["first", "at_most_1_A"]
    path.write_text(path.read_text() + "RULES = [second]\n")
    assert [one.penalty for one in read_rules(path)] == [2.0]
    path.write_text(path.read_text().replace("RULES", "rules"))
    assert [one.penalty for one in read_rules(path)] == [2.0]
    path.write_text("from sidelight import rules\n@rules.rule\ndef first(x, y):\n    return y[0] == 'A'\n")
    assert [one.name for one in read_rules(path)] == ["first"]
    path.write_text("x = 1\n")
    with pytest.raises(DataError, match="the file has no rules"):
        read_rules(path)
    path.write_text("x = 1\ny = 1 / 0\n")
    with pytest.raises(DataError, match=r"mine.py:2: ZeroDivisionError"):
        read_rules(path)
    assert not (tmp_path / "__pycache__").exists()


def test_penalties_are_log_odds_of_smoothed_counts() -> None:
    start = gallery.starts_with("A").soft()
    xs, ys = [["x", "y"], ["z", "z"]], [["B", "A"], ["A", "A"]]
    share = (1 + 1) / (4 + 2)
    assert penalties_of([start, start.soft(3.0)], xs, ys) == pytest.approx([math.log((1 - share) / share), 3.0])
    assert penalty_of(0, 10, smoothing=0.0) == math.inf
    assert penalty_of(8, 10) == 0.0
    assert mixed([1.0, math.inf], [3.0, 2.0], 0.75) == [1.5, math.inf]
