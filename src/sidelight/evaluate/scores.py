"""Scores of predicted labels against gold ones: tokens, spans, labels and whole sentences.

Percentages follow the CoNLL script `conlleval`: a ratio whose denominator is 0 is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.core import html
from sidelight.evaluate.spans import Ints, Scheme, code

_HEADS = ("precision", "recall", "F1", "gold", "predicted", "right")


@dataclass(frozen=True)
class Counts:
    """The numbers in gold, in the predictions, and in both.

    >>> Counts(gold=4, predicted=2, correct=1).f1
    33.333333333333336
    """

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """Correct as a percentage of predicted."""
        return _percent(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Correct as a percentage of gold."""
        return _percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0

    def as_dict(self) -> dict[str, float]:
        """Counts and percentages, ready for JSON."""
        return {
            "gold": self.gold,
            "predicted": self.predicted,
            "correct": self.correct,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


@dataclass(frozen=True)
class Evaluation:
    """Counts over a batch, and their percentages."""

    scheme: Literal["bio", "runs"]  # how spans were read
    tokens: int
    correct_tokens: int
    sentences: int
    correct_sentences: int  # every token correct
    types: Mapping[str, Counts]  # spans of each type
    labels: Mapping[str, Counts]  # tokens of each label

    @property
    def accuracy(self) -> float:
        """Correct tokens as a percentage."""
        return _percent(self.correct_tokens, self.tokens)

    @property
    def sentence_accuracy(self) -> float:
        """Sentences with every token correct, as a percentage."""
        return _percent(self.correct_sentences, self.sentences)

    @property
    def spans(self) -> Counts:
        """Spans of all types together."""
        kinds = self.types.values()
        return Counts(sum(k.gold for k in kinds), sum(k.predicted for k in kinds), sum(k.correct for k in kinds))

    @property
    def precision(self) -> float:
        """Precision over the spans of all types."""
        return self.spans.precision

    @property
    def recall(self) -> float:
        """Recall over the spans of all types."""
        return self.spans.recall

    @property
    def f1(self) -> float:
        """F1 over the spans of all types (micro F1)."""
        return self.spans.f1

    @property
    def macro_f1(self) -> float:
        """The mean over span types of their F1."""
        return _mean(self.types)

    @property
    def label_macro_f1(self) -> float:
        """The mean over labels of their F1 on tokens: the macro F1 of plain classification."""
        return _mean(self.labels)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        >>> evaluate(["spam", "ham"], ["spam", "spam"]).as_dict()["labels"]["ham"]["recall"]
        0.0
        """
        return {
            "scheme": self.scheme,
            "tokens": self.tokens,
            "correct_tokens": self.correct_tokens,
            "accuracy": self.accuracy,
            "sentences": self.sentences,
            "correct_sentences": self.correct_sentences,
            "sentence_accuracy": self.sentence_accuracy,
            "spans": self.spans.as_dict(),
            "macro_f1": self.macro_f1,
            "label_macro_f1": self.label_macro_f1,
            "types": {name: counts.as_dict() for name, counts in self.types.items()},
            "labels": {name: counts.as_dict() for name, counts in self.labels.items()},
        }

    def _repr_html_(self) -> str:
        """For notebooks: overall percentages, and those of spans by type, or of labels if inputs have one each."""
        if self.tokens == self.sentences:
            return self._labels_as_html()
        head = f"{self.accuracy:.2f} % of {self.tokens:,} tokens right, {self.sentence_accuracy:.2f} % of "
        head += f"{self.sentences:,} sentences; {self.f1:.2f} F1 of spans, {self.macro_f1:.2f} mean over types"
        rows = [_cells(html.code(name), counts) for name, counts in self.types.items()]
        return html.block("Evaluation", head, html.table(("span type", *_HEADS), [*rows, _cells("all", self.spans)]))

    def _labels_as_html(self) -> str:
        head = f"{self.accuracy:.2f} % of {self.tokens:,} right; {self.label_macro_f1:.2f} F1, mean over labels"
        rows = [_cells(html.code(name), counts) for name, counts in self.labels.items()]
        return html.block("Evaluation", head, html.table(("label", *_HEADS), rows))

    def __str__(self) -> str:
        """A report in the format of `conlleval`."""
        phrases = self.spans
        head = f"processed {self.tokens} tokens with {phrases.gold} phrases; "
        head += f"found: {phrases.predicted} phrases; correct: {phrases.correct}."
        lines = [head, f"accuracy: {self.accuracy:6.2f}%; {_ratios(phrases)}"]
        lines += [f"{name:>17}: {_ratios(counts)}  {counts.predicted}" for name, counts in self.types.items()]
        return "\n".join(lines)


def evaluate(gold: Iterable[object], predicted: Iterable[object], *, scheme: Scheme = "auto") -> Evaluation:
    """Score predictions against gold: a sequence of labels per sentence, or one label per example.

    Schemes are those of `spans`; "auto" decides by the labels of both sides. One label per example counts as a sequence
    of length one, and a sentence without tokens as correct. Raises `DataError`, naming the sentence, if lengths differ.

    >>> print(evaluate([["B-NP", "I-NP", "B-VP", "O"]], [["B-NP", "I-NP", "O", "B-VP"]]))
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  50.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                   NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    """
    coded = code({"gold": gold, "predicted": predicted}, scheme=scheme)
    gold_ids, predicted_ids = coded.sides
    right = gold_ids == predicted_ids  # [T]
    wrong_before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(~right)])  # [T+1] wrong tokens before t
    wrong = np.diff(wrong_before[coded.offsets])  # [N] wrong tokens in sentence n
    gold_spans, predicted_spans = coded.spans(0), coded.spans(1)
    shared = predicted_spans.type[predicted_spans.also_in(gold_spans)]
    return Evaluation(
        scheme=coded.scheme,
        tokens=len(right),
        correct_tokens=int(right.sum()),
        sentences=len(wrong),
        correct_sentences=int((wrong == 0).sum()),
        types=_tally(gold_spans.types, gold_spans.type, predicted_spans.type, shared),
        labels=_tally(coded.names, gold_ids, predicted_ids, gold_ids[right]),
    )


def _tally(names: tuple[str, ...], gold: Ints, predicted: Ints, correct: Ints) -> dict[str, Counts]:
    def count(ids: Ints) -> NDArray[np.intp]:
        return np.bincount(ids, minlength=len(names))

    rows = zip(names, count(gold).tolist(), count(predicted).tolist(), count(correct).tolist())
    return {name: Counts(*row) for name, *row in rows}


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole > 0 else 0.0


def _mean(table: Mapping[str, Counts]) -> float:
    return sum(counts.f1 for counts in table.values()) / len(table) if table else 0.0


def _cells(name: object, counts: Counts) -> tuple[object, ...]:
    ratios = (f"{value:.2f}" for value in (counts.precision, counts.recall, counts.f1))
    return name, *ratios, f"{counts.gold:,}", f"{counts.predicted:,}", f"{counts.correct:,}"


def _ratios(counts: Counts) -> str:
    return f"precision: {counts.precision:6.2f}%; recall: {counts.recall:6.2f}%; FB1: {counts.f1:6.2f}"
