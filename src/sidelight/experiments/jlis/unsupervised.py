"""J-LIS without labelled structures: thesis section 6.5.4, Chang et al. 2010 section 5.

Part-of-speech tagging with a dictionary of the tags that each word may have. Every sentence is a good example, four
shuffles of it are bad ones; features are the word and three tags in a row. The score is the accuracy on ambiguous
tokens, those of words with more than one tag, of the very sentences that were learned from. Beside it are EM for an HMM
of second order and contrastive estimation, which learn from the sentences and the dictionary alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight import recipes
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Candidates, Evidence, companion, gold, shuffled
from sidelight.experiments.draws import folder_of, labels_of, read_words
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.features import words

TITLE = "Part-of-speech tagging with a tag dictionary and no labels: accuracy on ambiguous tokens (thesis 6.5.4)"
RESTARTS, MEAN_OF, LABELLED_DRAWS = 50, 10, 10
SHUFFLES, LABELLED = 4, 5
CE_RUNS = 3
JLIS, EM, CE = "J-LIS", "EM", "contrastive estimation"
QUICK_SENTENCES = 500

NOTES = (
    "the corpus is the 94k-token sample of the Wall Street Journal with 45 tags, where the paper has 96k tokens of it; "
    "the dictionary has the tags that each word has anywhere in the sample",
    f"the lowest objective is that of {RESTARTS} runs, as in the paper; nothing is tuned: C2 = 1, C1 = 1",
    "the same features in all rows but that of contrastive estimation: the word with its tag, one, two and three tags "
    "in a row (second order)",
    "EM: from all tags of a word believed alike, with a little noise; it adds 0.001 to each count of a word and 0.01 "
    "to each of tags in a row, at most 50 iterations; tuned on labels the paper has 62.6",
    "contrastive estimation: against sentences with neighbouring words swapped, price 1, one and two tags in a row "
    "(first order) where the paper has three; tuned on labels the paper has 79.0",
)


@dataclass(frozen=True)
class Dictionary:
    """Sentences and the tags their words may have."""

    sentences: LabelledExamples
    tags: dict[str, list[str]]
    labels: list[str]

    def candidates(self, xs: Sequence[Sequence[str]]) -> list[list[list[str]]]:
        """The possible labels of each token."""
        return [[self.tags[word] for word in x] for x in xs]

    def companion(self, seed: int) -> list[Evidence]:
        """The sentences, and shuffles of them."""
        xs = self.sentences.xs
        bad = shuffled(xs, seed=seed, copies=SHUFFLES)
        good = companion(xs, +1, candidates=self.candidates(xs))
        return [*good, *companion(bad, -1, candidates=self.candidates(bad))]

    def labelled(self, seed: int) -> list[Evidence]:
        """A few sentences with their tags."""
        which = np.random.default_rng([seed, 1]).permutation(len(self.sentences.xs))[:LABELLED]
        return [*gold([self.sentences.xs[i] for i in which], [self.sentences.ys[i] for i in which])]


@dataclass(frozen=True)
class UnsupervisedRun:
    """One run: its seed, whether ties are broken at random, whether some sentences are labelled, and the method."""

    seed: int
    random_ties: bool = True
    labelled: bool = False
    method: str = JLIS

    def __str__(self) -> str:
        return "runs"


@dataclass(frozen=True)
class TaggedWords:
    """The result of a run."""

    accuracy: float  # per cent of the ambiguous tokens
    objective: float


def fit(study: Dictionary, run: UnsupervisedRun) -> TaggedWords:
    """Learn, and tag the same sentences within the dictionary."""
    if run.method != JLIS:
        return _fit_generative(study, run)
    evidence = [*(study.labelled(run.seed) if run.labelled else []), *study.companion(run.seed)]
    tagger = Tagger(
        learner="jlis",
        features=words(),
        labels=study.labels,
        order=2,
        prices={"gold": 1.0, "companion": 1.0},
        random_ties=run.random_ties,
        seed=run.seed,
        n_jobs=1,
    ).fit(evidence)
    return TaggedWords(ambiguous_accuracy(study, tagger), float(tagger.rounds_[-1].objective or 0.0))


def _fit_generative(study: Dictionary, run: UnsupervisedRun) -> TaggedWords:
    """EM or contrastive estimation, from candidates alone."""
    xs = study.sentences.xs
    evidence = [Candidates(x, options) for x, options in zip(xs, study.candidates(xs))]
    learner: recipes.Recipe = recipes.contrastive()
    if run.method == EM:
        learner = recipes.em(
            start="uniform", emission="additive", emission_amount=0.001, transition="additive", vocabulary=0
        )
    tagger = Tagger(
        features=words(),
        labels=study.labels,
        learner=learner,
        order=2 if run.method == EM else 1,
        seed=run.seed,
        n_jobs=1,
    ).fit(evidence)
    return TaggedWords(ambiguous_accuracy(study, tagger), float(tagger.rounds_[-1].objective or 0.0))


def ambiguous_accuracy(study: Dictionary, tagger: Tagger) -> float:
    """Per cent of the ambiguous tokens that are tagged rightly."""
    model = tagger.model_
    batch = model.batch(study.sentences.xs, n_jobs=tagger.n_jobs)
    mask = np.array([model.labels.mask(study.tags[word]) for x in study.sentences.xs for word in x], dtype=np.uint8)
    truth = model.labels.encode([tag for y in study.sentences.ys for tag in y])
    results = replace(batch, space=batch.space.inside(mask)).best(model.weights).labels
    ambiguous = mask.sum(axis=1) > 1
    return 100.0 * float(np.mean((results == truth)[ambiguous]))


def load(data: Path, *, sentences: int | None = None) -> Dictionary:
    """Read `data`/ptb_sample."""
    examples = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    examples = LabelledExamples(examples.xs[:sentences], examples.ys[:sentences])
    tags: dict[str, set[str]] = {}
    for x, y in zip(examples.xs, examples.ys):
        for word, tag in zip(x, y):
            tags.setdefault(word, set()).add(tag)
    return Dictionary(examples, {word: sorted(results) for word, results in tags.items()}, labels_of(examples))


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    study = load(data, sentences=QUICK_SENTENCES if quick else None)
    report(TITLE)
    count = 4 if quick else RESTARTS
    tasks = [UnsupervisedRun(seed) for seed in range(count)]
    tasks += [UnsupervisedRun(seed, labelled=True) for seed in range(3 if quick else LABELLED_DRAWS)]
    tasks += [UnsupervisedRun(seed, method=EM) for seed in range(2 if quick else MEAN_OF)]
    tasks += [UnsupervisedRun(seed, method=CE) for seed in range(1 if quick else CE_RUNS)]
    tasks.append(UnsupervisedRun(0, random_ties=False))
    done: dict[UnsupervisedRun, TaggedWords] = dict(
        zip(tasks, carried_out(fit, study, tasks, n_jobs=n_jobs, report=report))
    )
    free = [done[task] for task in tasks if task.random_ties and not task.labelled and task.method == JLIS]
    lowest = min(free, key=lambda results: results.objective)
    setting = f"0 labels, {len(study.sentences.xs)} sentences"
    some = f"{LABELLED} labelled sentences"
    results: list[Row] = [
        row(setting, "J-LIS, no random ties", "accuracy", [done[tasks[-1]].accuracy], paper=62.89),
        row(setting, "J-LIS", "accuracy", [one.accuracy for one in free[:MEAN_OF]], paper=70.16),
        row(setting, "J-LIS, lowest objective", "accuracy", [lowest.accuracy], paper=76.2),
        row(setting, EM, "accuracy", [done[task].accuracy for task in tasks if task.method == EM], paper=60.9),
        row(setting, CE, "accuracy", [done[task].accuracy for task in tasks if task.method == CE], paper=74.7),
        row(some, "J-LIS", "accuracy", [done[task].accuracy for task in tasks if task.labelled], paper=79.1),
    ]
    results.append(
        {**row(setting, "J-LIS", "rank correlation of objective and accuracy", [_rank(free)]), "draws": count}
    )
    save(results)
    return results, NOTES


def _rank(runs: Sequence[TaggedWords]) -> float:
    """Spearman's: -1 where a lower objective always means a higher accuracy."""
    orders = [np.argsort(np.argsort([getattr(one, name) for one in runs])) for name in ("objective", "accuracy")]
    value: Any = np.corrcoef(orders[0], orders[1])[0, 1]
    return float(value)
