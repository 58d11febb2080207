"""Sequential learning on generated data (Roth, Small and Titov 2009, Figures 3 and 4).

An example is 5 points x_t in 100 dimensions, uniform in [−1, 1], with a label 0 or 1 each:

    y = argmax_y c(y) + Σ_t (2 y_t − 1) w_t·x_t,     components of w_t uniform in [−2^(5−t), 2^(5−t)]

where c is −inf for some of the 32 outputs, drawn at random, as is how many. Figure 3 has accuracy by training examples,
Figure 4 by the number of illegal outputs. The number of passes of every method is chosen on one more problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.estimators.sequential_learner import SequentialLearner
from sidelight.evaluate.paired import paired_t
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.rules import Rule, every, not_
from sidelight.structures.sub_problems import SubProblems

KINDS = tuple(f"y{t}" for t in range(1, 6))
DIMENSIONS, TEST = 100, 10_000
SIZES, ILLEGAL, FIXED = (50, 100, 200, 400, 800, 1600, 3200), (0, 8, 16, 24, 28), 200
PASSES, DRAWS = (5, 10, 20), 10
QUICK_SIZES, QUICK_ILLEGAL, QUICK_DRAWS = (100, 400), (0, 24), 3
GIVEN = "SL, order given"
METHODS = ("LO", "L+I", "IBT", "SL", GIVEN)  # LO has the passes of L+I, SL in a given order those of SL
TUNED = METHODS[1:4]
TUNING = 1000  # the number of the problem that passes are chosen on
NOTES = (
    "the paper shows curves without numbers: SL above L+I and IBT up to 400 examples, IBT best with many",
    "Figure 4 does not say how many examples it has; here 200",
    f"passes from {', '.join(map(str, PASSES))}, for each method and setting, on a problem of its own; margin 0",
    f"SL in the order that it discovers, by updates; {GIVEN!r}: the sub-problems with large weights first",
)


class LegalProblem(NamedTuple):
    """Weights, and the outputs that are legal."""

    weights: Floats  # [5, DIMENSIONS]
    illegal: Ints  # [.., 5] of 0 and 1


class ArtificialTask(NamedTuple):
    """One problem, or the one to choose passes on."""

    draw: int
    examples: int
    illegal: int | None  # drawn at random if None
    passes: tuple[tuple[str, int], ...]  # of each method; several where they are to be chosen

    def __str__(self) -> str:
        drawn = "" if self.illegal is None else f", {self.illegal} illegal outputs"
        return f"{self.examples:,} examples{drawn}"


class ArtificialOutcome(NamedTuple):
    """Accuracy in per cent of every method and number of passes, and the order that SL found."""

    accuracy: dict[tuple[str, int], float]
    order: tuple[str, ...]


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[Sequence[Row]], None]
) -> tuple[list[Row], tuple[str, ...]]:
    """Accuracy per label, by examples and by illegal outputs, and what SL gains."""
    draws = range(QUICK_DRAWS if quick else DRAWS)
    settings: list[tuple[int, int | None]] = [(size, None) for size in (QUICK_SIZES if quick else SIZES)]
    settings += [(FIXED, count) for count in (QUICK_ILLEGAL if quick else ILLEGAL)]
    results: list[Row] = []
    grid = tuple((method, passes) for method in TUNED for passes in PASSES)
    for examples, illegal in settings:
        tuned = score(None, ArtificialTask(TUNING, examples, illegal, grid)).accuracy
        best = {method: max(PASSES, key=lambda n: tuned[method, n]) for method in TUNED}
        choices = tuple(best.items())
        tasks = [ArtificialTask(draw, examples, illegal, choices) for draw in draws]
        outcomes = carried_out(score, None, tasks, n_jobs=n_jobs, report=report)
        setting = str(tasks[0])
        values = {
            method: [next(v for (name, _), v in one.accuracy.items() if name == method) for one in outcomes]
            for method in METHODS
        }
        results += [row(setting, method, "accuracy", own) for method, own in values.items()]
        for other in ("L+I", "IBT"):
            gains = [a - b for a, b in zip(values["SL"], values[other])]
            results.append(row(setting, f"SL - {other}", "difference", gains))
            p = paired_t(values["SL"], values[other])[1]
            results.append({**row(setting, f"SL - {other}", "p-value", [p]), "draws": len(gains)})
        summary = ", ".join(f"{method} {np.mean(own):.2f}" for method, own in values.items())
        report(f"{setting}: {summary}; passes {best}; orders {[' '.join(one.order) for one in outcomes[:3]]}")
        save(results)
    return results, NOTES


def score(_: None, task: ArtificialTask) -> ArtificialOutcome:
    """Fit every method, and label test examples."""
    rng = np.random.default_rng([task.draw, 7])
    problem = drawn_problem(rng, task.illegal)
    test = drawn_examples(problem, 2000 if task.draw == TUNING else TEST, rng)
    train = drawn_examples(problem, task.examples, rng)
    structure = structure_of(problem)
    accuracy: dict[tuple[str, int], float] = {}
    order: tuple[str, ...] = ()
    right = np.concatenate([structure.encode(x, y) for x, y in zip(*test)])
    prepared = None  # the columns of inputs have the same weights in every fit
    for method, passes in task.passes:
        options: dict[str, Any] = {"passes": passes, "margin": 0.0, "seed": task.draw}
        learner = SequentialLearner(structure, method=method, **options).fit(*train)
        prepared = learner.prepare(test[0]) if prepared is None else prepared
        accuracy[method, passes] = 100.0 * float(np.mean(learner.predict_choices(prepared) == right))
        if method == "SL":
            order = tuple(learner.order_)
            predicted = SequentialLearner(structure, order=KINDS, **options).fit(*train).predict_choices(prepared)
            accuracy[GIVEN, passes] = 100.0 * float(np.mean(predicted == right))
        if method == "L+I":  # LO has the same weights
            alone = learner.set_params(method="LO").predict_choices(prepared)
            accuracy["LO", passes] = 100.0 * float(np.mean(alone == right))
    return ArtificialOutcome(accuracy, order)


def drawn_problem(rng: np.random.Generator, illegal: int | None) -> LegalProblem:
    """Weights and illegal outputs."""
    scales = 2.0 ** (len(KINDS) - np.arange(1, len(KINDS) + 1))
    weights = rng.uniform(-1.0, 1.0, (len(KINDS), DIMENSIONS)) * scales[:, None]
    count = int(rng.integers(1, 2 ** len(KINDS) - 1)) if illegal is None else illegal
    which = rng.permutation(2 ** len(KINDS))[:count]
    return LegalProblem(weights, (which[:, None] >> np.arange(len(KINDS))) & 1)


def drawn_examples(problem: LegalProblem, count: int, rng: np.random.Generator) -> tuple[list[Floats], list[Any]]:
    """Inputs [5, DIMENSIONS] and their best legal outputs."""
    outputs = (np.arange(2 ** len(KINDS))[:, None] >> np.arange(len(KINDS))) & 1
    bad = {tuple(one) for one in problem.illegal.tolist()}
    legal = np.array([one for one in outputs.tolist() if tuple(one) not in bad])
    xs = rng.uniform(-1.0, 1.0, (count, len(KINDS), DIMENSIONS))
    local = np.einsum("ntd,td->nt", xs, problem.weights)
    best = legal[(local @ (2 * legal - 1).T).argmax(axis=1)]
    return list(xs), [{kind: {0: label} for kind, label in zip(KINDS, one)} for one in best.tolist()]


def structure_of(problem: LegalProblem) -> SubProblems:
    """Five sub-problems, tied by what is illegal."""

    def legal(x: object, y: object) -> object:
        return every(
            not_(every(getattr(y, kind)[0] == label for kind, label in zip(KINDS, one)))
            for one in problem.illegal.tolist()
        )

    return SubProblems(
        dict.fromkeys(KINDS, (0, 1)),
        [Rule(legal, "legal", reads_input=False)] if len(problem.illegal) else [],
        variables=lambda x: dict.fromkeys(KINDS, (0,)),
        features=lambda x, kind, key: x[KINDS.index(kind)],
    )
