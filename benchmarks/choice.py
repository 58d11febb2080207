"""What the automatic choice costs: CPU time of `Tagger()` against one fit of the plan that it begins with.

Tags of the English Web Treebank and names of CoNLL-2003 with the evidence of `reproduce strangers`: few labelled
sentences, where the guard may cost twenty fits, many, where the whole may cost one and a half, and 50 labelled with
1,000 unlabelled ones, where the whole may take a minute. Everything compiled before.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import sidelight as sl
from benchmarks.measure import Row
from sidelight.choice.plan import fixed_plan
from sidelight.errors import NotProved
from sidelight.evidence import Evidence, unlabeled
from sidelight.experiments.strangers.corpora import CORPORA, StrangersCorpus
from sidelight.experiments.strangers.kinds import given, labelled_of

NAMES = ("names in news", "tags of the web")
FEW, MANY = 20, 2000
KINDS = ("dictionary", "companions", "votes", "rules", "all")
MOST_FEW, MOST_MANY, MOST_SECONDS = 20.0, 1.5, 60.0


def run(*, quick: bool = False) -> list[Row]:
    data = Path(os.environ["SIDELIGHT_DATA"])
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotProved)
        for name in NAMES[1:] if quick else NAMES:
            corpus = CORPORA[name](data)
            few = [_row(corpus, kind, FEW, MOST_FEW) for kind in (KINDS[:1] if quick else KINDS)]
            many = [] if quick else [_row(corpus, kind, MANY, MOST_MANY) for kind in ("dictionary", "votes", "all")]
            rows += [*few, *many, _minute(corpus, 60 if quick else 1000)]
    return rows


def _row(corpus: StrangersCorpus, kind: str, size: int, most: float) -> Row:
    """The whole fit, against a fit of the fixed plan; small fits before both, for the compiler."""
    has = given(corpus, kind, size=size, draw=0)
    params: dict[str, Any] = {"labels": corpus.labels, "rules": has.rules}
    _one_fit(given(corpus, kind, size=6, draw=0, indirect=20).evidence, params)
    whole, tagger = _cpu(sl.Tagger(**params), has.evidence)
    one = _one_fit(has.evidence, params)
    ratio = whole / one
    note = f"{corpus.name}, {len(has.labelled)} labelled; {tagger.choice_.fits} fits of folds; {tagger.choice_.chosen}"
    what = f"auto with {kind}, {len(has.labelled):,} labelled"
    return Row("choice", what, whole, "s CPU", one, "one fit", ratio, f"at most {most:g} fits", ratio <= most, note)


def _one_fit(evidence: list[Evidence], params: dict[str, Any]) -> float:
    """CPU seconds of the plan that the choice begins with, made ready as the choice makes it ready."""
    began = time.process_time()
    tagger = sl.Tagger(**params)
    trials = tagger._trials(list(evidence))
    plan = fixed_plan(trials.question.offer)
    pieces = [piece for piece in trials.evidence.evidence if plan.takes(piece.kind)]
    sl.Tagger(**{**params, **trials.params(plan)}).fit(pieces)
    return time.process_time() - began


def _minute(corpus: StrangersCorpus, raw: int) -> Row:
    """50 labelled and 1,000 unlabelled sentences, with the rules: wall clock on all cores."""
    labelled = labelled_of(corpus, size=50, draw=0)
    evidence = [*labelled, *unlabeled(corpus.raw[:raw])]
    rules = given(corpus, "rules", size=50, draw=0).rules
    began = time.perf_counter()
    tagger = sl.Tagger(labels=corpus.labels, rules=rules, n_jobs=-1).fit(evidence)
    seconds = time.perf_counter() - began
    what = f"auto with 50 labelled, {len(evidence) - len(labelled):,} unlabelled and {len(rules)} rules"
    target = f"at most {MOST_SECONDS:g} s on two cores"
    note = f"{corpus.name}; {tagger.choice_.chosen}"
    return Row("choice", what, seconds, "s", target=target, met=seconds <= MOST_SECONDS, note=note)


def _cpu(tagger: sl.Tagger, evidence: list[Evidence]) -> tuple[float, sl.Tagger]:
    began = time.process_time()
    tagger.fit(evidence)
    return time.process_time() - began, tagger
