"""The worth of each group of the standard features: each left out, on eight corpora, by development data.

A conditional random field with its default price, labelled sentences drawn from the training part, and sentences of the
same part held out for scoring. No test data is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sidelight.data.columns import read_columns
from sidelight.estimators.taggers import Tagger
from sidelight.evaluate import evaluate
from sidelight.experiments.cllp.tag_dictionary import UNIVERSAL, read_conllu
from sidelight.experiments.draws import folder_of, part, read_words
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis import ads, citations
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row
from sidelight.features import FeatureSet, spelling, standard, window
from sidelight.features.template_sets import GROUPS

TITLE = "Default features: every group of features.standard() left out, by development data"
STANDARD, WINDOW, SPELLING = "standard", "window", "spelling"
METHODS = (STANDARD, *(f"without {group}" for group in GROUPS), SPELLING, WINDOW)
SIZES, MUCH, DRAWS = (20, 50, 200), 1000, 3
WITH_MUCH = ("names, news", "tags, web")
QUICK_CORPORA, QUICK_SIZES, QUICK_DRAWS = ("fields, hotel posts",), (20, 50), 1
DEVELOPMENT = 300  # sentences
ALL = "all corpora"

NOTES = (
    f"span F1 for names and chunks, token accuracy for tags and fields, on {DEVELOPMENT} sentences of the training "
    "part (for citations and hotel posts: the 100 for development); no test data",
    "learner crf with default settings; 'all corpora' is the mean over the corpora",
    f"with {MUCH:,} sentences one draw; the column beside the words is a part of speech",
)


class TaggedPart(NamedTuple):
    """Sentences to draw from, sentences to score on, and whether labels are spans."""

    train: LabelledExamples
    development: LabelledExamples
    spans: bool


@dataclass(frozen=True)
class FeatureTask:
    """One fit."""

    corpus: str
    method: str
    size: int
    draw: int

    def __str__(self) -> str:
        return f"{self.corpus}, {self.size}"


def corpora(data: Path) -> dict[str, TaggedPart]:
    """All eight; raises `DataError` if one is missing."""
    fields, posts = citations.load(data), ads.load(data)
    chunks = read_columns(folder_of(data, "conll2000") / "train.txt.gz")
    news = read_words(folder_of(data, "conll2003") / "eng.train.gz")
    positions = [i for i, x in enumerate(news.xs) if x[0] != "-DOCSTART-"]
    paper = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    cut = len(paper.xs) - 1000  # the others are for testing in other experiments
    return {
        "names, news": _apart(
            [news.xs[i] for i in positions], [begin_marked(news.ys[i]) for i in positions], spans=True
        ),
        "names, biology": _apart(*read_words(folder_of(data, "jnlpba") / "train.iob2.gz"), spans=True),
        "tags, web": _apart(
            *read_conllu(folder_of(data, "ud_english_ewt") / "train.conllu.gz", tags=UNIVERSAL), spans=False
        ),
        "tags, newspaper": _apart(paper.xs[:cut], paper.ys[:cut], spans=False),
        "chunks": _apart([[token[0] for token in x] for x in chunks.xs], chunks.ys or [], spans=True),
        "chunks, with tags": _apart(chunks.xs, chunks.ys or [], spans=True),
        "fields, citations": TaggedPart(fields.train, fields.dev, spans=False),
        "fields, hotel posts": TaggedPart(posts.train, posts.dev, spans=False),
    }


def begin_marked(y: Sequence[str]) -> list[str]:
    """IOB1 labels, where B- stands only between neighbours of one type, as BIO.

    >>> begin_marked(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC']
    """
    out = []
    for before, label in zip(["O", *y], y):
        goes_on = label.startswith("I-") and before[1:] == label[1:]
        out.append(label if label == "O" or goes_on else f"B-{label[2:]}")
    return out


def features_of(method: str, *, columns: int) -> FeatureSet:
    """The features that a method of `METHODS` has."""
    if method in (WINDOW, SPELLING):
        return window() if method == WINDOW else spelling()
    return standard(columns, without=() if method == STANDARD else [method.removeprefix("without ")])


def score(study: dict[str, TaggedPart], task: FeatureTask) -> float:
    """Per cent on the development sentences, of a model of some of the others."""
    corpus = study[task.corpus]
    first = corpus.train.xs[0][0]
    features = features_of(task.method, columns=1 if isinstance(first, str) else len(first))
    order = np.random.default_rng([task.draw, 1]).permutation(len(corpus.train.xs))[: task.size]
    tagger = Tagger(learner="crf", features=features, n_jobs=1, seed=task.draw).fit(part(corpus.train, order))
    results = evaluate(corpus.development.ys, tagger.predict(corpus.development.xs))
    return results.f1 if corpus.spans else results.accuracy


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Callable[[str], None],
    save: Callable[[list[Row]], None],
) -> tuple[list[Row], Sequence[str]]:
    """A row for every corpus, size and method, and the means over the corpora of a size."""
    report(TITLE)
    study = corpora(data)
    names = QUICK_CORPORA if quick else tuple(study)
    results: list[Row] = []
    with pool(score, study, n_jobs=n_jobs, report=report) as run:
        for size in QUICK_SIZES if quick else SIZES:
            draws = QUICK_DRAWS if quick else DRAWS
            here = [line for name in names for line in _cell(run, name, size, METHODS, draws)]
            results += [*here, *_means(here, size)]
            save(results)
        for name in () if quick else WITH_MUCH:
            results += _cell(run, name, MUCH, (STANDARD, SPELLING, WINDOW), 1)
            save(results)
    return results, NOTES


def _cell(
    run: Callable[[Sequence[FeatureTask]], list[float]], corpus: str, size: int, methods: Sequence[str], draws: int
) -> list[Row]:
    """The methods that differ on a corpus: where there is one column, none is left out."""
    methods = [method for method in methods if method != "without columns" or corpus == "chunks, with tags"]
    scores = run([FeatureTask(corpus, method, size, draw) for method in methods for draw in range(draws)])
    return [
        row(f"{corpus}, {size}", method, "score", scores[draws * k : draws * (k + 1)])
        for k, method in enumerate(methods)
    ]


def _means(lines: Sequence[Row], size: int) -> list[Row]:
    of_method = {method: [line["value"] for line in lines if line["method"] == method] for method in METHODS}
    most = max(map(len, of_method.values()))
    return [
        {**row(f"{ALL}, {size}", method, "score", [fmean(values)]), "draws": len(values)}
        for method, values in of_method.items()
        if len(values) == most
    ]


def _apart(xs: Sequence[Sequence[object]], ys: Sequence[Sequence[str]], *, spans: bool) -> TaggedPart:
    order = np.random.default_rng(14).permutation(len(xs))
    held_out, rest = order[:DEVELOPMENT], order[DEVELOPMENT:]
    development, train = (
        LabelledExamples([xs[i] for i in which], [ys[i] for i in which]) for which in (held_out, rest)
    )
    return TaggedPart(train, development, spans)
