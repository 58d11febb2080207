"""spaCy's matchers and rulers, and annotators of skweak, as labelling functions and as rules."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest

import sidelight as sl
from sidelight.evaluate.schemes import PREFIXES, may_follow
from sidelight.evaluate.spans import spans
from sidelight.interop import doc_inputs, span_functions, span_rule
from sidelight.rules import Domain, Sentence

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")
from spacy.matcher import Matcher, PhraseMatcher  # noqa: E402

nlp = spacy.blank("en")
WORDS = ["Ann", "Holt", "paid", "12", "crowns", "in", "New", "York"]


def matcher() -> Matcher:
    found = Matcher(nlp.vocab)
    found.add("SUM", [[{"LIKE_NUM": True}], [{"LIKE_NUM": True}, {"LOWER": "crowns"}]])
    return found


def phrases() -> PhraseMatcher:
    found = PhraseMatcher(nlp.vocab, attr="LOWER")
    found.add("LOC", [nlp.make_doc("new york")])
    return found


def ruler() -> Any:
    found = nlp.create_pipe("entity_ruler")
    found.add_patterns([{"label": "PER", "pattern": [{"TEXT": "Ann"}, {"IS_TITLE": True}]}])
    return found


def span_ruler() -> Any:
    found = nlp.create_pipe("span_ruler")
    found.add_patterns([{"label": "PER", "pattern": "Ann Holt"}])
    return found


def capitals(doc: Any) -> list[tuple[int, int, str]]:
    return [(token.i, token.i + 1, "NAME") for token in doc if token.is_title]


CASES = [
    (matcher, [(3, 4, "SUM")]),  # the longer of two that overlap
    (phrases, [(6, 7, "LOC")]),
    (ruler, [(0, 1, "PER")]),
    (span_ruler, [(0, 1, "PER")]),
    (lambda: capitals, [(0, 0, "NAME"), (1, 1, "NAME"), (6, 6, "NAME"), (7, 7, "NAME")]),
]


@pytest.mark.parametrize(("make", "told"), CASES, ids=["matcher", "phrases", "ruler", "span_ruler", "function"])
def test_what_a_finder_finds(make: Any, told: list[tuple[int, int, str]]) -> None:
    [function] = span_functions({"finder": make()}, vocab=nlp.vocab)
    doc = spacy.tokens.Doc(nlp.vocab, words=WORDS)
    assert function(WORDS) == told
    assert function(doc_inputs([doc])[0]) == told
    assert not doc.ents  # the Doc that was asked about is as it was
    assert not doc.spans


def test_votes_of_a_ruler_and_of_a_matcher() -> None:
    votes = sl.votes([WORDS], span_functions({"people": ruler(), "sums": matcher()}), scheme="BIO")
    assert votes[0].votes["people"] == ["B-PER", "I-PER", *[None] * 6]
    assert votes[0].votes["sums"] == [None, None, None, "B-SUM", "I-SUM", *[None] * 3]


def test_spans_that_docs_hold_already() -> None:
    doc = nlp.make_doc("Ann ran")
    doc.spans["people"] = [spacy.tokens.Span(doc, 0, 1, "PER")]
    [function] = span_functions(["people"])
    assert (function.name, function(doc_inputs([doc])[0])) == ("people", [(0, 0, "PER")])
    assert function(doc_inputs([nlp.make_doc("nobody")])[0]) == []


def test_annotators_of_skweak() -> None:
    pytest.importorskip("skweak", reason="needs skweak")
    from skweak.base import CombinedAnnotator
    from skweak.gazetteers import GazetteerAnnotator, Trie
    from skweak.heuristics import FunctionAnnotator, RegexAnnotator

    both = CombinedAnnotator()
    both.add_annotator(FunctionAnnotator("capitals", capitals))
    both.add_annotator(RegexAnnotator("numbers", r"\d+", "SUM"))
    places = GazetteerAnnotator("places", {"LOC": Trie([["New", "York"]])})
    votes = sl.votes(doc_inputs([nlp.make_doc(" ".join(WORDS))]), span_functions([both, places]), scheme="BIO")
    assert [row.function for row in votes.table.functions] == ["capitals", "numbers", "places", "outside"]
    assert votes[0].votes["numbers"][3] == "B-SUM"
    assert votes[0].votes["places"][6:] == ["B-LOC", "I-LOC"]
    assert [vote for vote in votes[0].votes["capitals"] if vote is not None] == ["B-NAME"] * 4


def test_an_annotator_of_texts_votes_on_classes() -> None:
    pytest.importorskip("skweak", reason="needs skweak")
    from skweak.base import TextAnnotator

    class Cheap(TextAnnotator):
        def get_label(self, doc: Any) -> str | None:
            return "spam" if "cheap" in doc.text else None

    votes = sl.votes(
        [["cheap", "pills"], ["hi"]], span_functions([Cheap("cheap")], vocab=nlp.vocab, single=True), single=True
    )
    assert [piece.votes["cheap"] for piece in votes] == [["spam"], [None]]  # one label, also where nobody votes


@pytest.mark.parametrize("scheme", ["BIO", "BIOES", "BILOU", None])
def test_the_rule_of_a_finder_is_true_of_its_chunks_alone(scheme: Any) -> None:
    """Of all labelings of three tokens that the scheme has: the first two are a chunk, and the third is not of it."""
    rule = span_rule(lambda doc: [(0, 2, "A")], name="first", scheme=scheme, vocab=nlp.vocab)
    inside = ["A"] if scheme is None else [f"{prefix}-A" for prefix in PREFIXES[scheme]]
    for labels in product(["O", *inside], repeat=3):
        edged = pairwise([None, *labels, None])
        if scheme is not None and not all(may_follow(one, other, scheme) for one, other in edged):
            continue
        has = [(start, stop) for _, start, stop, _ in spans([labels], scheme=scheme or "runs")]
        assert (rule.violations(Sentence(["a", "b", "c"]), list(labels)) == 0) == ((0, 2) in has), labels


def test_a_soft_rule_has_a_price() -> None:
    rule = span_rule(lambda doc: [(0, 2, "A")], name="first", vocab=nlp.vocab).soft(2.0)
    assert rule.violations(Sentence(["a", "b"]), ["O", "O"]) == 2
    assert rule.penalty == 2.0


def test_a_rule_speaks_of_labels_that_there_are() -> None:
    rule = span_rule(matcher(), name="sums")
    with pytest.raises(sl.DataError, match="the rule sums: there is no label 'B-SUM'"):
        rule.on_labels(Sentence(WORDS), Domain(["O", "B-PER", "I-PER"]))


def test_a_ruler_is_a_rule_in_learning() -> None:
    """Plain text under the rules of a ruler, and two labelled sentences: CoDL."""
    rule = span_rule(ruler(), name="people")
    gold = sl.gold([["they", "paid", "in", "Rome"], ["Eve", "Moe", "ran"]], [["O"] * 4, ["B-PER", "I-PER", "O"]])
    raw = sl.unlabeled([["Ann", "Moe", "paid"], ["in", "Rome", "Ann", "Berg", "ran"]], rules=[rule])
    tagger = sl.Tagger(learner="codl", rules=[rule]).fit([*gold, *raw])
    assert tagger.predict([["Ann", "Berg", "paid"]]) == [["B-PER", "I-PER", "O"]]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: span_functions([matcher()]), "a Matcher has no name"),
        (lambda: span_functions([lambda doc: []]), "a function has no name"),
        (lambda: span_functions(matcher()), "Matcher instead of finders"),
        (lambda: span_functions([3]), "3 finds no spans"),
        (lambda: span_functions({"capitals": capitals})[0](WORDS), "the input has words and no Doc"),
    ],
)
def test_mistakes(call: Any, told: str) -> None:
    with pytest.raises(sl.DataError, match=told):
        call()


def test_a_rule_needs_a_scheme_that_it_can_say() -> None:
    with pytest.raises(ValueError, match="scheme is 'IOB1'"):
        span_rule(matcher(), name="sums", scheme="IOB1")
