"""Vectors of words, learned from the texts of all corpora: positive pointwise mutual information, its main directions.

A word is represented by its contexts (Levy and Goldberg, *Neural Word Embedding as Implicit Matrix Factorization*, NIPS
2014): counts of words within `WINDOW` positions, nearer ones weighted more, then the log of observed over expected
counts, smoothed and truncated at 0, projected to the first singular directions and scaled by the square roots of the
singular values. They replace WordNet, which the thesis uses. `WordSimilarity` turns them into features of two words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.data.files import read_lines
from sidelight.data.text import tokens_in
from sidelight.structures.graphs import Graph

WINDOW, WORDS, CONTEXTS, DIMENSIONS = 4, 20_000, 4_000, 100
SMOOTHING = 0.75  # of the shares of contexts
CONTENT = frozenset({"ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB", "X"})


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of length 1 by lower-cased word, and how rare words are (0 to 1)."""

    places: dict[str, int]
    vectors: Floats  # [words, D]
    rarity: dict[str, float]

    def of(self, words: Sequence[str]) -> Floats:
        """Zeros where a word is not known. # [words, D]"""
        places = np.array([self.places.get(word.lower(), -1) for word in words])
        return np.where(places[:, None] >= 0, self.vectors[places], 0.0)

    def rare(self, words: Sequence[str]) -> Floats:
        """The rarity of words, 1 of those that are not known. # [words]"""
        return np.array([self.rarity.get(word.lower(), 1.0) for word in words])


@dataclass(frozen=True, eq=False)
class WordSimilarity:
    """Numbers of every two words: the cosine of their vectors, the same word if rare, numbers that are not the same."""

    vectors: WordVectors

    def __call__(self, one: Graph, two: Graph) -> Floats:
        forms, others = [form for form, _ in one.words], [form for form, _ in two.words]
        near = np.maximum(self.vectors.of(forms) @ self.vectors.of(others).T, 0.0)
        low, other_low = np.char.lower(forms), np.char.lower(others)
        same = low[:, None] == other_low
        content = np.array([tag in CONTENT for _, tag in one.words])[:, None]
        rare = same * content * self.vectors.rare(forms)[:, None]
        digits = np.array([form[:1].isdigit() for form in forms])[:, None] & [form[:1].isdigit() for form in others]
        return np.stack([np.maximum(near, same), rare, digits & ~same], axis=2).astype(np.float64)


def word_vectors(sentences: Sequence[Sequence[str]], *, seed: int = 0) -> WordVectors:
    """Vectors of the most frequent words of some sentences."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common(WORDS) if count >= 3]
    places = {word: place for place, word in enumerate(words)}
    ids = np.array([places.get(word, -1) for sentence in sentences for word in (*sentence, "")])  # −1 between sentences
    total = sum(counts.values())
    rarity = {word: float(np.log(total / count) / np.log(total)) for word, count in counts.items()}
    return WordVectors(places, _directions(_information(ids, len(words)), seed), rarity)


def _information(ids: Ints, n_words: int) -> Any:
    """Positive pointwise mutual information of words and contexts, sparse. # [words, contexts]"""
    from scipy.sparse import csr_matrix

    n_contexts = min(CONTEXTS, n_words)
    results = csr_matrix((n_words, n_contexts))
    for shift in range(1, WINDOW + 1):
        for one, other in ((ids[shift:], ids[:-shift]), (ids[:-shift], ids[shift:])):
            near = (one >= 0) & (other >= 0) & (other < n_contexts)
            shape = n_words, n_contexts
            results = results + csr_matrix((np.full(near.sum(), 1.0 / shift), (one[near], other[near])), shape=shape)
    results = results.tocoo()
    rows = np.asarray(results.sum(axis=1)).ravel()
    columns = np.asarray(results.sum(axis=0)).ravel() ** SMOOTHING
    expected = rows[results.row] * columns[results.col] / columns.sum()
    values = np.maximum(np.log(results.data / expected), 0.0)
    return csr_matrix((values, (results.row, results.col)), shape=(n_words, n_contexts))


def _directions(matrix: Any, seed: int) -> Floats:
    from scipy.sparse.linalg import svds

    k = min(DIMENSIONS, min(matrix.shape) - 1)
    left, sizes, _ = svds(matrix, k=k, v0=np.random.default_rng(seed).normal(size=min(matrix.shape)))
    results = left * np.sqrt(sizes)
    return np.asarray(results / np.maximum(np.sqrt((results * results).sum(axis=1)), 1e-12)[:, None])


def english(data: Path) -> list[list[str]]:
    """The lower-cased sentences, or lines, of all available English texts."""
    return [words for read in READERS for line in read(data) if (words := [t.lower() for t in tokens_in(line)])]


def _cells(folder: str, files: Sequence[str], columns: Sequence[int]) -> Callable[[Path], Iterator[str]]:
    """Texts in columns of tab-separated files, which may be missing."""

    def read(data: Path) -> Iterator[str]:
        for name in files:
            if (data / folder / name).is_file():
                for line in read_lines(data / folder / name):
                    cells = line.replace("\\n", " ").split("\t")
                    yield from (cells[column] for column in columns if -len(cells) <= column < len(cells))

    return read


def _first_columns(folder: str, files: Sequence[str], separator: str, column: int) -> Callable[[Path], Iterator[str]]:
    """Sentences of files with a token a line."""

    def read(data: Path) -> Iterator[str]:
        for name in files:
            if (data / folder / name).is_file():
                words: list[str] = []
                for line in [*read_lines(data / folder / name), ""]:
                    cells = line.split(separator)
                    if len(cells) > column and not line.startswith("#"):
                        words.append(cells[column])
                    elif words and not line.strip():
                        yield " ".join(words)
                        words = []

    return read


READERS = (
    _cells("msrp", ("msr_paraphrase_train.txt.gz", "msr_paraphrase_test.txt"), (3, 4)),
    _cells("rte", ("rte123.tsv.gz",), (4, 5)),
    _cells("rte", ("glue_rte_train.tsv.gz", "glue_rte_dev.tsv.gz", "glue_rte_test.tsv.gz"), (1, 2)),
    _cells("newsgroups20", ("train.tsv.gz",), (-1,)),
    _cells("hansards", ("train.e.gz",), (0,)),
    _cells("epps_es", ("train.en",), (0,)),
    _first_columns("conll2000", ("train.txt.gz", "test.txt.gz"), " ", 0),
    _first_columns("conll2003", ("eng.train.gz", "eng.testa.gz", "eng.testb.gz"), " ", 0),
    _first_columns("ud_english_ewt", ("train.conllu.gz",), "\t", 1),
)
