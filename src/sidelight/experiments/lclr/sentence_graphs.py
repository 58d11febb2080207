"""Sentences as graphs of words: tags and dependency trees by our own models, which learn from the English Web Treebank.

The thesis has the Stanford parser, a semantic role labeller and a recogniser of names (5.3, 5.4.2); none ships with the
corpora. Here an averaged perceptron tags words (about 94.6 % right on the treebank's development part), another one
attaches them (projective trees, about 80 % with those tags), and a third names the relations (about 93.6 %).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.core.arrays import Floats
from sidelight.data.conllu import Treebank, read_treebank
from sidelight.data.text import tokens_in
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.experiments.draws import folder_of
from sidelight.experiments.trees import learned
from sidelight.structures.graphs import Graph
from sidelight.structures.trees import DependencyTree

_CLITIC = re.compile(r"(?i)(.+?)('s|'re|'ve|'ll|'d|'m|n't|’s|’re|’ve|’ll|’d|’m|n’t)")  # as the treebank splits them
_ENDS = frozenset(".?!")

Words = list[tuple[str, str]]


@dataclass(frozen=True)
class Reader:
    """From plain text to graphs: a tagger, the weights of a parser, and a classifier of relations."""

    tagger: Tagger
    trees: DependencyTree
    weights: Floats
    relations: Classifier

    def graphs(self, texts: Sequence[str]) -> list[Graph]:
        """The words of every text with their tags, and an edge (head, word, relation) of each; trees by sentence."""
        sentences = [one for text in texts for one in sentences_in(text)]
        tagged = [list(zip(words, tags)) for words, tags in zip(sentences, self.tagger.predict(sentences))]
        batch = self.trees.batch(tagged)
        choices = batch.best(self.weights).labels
        heads = [choices[a:b].tolist() for a, b in zip(batch.starts[:-1], batch.starts[1:])]
        names = iter(self.relations.predict([one for words, own in zip(tagged, heads) for one in arcs(words, own)]))
        parts = iter([_graph(words, own, [next(names) for _ in own]) for words, own in zip(tagged, heads)])
        return [joined([next(parts) for _ in sentences_in(text)]) for text in texts]


def reader(data: Path, *, sentences: int | None = None, n_jobs: int | None = None) -> Reader:
    """Models that have learned from the treebank, or from its first sentences."""
    train = read_treebank(folder_of(data, "ud_english_ewt") / "train.conllu.gz")
    train = Treebank(train.xs[:sentences], train.ys[:sentences])
    tagger = Tagger(learner="perceptron").fit(
        [[form for form, _ in x] for x in train.xs], [[tag for _, tag in x] for x in train.xs]
    )
    trees = DependencyTree(n_jobs=n_jobs)
    weights = learned(trees, train, seed=0)
    inputs = [one for x, heads in zip(train.xs, train.heads) for one in arcs(x, heads)]
    names = [relation.split(":")[0] for y in train.ys for _, relation in y]
    return Reader(tagger, trees, weights, Classifier(learner="perceptron").fit(inputs, names))


def sentences_in(text: str) -> list[list[str]]:
    """Tokens by sentence; clitics are tokens of their own.

    >>> sentences_in("It isn't Ann's. He left.")
    [['It', 'is', "n't", 'Ann', "'s", '.'], ['He', 'left', '.']]
    """
    results: list[list[str]] = [[]]
    for token in tokens_in(text):
        if results[-1] and results[-1][-1] in _ENDS and token[0].isupper():
            results.append([])
        clitic = _CLITIC.fullmatch(token)
        results[-1] += [token] if clitic is None else list(clitic.groups())
    return [one for one in results if one]


def arcs(words: Words, heads: Sequence[int]) -> list[dict[str, float]]:
    """The features for predicting the relation of each word to its head: forms, tags, direction, distance."""
    results = []
    for t, head in enumerate(heads):
        form, tag = words[t]
        above, above_tag = words[head - 1] if head else ("", "ROOT")
        both = f"{tag}|{above_tag}|{'left' if head - 1 < t else 'right'}"
        before = words[t - 1][1] if t else ""
        after = words[t + 1][1] if t + 1 < len(words) else ""
        names = (
            f"tags={both}",
            f"form={form.lower()}",
            f"form, tags={form.lower()}|{both}",
            f"ending={form[-3:].lower()}|{both}",
            f"head={above.lower()}|{both}",
            f"distance={min(abs(head - 1 - t), 4)}|{both}",
            f"before={before}|{both}",
            f"after={after}|{both}",
        )
        results.append(dict.fromkeys(names, 1.0))
    return results


def _graph(words: Words, heads: Sequence[int], names: Sequence[str]) -> Graph:
    edges = [(head - 1, t, name) for t, (head, name) in enumerate(zip(heads, names)) if head]
    return Graph(tuple(words), tuple(edges))


def joined(graphs: Sequence[Graph]) -> Graph:
    """Several graphs side by side.

    >>> joined([Graph((("a", "A"),)), Graph((("b", "B"), ("c", "C")), ((0, 1, "x"),))]).edges
    ((1, 2, 'x'),)
    """
    words: list[tuple[str, str]] = []
    edges: list[tuple[int, int, str]] = []
    for graph in graphs:
        edges += [(head + len(words), word + len(words), name) for head, word, name in graph.edges]
        words += graph.words
    return Graph(tuple(words), tuple(edges))
