"""Alignments of two graphs of words, as LCLR uses for paraphrases and entailment (thesis section 5.3, Table 5.4).

    x   (first, second): two `Graph`s
    y   {word of the first: word of the second}; edges follow from it, and what is not mapped is deleted

`nulls` is the definition of Table 5.4: "none" (one-to-one), "words", "words and relations". They differ in the
deletions that have features. Without null words, all words of the smaller graph must be mapped. (Taken literally, the
first two definitions of the table also require every edge of both graphs to be mapped, which is impossible under Eq.
5.8 for nearly all pairs.)

Features: of two words, whether they are the same, how similar their letters are, and their tags; of two edges, their
labels and the similarity of their words; of deletions, tags and labels. `similarity(first, second)` may return further
numbers for each pair of words [words, words, D], for example from word vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import VALUES, check_fields, is_listed, is_whole, shown
from sidelight.data.graphs import Graph
from sidelight.errors import DataError
from sidelight.features.counts import SparseRows, stacked
from sidelight.features.rows import offsets_of
from sidelight.features.structured.graph_features import BY_NAME, MORE, MOST_MORE, graph_rows, places_of
from sidelight.features.words.lexicon import check_bits
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import SlotScorer
from sidelight.spaces.alignments.graph_program import GraphProgram
from sidelight.spaces.alignments.graph_space import GraphSpace
from sidelight.structures.variables import call_user

__all__ = ["NULLS", "Graph", "GraphAlignment"]

NULLS = ("none", "words", "words and relations")


@dataclass(frozen=True)
class GraphAlignment:
    """Alignments of graphs."""

    nulls: str = field(default=NULLS[-1], metadata={VALUES: NULLS})
    exact: bool = True  # else without branching; `batch(…).space.solved` has the optimality gaps
    seconds: float = math.inf  # time limit for one pair; the best alignment so far is used
    bits: int = 16  # features are hashed into 2**bits weights
    similarity: Callable[[Graph, Graph], Floats] | None = None  # numbers [words, words, D]
    measured: str = field(default="both", metadata={VALUES: ("both", "first")})  # how the size of a pair is measured
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.seconds >= 0:
            raise ValueError(f"seconds is {self.seconds}; give a number from 0 on")
        check_bits(self.bits)

    def batch(self, xs: Sequence[tuple[Graph, Graph]]) -> Batch:
        """A batch of pairs of graphs with all their alignments; raises `DataError` for edges without words."""
        for i, x in enumerate(xs):
            if not isinstance(x, list | tuple) or len(x) != 2:
                raise DataError(f"input {i} is {shown(x)}", remedy="give (first, second), two Graphs")
        pairs = [(_checked(one, i, "first"), _checked(two, i, "second")) for i, (one, two) in enumerate(xs)]
        sizes = [(len(one.words), len(one.edges), len(two.words), len(two.edges)) for one, two in pairs]
        choices = 1 + max((max(size[2:]) for size in sizes), default=0)
        starts = offsets_of([size[0] + size[1] for size in sizes])
        rows = [self._rows(one, two, choices, i) for i, (one, two) in enumerate(pairs)]
        scorer = SlotScorer(starts, choices, stacked(rows), (1 << self.bits) + 1)
        there = np.zeros((int(starts[-1]), choices), dtype=np.uint8)
        for first, (words, edges, others, other_edges) in zip(starts.tolist(), sizes):
            there[first : first + words, : others + 1] = 1
            there[first + words : first + words + edges, : other_edges + 1] = 1
        programs = [GraphProgram((len(a.words), len(b.words)), (_ends(a), _ends(b))) for a, b in pairs]
        options = self.nulls == "none", self.exact, self.seconds
        return Batch(scorer, GraphSpace(starts, choices, there, tuple(programs), *options), self.n_jobs)

    def sizes(self, xs: Sequence[tuple[Graph, Graph]]) -> Floats:
        """The mean number of words and edges of the two graphs, or those of the first. # [N]"""
        counts = np.array([[len(side.words) + len(side.edges) for side in x] for x in xs], dtype=np.float64)
        return np.asarray(counts.reshape(-1, 2).mean(axis=1) if self.measured == "both" else counts[:, 0])

    def weights(self, *, similarity: Sequence[float] = (), **words: float) -> Floats:
        """Initial weights from prior knowledge: the weights of some features, for all tags.

        Names are `mapped` (of any two words), `same`, `lower`, `beginning`, `letters`, and `edges`, of any two edges;
        further numbers of `similarity` by their order. Raises ValueError for other names.
        """
        strange = sorted(set(words) - set(BY_NAME))
        if strange:
            raise ValueError(f"there is no feature {strange[0]!r}; give {', '.join(BY_NAME)}")
        if len(similarity) > MOST_MORE:
            raise ValueError(f"similarity has {len(similarity)} weights; give at most {MOST_MORE}")
        salts = [*(BY_NAME[name] for name in words), *range(MORE, MORE + len(similarity))]
        vector = np.zeros((1 << self.bits) + 1)
        vector[places_of(salts, self.bits)] = [*words.values(), *similarity]
        return vector

    def encode(self, x: tuple[Graph, Graph], y: Mapping[int, int]) -> Ids:
        """The choices of words and edges; raises `DataError` for words that do not exist, or are mapped twice."""
        one, two = x
        words = np.zeros(len(one.words), dtype=np.int64)
        _check_mapping(y)
        for word, other in y.items():
            _check_words(x, word, other)
            words[word] = other + 1
        if len(set(y.values())) < len(y):
            raise DataError("a word of the second graph is mapped twice", remedy="map every word once at most")
        return GraphProgram((len(one.words), len(two.words)), (_ends(one), _ends(two))).choices_of(words)

    def decode(self, x: tuple[Graph, Graph], choices: Ids) -> dict[int, int]:
        """The mapping of words."""
        return {i: choice - 1 for i, choice in enumerate(choices[: len(x[0].words)].tolist()) if choice}

    def admitted(self, x: tuple[Graph, Graph], y: Mapping[int, Collection[int | None]]) -> Bytes:
        """The choices admitted by Partial and Candidates: for some words the possible targets, None for nothing."""
        one, two = x
        _check_mapping(y)
        mask = np.ones((len(one.words) + len(one.edges), 1 + max(len(two.words), len(two.edges))), dtype=np.uint8)
        for word, value in y.items():
            if not is_listed(value):
                remedy = "give a list of the words that it may be mapped to, with None for nothing"
                raise DataError(f"word {shown(word)} has {shown(value)}", remedy=remedy)
            for other in value:
                _check_words(x, word, 0 if other is None else other)
            mask[word] = 0
            mask[word, [0 if other is None else other + 1 for other in value]] = 1
        return mask

    def slot_words(self, x: tuple[Graph, Graph]) -> list[str]:
        """The words and edges of the first graph."""
        return _names(x[0])

    def choice_words(self, x: tuple[Graph, Graph], choices: Ids) -> list[str]:
        """The words and edges of the second graph to which they are mapped."""
        names, size, words = _names(x[1]), len(x[1].words), len(x[0].words)
        places = [choice - 1 + (0 if slot < words else size) for slot, choice in enumerate(choices.tolist())]
        return ["deleted" if not choice else names[place] for choice, place in zip(choices.tolist(), places)]

    def first_weights(self) -> Floats:
        """Initial weights that map similar words."""
        return self.weights(same=1.0, lower=1.0, beginning=1.0, letters=1.0)

    def _rows(self, one: Graph, two: Graph, choices: int, i: int) -> SparseRows:
        more = np.zeros((len(one.words), len(two.words), 0))
        if self.similarity is not None:
            more = _checked_numbers(call_user("similarity", self.similarity, one, two, i=i), more.shape[:2], i)
        deletions = self.nulls != "none", self.nulls == "words and relations"
        return graph_rows(one.words, one.edges, two.words, two.edges, more, deletions, choices, self.bits)


