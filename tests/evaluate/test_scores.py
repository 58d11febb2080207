from __future__ import annotations

import gzip
import json
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sidelight.errors import DataError
from sidelight.evaluate import Evaluation, evaluate
from sidelight.evaluate.tally import Tally

# The boundaries at which conlleval starts and ends a chunk, as pairs of prefixes. A change of type is one as well.
STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
# What Sidelight adds: E is also an end before B, and S is a chunk by itself.
MORE_STARTS = STARTS | {"EB", "SI", "SE", "SB", "BS", "IS", "ES", "SS", "OS"}
MORE_ENDS = ENDS | {"EB", "SI", "SE", "SB", "SO", "BS", "IS", "ES", "SS"}


class Reference:
    """conlleval, one token at a time, with a running flag for 'this chunk agrees so far'."""

    def __init__(self, gold, predicted, *, starts=STARTS, ends=ENDS):
        self.starts, self.ends = starts, ends
        self.gold, self.predicted, self.correct = Counter(), Counter(), Counter()
        self.agrees = False
        self.before = (("O", ""), ("O", ""))
        for gold_labels, predicted_labels in zip(gold, predicted):
            for labels in zip(gold_labels, predicted_labels):
                self.step(tuple(self.split(label) for label in labels))
            self.step((("O", ""), ("O", "")))

    @staticmethod
    def split(label):
        prefix, _, kind = label.partition("-")
        return prefix, kind

    def started(self, before, now):
        return before[0] + now[0] in self.starts or (now[0] != "O" and before[1] != now[1])

    def ended(self, before, now):
        return before[0] + now[0] in self.ends or (before[0] != "O" and before[1] != now[1])

    def step(self, now):
        (gold_before, predicted_before), (gold_now, predicted_now) = self.before, now
        if self.agrees:
            gold_ended = self.ended(gold_before, gold_now)
            predicted_ended = self.ended(predicted_before, predicted_now)
            if gold_ended and predicted_ended and gold_before[1] == predicted_before[1]:
                self.agrees = False
                self.correct[gold_before[1]] += 1
            elif gold_ended != predicted_ended or gold_now[1] != predicted_now[1]:
                self.agrees = False
        gold_started = self.started(gold_before, gold_now)
        predicted_started = self.started(predicted_before, predicted_now)
        if gold_started and predicted_started and gold_now[1] == predicted_now[1]:
            self.agrees = True
        self.gold[gold_now[1]] += gold_started
        self.predicted[predicted_now[1]] += predicted_started
        self.before = now

    def counts(self):
        kinds = sorted(k for k in self.gold.keys() | self.predicted.keys() if self.gold[k] + self.predicted[k])
        return {k: (self.gold[k], self.predicted[k], self.correct[k]) for k in kinds}


def counts(evaluation):
    return {kind: (c.gold, c.predicted, c.correct) for kind, c in evaluation.types.items()}


def two_sided(prefixes):
    """Batches of (gold, predicted) label pairs, often equal, over labels with these prefixes."""
    label = st.one_of(st.just("O"), st.builds("{}-{}".format, st.sampled_from(prefixes), st.sampled_from(["X", "Y"])))
    token = st.one_of(st.tuples(label, label), label.map(lambda one: (one, one)))
    return st.lists(st.lists(token, max_size=10), max_size=4)


def sides(batch):
    return [[g for g, _ in sentence] for sentence in batch], [[p for _, p in sentence] for sentence in batch]


@pytest.mark.parametrize("prefixes", ["I", "BI", "IE"])
def test_conlleval_on_its_own_formats(prefixes):
    @given(two_sided(prefixes))
    def check(batch):
        gold, predicted = sides(batch)
        assert counts(evaluate(gold, predicted, scheme="bio")) == Reference(gold, predicted).counts()

    check()


@given(two_sided("BIE"))
@example([[("B-X", "B-X"), ("I-X", "E-X"), ("O", "I-X")]])
def test_conlleval_on_nonsense(batch):
    def unjoined(labels):  # no E-X right before B-X, where the script and Sidelight part
        return [
            "O" if i and label[0] == "B" and labels[i - 1] == "E" + label[1:] else label
            for i, label in enumerate(labels)
        ]

    gold, predicted = ([unjoined(labels) for labels in side] for side in sides(batch))
    assert counts(evaluate(gold, predicted, scheme="bio")) == Reference(gold, predicted).counts()


