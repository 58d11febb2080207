"""Labelled structures help binary decisions: J-LIS the other way round (Chang et al. 2010, Figure 4; thesis 6.5.5).

Which sounds are those of a word, and which Hebrew name is an English one? Each of 200 test words of NETtalk is ranked
against the sounds of all, each of 200 test names against the Hebrew names of all. Few pairs have alignments (S):
hand-made ones of NETtalk; of names, which have none, those of `Aligner` from 3,000 names, as a person's stand-in.
Companions (B) are words with their sounds and, ten for each, with those of others. "Initialisation" learns from S first
and then from B alone, "joint" from both. Prices as in `alignments`: C1 of the SVM on S by the F1 of development
alignments, C2 by the ranking of 100 development words, in every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.data.links import Link
from sidelight.estimators.aligner import Aligner
from sidelight.estimators.predictor import Predictor
from sidelight.evaluate.paired import paired_t
from sidelight.evaluate.ranking import score_rankings
from sidelight.evidence import Evidence, Gold
from sidelight.experiments.choices import chosen
from sidelight.experiments.draws import folder_of
from sidelight.experiments.grid import PRICES
from sidelight.experiments.jlis.alignments import STRUCTURE, Word, companions, f1_of, read_words
from sidelight.experiments.lclr.transliteration import read_pairs
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.learners.lclr import lclr_learner
from sidelight.objective.decisions import decisions
from sidelight.structures.alignments import Pair

LABELLED, COMPANIONS, DRAWS = (10, 20), (100, 200, 400, 800), 5
QUICK_COMPANIONS, QUICK_DRAWS = (100, 200), 2
TEST, DEV = 200, 100
ALIGNED = 3000  # names that the aligner learns from
START, JOINT = "initialisation", "joint"
NOTES = (
    "the paper shows curves without numbers: the joint approach is above initialisation alone, and 20 pairs above 10",
    "the paper's names are not public: letters and sounds of NETtalk, and names of Wikidata (Merhav and Ash 2018) "
    "stand in; alignments of the latter are those of our own aligner",
)


class IdentificationTask(NamedTuple):
    """The fits of one draw."""

    draw: int
    labelled: int
    companions: int

    def __str__(self) -> str:
        return f"{self.labelled} pairs, {self.companions} companions"


class IdentificationOutcome(NamedTuple):
    """Accuracies on test words, of the prices that do best on development words."""

    start: float
    joint: float


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Callable[[str], None],
    save: Callable[[Sequence[Row]], None],
    choose: Mapping[str, str],
) -> tuple[list[Row], tuple[str, ...]]:
    """Accuracy of the first rank, by labelled pairs and companions."""
    results: list[Row] = []
    choices = chosen(
        choose,
        corpora=list(CORPORA),
        labelled=LABELLED[: 1 if quick else None],
        companions=QUICK_COMPANIONS if quick else COMPANIONS,
        draws=range(QUICK_DRAWS if quick else DRAWS),
    )
    for corpus in choices["corpora"]:
        words = CORPORA[corpus](data)
        for labelled in choices["labelled"]:
            for count in choices["companions"]:
                tasks = [IdentificationTask(draw, labelled, count) for draw in choices["draws"]]
                outcomes = carried_out(fit, words, tasks, n_jobs=n_jobs, report=report)
                own = _rows_of(f"{corpus}: {tasks[0]}", outcomes)
                report(f"{own[0]['setting']}: {own[0]['value']:.1f}, jointly {own[1]['value']:.1f}")
                results += own
                save(results)
    return results, NOTES


def _rows_of(setting: str, outcomes: Sequence[IdentificationOutcome]) -> list[Row]:
    start, joint = [one.start for one in outcomes], [one.joint for one in outcomes]
    name = f"{JOINT} - {START}"
    results = [
        row(setting, START, "accuracy", start),
        row(setting, JOINT, "accuracy", joint),
        row(setting, name, "difference", [b - a for a, b in zip(start, joint)]),
    ]
    if len(joint) > 1:
        results.append({**row(setting, name, "p-value", [paired_t(joint, start)[1]]), "draws": len(joint)})
    return results


def fit(words: list[Word], task: IdentificationTask) -> IdentificationOutcome:
    """Fit both ways with every price, and choose."""
    order = np.random.default_rng(task.draw).permutation(len(words))
    ends = np.cumsum([0, TEST, DEV, task.labelled]).tolist()
    test, dev, labelled = ([words[i] for i in order[a:b]] for a, b in pairwise(ends))
    others = [words[i] for i in order[ends[-1] :]]
    svms = []
    for price in PRICES:
        gold = [Gold(word.x, word.y, weight=price) for word in labelled]
        svms.append((price, Predictor(STRUCTURE).fit(gold).model_.weights))
    first, start = max(svms, key=lambda one: (f1_of(one[1], dev), -one[0]))
    results: dict[str, list[Floats]] = {START: [], JOINT: []}
    for price in PRICES:
        answers = companions(others, task.companions, price)
        results[START].append(after(start, answers))
        gold = [Gold(word.x, word.y, weight=first) for word in labelled]
        results[JOINT].append(Predictor(STRUCTURE).fit([*gold, *answers]).model_.weights)
    best = {name: max(own, key=lambda weights: first_ranks(weights, dev)) for name, own in results.items()}
    return IdentificationOutcome(first_ranks(best[START], test), first_ranks(best[JOINT], test))


def after(start: Floats, answers: Sequence[Evidence]) -> Floats:
    """J-LIS on companions alone, from weights that are known."""
    xs, zs = [one.x for one in answers], [one.z for one in answers]  # type: ignore[attr-defined]
    learner = lclr_learner(decisions(STRUCTURE, xs, zs, weights=np.array([one.weight for one in answers])), start)
    for _ in learner.run():
        pass
    return learner.finish()


def first_ranks(weights: Floats, words: Sequence[Word]) -> float:
    """How many words have their own sounds first, in per cent."""
    every = [(one.x[0], other.x[1]) for one in words for other in words]
    scores = STRUCTURE.batch(every).best(weights).values / STRUCTURE.sizes(every)
    return 100.0 * score_rankings(scores.reshape(len(words), len(words)), np.arange(len(words))).top_1


def read_names(path: Path) -> list[Word]:
    """Names in two scripts with the alignments that an aligner finds, where these are pairs of segments."""
    names = read_pairs(path)[:ALIGNED]
    links = Aligner().fit([(list(one), list(other)) for one, other in names])
    predicted = links.align([(list(one), list(other)) for one, other in names])
    results = [(name, segments_of(own)) for name, own in zip(names, predicted)]
    return [Word(name, pairs) for name, pairs in results if pairs]


def segments_of(links: Sequence[Link]) -> list[Pair] | None:
    """Links as pairs of segments: those that share a symbol are one pair; None if pairs cross, or are too long.

    >>> segments_of([(0, 0), (1, 0), (3, 2)])
    [((0, 2), (0, 1)), ((3, 4), (2, 3))]
    >>> segments_of([(0, 1), (1, 0)])
    """
    results: list[Pair] = []
    for i, j in sorted(links):
        if results:
            (a, b), (c, d) = results[-1]
            if i < b or j < d:  # shares a symbol with the pair before, or lies before it
                if i < b - 1 or j < d - 1 or i + 1 - a > STRUCTURE.longest[0] or j + 1 - c > STRUCTURE.longest[1]:
                    return None
                results[-1] = ((a, i + 1), (c, j + 1))
                continue
        results.append(((i, i + 1), (j, j + 1)))
    return results


CORPORA: dict[str, Callable[[Path], list[Word]]] = {
    "NETtalk": lambda data: read_words(folder_of(data, "nettalk") / "nettalk.tsv"),
    "names": lambda data: read_names(folder_of(data, "translit_he") / "train.tsv"),
}
