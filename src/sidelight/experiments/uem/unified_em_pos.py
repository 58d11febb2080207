"""Unified EM from starts of different quality: thesis section 4.4, Figure 4.1.

Part-of-speech tagging with a full dictionary of the tags of each word, an HMM of first order, and no labels in the
sentences that are learned from. EM of every temperature begins either with all tags of a word believed alike or with
the HMM of a few labelled sentences from elsewhere. The score is the accuracy on ambiguous tokens (of words with more
than one tag) of the sentences that were learned from; the figure shows it relative to EM, Eq. 4.11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sidelight import recipes
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Candidates, gold
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis.unsupervised import Dictionary, ambiguous_accuracy
from sidelight.experiments.jlis.unsupervised import load as load_dictionary
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row
from sidelight.features import emissions

TITLE = "Unified EM with a tag dictionary: accuracy on ambiguous tokens by gamma and start (thesis Figure 4.1)"
TOKENS, QUICK_TOKENS = 24_115, 6_000
SIZES, QUICK_SIZES = (0, 5, 10, 20, 40, 80), (0, 5, 80)  # labelled sentences to begin with
GAMMAS = (1.2, 1.0, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1, 0.0)
QUICK_GAMMAS = (1.0, 0.9, 0.5, 0.0)
DRAWS, QUICK_DRAWS = 10, 2
NOISE = 0.01  # of the uniform start
START, AT_START = "the start itself", -1.0

NOTES = (
    "the corpus is the first 24k tokens of the 94k-token sample of the Wall Street Journal with 45 tags, where the "
    "thesis has a part of its own; the dictionary has the tags that each word has anywhere in the sample; labelled "
    "sentences are drawn from the rest of it",
    f"draws differ in the labelled sentences, or in the noise ({NOISE:g}) of the uniform start",
    "nothing is tuned: the supervised HMM has the default smoothing; EM adds 0.001 to each count of a word and 0.01 to "
    "each of two tags, and makes at most 50 iterations",
    "relative: 100 (accuracy - accuracy of gamma 1) / accuracy of gamma 1, as in Eq. 4.11; gamma 0 is hard EM",
)


@dataclass(frozen=True)
class TemperatureStudy:
    """Sentences to learn from with their dictionary, and labelled sentences to begin with."""

    dictionary: Dictionary
    labelled: LabelledExamples

    def evidence(self) -> list[Candidates]:
        xs = self.dictionary.sentences.xs
        return [Candidates(x, options) for x, options in zip(xs, self.dictionary.candidates(xs))]


@dataclass(frozen=True)
class TemperatureTask:
    """One fit: how many labelled sentences it begins with, and the temperature."""

    size: int
    gamma: float
    draw: int

    def __str__(self) -> str:
        return setting_of(self.size)


def setting_of(size: int) -> str:
    """A start, for people."""
    return f"{size} labelled sentences" if size else "uniform start"


def fit(study: TemperatureStudy, task: TemperatureTask) -> float:
    """The accuracy on ambiguous tokens."""
    tagger = Tagger(features=emissions(), labels=study.dictionary.labels, n_jobs=1, seed=task.draw)
    if task.size:
        which = np.random.default_rng([task.draw, 1]).permutation(len(study.labelled.xs))[: task.size]
        tagger.set_params(learner="hmm")
        tagger.fit(gold([study.labelled.xs[i] for i in which], [study.labelled.ys[i] for i in which]))
        if task.gamma == AT_START:
            return ambiguous_accuracy(study.dictionary, tagger)
    learner = recipes.unified_em(
        gamma=task.gamma,
        start="uniform",
        noise=NOISE,
        emission="additive",
        emission_amount=0.001,
        transition="additive",
        transition_amount=0.01,
        vocabulary=0,
    )
    tagger.set_params(learner=learner, warm_start=bool(task.size)).fit(study.evidence())
    return ambiguous_accuracy(study.dictionary, tagger)


def load(data: Path, *, tokens: int = TOKENS) -> TemperatureStudy:
    """Read `data`/ptb_sample."""
    whole = load_dictionary(data)
    xs, ys = whole.sentences.xs, whole.sentences.ys
    count = 1 + int(np.searchsorted(np.cumsum([len(x) for x in xs]), tokens))
    raw = LabelledExamples(xs[:count], ys[:count])
    return TemperatureStudy(Dictionary(raw, whole.tags, whole.labels), LabelledExamples(xs[count:], ys[count:]))


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    report(TITLE)
    study = load(data, tokens=QUICK_TOKENS if quick else TOKENS)
    gammas, draws = (QUICK_GAMMAS, QUICK_DRAWS) if quick else (GAMMAS, DRAWS)
    results: list[Row] = []
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        for size in QUICK_SIZES if quick else SIZES:
            every = [*([AT_START] if size else []), *gammas]
            tasks = [TemperatureTask(size, gamma, draw) for gamma in every for draw in range(draws)]
            done = dict(zip(tasks, run(tasks)))
            results += rows_of(
                size, {gamma: [done[TemperatureTask(size, gamma, draw)] for draw in range(draws)] for gamma in every}
            )
            save(results)
    return results, NOTES


def rows_of(size: int, scores: dict[float, list[float]]) -> list[Row]:
    """The accuracy of each temperature, its difference relative to EM, and the best temperature."""
    setting = setting_of(size)
    results = []
    for gamma, values in scores.items():
        name = START if gamma == AT_START else f"gamma {gamma:g}"
        results.append(row(setting, name, "accuracy", values))
        if gamma not in (AT_START, 1.0):
            relative = [100.0 * (value - em) / em for value, em in zip(values, scores[1.0])]
            results.append(row(setting, name, "relative", relative))
    means = {gamma: float(np.mean(values)) for gamma, values in scores.items() if gamma != AT_START}
    return [*results, {**row(setting, "best", "gamma", [max(means, key=means.__getitem__)]), "draws": len(scores[1.0])}]
