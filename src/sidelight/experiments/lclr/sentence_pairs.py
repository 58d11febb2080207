"""LCLR on pairs of sentences: what the experiments with paraphrases and with entailment share (thesis 5.3, 5.4).

A pair is two graphs; good pairs have a good alignment. Each task fits all methods on the pairs of a draw, with every
price C, and chooses C by the accuracy on pairs that were not drawn. "Two stages" take the alignments that first weights
find, by similarity of words alone, and learn an SVM over them; LCLR begins with the weights of that, as the thesis has
it; Algorithm 12 begins with the first weights. Alignments come from bounds without branching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.evaluate.paired import compare, paired_t
from sidelight.experiments.lclr.word_vectors import WordSimilarity
from sidelight.experiments.table import Row, row
from sidelight.learners.lclr import HeldLearner, lclr_learner
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.batch import Batch
from sidelight.objective.decisions import Decisions, decisions
from sidelight.structures.graphs import Graph, GraphAlignment

STAGES, APPROXIMATE, LCLR = "Alignment+Learning", "Algorithm 12", "LCLR"
PRICES = (1.0, 3.0)
DEV = 400  # pairs that were not drawn, to choose C by
ROUNDS = 5  # of Algorithm 12
OPTIONS = MarginOptions(tolerance=0.03, decrease=2e-3, max_completions=10)
# initially, an alignment is scored by the similarity of its words
FIRST = {"mapped": -0.3, "letters": 0.5, "edges": 0.1}
FIRST_SIMILARITY = (0.5,)  # of the cosine of word vectors

Pairs = list[tuple[Graph, Graph]]


class LabelledPairs(NamedTuple):
    """Pairs, and +1 or −1 for each."""

    xs: Pairs
    zs: list[int]

    def take(self, which: Ints) -> LabelledPairs:
        return LabelledPairs([self.xs[i] for i in which], [self.zs[i] for i in which])


@dataclass(frozen=True)
class PairStudy:
    """The data of tasks."""

    train: LabelledPairs
    test: LabelledPairs
    similarity: WordSimilarity
    measured: str = "both"


class PairTask(NamedTuple):
    """All methods on one draw of so many training pairs, or on all of them (draw −1), which need chosen prices."""

    nulls: str
    draw: int
    size: int
    methods: tuple[str, ...]
    prices: tuple[float, ...] = ()  # by method, where they are chosen already

    def __str__(self) -> str:
        return f"{self.nulls}, {self.size:,} pairs"


class PairOutcome(NamedTuple):
    """The chosen price, and which test pairs are right."""

    price: float
    right: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        """In per cent."""
        return 100.0 * float(self.right.mean())


class _Asked(NamedTuple):
    """Pairs to judge."""

    batch: Batch
    sizes: Floats
    zs: Ints

    def right(self, finding: Floats, weights: Floats) -> NDArray[np.bool_]:
        """Which answers are right, by the alignments that some weights find and the weights that judge them."""
        choices = self.batch.best(finding).labels
        scores = self.batch.score(weights, choices) / self.sizes + weights[0]
        return np.asarray((scores >= 0) == (self.zs > 0))


def fit(study: PairStudy, task: PairTask) -> list[PairOutcome]:
    """An outcome for each method of the task."""
    structure = GraphAlignment(nulls=task.nulls, similarity=study.similarity, measured=study.measured, exact=False)
    start = structure.weights(similarity=FIRST_SIMILARITY, **FIRST)
    order = np.random.default_rng(max(task.draw, 0)).permutation(len(study.train.xs))
    train, dev = study.train.take(order[: task.size]), study.train.take(order[task.size : task.size + DEV])
    data = decisions(structure, train.xs, train.zs)
    held = _asked(structure, dev)
    results: dict[str, list[tuple[float, float, Floats]]] = {method: [] for method in task.methods}
    for price in sorted(set(task.prices or PRICES)):
        learned = _learned(_priced(data, price), start, [m for m in task.methods if _wanted(task, m, price)])
        for method, weights in learned.items():
            score = float(held.right(_finding(method, start, weights), weights).mean()) if dev.zs else 0.0
            results[method].append((score, -price, weights))
    questions, outcomes = _asked(structure, study.test), []
    for method in task.methods:
        _, price, weights = max(results[method], key=lambda one: one[:2])
        outcomes.append(PairOutcome(-price, questions.right(_finding(method, start, weights), weights)))
    return outcomes


def _finding(method: str, start: Floats, weights: Floats) -> Floats:
    """The weights by which a method finds alignments."""
    return start if method == STAGES else weights


def _wanted(task: PairTask, method: str, price: float) -> bool:
    return not task.prices or task.prices[task.methods.index(method)] == price


def _asked(structure: GraphAlignment, part: LabelledPairs) -> _Asked:
    return _Asked(structure.batch(part.xs), structure.sizes(part.xs), np.array(part.zs))


def _priced(data: Decisions, price: float) -> Decisions:
    return Decisions(
        replace(data.good, prices=price * data.good.prices), replace(data.bad, prices=price * data.bad.prices)
    )


def _learned(data: Decisions, start: Floats, methods: Sequence[str]) -> dict[str, Floats]:
    """The weights of each method."""
    results = {}
    if STAGES in methods or LCLR in methods:
        second = HeldLearner.fresh(data, start, replace(OPTIONS, max_rounds=1), name="two_stage")
        second.round()
        results[STAGES] = second.weights
    if APPROXIMATE in methods:
        results[APPROXIMATE] = _run(HeldLearner.fresh(data, start, replace(OPTIONS, max_rounds=ROUNDS)))
    if LCLR in methods:
        results[LCLR] = _run(lclr_learner(data, results[STAGES], OPTIONS))
    return {method: results[method] for method in methods}


def _run(learner: HeldLearner | MarginLearner) -> Floats:
    for _ in learner.run():
        pass
    return np.array(learner.finish())


def difference_rows(
    setting: str, name: str, one: Sequence[PairOutcome], other: Sequence[PairOutcome], *, paper: float | None = None
) -> list[Row]:
    """The gain of the other method: over draws with a paired t-test, for one fit by random exchanges of answers."""
    gains = [b.accuracy - a.accuracy for a, b in zip(one, other)]
    if len(gains) > 1:
        p = paired_t([b.accuracy for b in other], [a.accuracy for a in one])[1]
    else:
        truth = [1] * len(one[0].right)
        p = compare(truth, other[0].right.astype(int).tolist(), one[0].right.astype(int).tolist()).p_value
    return [
        row(setting, name, "difference", gains, paper=None if paper is None else round(paper, 2)),
        {**row(setting, name, "p-value", [p]), "draws": len(gains)},
    ]
