"""J-LIS on alignments of letters and sounds, by labelled pairs and by companions (Chang et al. 2010, Table 1).

The paper aligns names of two languages; its corpus is not public, so words of NETtalk are used instead, whose letters
are aligned with their sounds by hand. Good companions are words with their sounds, bad ones words with the sounds of
others, ten for each. Pairs of up to 3 × 3 symbols, F1 of links between symbols. C1 is chosen for the structural SVM on
200 development words, C2 for J-LIS with that C1, in every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.data.files import read_lines
from sidelight.data.links import GoldLinks
from sidelight.errors import DataError
from sidelight.estimators.predictor import Predictor
from sidelight.evaluate.alignments import score_alignments
from sidelight.evaluate.paired import paired_t
from sidelight.evidence import Companion, Evidence, Gold
from sidelight.experiments.draws import folder_of
from sidelight.experiments.grid import JLIS, PRICES, SSVM
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.structures.alignments import Pair, SegmentAlignment, Strings, links_of

SIZES, COMPANIONS, DRAWS = (10, 20, 40, 80), (2000, 8000), 5
QUICK_SIZES, QUICK_COMPANIONS, QUICK_DRAWS = (10, 40), (500,), 2
PAPER = {10: (72.9, 78.8, 80.0), 20: (82.1, 84.6, 85.4), 40: (85.7, 86.9, 87.4), 80: (88.6, 89.4, 89.4)}
BAD = 10  # for each good companion
TEST, DEV = 1000, 200
NOTES = (
    "the paper's names are not public: letters and sounds of NETtalk stand in for English and Hebrew letters",
    "C1, then C2, chosen on development words in each draw",
)
STRUCTURE = SegmentAlignment(bits=16)


class Word(NamedTuple):
    """Letters and sounds, and how they are aligned."""

    x: Strings
    y: list[Pair]


class AlignmentTask(NamedTuple):
    """The fits of one draw: those of the SVM, or those of J-LIS with its price of labelled pairs."""

    draw: int
    labelled: int
    companions: int
    gold_price: float | None = None

    def __str__(self) -> str:
        return f"{self.labelled} pairs, {self.companions:,} companions"


class AlignmentOutcome(NamedTuple):
    """The best price on development words, and its F1 on test words."""

    price: float
    f1: float


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[Sequence[Row]], None]
) -> tuple[list[Row], tuple[str, ...]]:
    """F1 by labelled pairs, of the structural SVM and of J-LIS by companions."""
    words = read_words(folder_of(data, "nettalk") / "nettalk.tsv")
    draws = range(QUICK_DRAWS if quick else DRAWS)
    results: list[Row] = []
    for size in QUICK_SIZES if quick else SIZES:
        setting, paper = f"{size} pairs", PAPER[size]
        plain = carried_out(fit, words, [AlignmentTask(draw, size, 0) for draw in draws], n_jobs=n_jobs, report=report)
        results.append(row(setting, SSVM, "F1", [one.f1 for one in plain], paper=paper[0]))
        for place, count in enumerate(QUICK_COMPANIONS if quick else COMPANIONS, start=1):
            tasks = [AlignmentTask(draw, size, count, one.price) for draw, one in zip(draws, plain)]
            joint = carried_out(fit, words, tasks, n_jobs=n_jobs, report=report)
            results += _rows_of(setting, count, plain, joint, paper=None if quick else (paper[place], paper[0]))
            report(f"{setting}, {count:,} companions: {results[-2]['value']:+.1f} to {results[-3]['value']:.1f}")
            save(results)
    return results, NOTES


def fit(words: list[Word], task: AlignmentTask) -> AlignmentOutcome:
    """Fit with every price, and choose."""
    order = np.random.default_rng(task.draw).permutation(len(words))
    ends = np.cumsum([0, TEST, DEV, task.labelled])
    test, dev, labelled = ([words[i] for i in order[a:b]] for a, b in pairwise(ends.tolist()))
    others = [words[i] for i in order[ends[-1] :]]
    results: list[tuple[float, float, Floats]] = []
    for price in PRICES:
        first = price if task.gold_price is None else task.gold_price
        evidence: list[Evidence] = [Gold(word.x, word.y, weight=first) for word in labelled]
        evidence += companions(others, task.companions, price)
        weights = Predictor(STRUCTURE, learner="jlis").fit(evidence).model_.weights
        results.append((f1_of(weights, dev), -price, weights))
    _, price, weights = max(results, key=lambda one: one[:2])
    return AlignmentOutcome(-price, f1_of(weights, test))


def companions(words: Sequence[Word], count: int, price: float) -> list[Evidence]:
    """Words with their sounds, and with those of the words after them."""
    good = count // (BAD + 1)
    results: list[Evidence] = [Companion(word.x, +1, weight=price) for word in words[:good]]
    for shift in range(1, BAD + 1 if count else 0):
        results += [
            Companion((words[i].x[0], words[i + shift].x[1]), -1, weight=price)
            for i in range(good)
            if words[i].x[1] != words[i + shift].x[1]
        ]
    return results


def f1_of(weights: Floats, words: Sequence[Word]) -> float:
    """F1 of links, in per cent."""
    batch = STRUCTURE.batch([word.x for word in words])
    choices = batch.best(weights).labels
    predicted = [
        STRUCTURE.decode(word.x, choices[a:b]) for word, a, b in zip(words, batch.starts[:-1], batch.starts[1:])
    ]
    gold = [GoldLinks(frozenset(links_of(word.y)), frozenset(links_of(word.y))) for word in words]
    return 100.0 * score_alignments(gold, [links_of(pairs) for pairs in predicted]).f1


def read_words(path: Path) -> list[Word]:
    """Words with sounds; a letter whose symbol is - is silent."""
    results: dict[str, Word] = {}
    for number, line in enumerate(read_lines(path), start=1):
        letters, sounds, *_ = line.split("\t")
        if len(letters) != len(sounds):
            problem = f"{len(letters)} letters have {len(sounds)} symbols"
            raise DataError(problem, file=path, line=number, remedy="check the file")
        spoken = [i for i, sound in enumerate(sounds) if sound != "-"]
        if spoken:
            pairs: list[Pair] = [((i, i + 1), (j, j + 1)) for j, i in enumerate(spoken)]
            results.setdefault(letters, Word((letters, "".join(sounds[i] for i in spoken)), pairs))
    return list(results.values())


def _rows_of(
    setting: str,
    count: int,
    plain: Sequence[AlignmentOutcome],
    joint: Sequence[AlignmentOutcome],
    *,
    paper: tuple[float, float] | None,
) -> list[Row]:
    name = f"{JLIS}, {count:,} companions"
    one, other = [outcome.f1 for outcome in plain], [outcome.f1 for outcome in joint]
    gain = None if paper is None else round(paper[0] - paper[1], 2)
    return [
        row(setting, name, "F1", other, paper=None if paper is None else paper[0]),
        row(setting, f"{name} - {SSVM}", "difference", [b - a for a, b in zip(one, other)], paper=gain),
        {**row(setting, f"{name} - {SSVM}", "p-value", [paired_t(other, one)[1]]), "draws": len(one)},
    ]
