"""What rules did on one input, and what is said about it."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.errors import Infeasible
from sidelight.inference.explanation import explain_rules
from sidelight.inference.rule_set import RuleSet, TransitionScores
from sidelight.rules import Sentence, gallery

LABELS = ("author", "title", "date")
FREE = TransitionScores(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
WORDS = Sentence(["Ole", ".", "Light", "1994", "."])
# without rules: author author title author date
TOKENS = np.array([[2.0, 0, 0], [2.0, 0, 0], [0, 2.0, 0], [1.0, 0, 0.5], [0, 0, 2.0]])
RULES = (
    gallery.starts_with("author"),
    gallery.appears_once(LABELS),
    gallery.pattern_is("19[0-9]{2}", "date", name="Date").soft(0.2),
    gallery.words_are(["note"], "title", name="Note"),
    gallery.at_most(9, "date"),
)


def test_how_rules_were_lowered_and_what_they_changed():
    found = explain_rules(RuleSet(RULES, LABELS), WORDS, TOKENS, FREE)
    assert found.plain == ("author", "author", "title", "author", "date")
    assert found.labels == ("author", "author", "title", "date", "date")
    assert [str(change) for change in found.changes] == ["1994 (3): author → date"]
    start, once, date, note, most = found.rules
    assert start.lowered == "2 labels dropped at 1 token" and start.before == start.after == 0
    assert once.before == 1 and once.after == 0 and [change.token for change in once.changes] == [3]
    assert date.before == 1 and date.after == 0 and date.lowered == "2 labels penalised at 1 token"
    assert not date.changes  # with one run of each label it would have been the same
    assert note.lowered == "nothing: it says nothing of this input" and note.clauses == 0
    assert most.clauses == 1 and most.before == 0
    table = str(found).split("\n")
    assert table[0].split()[0] == "rule" and len(table) == 1 + len(RULES) + 3
    assert "exact" in table[-2]


def test_counters_that_were_not_needed_are_told_apart():
    tokens = np.tile(np.array([[1.0, 0, 0], [0, 1.1, 0]]), (3, 1))
    found = explain_rules(RuleSet(RULES[1:2], LABELS), Sentence("ababab"), tokens, FREE)
    assert found.solution.method == "dynamic programming"
    assert found.rules[0].lowered == "2 counters, up to 2 states; 1 counter not needed"
    every = explain_rules(RuleSet(RULES[1:2], LABELS), Sentence("ababab"), tokens, FREE, method="dynamic")
    assert every.rules[0].lowered == "3 counters, up to 2 states"
    rows = explain_rules(RuleSet(RULES[1:2], LABELS), Sentence("ababab"), tokens, FREE, method="ilp")
    assert rows.rules[0].lowered == "linear rows of 3 clauses"
    assert found.solution.value == pytest.approx(every.solution.value) == pytest.approx(rows.solution.value)


def test_nothing_is_changed_where_nothing_is_broken():
    found = explain_rules(RuleSet(RULES[:2], LABELS), Sentence("abc"), np.eye(3), FREE)
    assert found.changes == () and "no label was changed" in str(found)
    assert found.rules[1].lowered == "3 counters not needed"


def test_a_rule_without_a_price_does_nothing():
    found = explain_rules(RuleSet(RULES, LABELS, penalties=[0.0] * 5), WORDS, TOKENS, FREE)
    assert found.labels == found.plain
    assert found.rules[0].lowered == "nothing: its penalty is 0"


def test_edges_and_relaxed_rules():
    rules = RuleSet(
        [gallery.changes_after_punctuation(), gallery.starts_with("author"), gallery.ends_with("date")], LABELS
    )
    with pytest.raises(Infeasible, match="punctuation, start and end together"):
        explain_rules(rules, Sentence(["a", "b"]), np.eye(3)[:2], FREE)
    found = explain_rules(rules, Sentence(["a", "b"]), np.eye(3)[:2], FREE, relax=5.0)
    assert sum(effect.after for effect in found.rules) == 1
    assert found.rules[0].lowered == "6 edges dropped at 1 token"
    assert "hard rules at 5" in str(found)
