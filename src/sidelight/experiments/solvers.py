"""The gap against time for every solver of the structural SVM: thesis Table 2.2, measured.

All minimise ½‖w‖² + C Σ hinge on the same problem, one thread each, one after another. The gap is that of the best
primal value so far over the largest dual value that any solver found: a lower bound of the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sidelight import recipes
from sidelight.data.columns import read_columns
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Evidence, gold
from sidelight.experiments.draws import folder_of
from sidelight.experiments.table import Row, row
from sidelight.features import FeatureSet, Matrix, chunking
from sidelight.recipes import Recipe
from sidelight.training import Training

TITLE = "Structural SVM: gap against time for every solver (thesis Table 2.2)"
GAPS = (0.1, 0.01, 0.001)
SECONDS, QUICK_SECONDS = 60.0, 3.0  # a solver is stopped after so many
SENTENCES, QUICK_SENTENCES = 1000, 100
POINTS = 120  # of a curve, at most

SOLVERS: dict[str, Recipe] = {
    "dual coordinate descent": recipes.structural_svm(),
    "Frank–Wolfe by blocks": recipes.structural_svm(solver="frank_wolfe"),
    "1-slack": recipes.structural_svm(solver="one_slack"),
    "n-slack QP": recipes.structural_svm(solver="n_slack_qp"),
    "subgradient": recipes.structural_svm(solver="subgradient"),
    "exponentiated gradient": recipes.structural_svm(solver="exponentiated_gradient"),
}

NOTES = (
    "seconds on one thread, features prepared; a gap of 0.01 means (primal − lower bound) / lower bound; a gap that "
    f"was not reached in {SECONDS:g} seconds (quick: {QUICK_SECONDS:g}) is missing",
    "ocr_letters: fold 0, 626 words, 128 pixels, C = 0.1 per word; conll2000: the first sentences of the training "
    "part with the tutorial features, C = 0.1",
)


class Trace(NamedTuple):
    """How far a solver was, round by round."""

    seconds: list[float]
    primal: list[float]
    dual: float  # the largest


@dataclass(frozen=True)
class SolverProblem:
    """A corpus as evidence, with features and price."""

    name: str
    evidence: Sequence[Evidence]
    features: FeatureSet | None
    price: float


def letters(data: Path) -> SolverProblem:
    """Handwritten words as dense rows."""
    with np.load(folder_of(data, "ocr_letters") / "ocr_letters.npz") as arrays:
        pixels = np.unpackbits(arrays["pixels"], axis=1).astype(np.float32)
        lengths, folds = arrays["word_lengths"].astype(np.int64), arrays["folds"]
        names = [chr(97 + int(number)) for number in arrays["labels"]]
    ends = np.cumsum(lengths)
    words = Matrix(dense=pixels, lengths=lengths)
    which = np.flatnonzero(folds == 0)
    ys = [names[int(ends[i] - lengths[i]) : int(ends[i])] for i in which]
    return SolverProblem("ocr_letters", gold([words[int(i)] for i in which], ys), None, 0.1)


def chunks(data: Path, count: int) -> SolverProblem:
    """Sentences with the tutorial features."""
    corpus = read_columns(folder_of(data, "conll2000") / "train.txt.gz")
    assert corpus.ys is not None
    return SolverProblem(f"conll2000, {count} sentences", gold(corpus.xs[:count], corpus.ys[:count]), chunking(), 0.1)


def trace(problem: SolverProblem, recipe: Recipe, *, limit: float) -> Trace:
    """Run a solver until its time is up or its gap is small."""
    tagger = Tagger(
        learner=recipe,
        features=problem.features,
        loss="hinge",
        prices={"gold": problem.price},
        tolerance=min(GAPS) / 2,
        n_jobs=1,
        max_rounds=100_000,
    )
    results = Trace([], [], -np.inf)
    dual = -np.inf
    for record in Training(tagger._settings(), problem.evidence).rounds():
        if record.objective is not None:
            results.seconds.append(record.seconds)
            results.primal.append(float(record.objective))
        dual = max(dual, -np.inf if record.dual is None else float(record.dual))
        if record.seconds > limit and results.seconds:  # some know their objective in few rounds only
            break
    return results._replace(dual=dual)


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Callable[[str], None],
    save: Callable[[list[Row]], None],
) -> tuple[list[Row], Sequence[str]]:
    """Seconds to each gap, and the curves; solvers run one after another whatever `n_jobs` is."""
    report(TITLE)
    limit = QUICK_SECONDS if quick else SECONDS
    results: list[Row] = []
    for problem in (letters(data), chunks(data, QUICK_SENTENCES if quick else SENTENCES)):
        traces: dict[str, Trace] = {}
        for name, recipe in SOLVERS.items():
            trace(problem, recipe, limit=0.0)  # one round, so that nothing is compiled on the clock
            traces[name] = trace(problem, recipe, limit=limit)
            report(f"  {problem.name}: {name}, {traces[name].seconds[-1]:.2f} seconds")
        bound = max(one.dual for one in traces.values())
        for name, one in traces.items():
            results += _rows_of(problem.name, name, one, bound)
        save(results)
    return results, NOTES


def _rows_of(problem: str, solver: str, one: Trace, bound: float) -> list[Row]:
    curve = [(seconds, (primal - bound) / bound) for seconds, primal in zip(one.seconds, one.primal)]
    results: list[Row] = [{**row(problem, solver, "best primal", [min(one.primal)]), "curve": thinned(curve)}]
    for gap in GAPS:
        reached = [s for s, p in zip(one.seconds, one.primal) if p - bound <= gap * bound]
        if reached:
            results.append(row(problem, solver, f"seconds to a gap of {gap:g}", [min(reached)]))
    return results


def thinned(curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `POINTS` of a curve's points, the first and the last among them, the denser the earlier they are.

    >>> len(thinned([(float(k), 1.0) for k in range(1000)])) <= POINTS
    True
    """
    if len(curve) <= POINTS:
        return list(curve)
    places = np.unique(np.geomspace(1, len(curve), POINTS).astype(int)) - 1
    return [curve[k] for k in places.tolist()]
