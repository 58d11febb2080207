"""CLLP with a tag dictionary: Table 1 of Li, Zhang and Chen 2014.

One part of a corpus gives a dictionary of the tags that each word may have; sentences of another part are learned from
without their tags. A token whose word is not in the dictionary may have any tag. Labels to begin with are candidates at
random, and for more rows of CLLP those of HMMs (`initial_tags`), which have rows of their own too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.files import read_lines
from sidelight.errors import DataError
from sidelight.estimators.taggers import Tagger
from sidelight.evaluate import evaluate
from sidelight.evidence import Candidates, Evidence
from sidelight.experiments.cllp.candidate_corpora import WORD_FEATURES
from sidelight.experiments.cllp.candidate_grid import (
    CHARGE_NOTE,
    CLLP,
    GOLD,
    MMS,
    MMS_LIKE_CLLP,
    NAIVE,
    CandidateSetting,
    CandidateTrials,
    Results,
    Runner,
    fit,
)
from sidelight.experiments.cllp.candidate_sets import initial_labels
from sidelight.experiments.cllp.initial_tags import AUTO, CHANCE, EMISSION, EXTRAS, MIN_GREEDY, STARTS, begun, tagger_of
from sidelight.experiments.draws import folder_of, labels_of, part, read_words, tokens_of
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row
from sidelight.features.words.templates import parse_templates
from sidelight.recipes import Recipe

TITLE = "Parts of speech with a tag dictionary: accuracy by tokens learned from (CLLP, Table 1)"
DRAWS, QUICK_DRAWS = 5, 3
METHODS = (GOLD, NAIVE, MMS, MMS_LIKE_CLLP, CLLP)
AGAIN_DRAWS, AGAIN_FIRST, AGAIN_PILOTS = 20, 10, (100, 101, 102, 103)
AGAIN_TRIALS = CandidateTrials((), (0.03, 0.1, 0.3, 1.0, 3.0), (0.03, 0.1, 0.3, 1.0), jointly=True, thresholds=False)
PAPER = {
    48_000: {GOLD: 94.40, NAIVE: 65.33, MMS: 67.68, CLLP: 76.74},
    96_000: {GOLD: 94.77, NAIVE: 66.79, MMS: 69.51, CLLP: 76.56},
}
BEGUN = {AUTO: (82.90, 82.22), EMISSION: (82.89, 82.22), MIN_GREEDY: (89.87, 88.47)}  # CLLP at 48,000 and at 96,000
ALONE = {MIN_GREEDY: (87.95, 86.22)}  # the HMM itself
SAMPLE, QUICK = 24_000, 6_000  # tokens of the newspaper sample
WEB_DICTIONARY = 100_000  # tokens
DEV_SENTENCES = 500

NOTES = (
    "the paper has the Wall Street Journal: a dictionary from sections 00-07, sentences from 16-18; here web text (the "
    f"English Web Treebank, Penn tags) stands in for it: a dictionary from the first {WEB_DICTIONARY:,} tokens of its "
    f"training part, sentences from the rest; {DEV_SENTENCES} sentences of its development part, all of its test part",
    "newspaper: the 94k-token sample of the Wall Street Journal, whose sentences in order are a dictionary (45k "
    f"tokens), {SAMPLE:,} tokens to learn from, 5k for development and the rest for testing",
    "words are matched as they are written; a word that is not in the dictionary may have any tag; tags are predicted "
    "without the dictionary",
    "draws differ in the labels to begin with, which Gold has not",
    CHARGE_NOTE,
    "features, which the paper does not say: words up to one token away, prefixes and suffixes of up to 3 letters, "
    "capital, hyphen, digit; transitions",
    "eight trials of each method, with the first draw, choose prices, ratios and thresholds; for 96,000 tokens the "
    "choices of 48,000 are kept",
    "once more, with draws of their own: four draws that are not scored choose, for MMS among five prices, for CLLP "
    "among four prices with three ratios each",
    "labels from HMMs to begin with: the dictionary and the sentences are all they know; what is added to their counts "
    f"({', '.join(f'{extra:g}' for extra in EXTRAS)}) is chosen on development data, and CLLP has its trials with each "
    "of them; MinGreedy has the extensions of the cited work (choice among equal pairs, pairs and parameters from "
    "the paths, emissions from the dictionary), and unlike there words not in the dictionary go by their spelling, and "
    "the path of a sentence is its most probable one",
)


@dataclass(frozen=True)
class AmbiguousDictionary:
    """A dictionary, sentences to learn from, and sentences to score."""

    words: Mapping[str, list[str]]
    raw: LabelledExamples
    dev: LabelledExamples
    test: LabelledExamples
    labels: list[str]
    thresholds: tuple[float, float] = (0.5, 3.0)
    unit: float = 1.0
    way: str | None = None  # of `initial_tags`; else labels to begin with are drawn
    extra: float = EXTRAS[0]  # of that way

    def gold(self, setting: CandidateSetting, draw: int) -> Sequence[Evidence]:
        return part(self.raw, range(self._count(setting)))

    def candidates(self, setting: CandidateSetting, draw: int) -> list[Candidates]:
        xs = self.raw.xs[: self._count(setting)]
        pieces = [Candidates(x, [self.words.get(word) for word in x]) for x in xs]
        if self.way is not None:
            return begun(pieces, self.labels, way=self.way, seed=draw, extra=self.extra)
        rng = np.random.default_rng([draw, 3])
        sets = ([self.words.get(word, self.labels) for word in x] for x in xs)
        return [replace(piece, initial=initial_labels(options, rng)) for piece, options in zip(pieces, sets)]

    def estimator(self, learner: Recipe, price: float, draw: int) -> Tagger:
        return Tagger(
            features=parse_templates(WORD_FEATURES),
            labels=self.labels,
            learner=learner,
            loss="hinge",
            prices={"gold": price, "candidates": price},
            n_jobs=1,
            seed=draw,
        )

    def scores(self, right: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        return {"accuracy": evaluate(right, predicted).accuracy}

    def alone(self, setting: CandidateSetting, draw: int, part: LabelledExamples) -> float:
        """The accuracy of the HMM that labels to begin with are from."""
        assert self.way is not None
        pieces = replace(self, way=None).candidates(setting, draw)
        tagger = tagger_of(pieces, self.labels, way=self.way, seed=draw, extra=self.extra)
        return self.scores(part.ys, tagger.predict(part.xs))["accuracy"]

    def _count(self, setting: CandidateSetting) -> int:
        """How many sentences have the setting's number of tokens; the last may overshoot."""
        ends = np.cumsum([len(x) for x in self.raw.xs])
        return min(1 + int(np.searchsorted(ends, setting.level)), len(ends))


