"""Dependency parsing of English web text: attachment scores of the two kinds of trees, by training sentences.

No table of a paper: it shows what the structures of `structures.trees` give with the averaged perceptron on the English
Web Treebank (UD r2.16, its published split). Universal tags are given, as gold; punctuation counts. The number of
epochs is fixed beforehand. Projective trees are learned from the sentences whose tree is projective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.data.conllu import Treebank, read_treebank
from sidelight.experiments.draws import folder_of
from sidelight.experiments.table import Row, row
from sidelight.learners.perceptron import GoldBlock, PerceptronLearner
from sidelight.solvers.perceptron import Perceptron
from sidelight.structures.trees import DependencyTree, attachment

EPOCHS, DRAWS = 5, 3
SIZES, QUICK_SIZES = (100, 300, 1000, 3000, 12544), (100, 300)
STRUCTURES = {"projective": DependencyTree(), "non-projective": DependencyTree(projective=False)}
NOTES = (
    "unlabelled attachment score on the test part, all tokens, gold universal tags",
    f"averaged perceptron, {EPOCHS} epochs, sentences drawn from the training part; all of it: one draw",
)


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[Sequence[Row]], None]
) -> tuple[list[Row], tuple[str, ...]]:
    """The attachment scores by kind of tree and size."""
    folder = folder_of(data, "ud_english_ewt")
    train, test = (read_treebank(folder / f"{part}.conllu.gz") for part in ("train", "test"))
    results: list[Row] = []
    for size in QUICK_SIZES if quick else SIZES:
        draws = range(1 if quick or size >= len(train.xs) else DRAWS)
        for name, structure in STRUCTURES.items():
            scores = [100 * score(structure, _drawn(train, size, draw), test, seed=draw) for draw in draws]
            results.append(row(f"{size:,} sentences", name, "attachment score", scores))
            report(f"{size:,} sentences, {name}: {results[-1]['value']:.1f}")
            save(results)
    return results, NOTES


def score(structure: DependencyTree, train: Treebank, test: Treebank, *, seed: int) -> float:
    """The share of test tokens with the right head."""
    weights = learned(structure, train, seed=seed)
    batch = structure.batch(test.xs)
    choices = batch.best(weights).labels
    predicted = [structure.decode(x, choices[a:b]) for x, a, b in zip(test.xs, batch.starts[:-1], batch.starts[1:])]
    return attachment(predicted, test.heads)


def learned(structure: DependencyTree, train: Treebank, *, seed: int) -> Floats:
    """The averaged weights after some epochs over the trees that the structure has."""
    batch = structure.batch(train.xs)
    targets = np.concatenate([structure.encode(x, y) for x, y in zip(train.xs, train.heads)])
    fits = np.flatnonzero(batch.space.admits(targets))
    targets, batch = targets[batch.slots_of(fits)], batch.take(fits)
    perceptron = Perceptron.fresh(batch.scorer.size)
    learner = PerceptronLearner(
        [GoldBlock(batch, targets, np.ones(len(batch)))], perceptron, np.random.default_rng(seed), max_rounds=EPOCHS
    )
    for _ in learner.run():
        pass
    return learner.finish()


def _drawn(train: Treebank, size: int, draw: int) -> Treebank:
    which = np.sort(np.random.default_rng(draw).permutation(len(train.xs))[:size])
    return Treebank([train.xs[i] for i in which], [train.ys[i] for i in which])