def _names(graph: Graph) -> list[str]:
    words = [f"{i} {word}" for i, (word, _) in enumerate(graph.words)]
    return words + [f"{words[head]} → {words[word]} {label}".rstrip() for head, word, label in graph.edges]


def _checked_numbers(value: Any, words: tuple[int, ...], i: int) -> Floats:
    """The checked similarities of each pair of words of input i. # [words, words, D]"""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "biuf" or numbers.ndim != 3 or numbers.shape[:2] != words:
        form = f"[{words[0]}, {words[1]}, D]"
        raise DataError(f"input {i}: similarity gave {shown(value)}", remedy=f"give an array of numbers {form}")
    if numbers.shape[2] > MOST_MORE or not np.all(np.isfinite(numbers)):
        problem = f"input {i}: similarity gave {numbers.shape[2]} numbers of two words, or infinite ones"
        raise DataError(problem, remedy=f"give at most {MOST_MORE}, all of them finite")
    return numbers.astype(np.float64)


def _check_mapping(y: Any) -> None:
    if not isinstance(y, Mapping):
        raise DataError(f"the output is {shown(y)}", remedy="give {word of the first graph: word of the second}")


def _check_words(x: tuple[Graph, Graph], word: Any, other: Any) -> None:
    sizes = [len(graph.words) for graph in x]
    if not all(is_whole(one) and 0 <= one < size for one, size in zip((word, other), sizes)):
        remedy = f"the graphs have {sizes[0]} and {sizes[1]} words"
        raise DataError(f"word {shown(word)} is mapped to word {shown(other)}", remedy=remedy)


def _checked(graph: Any, i: int, which: str) -> Graph:
    if not isinstance(graph, Graph):
        raise DataError(f"input {i}: the {which} graph is {shown(graph)}", remedy="give Graph(words, edges)")
    if (trouble := graph.trouble()) is not None:
        raise DataError(f"input {i}: the {which} graph {trouble[0]}", remedy=trouble[1])
    return graph


def _ends(graph: Graph) -> Ints:
    return np.array([edge[:2] for edge in graph.edges], dtype=np.int64).reshape(-1, 2)
