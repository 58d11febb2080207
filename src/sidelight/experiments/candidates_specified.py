"""CLLP from candidates for all tokens: Figure 2 of Li, Zhang and Chen 2014.

Every token has m candidates, one of them right. Figure 2(a) varies m, with labels to begin with at random; Figure 2(b)
varies the share of wrong labels among those, at m = 5. Training sentences are a sample; CLLP and MMS have rows with all
of them too, which is what the paper has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sidelight.experiments.candidate_corpora import FEATURE_NOTES, Sentences, chunks
from sidelight.experiments.candidate_grid import CLLP, MMS, Results, Setting, fit
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row

TITLE = "Chunks: accuracy by the number of candidates of every token, and by initial error (CLLP, Figure 2)"
SIZES = tuple(range(1, 8))
ERRORS = (0.5, 0.6, 0.7, 0.8)
WHOLE = (5, 7)  # candidates, with all sentences
DRAWS, QUICK_DRAWS = 5, 3

NOTES = (
    "the paper shows a figure without numbers: the gap between CLLP and MMS grows with the number of candidates, and "
    "CLLP feels initial error less than the others",
    *FEATURE_NOTES,
    "at 5 candidates, initial labels at random have an error of 0.8",
    "with all sentences, the choices are those made with the sample; draws differ in candidates and first labels",
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
        "specified": [Setting(f"{m} candidates", m, draws) for m in (SIZES[1:2] if quick else SIZES)],
        "error": [] if quick else [Setting(f"{e} initial error, 5 candidates", e, draws) for e in ERRORS],
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
            found += whole_rows(study, results, n_jobs=n_jobs, report=report)
            save(found)
    return found, NOTES


def whole_rows(study: Sentences, sample: Results, *, n_jobs: int, report: Callable[[str], None]) -> list[Row]:
    """CLLP and MMS from all sentences, with what was chosen on the sample."""
    study = replace(study, train=len(study.pool.xs))
    found: list[Row] = []
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run)
        for m in WHOLE:
            like = Setting(f"{m} candidates", m, DRAWS)
            results.chosen[like.name] = {method: sample.chosen[like.name][method] for method in (MMS, CLLP)}
            setting = Setting(f"{m} candidates, all sentences", m, DRAWS, methods=(MMS, CLLP))
            found += results.rows_of(setting, report, like=like)
    return found
