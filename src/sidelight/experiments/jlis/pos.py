"""J-LIS on part-of-speech tagging: thesis section 6.4.2, Figure 6.2, and the number of completions, Figure 6.5(b).

Newspaper text with 45 tags; features of thesis Table 6.1; κ(x) is the number of words. A bad example is a sentence with
its words shuffled. One table has labelled tokens in its rows and all companions, the other companions in its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Evidence, companion, shuffled
from sidelight.experiments.draws import ShuffledCorpus, folder_of, labels_of, read_words, split
from sidelight.experiments.grid import JLIS, SSVM, Setting, TablePlan
from sidelight.features import spelling

TITLE = (
    "Part-of-speech tagging, 45 tags: token accuracy by labelled tokens (thesis Figure 6.2; completions: Figure 6.5(b))"
)
LABELLED, TEST, DEV = 25_600, 20_000, 4_000  # tokens; the rest is companion evidence

SETTINGS = (
    Setting("200 tokens", 200, 10, {SSVM: 66.17, JLIS: 71.52}, pilots=3),
    Setting("400 tokens", 400, 10, pilots=2),
    Setting("800 tokens", 800, 5, pilots=2),
    Setting("1600 tokens", 1_600, 5, pilots=1),
    Setting("6400 tokens", 6_400, 3, pilots=1),
    Setting("25.6k tokens", 25_600, 3, {SSVM: 93.51, JLIS: 93.58}, pilots=1),
)
QUICK = (replace(SETTINGS[0], draws=2, pilots=1),)

NOTES = (
    "the corpus is the 94k-token sample of the Wall Street Journal, cut at random (once) into 25.6k tokens labelled, "
    "20k for testing, 4k for development and the other 44k as good examples with one shuffle each; the paper has "
    "25.6k for testing and 2,500 examples from 51.2k tokens",
    "prices are chosen with the first draws of a setting only (3, 2, 2, 1, 1, 1), to save time",
)

COMPANIONS_TITLE = "Part-of-speech tagging, 200 labelled tokens: token accuracy by companions (thesis Figure 6.2)"
COMPANIONS = tuple(Setting(f"{n:,} companion tokens", n, 5, pilots=1) for n in (1_000, 4_000, 16_000))
COMPANIONS_QUICK = tuple(replace(one, draws=2) for one in COMPANIONS[:2])
COMPANIONS_NOTES = (
    "the paper shows curves without numbers: more companions are better; a companion is counted by its good sentence",
    "prices are chosen with the first draw of a setting only",
)


@dataclass(frozen=True)
class TaggedSentences(ShuffledCorpus):
    """The corpus, and what learns from it."""

    def estimator(self, prices: dict[str, float], draw: int) -> Tagger:
        options: dict[str, Any] = {"prices": prices, "tolerance": 0.01, "n_jobs": 1, "seed": draw}
        return Tagger(learner="jlis", features=spelling(), labels=self.labels, **options)


@dataclass(frozen=True)
class SomeCompanions(TaggedSentences):
    """A fixed number of labelled tokens, and good sentences at random until they have as many as a setting says."""

    labelled: int = 200

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        return super().gold(Setting("", self.labelled, 1), draw)

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        order = np.random.default_rng([draw, 2]).permutation(len(self.good))
        ends = np.cumsum([len(self.good[i]) for i in order])
        good = [self.good[i] for i in order[: 1 + int(np.searchsorted(ends, setting.size))]]
        return [*companion(good, +1), *companion(shuffled(good, seed=draw), -1)]


def load(data: Path) -> TaggedSentences:
    """Read and split `data`/ptb_sample."""
    sentences = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    train, test, dev, good = split(sentences, tokens=(LABELLED, TEST, DEV), seed=2011)
    return TaggedSentences(train, dev, test, good.xs, labels_of(sentences))


def plans(data: Path) -> list[TablePlan]:
    """By labelled tokens, and by companions."""
    study = load(data)
    some = SomeCompanions(study.train, study.dev, study.test, study.good, study.labels)
    return [
        TablePlan(TITLE, study, SETTINGS, QUICK, NOTES, completions=True),
        TablePlan(COMPANIONS_TITLE, some, COMPANIONS, COMPANIONS_QUICK, COMPANIONS_NOTES),
    ]
