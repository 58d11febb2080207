"""Twelve labelling functions on raw sentences, and few labelled ones: trust learned with the tagger against two stages.

Names of CoNLL-2003 (span F1) and tags of the English Web Treebank (token accuracy), 500 raw sentences that functions
vote on, and none, 20, 50 or 200 labelled ones, three draws. The peers are two stages: one label a token, by a majority
of the votes or by skweak's HMM, and then the same CRF on that and on the labelled sentences. All CRFs have the same
features and prices. Functions were written from other sentences than those of the test, and nothing was chosen by it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl
from benchmarks.measure import Row
from benchmarks.votes_skweak import aggregated
from sidelight.evidence import Evidence, Gold, Partial
from sidelight.experiments.strangers.corpora import CORPORA, StrangersCorpus
from sidelight.experiments.strangers.knowledge import functions_of
from sidelight.voting import Votes
from sidelight.voting.votes import candidates_of

NAMES = ("names in news", "tags of the web")
SIZES, DRAWS = (0, 20, 50, 200), 3
RAW = 500
OURS, GOLD, MAJORITY, SKWEAK = "trust", "labelled alone", "majority", "skweak"


def run(*, quick: bool = False) -> list[Row]:
    data = Path(os.environ["SIDELIGHT_DATA"])
    rows = []
    for name in NAMES:
        corpus = CORPORA[name](data)
        test = corpus.test.xs[:100] if quick else corpus.test.xs, corpus.test.ys[:100] if quick else corpus.test.ys
        for size in (20,) if quick else SIZES:
            found = [scores(corpus, test, size, draw, 50 if quick else RAW) for draw in range(1 if quick else DRAWS)]
            means = {method: float(np.mean([one[method] for one in found])) for method in found[0]}
            rows += _rows(corpus, size, means)
    return rows


def scores(
    corpus: StrangersCorpus, test: tuple[Sequence[Any], Sequence[Any]], size: int, draw: int, raw: int
) -> dict[str, float]:
    """What each method comes to in one draw, in per cent."""
    labelled = np.random.default_rng([draw, 1]).permutation(len(corpus.pool.xs))[:size]
    chosen = np.random.default_rng([draw, 2]).permutation(len(corpus.raw))[:raw]
    gold = sl.gold([corpus.pool.xs[i] for i in labelled], [corpus.pool.ys[i] for i in labelled])
    votes = sl.votes([corpus.raw[i] for i in chosen], functions_of(corpus.name), gold=gold)
    methods: dict[str, Callable[[], Sequence[Evidence]]] = {
        OURS: lambda: votes,
        MAJORITY: votes.majority,
        SKWEAK: lambda: _by_skweak(votes, corpus.labels),
        GOLD: list,
    }
    if find_spec("skweak") is None:
        del methods[SKWEAK]
    if not gold:
        del methods[GOLD]
    return {method: _score(corpus, test, gold, make()) for method, make in methods.items()}


def _score(
    corpus: StrangersCorpus, test: tuple[Sequence[Any], Sequence[Any]], gold: Sequence[Gold], more: Sequence[Evidence]
) -> float:
    tagger = sl.Tagger(learner="partial_crf", features=sl.features.spelling(), labels=corpus.labels)
    return corpus.score(test[1], tagger.fit([*gold, *more]).predict(test[0]))


def _by_skweak(votes: Votes, labels: Sequence[str]) -> list[Partial]:
    """Its labels where any function votes; elsewhere nothing is known, as with the majority."""
    found = aggregated(votes.pieces, labels)
    asked = [candidates_of(piece) for piece in votes.pieces]
    return [
        Partial(piece.x, [None if voted is None else label for label, voted in zip(y, sets)])
        for piece, y, sets in zip(votes.pieces, found, asked)
    ]


def _rows(corpus: StrangersCorpus, size: int, means: dict[str, float]) -> list[Row]:
    unit = "F1" if corpus.metric == "span_f1" else "% right"
    what = f"votes on {RAW} sentences of {corpus.name} and {size} labelled"
    alone = f"labelled sentences alone {means[GOLD]:.1f}" if GOLD in means else ""
    rows = []
    for peer in (MAJORITY, SKWEAK):
        if peer in means:
            ratio = means[OURS] / means[peer]
            target = f"at least {peer} and a CRF"
            met = means[OURS] >= means[peer]
            rows.append(Row("votes", what, means[OURS], unit, means[peer], peer, ratio, target, met, alone))
    return rows
