"""CLLP from candidates for all tokens: Figure 2 of Li, Zhang and Chen 2014.

Every token has m candidates, one of them right. Figure 2(a) varies m, with labels to begin with at random; Figure 2(b)
varies the share of wrong labels among those, at m = 5. Training sentences are a sample; there are rows with all of them
too, which is what the paper has, and rows with other draws, for what the first ones suggest. MMS and CLLP also have
each other's charge for what is outside the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from sidelight.experiments.cllp.candidate_corpora import FEATURE_NOTES, Sentences, chunks, with_all_sentences
from sidelight.experiments.cllp.candidate_grid import (
    CHARGE_NOTE,
    CLLP,
    CLLP_LIKE_MMS,
    GOLD,
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

TITLE = "Chunks: accuracy by the number of candidates of every token, and by initial error (CLLP, Figure 2)"
SIZES = tuple(range(1, 8))
ERRORS = (0.5, 0.6, 0.7, 0.8)
AGAIN = (2, 3, 4, 5, 6, 7)  # candidates, with draws that are not among those above
AGAIN_TRIALS = CandidateTrials((), (0.1, 0.3, 1.0, 3.0), (0.1, 0.3, 1.0), jointly=True, thresholds=False)
GRID = (0.06, 0.15, 0.36)  # prices, with all sentences
WHOLE = {2: (*GRID, 1.0), 3: GRID, 4: GRID, 5: GRID, 7: GRID}  # by candidates; with two, the dearest was the best
FIRST, PILOTS = 10, (100, 101, 102, 103)  # the first of the draws that are scored there, and those that choose
SETS = (MMS, MMS_LIKE_CLLP, CLLP, CLLP_LIKE_MMS)
DRAWS, AGAIN_DRAWS, QUICK_DRAWS = 10, 20, 2
QUICK_SIZES = (2, 5)

NOTES = (
    "the paper shows a figure without numbers: the gap between CLLP and MMS grows with the number of candidates, and "
    "CLLP feels initial error less than the others",
    *FEATURE_NOTES,
    "at 5 candidates, initial labels at random have an error of 0.8",
    "once more, with draws of their own: four draws that are not scored choose, for CLLP among three prices with three "
    "ratios each, for MMS among four prices",
    "with all sentences draws differ in candidates and first labels; prices of CLLP and MMS are about the ends and the "
    "middle of the paper's grid (with two candidates 1 too), for CLLP with three ratios each; two draws that are not "
    "scored choose",
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
            CandidateSetting(f"{m} candidates", m, draws, methods=(GOLD, NAIVE, *SETS))
            for m in (QUICK_SIZES if quick else SIZES)
        ],
        "error": [
            CandidateSetting(
                f"{e} initial error, 5 candidates", e, draws, methods=(GOLD, NAIVE, MMS, MMS_LIKE_CLLP, CLLP)
            )
            for e in (() if quick else ERRORS)
        ],
    }
    lines_of_table: list[Row] = []
    for generation, settings in figures.items():
        if not settings:
            continue
        study = chunks(data, "specified" if generation == "specified" else "error")
        with pool(fit, study, n_jobs=n_jobs, report=report) as run:
            results = Results(study, run, gold_at=settings[0])
            for setting in settings:
                lines_of_table += results.rows_of(setting, report)
                save(lines_of_table)
        if generation == "specified" and not quick:
            again = again_rows(study, AGAIN, n_jobs=n_jobs, report=report)
            for lines in chain(again, whole_rows(study, WHOLE, n_jobs=n_jobs, report=report)):
                lines_of_table += lines
                save(lines_of_table)
    return lines_of_table, NOTES


def again_rows(
    study: Sentences, sizes: Sequence[int], *, n_jobs: int, report: Callable[[str], None]
) -> Iterator[list[Row]]:
    """The rows of each number of candidates once more, with other draws."""
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run, trials=AGAIN_TRIALS)
        for m in sizes:
            methods = (MMS, MMS_LIKE_CLLP, CLLP)
            setting = CandidateSetting(f"{m} candidates, again", m, AGAIN_DRAWS, methods, pilots=PILOTS, first=FIRST)
            yield results.rows_of(setting, report)


def whole_rows(
    study: Sentences, prices: Mapping[int, tuple[float, ...]], *, n_jobs: int, report: Callable[[str], None]
) -> Iterator[list[Row]]:
    """The rows of each number of candidates, for which these prices are tried, with all sentences."""
    study = with_all_sentences(study)
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        for m, tried in prices.items():
            methods = (*((GOLD,) if m == min(prices) else ()), MMS, MMS_LIKE_CLLP, CLLP)
            setting = CandidateSetting(
                f"{m} candidates, all sentences", m, DRAWS, methods, pilots=PILOTS[:2], first=FIRST
            )
            trials = CandidateTrials((0.03, 0.1, 0.3), tried, tried, jointly=True)
            yield Results(study, run, gold_draws=1, trials=trials).rows_of(setting, report)
