"""The seven corpora, each cut once into parts that never meet.

A stranger has a few labelled sentences, raw text, and knowledge from elsewhere. So every corpus has a *pool* (labelled
draws and raw text come from it), sentences *elsewhere* (for dictionaries, and for writing rules and functions),
*development* sentences (for choices about the library's defaults), and *test* sentences, which were not looked at. The
blocks follow the order of the files, so that each document is in only one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sidelight.data.columns import read_columns
from sidelight.evaluate import evaluate
from sidelight.experiments.cllp.tag_dictionary import UNIVERSAL, read_conllu
from sidelight.experiments.draws import folder_of, labels_of, read_words
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis import ads, citations

ELSEWHERE, DEVELOPMENT, TEST = 1500, 600, 1500  # sentences, where a corpus has as many
SEED = 14
Metric = Literal["span_f1", "accuracy"]
Listing = Literal["labels", "types"]


@dataclass(frozen=True)
class StrangersCorpus:
    """A corpus in its parts. `raw` are inputs of the pool without labels, disjoint from the labelled `pool`."""

    name: str
    metric: Metric
    labels: list[str]
    pool: LabelledExamples
    raw: list[Any]
    elsewhere: LabelledExamples
    development: LabelledExamples
    test: LabelledExamples
    listing: Listing = "labels"  # what a dictionary lists for a word: labels, or types without B- and I-

    def score(self, right: Sequence[Any], predicted: Sequence[Any]) -> float:
        """Span F1 or token accuracy, in per cent."""
        evaluation = evaluate(right, predicted)
        return evaluation.f1 if self.metric == "span_f1" else evaluation.accuracy


def names_in_news(data: Path) -> StrangersCorpus:
    """Names of CoNLL-2003: words alone, BIO."""
    folder = folder_of(data, "conll2003")
    train, test = (_without_marks(read_words(folder / f"eng.{part}.gz")) for part in ("train", "testb"))
    return _in_blocks("names in news", train, test, metric="span_f1", listing="types")


def names_in_biology(data: Path) -> StrangersCorpus:
    """Names of JNLPBA: words alone, BIO."""
    folder = folder_of(data, "jnlpba")
    train, test = (read_words(folder / f"{part}.iob2.gz") for part in ("train", "eval"))
    return _in_blocks("names in biology", train, test, metric="span_f1", listing="types")


def tags_of_the_web(data: Path) -> StrangersCorpus:
    """Universal parts of speech of EWT."""
    folder = folder_of(data, "ud_english_ewt")
    train, test = (read_conllu(folder / f"{part}.conllu.gz", tags=UNIVERSAL) for part in ("train", "test"))
    return _in_blocks("tags of the web", train, test, metric="accuracy")


def tags_of_newspapers(data: Path) -> StrangersCorpus:
    """The 45 tags of the Wall Street Journal sample; the last 914 sentences are for testing."""
    whole = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    train, test = _cut(whole, 3000)
    return _in_blocks("tags of newspapers", train, test, metric="accuracy", elsewhere=1000, development=400)


def chunks(data: Path) -> StrangersCorpus:
    """Chunks of CoNLL-2000: words with the given tags as a second column, BIO."""
    folder = folder_of(data, "conll2000")
    read = [read_columns(folder / f"{part}.txt.gz") for part in ("train", "test")]
    train, test = (LabelledExamples(corpus.xs, corpus.ys or []) for corpus in read)
    return _in_blocks("chunks", train, test, metric="span_f1")


def fields_of_citations(data: Path) -> StrangersCorpus:
    """Fields of references in the splits of CoDL, no BIO; elsewhere is another collection, Rexa, noisily labelled."""
    folder = folder_of(data, "citations")
    corpus = citations.load(data)
    elsewhere = ads.read_posts(folder / "rexa_citations.bio.txt.gz")
    return StrangersCorpus(
        "fields of citations",
        "accuracy",
        corpus.labels,
        pool=corpus.train,
        raw=corpus.good,
        elsewhere=LabelledExamples(elsewhere.xs[:ELSEWHERE], elsewhere.ys[:ELSEWHERE]),
        development=corpus.dev,
        test=corpus.test,
    )


def fields_of_ads(data: Path) -> StrangersCorpus:
    """Fields of hotel posts, BIO; elsewhere is a list of hotels."""
    corpus = ads.load(data, marked=True)
    return StrangersCorpus(
        "fields of ads",
        "span_f1",
        corpus.labels,
        pool=corpus.train,
        raw=corpus.good,
        elsewhere=ads.read_posts(folder_of(data, "ads") / "bft_records.bio.txt", marked=True),
        development=corpus.dev,
        test=corpus.test,
        listing="types",
    )


CORPORA: dict[str, Callable[[Path], StrangersCorpus]] = {
    "names in news": names_in_news,
    "names in biology": names_in_biology,
    "tags of the web": tags_of_the_web,
    "tags of newspapers": tags_of_newspapers,
    "chunks": chunks,
    "fields of citations": fields_of_citations,
    "fields of ads": fields_of_ads,
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


def _without_marks(examples: LabelledExamples) -> LabelledExamples:
    """The sentences of CoNLL-2003 in BIO, without the lines that begin a document."""
    positions = [i for i, x in enumerate(examples.xs) if x[0] != "-DOCSTART-"]
    return LabelledExamples([examples.xs[i] for i in positions], [begin_marked(examples.ys[i]) for i in positions])


def _in_blocks(
    name: str,
    train: LabelledExamples,
    test: LabelledExamples,
    *,
    metric: Metric,
    listing: Listing = "labels",
    elsewhere: int = ELSEWHERE,
    development: int = DEVELOPMENT,
) -> StrangersCorpus:
    """Elsewhere, development and pool from the training part, in this order; the raw inputs are most of the pool."""
    labels = labels_of(train)
    away, rest = _cut(train, elsewhere)
    held_out, rest = _cut(rest, development)
    pool, raw = _cut(_shuffled(rest), len(rest.xs) // 4)
    return StrangersCorpus(
        name,
        metric,
        labels,
        pool=pool,
        raw=list(raw.xs),
        elsewhere=away,
        development=held_out,
        test=_cut(_shuffled(test), TEST)[0],
        listing=listing,
    )


def _cut(examples: LabelledExamples, count: int) -> tuple[LabelledExamples, LabelledExamples]:
    return (
        LabelledExamples(examples.xs[:count], examples.ys[:count]),
        LabelledExamples(examples.xs[count:], examples.ys[count:]),
    )


def _shuffled(examples: LabelledExamples) -> LabelledExamples:
    order = np.random.default_rng(SEED).permutation(len(examples.xs))
    return LabelledExamples([examples.xs[i] for i in order], [examples.ys[i] for i in order])
