"""Rules against models made for the task: thesis Tables 3.4 and 3.5 (citations).

Table 3.4, supervised: an HMM with the one rule that labels change after punctuation, against a CRF, a semi-CRF that
sees whether a segment ends on punctuation, and one that sees its length besides. Table 3.5: CoDL against alternating
projections, that is, posterior regularisation; here of an HMM and of a CRF with the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from sidelight import recipes
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import unlabeled
from sidelight.experiments.ccm.citation_rules import QUOTES
from sidelight.experiments.ccm.constrained_study import (
    BETA,
    CYCLES,
    EMISSIONS,
    Emission,
    Report,
    RuleStudy,
    Save,
    accuracy,
    difference_rows,
)
from sidelight.experiments.ccm.constrained_study import load_citations as load
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row
from sidelight.features import words
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.rules import gallery

TITLE = "Citations: one rule or all against CRF, semi-CRF and posterior regularisation (thesis Tables 3.4, 3.5)"
HMM, CCM, CRF, SEMI_CRF, SEMI_CRF_LONG = "HMM", "HMM-CCM (Punctuation)", "CRF", "semi-CRF", "semi-CRF+"
CRF_RULE = "CRF with rule (Punctuation)"
CODL, PR_HMM, PR_CRF = "semi HMM-CCM", "PR, HMM", "PR, CRF"
TAILORED = (HMM, CCM, CRF, CRF_RULE, SEMI_CRF, SEMI_CRF_LONG)
EXPECTING = (CODL, PR_HMM, PR_CRF)
PRICED = (CRF, CRF_RULE, SEMI_CRF, SEMI_CRF_LONG, PR_CRF)
PAPER = {  # Table 3.4, in the order HMM, HMM-CCM, CRF, semi-CRF, semi-CRF+
    5: (58.48, 63.68, 51.43, 50.69, 60.14),
    10: (63.37, 66.88, 54.61, 50.38, 62.51),
    20: (70.78, 77.52, 63.92, 62.96, 72.22),
    300: (86.69, 93.35, 89.09, 92.46, 94.60),
}
PRICES = (1.0, 10.0, 100.0)
PILOTS = 2  # draws that choices are made with
MOST_TOKENS = 40  # of a segment; longer runs are pieces
PAPER_CODL = {5: 77.65, 20: 85.11, 300: 94.32}  # Table 3.5
DRAWS, EXPECTING_DRAWS, QUICK_DRAWS = 5, 3, 1
MARKS = gallery.PUNCTUATION | frozenset(QUOTES)

NOTES = (
    "token features are the word, in lower case, for all models, as in the thesis",
    f"chosen on the development set for every size and method, with the first {PILOTS} draws: the prices of CRFs and "
    f"semi-CRFs, from {', '.join(format(price, 'g') for price in PRICES)}; the smoothing of HMMs, from "
    f"{', '.join(map(str, EMISSIONS))}",
    f"segments have at most {MOST_TOKENS} tokens; a longer field is made of pieces, joined again in the output",
    "the comparison with posterior regularisation has all 1,000 unlabelled references, all twelve rules, learned "
    "penalties, five iterations, and rules at test time for all three methods",
    "CRFs have a weight for every word with the labels that it has in the labelled references; PR has the same CRF as "
    "its base, and there every word of the unlabelled references has one with every label, as any may be believed",
    "the thesis cites alternating projections from elsewhere (75.6 or 74.6 with 5 references, 85.4 or 85.1 with 20): a "
    "CRF with many more features and another split, so there is no published number for PR here",
)


@dataclass(frozen=True)
class SemiCrfTask:
    """One fit with its choice: the price of a CRF, the smoothing of an HMM."""

    size: int
    draw: int
    method: str
    choice: float | Emission

    def __str__(self) -> str:
        return f"{self.size} references"


class SemiCrfOutcome(NamedTuple):
    """Token accuracy in per cent."""

    dev: float
    test: float


def ends_on_mark(x: Sequence[str], first: int, last: int) -> list[str]:
    """The feature of a segment that says whether its last word is a punctuation mark.

    >>> ends_on_mark(["smith", "."], 0, 1), ends_on_mark(["smith", "."], 0, 0)
    (['ends on a mark'], ['ends on a word'])
    """
    return ["ends on a mark" if x[last] in MARKS else "ends on a word"]


def model_of(study: RuleStudy, task: SemiCrfTask) -> Any:
    """An unfitted model, with its rules."""
    only = ["Punctuation"] if task.method in (CCM, CRF_RULE) else None if task.method in EXPECTING else []
    rules = study.rules(only=only)
    if task.method in (SEMI_CRF, SEMI_CRF_LONG):
        families = ("length",) if task.method == SEMI_CRF_LONG else ()
        return SegmentTagger(
            features=words(before=0),
            segment_features=SegmentFeatures(families=families, function=ends_on_mark),
            max_length=MOST_TOKENS,
            prices={"gold": _price(task)},
            labels=study.labels,
            n_jobs=1,
        )
    if task.method in (CRF, CRF_RULE, PR_CRF):
        base = recipes.crf(support="seen")
        learner = recipes.posterior_regularization(base=base, iterations=CYCLES) if task.method == PR_CRF else base
        prices = {"gold": _price(task), "unlabeled": 0.1 * _price(task)}
        features = words(before=0)
        return Tagger(features=features, learner=learner, rules=rules, prices=prices, labels=study.labels, n_jobs=1)
    if not isinstance(task.choice, Emission):
        raise TypeError(f"{task.method} is an HMM, and its choice is {task.choice!r}")
    learned: recipes.Recipe = recipes.hmm(emission=task.choice.kind, emission_amount=task.choice.amount)
    if task.method == CODL:
        learned = recipes.codl(base=learned, beta=BETA, cycles=CYCLES)
    if task.method == PR_HMM:
        learned = recipes.posterior_regularization(base=learned, beta=BETA, iterations=CYCLES)
    return Tagger(learner=learned, rules=rules, labels=study.labels, n_jobs=1)


def fit(study: RuleStudy, task: SemiCrfTask) -> SemiCrfOutcome:
    """Fit once; score on development and test data."""
    labelled = study.drawn(task.size, task.draw)
    evidence = [*labelled, *unlabeled(study.pool)] if task.method in EXPECTING else labelled
    model = model_of(study, task).fit(evidence)
    return SemiCrfOutcome(*(accuracy(model.predict(part.xs), part.ys) for part in (study.dev, study.test)))


def rows(data: Path, *, quick: bool, n_jobs: int, report: Report, save: Save) -> tuple[list[Row], Sequence[str]]:
    """The rows of both tables, and their notes."""
    report(TITLE)
    results: list[Row] = []
    with pool(fit, load(data), n_jobs=n_jobs, report=report) as run:
        for size in (5,) if quick else PAPER:
            draws = 1 if size == 300 else QUICK_DRAWS if quick else DRAWS
            papers = dict(zip((HMM, CCM, CRF, SEMI_CRF, SEMI_CRF_LONG), PAPER[size]))
            scores = _scores(size, TAILORED, draws, run, report)
            setting = f"{size} references"
            results += [
                row(setting, name, "accuracy", values, paper=papers.get(name)) for name, values in scores.items()
            ]
            for other in (CRF, SEMI_CRF, SEMI_CRF_LONG):
                gap = round(papers[CCM] - papers[other], 2)
                results += difference_rows(setting, f"{CCM} - {other}", scores[CCM], scores[other], paper=gap)
            save(results)
        for size, published in () if quick else PAPER_CODL.items():
            scores = _scores(size, EXPECTING, 1 if size == 300 else EXPECTING_DRAWS, run, report)
            setting = f"{size} references, 1000 unlabelled"
            for name, values in scores.items():
                results.append(row(setting, name, "accuracy", values, paper=published if name == CODL else None))
            for other in (PR_HMM, PR_CRF):
                results += difference_rows(setting, f"{CODL} - {other}", scores[CODL], scores[other])
            save(results)
    return results, NOTES


def trials(method: str) -> tuple[float | Emission, ...]:
    """The trials of a method."""
    return PRICES if method in PRICED else EMISSIONS


def _price(task: SemiCrfTask) -> float:
    if isinstance(task.choice, Emission):
        raise TypeError(f"{task.method} is a CRF, and its choice is {task.choice}")
    return task.choice


def _scores(
    size: int,
    methods: Sequence[str],
    draws: int,
    run: Callable[[Sequence[SemiCrfTask]], list[SemiCrfOutcome]],
    report: Report,
) -> dict[str, list[float]]:
    """Test scores by method, each with the choice that is best on the development set."""
    pilots = range(min(PILOTS, draws))
    fits = [
        SemiCrfTask(size, draw, method, choice) for method in methods for choice in trials(method) for draw in pilots
    ]
    done = dict(zip(fits, run(fits)))
    choices: dict[str, float | Emission] = {}
    for method in methods:
        means = [
            fmean(done[SemiCrfTask(size, draw, method, choice)].dev for draw in pilots) for choice in trials(method)
        ]
        choices[method] = trials(method)[means.index(max(means))]
    parts = (
        f"{name} {choice if isinstance(choice, Emission) else f'C {choice:g}'}" for name, choice in choices.items()
    )
    report(f"  {size} references: " + "; ".join(parts))
    rest = [
        SemiCrfTask(size, draw, method, choices[method]) for method in methods for draw in range(len(pilots), draws)
    ]
    done |= dict(zip(rest, run(rest)))
    return {
        method: [done[SemiCrfTask(size, d, method, choices[method])].test for d in range(draws)] for method in methods
    }