def dictionary_of(examples: LabelledExamples) -> dict[str, list[str]]:
    """The tags that each word has.

    >>> dictionary_of(LabelledExamples([["a", "run"], ["run"]], [["DT", "NN"], ["VB"]]))
    {'a': ['DT'], 'run': ['NN', 'VB']}
    """
    results: dict[str, set[str]] = {}
    for x, y in zip(examples.xs, examples.ys):
        for word, tag in zip(x, y):
            results.setdefault(word, set()).add(tag)
    return {word: sorted(tags) for word, tags in results.items()}


PENN, UNIVERSAL = 4, 3  # columns of tags in CoNLL-U


def read_conllu(path: Path, *, tags: int = PENN) -> LabelledExamples:
    """Words and tags of a CoNLL-U file, without multi-word tokens and empty nodes."""
    xs: list[list[str]] = []
    ys: list[list[str]] = []
    x: list[str] = []
    y: list[str] = []
    for number, line in enumerate([*read_lines(path), ""]):
        cells = line.split("\t")
        if not line.strip():
            if x:
                xs.append(x)
                ys.append(y)
            x, y = [], []
        elif not line.startswith("#") and cells[0].isdigit():
            if len(cells) != 10:
                raise DataError("not a token in 10 columns", file=path, line=number + 1, remedy="check the file")
            x.append(cells[1])
            y.append(cells[tags])
    return LabelledExamples(xs, ys)


def cut(examples: LabelledExamples, tokens: Sequence[int]) -> list[LabelledExamples]:
    """The examples in their order, cut where so many tokens have been reached, and the rest."""
    ends = np.cumsum([len(x) for x in examples.xs])
    marks = [0, *(1 + int(np.searchsorted(ends, total)) for total in np.cumsum(tokens)), len(ends)]
    return [LabelledExamples(examples.xs[a:b], examples.ys[a:b]) for a, b in pairwise(marks)]


