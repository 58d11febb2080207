"""Scores of outputs that are sets of parts: links of alignments, arcs of trees, entities and relations.

Precision, recall and F1 over all inputs, in percent. If all outputs of an input have the same number of parts, as trees
have, these are one number: the attachment score. Parts with labels, such as relations with names, are also scored by
label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.errors import DataError
from sidelight.evaluate.paired import Comparison, exchanged
from sidelight.evaluate.scores import Counts
from sidelight.evaluate.spans import Ints


@dataclass(frozen=True, slots=True)
class Measure:
    """The parts of outputs that are counted, and their name."""

    name: str  # of F1, or of the share: "links", "UAS"
    parts: Callable[[Any], Collection[Any]]  # of an output, each once
    share: bool = False  # whether all outputs of an input have the same number of parts
    # labels of an output's slots, by slot; None for parts without labels
    labels: Callable[[Any], Mapping[Any, str]] | None = None
    label: Callable[[Any], str] | None = None  # of a part; None for parts without labels

    @property
    def score(self) -> str:
        """The main score: F1, or the share."""
        return self.name if self.share else f"{self.name} F1"


@dataclass(frozen=True, slots=True)
class PartScores:
    """Counts of every measure, and the number of outputs that are completely right."""

    measures: tuple[Measure, ...]
    counts: tuple[Counts, ...]
    by_label: tuple[Mapping[str, Counts], ...]  # of every measure; empty if parts have no labels
    whole: int | None  # None if not requested
    outputs: int

    @property
    def main(self) -> float:
        """F1, or the share, of the first measure, in percent."""
        return self.counts[0].f1

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values: dict[str, Any] = {"outputs": self.outputs}
        if self.whole is not None:
            values["outputs_right"] = self.whole
        for measure, counts, labels in zip(self.measures, self.counts, self.by_label):
            values[measure.name] = counts.f1 if measure.share else counts.as_dict()
            if labels:
                values[f"{measure.name} by label"] = {name: own.as_dict() for name, own in labels.items()}
        return values

    def __str__(self) -> str:
        lines = []
        for measure, counts, labels in zip(self.measures, self.counts, self.by_label):
            share = f"{counts.f1:.2f}% ({counts.correct:,} of {counts.gold:,})"
            lines.append(f"{measure.name}: {share if measure.share else _ratios(counts)}")
            lines += [f"  {name}: {_ratios(own)}" for name, own in labels.items()]
        if self.whole is None:
            return "\n".join(lines)
        right = 100.0 * self.whole / self.outputs if self.outputs else 0.0
        return "\n".join([*lines, f"whole outputs right: {right:.2f}% ({self.whole:,} of {self.outputs:,})"])


def score_parts(
    measures: Sequence[Measure], gold: Sequence[Any], predicted: Sequence[Any], *, whole: bool = True
) -> PartScores:
    """Scores over all outputs, and the number of completely right ones (named `whole`); raises `DataError` if the
    numbers of outputs differ.

    >>> print(score_parts([Measure("links", set)], [[(0, 0), (1, 1)]], [[(0, 0)]]))
    links: precision 100.00%, recall 50.00%, F1 66.67% (2 gold, 1 predicted, 1 right)
    whole outputs right: 0.00% (0 of 1)
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"{len(predicted):,} outputs but {len(gold):,} right ones", remedy="give both of the same inputs"
        )
    tables = [part_counts(measure, gold, predicted) for measure in measures]
    right = np.all([np.all(table == table[:, :1], axis=1) for table in tables], axis=0)
    counts = [Counts(gold=int(total[2]), predicted=int(total[1]), correct=int(total[0])) for total in map(_sum, tables)]
    labels = tuple(_by_label(measure, gold, predicted) for measure in measures)
    return PartScores(tuple(measures), tuple(counts), labels, int(right.sum()) if whole else None, len(gold))


def compare_parts(measure: Measure, gold: Sequence[Any], first: Sequence[Any], second: Sequence[Any]) -> Comparison:
    """Test the difference between two systems by exchanging the outputs of inputs."""
    one, other = part_counts(measure, gold, first), part_counts(measure, gold, second)
    return exchanged(measure.name, one[:, :2], other[:, :2], int(one[:, 2].sum()))


def part_counts(measure: Measure, gold: Sequence[Any], predicted: Sequence[Any]) -> Ints:
    """For every output, the numbers of right, predicted and gold parts. # [N, 3]"""
    rows = []
    for right, guess in zip(gold, predicted, strict=True):
        one, other = set(measure.parts(right)), set(measure.parts(guess))
        rows.append((len(one & other), len(other), len(one)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _by_label(measure: Measure, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Counts]:
    """Scores of the parts of each label, the most frequent label first."""
    if measure.label is None:
        return {}
    there, guessed, right = Counter[str](), Counter[str](), Counter[str]()
    for truth, guess in zip(gold, predicted, strict=True):
        one, other = set(measure.parts(truth)), set(measure.parts(guess))
        for count, parts in ((there, one), (guessed, other), (right, one & other)):
            count.update(map(measure.label, parts))
    names = sorted({*there, *guessed}, key=lambda name: (-there[name], name))
    return {name: Counts(gold=there[name], predicted=guessed[name], correct=right[name]) for name in names}


def _ratios(counts: Counts) -> str:
    shares = f"precision {counts.precision:.2f}%, recall {counts.recall:.2f}%, F1 {counts.f1:.2f}%"
    return f"{shares} ({counts.gold:,} gold, {counts.predicted:,} predicted, {counts.correct:,} right)"


def _sum(table: Ints) -> Ints:
    return np.asarray(table.sum(axis=0))
