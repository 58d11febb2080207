"""J-LIS on document classification: thesis section 6.4.4, Figure 6.4.

Ten of the twenty newsgroups, chosen at random, are the classes. Half of the training documents is the pool of labelled
ones; in the other half, documents of the ten groups are good examples (their groups are not looked at) and the others
bad ones. κ(x) = 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from sidelight.data.files import read_lines
from sidelight.errors import DataError
from sidelight.estimators.taggers import Classifier
from sidelight.evidence import Evidence, companion
from sidelight.experiments.draws import folder_of, part
from sidelight.experiments.grid import LabelledExamples, Setting, TablePlan
from sidelight.features import Matrix

TITLE = "Newsgroups, 10 classes: accuracy by labelled documents (thesis Figure 6.4)"
CLASSES = 10
DEV = 500  # documents of the labelled half

SIZES = (20, 50, 100, 200, 400, 800, 1600)
SETTINGS = tuple(Setting(f"{n} documents", n, 10 if n <= 200 else 5) for n in SIZES)
QUICK = tuple(Setting(f"{n} documents", n, 2) for n in (50, 200))

NOTES = (
    "the thesis shows a figure without numbers: J-LIS is better than the SVM from 100 documents on, and worse (by up "
    "to 20 points) below, where it shows nothing",
    "words are letters in lower case that occur in at least 2 training documents; (1 + log count) * idf, rows of "
    "length 1; the thesis does not describe its features",
    f"{DEV} documents of the labelled half are the development set; one random choice of classes and halves for all "
    "draws",
)

WORD = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True)
class Newsgroups:
    """Documents as rows of one matrix, and which of them serve for what."""

    train: LabelledExamples  # labelled pool
    dev: LabelledExamples
    test: LabelledExamples
    good: Sequence[Any]
    bad: Sequence[Any]
    labels: list[str]

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        order = np.random.default_rng([draw, 1]).permutation(len(self.train.xs))
        return part(self.train, order[: setting.size])

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        return [*companion(self.good, +1), *companion(self.bad, -1)]

    def estimator(self, prices: dict[str, float], draw: int) -> Classifier:
        options: dict[str, Any] = {"prices": prices, "tolerance": 0.003, "n_jobs": 1, "seed": draw}
        return Classifier(learner="jlis", labels=self.labels, **options)


def read_documents(path: Path) -> tuple[list[str], list[int]]:
    """Texts (subject and body) and their group numbers."""
    texts, groups = [], []
    for number, line in enumerate(read_lines(path)):
        cells = line.split("\t")
        if len(cells) != 4 or not cells[0].isdigit():
            raise DataError("not a document in 4 columns", file=path, line=number + 1, remedy="check the file")
        texts.append(re.sub(r"\\[nt]", " ", f"{cells[2]} {cells[3]}"))
        groups.append(int(cells[0]))
    return texts, groups


def bags(texts: Sequence[str], *, fit: int) -> Any:
    """Documents by words, weighted as the notes say; words and weights come from the first `fit` texts.

    >>> bags(["a bird sings", "the bird", "bird the"], fit=3).shape
    (3, 2)
    """
    counts = [Counter(WORD.findall(text.lower())) for text in texts]
    documents = Counter(word for count in counts[:fit] for word in count)
    words = {word: number for number, word in enumerate(sorted(w for w, n in documents.items() if n >= 2))}
    idf = np.array([1.0 + np.log(fit / documents[word]) for word in words])
    rest = [[(words[word], n) for word, n in count.items() if word in words] for count in counts]
    indptr = np.cumsum([0, *map(len, rest)])
    columns = np.array([column for row in rest for column, _ in row], dtype=np.int64)
    values = (1.0 + np.log(np.array([n for row in rest for _, n in row], dtype=np.float64))) * idf[columns]
    rows = np.repeat(np.arange(len(texts)), np.diff(indptr))
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=len(texts)))
    return csr_matrix((values / lengths[rows], columns, indptr), shape=(len(texts), len(words)))


def load(data: Path) -> Newsgroups:
    """Read and split `data`/newsgroups20."""
    folder = folder_of(data, "newsgroups20")
    names = read_lines(folder / "groups.txt")
    texts, groups = read_documents(folder / "train.tsv.gz")
    test_texts, test_groups = read_documents(folder / "test.tsv.gz")
    matrix = bags([*texts, *test_texts], fit=len(texts))
    rows = Matrix(matrix, lengths=np.ones(matrix.shape[0], dtype=np.int64))
    rng = np.random.default_rng(2011)
    classes = {int(c) for c in rng.permutation(len(names))[:CLASSES]}
    group = np.array([*groups, *test_groups])
    inside = np.isin(group, sorted(classes))
    order = rng.permutation(len(texts))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    labelled = first[inside[first]]

    def examples(which: Any) -> LabelledExamples:
        return LabelledExamples([rows[int(i)] for i in which], [names[group[i]] for i in which])

    return Newsgroups(
        train=examples(labelled[DEV:]),
        dev=examples(labelled[:DEV]),
        test=examples(len(texts) + np.flatnonzero(inside[len(texts) :])),
        good=[rows[int(i)] for i in second[inside[second]]],
        bad=[rows[int(i)] for i in second[~inside[second]]],
        labels=sorted(names[c] for c in classes),
    )


def plans(data: Path) -> list[TablePlan]:
    """One table."""
    return [TablePlan(TITLE, load(data), SETTINGS, QUICK, NOTES, per_draw=True)]
