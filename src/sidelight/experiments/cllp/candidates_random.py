"""CLLP from candidates for some tokens: Figure 1 of Li, Zhang and Chen 2014.

In every sentence n tokens, one after another and perhaps the same, double the number of their candidates. Training
sentences are a sample; there are rows with all of them too, which is what the paper has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from sidelight.experiments.cllp.candidate_corpora import (
    FEATURE_NOTES,
    TRAIN,
    Sentences,
    chunks,
    names,
    tags,
    with_all_sentences,
)
from sidelight.experiments.cllp.candidate_grid import (
    CHARGE_NOTE,
    CL_SVM,
    CLLP,
    GOLD,
    LABELINGS,
    MMS,
    MMS_LIKE_CLLP,
    NAIVE,
    CandidateSetting,
    CandidateTrials,
    Results,
    fit,
)
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row

TITLE = "Chunks, biomedical names, parts of speech: accuracy by doublings of candidates per sentence (CLLP, Figure 1)"
DOUBLINGS = (1, 2, 4, 8, 16)
WHOLE = {"chunks": DOUBLINGS, "names": (4, 16), "tags": DOUBLINGS}  # doublings, with all sentences; names take longest
WHOLE_TRIALS = CandidateTrials(
    (0.03, 0.1, 0.3), (0.1, 0.3, 1.0), (0.1, 0.3, 1.0), (0.01,), jointly=True, thresholds=False
)
WHOLE_FIRST, WHOLE_PILOT = 10, 100  # the first of the draws that are scored there, and the one that chooses
DRAWS, QUICK_DRAWS = 5, 2
QUICK_DOUBLINGS = (2, 8)
CORPORA = {"chunks": chunks, "names": names, "tags": tags}

NOTES = (
    "the paper shows a figure without numbers: CLLP close to Gold and above MMS, NAIVE and CL-SVM; for chunks "
    "hardly above MMS",
    *FEATURE_NOTES,
    CHARGE_NOTE,
    f"CL-SVM learns from 2^n labelings of every sentence; it is left out beyond {LABELINGS:,} labelings in all, the "
    "paper gives it up beyond n = 6",
    "with all sentences draws differ in candidates and first labels; three prices are tried, for CLLP with two ratios "
    "each, with a draw that is not scored; CL-SVM has too many labelings there",
)


def settings_of(corpus: str, doublings: Sequence[int], draws: int) -> list[CandidateSetting]:
    """The points of one of the figure's three parts."""
    out = []
    for n in doublings:
        copies = TRAIN * 2**n <= LABELINGS
        methods = (GOLD, NAIVE, *((CL_SVM,) if copies else ()), MMS, MMS_LIKE_CLLP, CLLP)
        out.append(CandidateSetting(f"{n} doublings, {corpus}", n, draws, methods))
    return out


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    report(TITLE)
    results: list[Row] = []
    for corpus, load in CORPORA.items():
        if quick and corpus != "chunks":
            continue
        study = load(data, "random")
        points = QUICK_DOUBLINGS if quick else DOUBLINGS
        sampled = sample_rows(study, corpus, points, QUICK_DRAWS if quick else DRAWS, n_jobs=n_jobs, report=report)
        whole = whole_rows(study, corpus, () if quick else WHOLE[corpus], n_jobs=n_jobs, report=report)
        for lines in chain(sampled, whole):
            results += lines
            save(results)
    return results, NOTES


def sample_rows(
    study: Sentences, corpus: str, doublings: Sequence[int], draws: int, *, n_jobs: int, report: Callable[[str], None]
) -> Iterator[list[Row]]:
    """The rows of each number of doublings with a sample of the sentences."""
    settings = settings_of(corpus, doublings, draws)
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run, gold_at=settings[0])
        for setting in settings:
            yield results.rows_of(setting, report)


def whole_rows(
    study: Sentences, corpus: str, doublings: Sequence[int], *, n_jobs: int, report: Callable[[str], None]
) -> Iterator[list[Row]]:
    """The rows of each number of doublings with all sentences."""
    if not doublings:
        return
    methods = (GOLD, NAIVE, MMS, MMS_LIKE_CLLP, CLLP)
    settings = [
        CandidateSetting(
            f"{n} doublings, {corpus}, all sentences", n, DRAWS, methods, pilots=(WHOLE_PILOT,), first=WHOLE_FIRST
        )
        for n in doublings
    ]
    study = with_all_sentences(study)
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run, gold_at=settings[0], gold_draws=1, trials=WHOLE_TRIALS)
        for setting in settings:
            yield results.rows_of(setting, report)
