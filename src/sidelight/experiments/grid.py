"""Many independent fits on all cores, and the choice of prices between them.

A study has settings; a setting has draws. In every setting and for every method, each draw is fitted with each pair
of prices of the grid and scored on the development set. Either every draw takes the prices that do best there, or all
draws take those that are best in the mean; the test score of those prices is the result, the other test scores are
thrown away. J-LIS runs to convergence, as in the paper; a second result keeps the completion that does best on the
development set, which the structural SVM, having one convex problem, cannot. All methods see the same draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.evidence import Evidence
from sidelight.experiments.pool import Report, pool
from sidelight.specs.settings import MAX_COMPLETIONS

PRICES = (0.1, 1.0, 10.0)  # where the paper chooses C1 and C2 from
SSVM, JLIS = "SSVM", "J-LIS"
KEPT = f"{JLIS}, completion chosen"
TOGETHER = ", one choice for all draws"  # what a method is called besides where all draws share their prices


class GridPrices(NamedTuple):
    """C1, and C2 for a method that uses companion evidence."""

    gold: float
    companion: float | None = None

    def __str__(self) -> str:
        return f"C1 {self.gold:g}" + ("" if self.companion is None else f", C2 {self.companion:g}")


GRIDS: dict[str, tuple[GridPrices, ...]] = {
    SSVM: tuple(GridPrices(gold) for gold in PRICES),
    JLIS: tuple(GridPrices(gold, companion) for gold, companion in itertools.product(PRICES, PRICES)),
}
GRIDS[KEPT] = GRIDS[JLIS]


QUICK_NOTE = "--quick: C1 is 1, and C2 alone is chosen"


def quick_grids(grids: Mapping[str, Sequence[GridPrices]]) -> dict[str, Sequence[GridPrices]]:
    """The prices of a quick run: C1 is 1 if that is among the prices.

    >>> [str(prices) for prices in quick_grids(GRIDS)["J-LIS"]]
    ['C1 1, C2 0.1', 'C1 1, C2 1', 'C1 1, C2 10']
    """
    return {method: [one for one in grid if one.gold == 1.0] or grid for method, grid in grids.items()}


@dataclass(frozen=True)
class Setting:
    """One row of a published table: its name, the number of draws, and the published figures by method."""

    name: str  # begins with the quantity that varies
    size: int  # that quantity
    draws: int
    paper: Mapping[str, float] = field(default_factory=dict, hash=False)
    pilots: int | None = None  # draws that prices are chosen with; None: all of them


class LabelledExamples(NamedTuple):
    """Inputs and their right outputs."""

    xs: Any
    ys: Sequence[Any]


class Study(Protocol):
    """The description of an experiment for the grid; it is sent to other processes, so it is plain data."""

    @property
    def dev(self) -> LabelledExamples: ...

    @property
    def test(self) -> LabelledExamples: ...

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        """The labelled examples of a draw."""
        ...

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        """The good and bad examples of a draw."""
        ...

    def estimator(self, prices: dict[str, float], draw: int) -> Tagger | Classifier:
        """An unfitted estimator that uses one thread."""
        ...


@dataclass(frozen=True)
class TablePlan:
    """A study with its settings: one table."""

    title: str
    study: Study
    settings: Sequence[Setting]
    quick: Sequence[Setting]
    notes: Sequence[str] = ()
    grids: Mapping[str, Sequence[GridPrices]] = field(default_factory=lambda: GRIDS)
    completions: bool = False  # whether the table shows the number of J-LIS's completions
    per_draw: bool = False  # whether every draw chooses its prices, beside those of the setting as a whole
    suffix: str = ""  # of the names of methods, where another plan has the same ones


class GridTask(NamedTuple):
    """One fit."""

    setting: Setting
    draw: int
    prices: GridPrices

    def __str__(self) -> str:
        return self.setting.name


class Scores(NamedTuple):
    """Accuracies in per cent, and the completions made until then."""

    dev: float
    test: float
    completions: int


class Outcome(NamedTuple):
    """The results of one fit: at convergence, and at the completion that is best on the development set."""

    converged: Scores
    kept: Scores


@dataclass(frozen=True)
class Result:
    """A method in a setting: the chosen prices and the scores of each draw."""

    setting: Setting
    method: str
    prices: tuple[GridPrices, ...]  # of each draw; all the same if the setting as a whole has chosen
    scores: tuple[Scores, ...]

    @property
    def accuracies(self) -> list[float]:
        return [scores.test for scores in self.scores]

    @property
    def completions(self) -> list[float]:
        return [float(scores.completions) for scores in self.scores]

    @property
    def chosen(self) -> str:
        """The prices, for people."""
        return str(self.prices[0]) if len(set(self.prices)) == 1 else "by each draw"


def fit(study: Study, task: GridTask) -> Outcome:
    """One fit to convergence, and its accuracies."""
    evidence = list(study.gold(task.setting, task.draw))
    prices = {"gold": task.prices.gold}
    if task.prices.companion is None:
        estimator = study.estimator(prices, task.draw).fit(evidence)
        scores = _scores(study, estimator, completions=0)
        return Outcome(scores, scores)
    evidence += study.companion(task.setting, task.draw)
    prices["companion"] = task.prices.companion
    estimator = study.estimator(prices, task.draw)
    estimator.patience = MAX_COMPLETIONS + 1  # no early end: the last completion is wanted too
    estimator.fit(evidence, validation=study.dev)
    trials = [record for record in estimator.rounds_ if record.validation is not None]
    best = max(trials, key=lambda record: record.validation or 0.0)
    best_scores = _scores(study, estimator, completions=best.completion)
    estimator.model_ = estimator.last_model_
    return Outcome(_scores(study, estimator, completions=trials[-1].completion), best_scores)


def _scores(study: Study, estimator: Tagger | Classifier, *, completions: int) -> Scores:
    dev, test = (100.0 * float(estimator.score(part.xs, part.ys)) for part in (study.dev, study.test))
    return Scores(dev, test, completions)


def choose(scores: Mapping[GridPrices, Sequence[float]]) -> GridPrices:
    """The prices with the best mean; between equals, the lowest.

    >>> choose({GridPrices(1.0): [60.0, 70.0], GridPrices(0.1): [64.0, 66.0], GridPrices(10.0): [90.0, 20.0]})
    GridPrices(gold=0.1, companion=None)
    """
    return min(scores, key=lambda prices: (-fmean(scores[prices]), prices.gold, prices.companion or 0.0))


Runner = Callable[[Sequence[GridTask]], list[Outcome]]


@contextmanager
def runner(study: Study, *, n_jobs: int, report: Report) -> Iterator[Runner]:
    """A function that does tasks on `n_jobs` processes (-1: all cores) and gives their outcomes in order."""
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        yield run


def run_setting(
    setting: Setting, run: Runner, *, grids: Mapping[str, Sequence[GridPrices]] = GRIDS, per_draw: bool = False
) -> list[Result]:
    """Choose prices on the development set and give their scores on the test set: one result per method.

    The setting chooses as a whole, by the mean over its draws. With `per_draw` every draw chooses for itself instead,
    and the choice of the setting as a whole is a second result; that needs a setting in which all draws are pilots.
    """
    draws = range(setting.draws)
    pilots = draws if setting.pilots is None else draws[: setting.pilots]
    trials = list(dict.fromkeys(prices for grid in grids.values() for prices in grid))
    # Slow fits (high prices) come first, so that no core waits long for the last of them.
    tasks = [GridTask(setting, draw, prices) for prices in reversed(trials) for draw in pilots]
    outcomes = dict(zip(tasks, run(tasks)))

    def scores(method: str, draw: int, prices: GridPrices) -> Scores:
        outcome = outcomes[GridTask(setting, draw, prices)]
        return outcome.kept if method == KEPT else outcome.converged

    each = per_draw and len(pilots) == len(draws)
    choices: list[tuple[str, str, tuple[GridPrices, ...]]] = []  # method, its name in the table, prices by draw
    if each:
        for method, grid in grids.items():
            own = (choose({prices: [scores(method, draw, prices).dev] for prices in grid}) for draw in draws)
            choices.append((method, method, tuple(own)))
    for method, grid in grids.items():
        best = choose({prices: [scores(method, draw, prices).dev for draw in pilots] for prices in grid})
        choices.append((method, method + TOGETHER if each else method, (best,) * setting.draws))

    rest = [GridTask(setting, draw, prices[draw]) for _, _, prices in choices for draw in draws]
    rest = [task for task in dict.fromkeys(rest) if task not in outcomes]
    outcomes |= dict(zip(rest, run(rest)))
    return [
        Result(setting, name, prices, tuple(scores(method, n, p) for n, p in enumerate(prices)))
        for method, name, prices in choices
    ]