def web(data: Path) -> AmbiguousDictionary:
    """The English Web Treebank."""
    folder = folder_of(data, "ud_english_ewt")
    train, dev, test = (read_conllu(folder / f"{name}.conllu.gz") for name in ("train", "dev", "test"))
    known, raw = cut(train, [WEB_DICTIONARY])
    labels = labels_of(LabelledExamples([], [*train.ys, *dev.ys, *test.ys]))
    few = LabelledExamples(dev.xs[:DEV_SENTENCES], dev.ys[:DEV_SENTENCES])
    return AmbiguousDictionary(dictionary_of(known), raw, few, test, labels)


def newspaper(data: Path) -> AmbiguousDictionary:
    """The sample of the Wall Street Journal."""
    whole = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    known, raw, dev, test = cut(whole, [45_000, SAMPLE, 5_000])
    return AmbiguousDictionary(dictionary_of(known), raw, dev, test, labels_of(whole))


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    report(TITLE)
    table: list[Row] = []
    tokens = QUICK if quick else SAMPLE
    sample = CandidateSetting(f"{tokens} tokens, newspaper", tokens, QUICK_DRAWS if quick else DRAWS, METHODS)
    study = newspaper(data)
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        table += Results(study, run, gold_draws=1).rows_of(sample, report)
        save(table)
        if not quick:
            table += again_rows(study, [sample], run, report)
            save(table)
    for way in STARTS:
        table += begun_rows(study, way, [sample], n_jobs=n_jobs, report=report)
        save(table)
    if quick:
        return table, NOTES
    study = web(data)
    settings = [CandidateSetting(f"{tokens} tokens", tokens, DRAWS, METHODS, paper) for tokens, paper in PAPER.items()]
    report(f"  {tokens_of(study.raw.xs):,} tokens besides the dictionary's, {len(study.labels)} tags")
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run, gold_draws=1)
        for setting in settings:
            table += results.rows_of(setting, report, like=None if setting is settings[0] else settings[0])
            save(table)
        table += again_rows(study, settings, run, report)
        save(table)
    for way in STARTS:
        table += begun_rows(study, way, settings, n_jobs=n_jobs, report=report)
        save(table)
    return table, NOTES


def again_rows(
    study: AmbiguousDictionary, settings: Sequence[CandidateSetting], run: Runner, report: Callable[[str], None]
) -> list[Row]:
    """MMS and CLLP once more from more draws of labels; choices are made for the first setting."""
    results = Results(study, run, trials=AGAIN_TRIALS)
    table: list[Row] = []
    first: CandidateSetting | None = None
    for each in settings:
        setting = CandidateSetting(
            f"{each.name}, again",
            each.level,
            AGAIN_DRAWS,
            (MMS, MMS_LIKE_CLLP, CLLP),
            each.paper,
            pilots=AGAIN_PILOTS,
            first=AGAIN_FIRST,
        )
        table += results.rows_of(setting, report, like=first)
        first = first or setting
    return table


def begun_rows(
    study: AmbiguousDictionary,
    way: str,
    settings: Sequence[CandidateSetting],
    *,
    n_jobs: int,
    report: Callable[[str], None],
) -> list[Row]:
    """The HMM of one way, and CLLP begun with its labels; choices are made for the first setting."""
    table: list[Row] = []
    studies = [replace(study, way=way, extra=extra) for extra in EXTRAS]
    study = max(studies, key=lambda each: each.alone(settings[0], 0, each.dev))
    report(f"  {way}: {study.extra:g} added to counts, chosen on development data")
    places = {tokens: place for place, tokens in enumerate(PAPER)}
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run)
        for setting in (replace(each, draws=each.draws if way in CHANCE else 1) for each in settings):
            place = places.get(int(setting.level))
            alone = None if place is None or way not in ALONE else ALONE[way][place]
            scores = [study.alone(setting, draw, study.test) for draw in range(setting.draws)]
            table.append(row(setting.name, f"HMM, {way}", "accuracy", scores, paper=alone))
            paper = {} if place is None else {CLLP: BEGUN[way][place]}
            one = replace(setting, methods=(CLLP,), paper=paper)
            like = None if setting.name == settings[0].name else settings[0]
            table += [{**line, "method": f"{CLLP} + {way}"} for line in results.rows_of(one, report, like=like)]
    return table
