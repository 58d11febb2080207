"""How fast CLLP converges: Figure 3 of Li, Zhang and Chen 2014.

The precision of the convex problems is divided by the discount after each round of CCCP. Accuracy on test data after
1 to 10 rounds, parts of speech, 16 doublings of candidates per sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight import recipes
from sidelight.experiments.cllp.candidate_corpora import FEATURE_NOTES, Sentences, tags, with_all_sentences
from sidelight.experiments.cllp.candidate_grid import (
    CHANCE,
    CLLP,
    INSIDE,
    CandidateChoice,
    CandidateSetting,
    Results,
    fit,
)
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row

TITLE = "Parts of speech, 16 doublings: accuracy by the discount and rounds of CCCP (CLLP, Figure 3)"
DISCOUNTS = (2, 3, 4, 5)
ROUNDS = 10
DRAWS, QUICK_DRAWS = 5, 2
QUICK_DISCOUNTS = (2, 5)
DOUBLINGS = 16
PILOT = 100  # the draw, not among those that are scored, that price and ratio are chosen with

NOTES = (
    "the paper shows a figure without numbers: converged after 4 to 5 rounds, after 6 with a discount of 2",
    "the precision comes down from two thirds of the loss at zero weights to a twenty-fifth of it; where training ends "
    "before the tenth round, its last accuracy stands for the rounds that were not needed",
    "price and ratio are chosen with the discount 2 and used for all",
    "all training sentences, so that draws differ in candidates and first labels (--quick: 500 sentences per draw)",
    FEATURE_NOTES[0],
)


@dataclass(frozen=True)
class DiscountRun:
    """One fit with a discount."""

    discount: int
    draw: int
    choice: CandidateChoice

    def __str__(self) -> str:
        return f"discount {self.discount}"


def curve(study: Sentences, run: DiscountRun) -> list[float]:
    """Accuracy in per cent after each round of CCCP."""
    setting = CandidateSetting("", DOUBLINGS, 1)
    inside = INSIDE if run.choice.inside is None else run.choice.inside
    learner = recipes.cllp(inside=inside, discount=float(run.discount), max_completions=ROUNDS, initial=CHANCE)
    tagger = study.estimator(learner, run.choice.price, run.draw)
    tagger.patience = ROUNDS + 1  # the whole curve is wanted
    tagger.fit(study.candidates(setting, run.draw), validation=study.test)
    results = [100.0 * record.validation for record in tagger.rounds_ if record.validation is not None]
    return results + [results[-1]] * (ROUNDS - len(results))


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the figure, and its notes."""
    report(TITLE)
    sample = tags(data, "random")
    study = sample if quick else with_all_sentences(sample)
    setting = CandidateSetting(f"{DOUBLINGS} doublings", DOUBLINGS, 1, methods=(CLLP,), pilots=(PILOT,))
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        choice = CandidateChoice(0.1, INSIDE) if quick else Results(study, run).choose(setting)[CLLP]
    report(f"  {choice}, chosen on development data" if not quick else f"  {choice}")
    draws = QUICK_DRAWS if quick else DRAWS
    results: list[Row] = []
    with pool(curve, study, n_jobs=n_jobs, report=report) as draw_curves:
        for discount in QUICK_DISCOUNTS if quick else DISCOUNTS:
            curves = draw_curves([DiscountRun(discount, draw, choice) for draw in range(draws)])
            for number in range(ROUNDS):
                name = f"{discount} discount, {number + 1} rounds"
                results.append(row(name, CLLP, "accuracy", [values[number] for values in curves]))
            save(results)
    return results, NOTES
