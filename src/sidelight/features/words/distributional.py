"""Classes of words that occur in the same contexts, learned from plain text.

Words are similar if the words before and after them are: "Paris" and "Oslo", "runs" and "sings". A tagger that has seen
the label of one of them then knows something about the other. So unlabelled text helps a tagger with few labels.

A word with at least `min_count` occurrences in the text is represented by the vector of the square roots of its shares
of left and right neighbours (the most frequent `contexts` words, all others together, and the ends of a sentence):
distances between such vectors are Hellinger's. Its first `dimensions` singular directions are clustered by k-means,
once for every size of `sizes`, so that there are coarse and fine classes (Schütze, *Distributional Part-of-Speech
Tagging*, EACL 1995, has the vectors). Case is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import arguments_checked, generator
from sidelight.features.words.lexicon import columns_of, distinct

SIZES = (16, 64)  # of the coarse and the fine classes
MIN_COUNT = 3
CONTEXTS = 500
DIMENSIONS = 40
ROUNDS = 20  # of k-means
WORDS_A_CLASS = 4  # at least so many words for each class


@dataclass(frozen=True, eq=False)
class WordClasses:
    """The classes of words, coarse to fine; words that are too rare have none."""

    words: tuple[str, ...]  # lower-cased
    classes: Ids  # [words, sizes]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", {word: i for i, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordClasses({len(self):,} words)"

    @property
    def levels(self) -> int:
        """The number of sizes of classes."""
        return int(self.classes.shape[1])

    def of(self, word: str, level: int) -> str | None:
        """The class of a word at a level, counted from 1, coarse first; None if it has none."""
        numbers: Mapping[str, int] = self._number  # type: ignore[attr-defined]
        number = numbers.get(word.lower())
        return None if number is None else str(self.classes[number, level - 1])


@arguments_checked
def word_classes(
    sentences: Sequence[Sequence[Any]],
    *,
    sizes: Sequence[int] = SIZES,
    min_count: int = MIN_COUNT,
    contexts: int = CONTEXTS,
    dimensions: int = DIMENSIONS,
    seed: int = 0,
) -> WordClasses:
    """Cluster words by their contexts, from sentences that are lists of words, or of tuples with the word first.

    Raises `ValueError` for sizes and counts below 1, and `DataError` for tokens that are not strings.

    >>> nouns, verbs = ("cat", "dog", "cow", "fox"), ("sits", "runs", "eats", "hops")
    >>> text = [["the", noun, verb] for noun in nouns for verb in verbs]
    >>> found = word_classes(text, sizes=[2])
    >>> found.of("cat", 1) == found.of("Dog", 1), found.of("cat", 1) == found.of("runs", 1), found.of("fish", 1)
    (True, False, None)
    """
    for name, value in [("sizes", min(sizes, default=0)), ("min_count", min_count), ("contexts", contexts)]:
        if value < 1:
            raise ValueError(f"{name} is {value}; give 1 or more")
    if dimensions < 1:
        raise ValueError(f"dimensions is {dimensions}; give 1 or more")
    generator(seed)
    words, ids, starts = _numbered(sentences)
    counts = np.bincount(ids, minlength=len(words))
    order = np.argsort(-counts, kind="stable")  # frequent words first, ties in order of appearance
    frequent = order[counts[order] >= min_count]
    if not len(frequent):
        return WordClasses((), np.empty((0, len(sizes)), dtype=np.int32))
    rank = np.full(len(words), -1, dtype=np.int64)
    rank[frequent] = np.arange(len(frequent))
    vectors = _directions(_shares(rank[ids], starts, len(frequent), contexts), dimensions, seed)
    most = max(1, len(frequent) // WORDS_A_CLASS)
    rng = np.random.default_rng(seed)
    levels = [_k_means(vectors, min(size, most), rng) for size in sorted(sizes)]
    return WordClasses(tuple(words[i] for i in frequent), np.stack(levels, axis=1).astype(np.int32))


def _numbered(sentences: Sequence[Sequence[Any]]) -> tuple[list[str], Ints, Ints]:
    """The distinct lower-cased words, the number of each token's word [T], and where sentences start [N + 1]."""
    columns = columns_of(sentences)
    if not len(columns):
        return [], np.empty(0, dtype=np.int64), columns.starts
    words = columns.columns[0]
    number: dict[str, int] = {}
    place = {word: number.setdefault(word.lower(), len(number)) for word in distinct(words)}
    return list(number), np.fromiter(map(place.__getitem__, words), dtype=np.int64, count=len(words)), columns.starts


def _shares(ranks: Ints, starts: Ints, n_words: int, contexts: int) -> Any:
    """Square roots of the shares of left and right neighbours, as a sparse matrix. # [words, 2 (contexts + 2)]"""
    from scipy.sparse import csr_matrix, diags

    width = contexts + 2  # frequent words, all others, and the end of a sentence
    other, end = contexts, contexts + 1
    columns = np.where((ranks >= 0) & (ranks < contexts), ranks, other)
    left, right = np.roll(columns, 1), np.roll(columns, -1)
    occupied = starts[:-1][np.diff(starts) > 0]
    left[occupied] = end
    right[np.append(occupied[1:], len(ranks)) - 1] = end
    known = ranks >= 0
    rows = np.concatenate([ranks[known], ranks[known]])
    places = np.concatenate([left[known], right[known] + width])
    counts = csr_matrix((np.ones(len(rows)), (rows, places)), shape=(n_words, 2 * width))
    totals = np.asarray(counts.sum(axis=1)).ravel()
    shares = diags(1.0 / totals) @ counts
    shares.data = np.sqrt(shares.data)
    return shares


def _directions(matrix: Any, dimensions: int, seed: int) -> Floats:
    """The rows along the largest singular directions. # [words, dimensions]"""
    from scipy.sparse.linalg import svds

    most = min(matrix.shape) - 1
    if most <= dimensions:
        return np.asarray(matrix.todense(), dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=min(matrix.shape))
    left, sizes, _ = svds(matrix, k=dimensions, v0=start)
    return np.asarray(left * sizes, dtype=np.float64)


def _k_means(vectors: Floats, size: int, rng: np.random.Generator) -> Ids:
    """Lloyd's algorithm from k-means++ (Arthur and Vassilvitskii 2007); a centre without vectors stays. # [words]"""
    lengths = (vectors * vectors).sum(axis=1)
    centres = np.empty((size, vectors.shape[1]))
    nearest = np.full(len(vectors), np.inf)
    choice = int(rng.integers(len(vectors)))
    for k in range(size):
        centres[k] = vectors[choice]
        nearest = np.minimum(nearest, ((vectors - centres[k]) ** 2).sum(axis=1))
        total = nearest.sum()
        choice = int(np.searchsorted(np.cumsum(nearest), rng.random() * total)) if total > 0 else 0
        choice = min(choice, len(vectors) - 1)
    labels = np.zeros(len(vectors), dtype=np.int32)
    for _ in range(ROUNDS):
        distances = lengths[:, None] - 2.0 * vectors @ centres.T + (centres * centres).sum(axis=1)
        next_labels = distances.argmin(axis=1).astype(np.int32)
        if np.array_equal(next_labels, labels):
            break
        labels = next_labels
        counts = np.bincount(labels, minlength=size)
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, vectors)
        filled = counts > 0
        centres[filled] = sums[filled] / counts[filled, None]
    return labels
