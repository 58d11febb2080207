"""CoDL against hard EM and EM, iteration by iteration: thesis section 3.4.3, Figure 3.5(a).

Five labelled references and 1,000 unlabelled ones. All three begin with the HMM of the labelled references and mix it
into every iteration with the weight β, 0.9 as in 3.4.3 or 0.1 as in 3.4.1. CoDL has rules, in learning
and at test time; the others have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sidelight.estimators.constrained import Constrained
from sidelight.experiments.ccm.constrained_study import (
    BETA,
    CHOSEN,
    Fit,
    Method,
    Report,
    RuleStudy,
    Save,
    accuracy,
    difference_rows,
    prepared,
)
from sidelight.experiments.ccm.constrained_study import load_citations as load
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.training import Training

TITLE = "Citations, 5 labelled references: accuracy by iterations of CoDL, hard EM and EM (thesis Figure 3.5)"
SIZE = 5
ITERATIONS, QUICK_ITERATIONS = 15, 4
DRAWS, QUICK_DRAWS = 5, 1
METHODS: dict[str, Method] = {"semi HMM-CCM": "codl", "hard EM": "hard_em", "EM": "em"}
CODL, HARD, EM = METHODS
BETAS = {"": BETA, ", beta 0.1": 0.1}

NOTES = (
    "the thesis shows a figure without numbers: CoDL well above the others, hard EM hardly changing after 5 "
    "iterations, EM falling as iterations go on",
    f"emissions are smoothed by {CHOSEN[SIZE]} for all three, which the development set chose for CoDL in "
    "ccm-citations; the draws are the five folds of the corpus",
    "0 iterations is the HMM of the labelled references, for CoDL with rules; a run that ends before the last "
    "iteration keeps its accuracy",
)


def curve(study: RuleStudy, task: Fit) -> list[float]:
    """Accuracy on the test set in per cent before the first iteration and after each."""
    tagger, evidence = prepared(study, replace(task, method="hmm", only=None if task.method == "codl" else ()))
    xs, ys = study.test
    results = [accuracy(tagger.fit(evidence).predict(xs), ys)]
    tagger, evidence = prepared(study, task)
    training = Training(tagger._settings(), evidence)
    for _ in training.rounds():
        model = training.snapshot()
        if tagger.rules:
            ruled = Constrained(model, tagger.rules, penalties=training.penalties(), n_jobs=1)
            results.append(accuracy(ruled.predict(xs), ys))
        else:
            results.append(accuracy(model.predict(xs, n_jobs=1), ys))
    return results + [results[-1]] * (task.cycles + 1 - len(results))


def rows(data: Path, *, quick: bool, n_jobs: int, report: Report, save: Save) -> tuple[list[Row], Sequence[str]]:
    """The rows of the figure, and its notes."""
    report(TITLE)
    iterations, draws = (QUICK_ITERATIONS, QUICK_DRAWS) if quick else (ITERATIONS, DRAWS)
    tasks = [
        Fit(SIZE, draw, method, CHOSEN[SIZE], beta=beta, cycles=iterations)
        for beta in BETAS.values()
        for method in METHODS.values()
        for draw in range(draws)
    ]
    curves = carried_out(curve, load(data), tasks, n_jobs=n_jobs, report=report)
    names = [name + suffix for suffix in BETAS for name in METHODS]
    by_method = {name: curves[k * draws : (k + 1) * draws] for k, name in enumerate(names)}
    results = rows_of(by_method)
    save(results)
    return results, NOTES


def rows_of(curves: dict[str, list[list[float]]]) -> list[Row]:
    """Accuracy by iterations; at the end, what CoDL gains and how far each has come from its best iteration."""
    last = len(curves[CODL][0]) - 1
    results = [
        row(f"{number} iterations", name, "accuracy", [values[number] for values in some])
        for number in range(last + 1)
        for name, some in curves.items()
    ]
    setting = f"{last} iterations"
    ends = {name: [values[-1] for values in some] for name, some in curves.items()}
    for suffix in BETAS:
        for other in (HARD, EM):
            ours, theirs = CODL + suffix, other + suffix
            results += difference_rows(setting, f"{CODL} - {theirs}", ends[ours], ends[theirs])
    for name, some in curves.items():
        results += difference_rows(setting, f"{name}, last - best", ends[name], [max(values) for values in some])[:1]
    return results