@given(two_sided("BIES"))
def test_extended_rules_on_nonsense(batch):
    gold, predicted = sides(batch)
    reference = Reference(gold, predicted, starts=MORE_STARTS, ends=MORE_ENDS)
    evaluation = evaluate(gold, predicted, scheme="bio")
    assert counts(evaluation) == reference.counts()
    assert evaluation.tokens == sum(map(len, gold))
    assert evaluation.correct_tokens == sum(g == p for pair in zip(gold, predicted) for g, p in zip(*pair))
    assert evaluation.correct_sentences == sum(g == p for g, p in zip(gold, predicted))
    for label, c in evaluation.labels.items():
        tokens = [(g, p) for pair in zip(gold, predicted) for g, p in zip(*pair)]
        assert c.gold == sum(g == label for g, _ in tokens)
        assert c.predicted == sum(p == label for _, p in tokens)
        assert c.correct == sum(g == p == label for g, p in tokens)


def test_the_one_departure_from_the_script():
    labels = [["B-X", "E-X", "B-X", "E-X"]]
    assert Reference(labels, labels).counts() == {"X": (1, 1, 1)}
    assert counts(evaluate(labels, labels)) == {"X": (2, 2, 2)}


GOLD = [["B-PER", "I-PER", "O", "B-LOC", "O"], ["B-ORG", "I-ORG", "O"], ["O", "O"]]
PREDICTED = [["B-PER", "I-PER", "O", "B-ORG", "O"], ["B-ORG", "O", "O"], ["O", "O"]]


def test_hand_worked():
    evaluation = evaluate(GOLD, PREDICTED)
    assert (evaluation.tokens, evaluation.correct_tokens) == (10, 8)
    assert evaluation.accuracy == 80.0
    assert counts(evaluation) == {"LOC": (1, 0, 0), "ORG": (1, 2, 0), "PER": (1, 1, 1)}
    assert evaluation.precision == pytest.approx(100 / 3)
    assert evaluation.recall == pytest.approx(100 / 3)
    assert evaluation.f1 == pytest.approx(100 / 3)
    assert evaluation.macro_f1 == pytest.approx(100 / 3)
    assert evaluation.sentence_accuracy == pytest.approx(100 / 3)
    assert evaluation.types["LOC"].precision == 0.0
    o = evaluation.labels["O"]
    assert (o.gold, o.predicted, o.correct) == (5, 6, 5)
    assert list(evaluation.labels) == ["B-LOC", "B-ORG", "B-PER", "I-ORG", "I-PER", "O"]


def test_report():
    assert str(evaluate(GOLD, PREDICTED)).splitlines() == [
        "processed 10 tokens with 3 phrases; found: 3 phrases; correct: 1.",
        "accuracy:  80.00%; precision:  33.33%; recall:  33.33%; FB1:  33.33",
        "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
        "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  2",
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1",
    ]


def test_unequal_precision_and_recall():
    evaluation = evaluate([["B-X", "O", "O", "B-X", "O"]], [["B-X", "B-X", "B-X", "B-X", "B-X"]])
    assert (evaluation.precision, evaluation.recall) == (40.0, 100.0)
    assert evaluation.f1 == pytest.approx(400 / 7)


def test_as_dict_is_json():
    evaluation = evaluate(GOLD, PREDICTED)
    again = json.loads(json.dumps(evaluation.as_dict()))
    assert again == evaluation.as_dict()
    assert again["types"]["PER"]["f1"] == 100.0
    assert again["spans"]["gold"] == 3
    assert again["scheme"] == "bio"
    assert pickle.loads(pickle.dumps(evaluation)) == evaluation


def test_plain_classification():
    gold = ["a", "a", "a", "b", "c", "c"]
    predicted = ["a", "a", "b", "b", "b", "d"]
    evaluation = evaluate(gold, predicted)
    assert evaluation.accuracy == evaluation.sentence_accuracy == evaluation.f1 == pytest.approx(50.0)
    # F1: a 4/5, b 2/4, c 0, d 0
    assert evaluation.macro_f1 == evaluation.label_macro_f1 == pytest.approx((80 + 50) / 4)
    assert evaluate(np.array([1, -1, 1]), [1, 1, 1]).accuracy == pytest.approx(200 / 3)


def test_macro_f1_over_labels_keeps_o():
    evaluation = evaluate(["O", "A"], ["O", "O"])
    assert evaluation.macro_f1 == 0.0
    assert evaluation.label_macro_f1 == pytest.approx(100 / 3)


def test_the_scheme_may_be_named_as_estimators_name_it():
    gold, predicted = [["B-X", "B-X"]], [["B-X", "I-X"]]
    assert evaluate(gold, predicted, scheme="BIO") == evaluate(gold, predicted, scheme="bio")


