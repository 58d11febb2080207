"""HMMs with and without rules, supervised and not: what the experiments of thesis chapter 3 share.

A study is a corpus with rules about it. A fit learns from a draw of its labelled inputs and, unless it is supervised,
from its unlabelled ones, and is scored with and without rules at test time. All choices are made by the scores on the
development set; those on the test set are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from sidelight import recipes
from sidelight.data.files import read_lines
from sidelight.estimators.taggers import Tagger
from sidelight.evaluate.paired import paired_t
from sidelight.evidence import Gold, unlabeled
from sidelight.experiments.ccm.citation_rules import citation_rules
from sidelight.experiments.draws import folder_of, labels_of, part, read_words
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.table import Row, row
from sidelight.recipes import Recipe
from sidelight.rules import Rule

BETA, CYCLES = 0.9, 5  # thesis 3.4.3 and 3.4.7; 3.4
HUGE = 1e4  # the price of a rule that is called hard: it never loses to the HMM, yet rules in conflict leave an output

Method = Literal["hmm", "hard_em", "em", "codl"]
Report = Callable[[str], None]
Save = Callable[[list[Row]], None]


class Emission(NamedTuple):
    """How emissions are smoothed: a kind of `generative.smoothing` and its amount."""

    kind: str
    amount: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:g}" if self.amount else self.kind


EMISSIONS = (
    Emission("witten_bell"),
    Emission("uniform", 0.3),
    Emission("mass", 100.0),
    Emission("mass", 300.0),
)

CHOSEN = {5: EMISSIONS[0], 10: EMISSIONS[1], 20: EMISSIONS[0], 300: EMISSIONS[1]}  # for CoDL, by references labelled


@dataclass(frozen=True)
class RuleStudy:
    """A corpus and how to make its rules; it travels to other processes, so `make_rules` belongs to a module."""

    train: LabelledExamples
    dev: LabelledExamples
    test: LabelledExamples
    pool: list[list[str]]  # unlabelled
    labels: list[str]
    make_rules: Callable[[], tuple[Rule, ...]]
    folds: tuple[tuple[int, ...], ...] = ()  # draws that come with the corpus

    def drawn(self, size: int, draw: int) -> list[Gold]:
        """So many labelled inputs at random, out of a fold as long as that has enough; smaller draws are nested."""
        fold = self.folds[draw] if draw < len(self.folds) else ()
        among = np.array(fold) if size <= len(fold) else np.arange(len(self.train.xs))
        return part(self.train, np.random.default_rng([draw, 1]).permutation(among)[:size])

    def rules(self, *, penalty: float | None = None, only: Sequence[str] | None = None) -> list[Rule]:
        """The rules of these names (None: all) at a penalty, or with learned ones."""
        return [rule.soft(penalty) for rule in self.make_rules() if only is None or rule.name in only]


@dataclass(frozen=True)
class Fit:
    """One fit. `penalty` None means learned; `only` names the rules that are used, None for all."""

    size: int
    draw: int
    method: Method
    emission: Emission
    beta: float = BETA
    cycles: int = CYCLES
    penalty: float | None = None
    only: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return f"{self.size} labelled"


class StudyOutcome(NamedTuple):
    """Token accuracy in per cent, without and with rules at test time."""

    dev: float
    dev_ruled: float
    test: float
    test_ruled: float


def recipe_of(task: Fit) -> Recipe:
    """The learner of a fit."""
    kind, amount = task.emission
    if task.method == "hmm":
        return recipes.hmm(emission=kind, emission_amount=amount)
    if task.method == "codl":
        base = recipes.hmm(emission=kind, emission_amount=amount)
        return recipes.codl(base=base, beta=task.beta, cycles=task.cycles)
    make = recipes.hard_em if task.method == "hard_em" else recipes.em
    return make(iterations=task.cycles, beta=task.beta, emission=kind, emission_amount=amount)


def prepared(study: RuleStudy, task: Fit) -> tuple[Tagger, list[Any]]:
    """An unfitted tagger, and its evidence; EM without rules has none."""
    ruled = task.method in ("hmm", "codl")
    rules = study.rules(penalty=task.penalty, only=task.only) if ruled else []
    tagger = Tagger(learner=recipe_of(task), rules=rules, labels=study.labels, n_jobs=1)
    labelled = study.drawn(task.size, task.draw)
    return tagger, list(labelled) if task.method == "hmm" else [*labelled, *unlabeled(study.pool)]


def fit(study: RuleStudy, task: Fit) -> StudyOutcome:
    """Fit once; score on development and test data."""
    tagger, evidence = prepared(study, task)
    tagger.fit(evidence)
    results = []
    for examples in (study.dev, study.test):
        free = accuracy(tagger.predict(examples.xs, rules=()), examples.ys)
        results += [free, accuracy(tagger.predict(examples.xs), examples.ys) if tagger.rules else free]
    return StudyOutcome(*results)


def accuracy(predicted: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> float:
    """Tokens that are right, in per cent.

    >>> accuracy([["A", "B"], ["A"]], [["A", "A"], ["A"]]) == 200 / 3
    True
    """
    pairs = [(a, b) for guess, truth in zip(predicted, right) for a, b in zip(guess, truth)]
    return 100.0 * sum(bool(a == b) for a, b in pairs) / len(pairs)


class Fits:
    """Every fit so far; what has been fitted once is not fitted again."""

    def __init__(self, run: Callable[[Sequence[Fit]], list[StudyOutcome]]) -> None:
        self.run = run
        self.outcomes: dict[Fit, StudyOutcome] = {}

    def of(self, fits: Sequence[Fit]) -> list[StudyOutcome]:
        """The outcomes of some fits."""
        new = [task for task in dict.fromkeys(fits) if task not in self.outcomes]
        new.sort(key=lambda task: task.method != "codl")  # the slow ones first, so that no core waits for the last
        self.outcomes |= dict(zip(new, self.run(new)))
        return [self.outcomes[task] for task in fits]

    def best(
        self, like: Fit, *, pilots: Sequence[int], ruled: bool, emissions: Sequence[Emission] = EMISSIONS
    ) -> Emission:
        """The smoothing with the best mean score on the development set over some draws."""
        trials = [[replace(like, emission=emission, draw=draw) for draw in pilots] for emission in emissions]
        self.of([task for trial in trials for task in trial])
        scores = [fmean(o.dev_ruled if ruled else o.dev for o in self.of(trial)) for trial in trials]
        return emissions[int(np.argmax(scores))]


def difference_rows(
    setting: str, name: str, ours: Sequence[float], theirs: Sequence[float], *, paper: float | None = None
) -> list[Row]:
    """The mean difference over draws, and the p-value of a paired t-test where there are at least two."""
    rows = [row(setting, name, "difference", [a - b for a, b in zip(ours, theirs)], paper=paper)]
    if len(ours) > 1:
        rows.append({**row(setting, name, "p-value", [paired_t(ours, theirs)[1]]), "draws": len(ours)})
    return rows


def load_citations(data: Path) -> RuleStudy:
    """The references of `data`/citations in lower case, with the rules of thesis Table 3.1."""
    folder = folder_of(data, "citations")
    train, dev, test = (lowered(read_words(folder / f"codl_{name}.tsv")) for name in ("train", "dev", "test"))
    pool = lowered(read_words(folder / "codl_unlabeled.tsv", labelled=False))
    lines = read_lines(folder / "codl_train25_folds.txt")
    folds = tuple(tuple(map(int, line.split())) for line in lines if line.strip())
    return RuleStudy(train, dev, test, pool.xs, labels_of(train), citation_rules, folds)


def lowered(examples: LabelledExamples) -> LabelledExamples:
    """The same in lower case.

    >>> lowered(LabelledExamples([["In", "Proc"]], [["A", "A"]])).xs
    [['in', 'proc']]
    """
    return LabelledExamples([[word.lower() for word in x] for x in examples.xs], examples.ys)
