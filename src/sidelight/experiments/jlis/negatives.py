"""The effect of bad examples: Figure 3 of Chang et al. 2010 (citations) and thesis section 6.5.3 (part-of-speech
tagging).

Labelled and good examples are fixed; the number of bad ones varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sidelight.evidence import Evidence, companion, shuffled
from sidelight.experiments.draws import part
from sidelight.experiments.grid import Setting, TablePlan
from sidelight.experiments.jlis import citations, pos

GOLD_TOKENS = 100
GOLD_SENTENCES, GOOD_SENTENCES = 10, 250

CITATIONS_TITLE = (
    "Citations, 100 labelled tokens: token accuracy by the number of bad references (Chang et al. 2010, Figure 3)"
)
CITATIONS = tuple(Setting(f"{n} negatives", n, 10, pilots=4) for n in (0, 250, 500, 1000, 2000, 4000))
CITATIONS_QUICK = tuple(Setting(f"{n} negatives", n, 2, pilots=1) for n in (0, 250, 1000))

POS_TITLE = "Part-of-speech tagging, 10 labelled sentences: token accuracy by shuffles per good sentence (thesis 6.5.3)"
POS = tuple(Setting(f"{k} negatives per sentence", k, 10, pilots=2) for k in (1, 2, 4, 8, 16))
POS_QUICK = tuple(Setting(f"{k} negatives per sentence", k, 2, pilots=1) for k in (1, 4))

TREND = "the paper shows a figure without numbers: accuracy rises with the number of bad examples"


@dataclass(frozen=True)
class BadReferences(citations.Citations):
    """1,000 good references; bad ones are shuffles of them, each shuffled once before any is shuffled again."""

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        return super().gold(Setting("", GOLD_TOKENS, 1), draw)

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        rng = np.random.default_rng([draw, 2])
        order = [self.good[i] for i in rng.permutation(len(self.good))]
        bad = shuffled(order, seed=rng, copies=-(-setting.size // len(order)))[: setting.size]
        return [*companion(self.good, +1), *companion(bad, -1)]


@dataclass(frozen=True)
class BadSentences(pos.TaggedSentences):
    """250 good sentences, each shuffled k times."""

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        order = np.random.default_rng([draw, 1]).permutation(len(self.train.xs))
        return part(self.train, order[:GOLD_SENTENCES])

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        rng = np.random.default_rng([draw, 2])
        good = [self.good[i] for i in rng.permutation(len(self.good))[:GOOD_SENTENCES]]
        return [*companion(good, +1), *companion(shuffled(good, seed=rng, copies=setting.size), -1)]


def plans(data: Path) -> list[TablePlan]:
    """Two tables."""
    references, sentences = citations.load(data), pos.load(data)
    pilots = "prices are chosen with the first draws of a setting only"
    return [
        TablePlan(
            CITATIONS_TITLE,
            BadReferences(references.train, references.dev, references.test, references.good, references.labels),
            CITATIONS,
            CITATIONS_QUICK,
            (TREND, f"{pilots} (4 of 10)"),
        ),
        TablePlan(
            POS_TITLE,
            BadSentences(sentences.train, sentences.dev, sentences.test, sentences.good, sentences.labels),
            POS,
            POS_QUICK,
            (TREND, f"{pilots} (2 of 10)"),
        ),
    ]