def test_scheme_is_settled_over_both_sides():
    assert evaluate([["O", "O"]], [["B-X", "I-X"]]).scheme == "bio"
    assert evaluate([["B-X", "I-X"]], [["B-X", "strange"]]).scheme == "runs"
    assert counts(evaluate([["B-X", "I-X"]], [["B-X", "I-X"]], scheme="runs")) == {"B-X": (1, 1, 1), "I-X": (1, 1, 1)}


def test_nothing():
    evaluation = evaluate([], [])
    assert (evaluation.accuracy, evaluation.f1, evaluation.macro_f1, evaluation.sentence_accuracy) == (0, 0, 0, 0)
    assert "processed 0 tokens" in str(evaluation)
    assert evaluate([[], ["B-X"]], [[], ["O"]]).sentence_accuracy == 50.0


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([["a"], ["a", "b"]], [["a"], ["a"]], r"sentence 1 \(from 0\): 1 predicted labels where gold has 2"),
        ([["a"], ["a"]], [["a"]], "1 predicted sentences where gold has 2"),
        (["a", "b"], ["a"], "1 predicted sentences where gold has 2"),
        (["a", "b"], [["a"], ["b"]], "differ in kind"),
    ],
)
def test_mismatches(gold, predicted, message):
    with pytest.raises(DataError, match=message):
        evaluate(gold, predicted)


@pytest.fixture(scope="module")
def chunks():
    folder = os.environ.get("SIDELIGHT_DATA")
    path = Path(folder or ".") / "conll2000" / "test.txt.gz"
    if folder is None or not path.exists():
        pytest.skip("conll2000/test.txt.gz is not under SIDELIGHT_DATA")
    with gzip.open(path, "rt", encoding="ascii") as file:
        blocks = file.read().strip().split("\n\n")
    return [[line.split(" ")[2] for line in block.split("\n")] for block in blocks]


def test_conll2000_counts(chunks):
    evaluation = evaluate(chunks, chunks)
    assert (evaluation.sentences, evaluation.tokens) == (2012, 47377)
    assert evaluation.spans.gold == evaluation.spans.predicted == evaluation.spans.correct == 23852
    found = {kind: c.gold for kind, c in evaluation.types.items()}
    assert (found["NP"], found["PP"], found["VP"]) == (12422, 4811, 4658)
    assert evaluation.f1 == evaluation.accuracy == evaluation.sentence_accuracy == evaluation.macro_f1 == 100.0


def test_conll2000_with_noise_agrees_with_the_reference(chunks):
    rng = np.random.default_rng(0)
    names = sorted({label for labels in chunks for label in labels})
    noisy = [
        [str(rng.choice(names)) if flip else label for label, flip in zip(labels, rng.random(len(labels)) < 0.1)]
        for labels in chunks
    ]
    assert counts(evaluate(chunks, noisy)) == Reference(chunks, noisy).counts()


def told(pieces: list[Any], scheme: Any = "auto") -> Evaluation:
    """Scores of pieces, after each of which the sums go through a file."""
    tally = Tally(scheme)
    for gold, guess in pieces:
        tally = Tally.of_dict(json.loads(json.dumps(tally.plus(gold, guess).as_dict())))
    halves = Tally(scheme), Tally(scheme)
    for piece in pieces:
        halves = halves[1], halves[0].plus(*piece)
    assert halves[0].together(halves[1]).evaluation() == tally.evaluation()
    return tally.evaluation()


@pytest.mark.parametrize("scheme", ["auto", "bio", "runs"])
@pytest.mark.parametrize("names", [["O", "B-X", "I-X", "B-Y"], ["title", "date", "O"], ["B-X", "I-X", "odd"]])
def test_pieces_are_scored_as_the_whole(names: list[str], scheme: Any) -> None:
    rng = np.random.default_rng(len(names))
    gold, guess = ([[names[k] for k in rng.integers(len(names), size=1 + n % 5)] for n in range(30)] for _ in range(2))
    gold[:4] = [["O"] * len(one) for one in gold[:4]]
    pieces = [(gold[first : first + 4], guess[first : first + 4]) for first in range(0, 30, 4)]
    if scheme == "bio" and not all(name == "O" or name[1] == "-" for name in names):
        with pytest.raises(DataError, match="is not a chunk label"):
            told(pieces, scheme)
        return
    assert told(pieces, scheme) == evaluate(gold, guess, scheme=scheme)
    single = [(["a", "B-X"], ["a", "a"]), (["B-X"], ["B-X"])]
    assert told(single) == evaluate(["a", "B-X", "B-X"], ["a", "a", "B-X"])
