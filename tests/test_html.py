"""What notebooks show: well-formed, escaped, and the same facts as the text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.core import html
from sidelight.models.explain import explain
from sidelight.rules import gallery

EVIL = "<script>alert('&')</script>"
X = [["Ann", EVIL, "in", "Oslo"], ["Rain", "falls", "on", EVIL]]
Y = [["P", EVIL, "O", "L"], ["O", "O", "O", EVIL]]


class Reader(HTMLParser):
    """The text between tags; complains of tags that do not close, and keeps those there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(shown: Any) -> str:
    reader = Reader(shown._repr_html_())
    assert reader.tags <= {"div", "span", "table", "tr", "th", "td", "code"}
    return " ".join(reader.text)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text())
def test_any_text_comes_back_as_itself(rows: list[tuple[str, str]], title: str) -> None:
    shown = html.block(title, html.table(["a", "b"], rows), html.pairs(rows))
    reader = Reader(shown)
    plain = [text.replace("\r\n", "\n").replace("\r", "\n") for row in rows for text in row]
    found = "".join(reader.text).replace("\r\n", "\n").replace("\r", "\n")
    assert all(text in found for text in plain)
    assert reader.tags <= {"div", "span", "table", "tr", "th", "td"}


def test_numbers_stand_to_the_right() -> None:
    shown = html.table(["word", "count"], [("a", "1,200"), ("2 b", "-3.5%")]).text
    assert shown.count("text-align:right") == 3 and shown.count("text-align:left") == 3


def test_an_estimator_shows_what_it_was_given_and_what_it_learned(tmp_path: Any) -> None:
    assert read(sl.Tagger()).split() == ["Tagger", "not", "fitted", "default", "parameters"]
    rules = [gallery.at_most(1, "P")]
    tagger = sl.Tagger(learner="crf", features=sl.features.words(), rules=rules).fit(X, Y)
    found = read(tagger)
    for text in ("fitted", "'crf'", "templates", rules[0].name, EVIL, "2 gold", "stopped", tagger.rounds_[-1].stopped):
        assert str(text) in found
    tagger.save(tmp_path / "m")
    assert "learned by crf" in read(sl.Tagger.load(tmp_path / "m"))
    assert "last round" in read(sl.SegmentTagger(max_rounds=2).fit(X, Y))
    assert "sentence pairs 2" in read(sl.Aligner(model1_iterations=1, hmm_iterations=0).fit(X, X))
    both = sl.CoTraining(sl.Classifier(), sl.Classifier(learner="crf"))
    assert "first Classifier()" in read(both) and "not fitted" in read(both)


def test_an_estimator_that_sees_many_labels_shows_some() -> None:
    names = [f"label{k:02}" for k in range(30)]
    found = read(sl.Classifier(max_rounds=1).fit([{name: 1.0} for name in names], names))
    assert "30: label00" in found and "label19, …" in found and "label20" not in found


def test_scores_and_comparisons() -> None:
    found = read(sl.evaluate(Y, [Y[0], ["O", "O", "O", "O"]]))
    assert "87.50 % of 8 tokens right" in found and EVIL in found
    single = read(sl.evaluate(["spam", "ham"], ["spam", "spam"]))
    assert "50.00 % of 2 right" in single and "span" not in single and "label precision" in single
    assert "+12.50" in read(sl.compare(Y, Y, [Y[0], ["O", "O", "O", "O"]], rounds=9))


def test_explanations() -> None:
    tagger = sl.Tagger(learner="crf", rules=[gallery.at_most(0, EVIL)]).fit(X, Y)
    why = explain(tagger.model_, X[0])
    found = read(why)
    assert EVIL in found and f"{why.margin:.4f}" in found and f"{why.contributions[0].amount:+.4f}" in found
    assert tagger.rules[0].name in read(tagger.explain_rules(X[0]))


def test_a_description() -> None:
    found = read(sl.describe([*sl.gold(X, Y), sl.Candidates(X[0], [["P"], [EVIL], ["O"], ["P"]])]))
    assert "1 conflicts" in found and "the gold label 'L' is outside" in found and EVIL in found
    assert read(sl.describe([])) == "Evidence none"


@pytest.mark.parametrize("value", [1, 0.5, "1,200", "+0.25", "93.1%", "1e-05"])
def test_what_is_a_number(value: Any) -> None:
    assert html.table(["n"], [[value]]).text.count("text-align:right") == 2
