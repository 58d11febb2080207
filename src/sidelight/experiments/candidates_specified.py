"""CLLP from candidates for all tokens: Figure 2 of Li, Zhang and Chen 2014.

Every token has m candidates, one of them right. Figure 2(a) varies m, with labels to begin with at random; Figure 2(b)
varies the share of wrong labels among those, at m = 5. Training sentences are a sample; there are rows with all of them
too, which is what the paper has. MMS and CLLP also have each other's charge for what is outside the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sidelight.experiments.candidate_corpora import FEATURE_NOTES, Sentences, chunks
from sidelight.experiments.candidate_grid import (
    CHARGE_NOTE,
    CLLP,
    CLLP_LIKE_MMS,
    GOLD,
    MMS,
    MMS_LIKE_CLLP,
    NAIVE,
    Results,
    Setting,
    Trials,
    fit,
)
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row

TITLE = "Chunks: accuracy by the number of candidates of every token, and by initial error (CLLP, Figure 2)"
SIZES = tuple(range(1, 8))
ERRORS = (0.5, 0.6, 0.7, 0.8)
WHOLE = (2, 3, 5, 7)  # candidates, with all sentences
WHOLE_TRIALS = Trials((0.03, 0.1, 0.3), (0.06, 0.15, 0.36, 1.0), (0.06, 0.15, 0.36), (0.01, 1.0), jointly=True)
WHOLE_PILOTS, WHOLE_FIRST = (100, 101), 10  # draws that choose, and the first of those that are scored
SETS = (MMS, MMS_LIKE_CLLP, CLLP, CLLP_LIKE_MMS)
DRAWS, QUICK_DRAWS = 10, 3

NOTES = (
    "the paper shows a figure without numbers: the gap between CLLP and MMS grows with the number of candidates, and "
    "CLLP feels initial error less than the others",
    *FEATURE_NOTES,
    "at 5 candidates, initial labels at random have an error of 0.8",
    "with all sentences draws differ in candidates and first labels; prices of CLLP and MMS are about the ends and the "
    "middle of the paper's grid (and 1 for MMS), for CLLP with three ratios each; two draws that are not scored choose",
    CHARGE_NOTE,
    "CLLP, Δmin charges it for labels outside their candidates alone, as MMS does",
    "NAIVE, whose labels are wrong more often than right from 3 candidates on, has the hinge of the best output "
    "against the rest, whose least loss then is that of zero weights",
)


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of both figures, and their notes."""
    report(TITLE)
    draws = QUICK_DRAWS if quick else DRAWS
    figures = {
        "specified": [
            Setting(f"{m} candidates", m, draws, methods=(GOLD, NAIVE, *SETS)) for m in (SIZES[1:2] if quick else SIZES)
        ],
        "error": [
            Setting(f"{e} initial error, 5 candidates", e, draws, methods=(GOLD, NAIVE, MMS, MMS_LIKE_CLLP, CLLP))
            for e in (() if quick else ERRORS)
        ],
    }
    found: list[Row] = []
    for generation, settings in figures.items():
        if not settings:
            continue
        study = chunks(data, "specified" if generation == "specified" else "error")
        with pool(fit, study, n_jobs=n_jobs, report=report) as run:
            results = Results(study, run, gold_at=settings[0])
            for setting in settings:
                found += results.rows_of(setting, report)
                save(found)
        if generation == "specified" and not quick:
            for lines in whole_rows(study, WHOLE, n_jobs=n_jobs, report=report):
                found += lines
                save(found)
    return found, NOTES


def whole_rows(
    study: Sentences, sizes: Sequence[int], *, n_jobs: int, report: Callable[[str], None]
) -> Iterator[list[Row]]:
    """The rows of each number of candidates with all sentences."""
    study = replace(study, train=len(study.pool.xs))
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        methods = (GOLD, MMS, MMS_LIKE_CLLP, CLLP)
        settings = [
            Setting(f"{m} candidates, all sentences", m, DRAWS, methods, pilots=WHOLE_PILOTS, first=WHOLE_FIRST)
            for m in sizes
        ]
        results = Results(study, run, gold_at=settings[0], gold_draws=1, trials=WHOLE_TRIALS)
        for setting in settings:
            yield results.rows_of(setting, report)
