"""CLLP from candidates for some tokens: Figure 1 of Li, Zhang and Chen 2014.

In every sentence n tokens, one after another and perhaps the same, double the number of their candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sidelight.experiments.candidate_corpora import FEATURE_NOTES, TRAIN, chunks, names, tags
from sidelight.experiments.candidate_grid import (
    CHARGE_NOTE,
    CL_SVM,
    CLLP,
    GOLD,
    LABELINGS,
    MMS,
    MMS_LIKE_CLLP,
    NAIVE,
    Results,
    Setting,
    fit,
)
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row

TITLE = "Chunks, biomedical names, parts of speech: accuracy by doublings of candidates per sentence (CLLP, Figure 1)"
DOUBLINGS = (1, 2, 4, 8, 16)
DRAWS, QUICK_DRAWS = 5, 3
CORPORA = {"chunks": chunks, "names": names, "tags": tags}

NOTES = (
    "the paper shows a figure without numbers: CLLP close to Gold and above MMS, NAIVE and CL-SVM; for chunks "
    "hardly above MMS",
    *FEATURE_NOTES,
    CHARGE_NOTE,
    f"CL-SVM learns from 2^n labelings of every sentence; it is left out beyond {LABELINGS:,} labelings in all, the "
    "paper gives it up beyond n = 6",
)


def settings_of(corpus: str, doublings: Sequence[int], draws: int) -> list[Setting]:
    """The points of one of the figure's three parts."""
    out = []
    for n in doublings:
        copies = TRAIN * 2**n <= LABELINGS
        methods = (GOLD, NAIVE, *((CL_SVM,) if copies else ()), MMS, MMS_LIKE_CLLP, CLLP)
        out.append(Setting(f"{n} doublings, {corpus}", n, draws, methods))
    return out


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    report(TITLE)
    found: list[Row] = []
    for corpus, load in CORPORA.items():
        if quick and corpus != "chunks":
            continue
        study = load(data, "random")
        settings = settings_of(corpus, DOUBLINGS[1:2] if quick else DOUBLINGS, QUICK_DRAWS if quick else DRAWS)
        with pool(fit, study, n_jobs=n_jobs, report=report) as run:
            results = Results(study, run, gold_at=settings[0])
            for setting in settings:
                found += results.rows_of(setting, report)
                save(found)
    return found, NOTES
