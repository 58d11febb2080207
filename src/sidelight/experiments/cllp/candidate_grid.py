"""Gold, NAIVE, CL-SVM, MMS and CLLP on the same draws, each with prices chosen on development data.

Every method has eight trials on the pilot draws of a setting (`CandidateTrials`): a structural SVM eight prices; MMS
six prices and two other thresholds; CLLP four prices, two other ratios of its two prices, and two other thresholds. The
choice with the best mean score on the development data is fitted on all draws, and its test score is the result.

MMS and CLLP differ in two respects: margins inside the candidates, and the charges of outputs outside them. To separate
the two, there are MMS with the charge of CLLP (labels unlike the completion: Δ(ŷ)) and CLLP with that of MMS (labels
outside the candidates: Δmin). The former is MMS with the approximations of section 4 of the paper.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from sidelight import recipes
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.evaluate.paired import paired_t
from sidelight.evidence import Candidates, Evidence
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.table import Row, row
from sidelight.recipes import Recipe

GOLD, NAIVE, CL_SVM, MMS, CLLP = "Gold", "NAIVE", "CL-SVM", "MMS", "CLLP"
MMS_LIKE_CLLP, CLLP_LIKE_MMS = "MMS, Δ(ŷ)", "CLLP, Δmin"
SVMS = (GOLD, NAIVE, CL_SVM)
CLLPS = (CLLP, CLLP_LIKE_MMS)
PAIRS = ((CLLP, MMS), (CLLP, NAIVE), (CLLP, MMS_LIKE_CLLP), (CLLP_LIKE_MMS, MMS))  # whose differences are reported
CHARGE_NOTE = (
    "MMS, Δ(ŷ) charges an output outside the candidates for every label unlike the completion, as CLLP does: the "
    "approximation of the paper's section 4, where it says that MMS was modified"
)
CHANCE = "random"  # where labels to begin with are from, and with them rough first rounds, as in the paper
INSIDE = 0.1  # C1 / C2 with which prices are tried
STAGES = 3
COMPLETIONS = 20  # at most
LABELINGS = 4_000  # CL-SVM is left out beyond

Report = Callable[[str], None]


@dataclass(frozen=True)
class CandidateTrials:
    """The trials of each method."""

    prices: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # of structural SVMs
    mms_prices: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    cllp_prices: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0)
    insides: tuple[float, ...] = (0.01, 1.0)  # other C1 / C2, with the best price; or, jointly, with every price
    jointly: bool = False
    thresholds: bool = True  # whether other thresholds are tried


EIGHT = CandidateTrials()


class CandidateChoice(NamedTuple):
    """The choice for a method: C (for CLLP: C2), C1 / C2, and t if it does not follow the data."""

    price: float
    inside: float | None = None
    threshold: float | None = None

    def __str__(self) -> str:
        more = ("" if self.inside is None else f", C1/C2 {self.inside:g}") + (
            "" if self.threshold is None else f", t {self.threshold:g}"
        )
        return f"C {self.price:g}{more}"


@dataclass(frozen=True)
class CandidateSetting:
    """One point of a figure or column of a table."""

    name: str  # begins with the quantity that varies
    level: float  # that quantity
    draws: int
    methods: tuple[str, ...] = (GOLD, NAIVE, MMS, CLLP)
    paper: Mapping[str, float] = field(default_factory=dict, hash=False)  # published scores by method
    pilots: tuple[int, ...] = (0,)  # draws that choices are made with
    first: int = 0  # draw


class CandidateStudy(Protocol):
    """The description of an experiment for the grid; it is sent to other processes, so it is plain data."""

    @property
    def dev(self) -> LabelledExamples: ...

    @property
    def test(self) -> LabelledExamples: ...

    @property
    def thresholds(self) -> tuple[float, float]:
        """Other thresholds for MMS to try; the first is that of structural SVMs."""
        ...

    @property
    def unit(self) -> float:
        """The factor of the grid's prices."""
        ...

    def gold(self, setting: CandidateSetting, draw: int) -> Sequence[Evidence]:
        """The training inputs with their right outputs."""
        ...

    def candidates(self, setting: CandidateSetting, draw: int) -> Sequence[Candidates]:
        """The same inputs with candidates and initial labels."""
        ...

    def estimator(self, learner: Recipe, price: float, draw: int) -> Tagger | Classifier:
        """An unfitted estimator that uses one thread and the hinge."""
        ...

    def scores(self, right: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        """Metrics in per cent; the first one chooses."""
        ...


@dataclass(frozen=True)
class CandidateTask:
    """One fit."""

    setting: CandidateSetting
    draw: int
    method: str
    choice: CandidateChoice

    def __str__(self) -> str:
        return self.setting.name


class CandidateOutcome(NamedTuple):
    """The metrics that came of a fit, and the completions it made."""

    dev: dict[str, float]
    test: dict[str, float]
    completions: int


Runner = Callable[[Sequence[CandidateTask]], list[CandidateOutcome]]


def recipe_of(method: str, choice: CandidateChoice, *, precise: float) -> Recipe:
    """The learner of a method.

    With one candidate per token CLLP is the structural SVM: nothing is left inside the candidates. Its solver, the
    1-slack cutting plane of the paper's SVM-HMM, is much faster with wrong labels than one slack per sentence.
    """
    charge = "completion" if method in (CLLP, MMS_LIKE_CLLP) else "candidates"
    if method in (MMS, MMS_LIKE_CLLP):
        return recipes.mms(charge=charge, threshold=choice.threshold, max_completions=COMPLETIONS, initial=CHANCE)
    if method in CLLPS:
        inside = INSIDE if choice.inside is None else choice.inside
        return recipes.cllp(
            inside=inside, charge=charge, threshold=choice.threshold, max_completions=COMPLETIONS, initial=CHANCE
        )
    return recipes.cllp(threshold=precise, initial=CHANCE)


def evidence_of(study: CandidateStudy, task: CandidateTask) -> Sequence[Evidence]:
    """The evidence of a method: Gold, the initial labels as if they were right, all labelings, or candidates."""
    if task.method == GOLD:
        return study.gold(task.setting, task.draw)
    pieces = study.candidates(task.setting, task.draw)
    if task.method == NAIVE:
        return [replace(piece, y=[[label] for label in piece.initial or ()]) for piece in pieces]
    return [copy for piece in pieces for copy in labelings(piece)] if task.method == CL_SVM else pieces


def labelings(piece: Candidates) -> list[Candidates]:
    """Every labeling within the candidates as the only one; together they weigh as much as the piece.

    >>> [copy.y for copy in labelings(Candidates(["a", "b"], [["X"], ["X", "Y"]]))]
    [[['X'], ['X']], [['X'], ['Y']]]
    """
    sets = [list(labels or ()) for labels in piece.y]
    weight = piece.weight / math.prod(map(len, sets))
    return [Candidates(piece.x, [[label] for label in labels], weight=weight) for labels in itertools.product(*sets)]


def fit(study: CandidateStudy, task: CandidateTask) -> CandidateOutcome:
    """Fit once; score on development and test data."""
    learner = recipe_of(task.method, task.choice, precise=study.thresholds[0])
    estimator = study.estimator(learner, task.choice.price, task.draw)
    estimator.fit(evidence_of(study, task))
    dev, test = (study.scores(part.ys, estimator.predict(part.xs)) for part in (study.dev, study.test))
    return CandidateOutcome(dev, test, estimator.rounds_[-1].completion or 0)


def choices_of(
    trials: CandidateTrials, method: str, stage: int, best: CandidateChoice, study: CandidateStudy
) -> list[CandidateChoice]:
    """The trials of a method in one of three stages, given the best choice of the previous ones (in the first: any)."""
    if stage == 0:
        prices = trials.prices if method in SVMS else trials.cllp_prices if method in CLLPS else trials.mms_prices
        insides = [None] if method not in CLLPS else sorted({INSIDE, *trials.insides}) if trials.jointly else [INSIDE]
        return [CandidateChoice(study.unit * price, inside) for price in prices for inside in insides]
    if stage == 1 and method in CLLPS and not trials.jointly:
        return [best._replace(inside=inside) for inside in trials.insides]
    if stage == (2 if method in CLLPS else 1) and method not in SVMS and trials.thresholds:
        return [best._replace(threshold=threshold) for threshold in study.thresholds]
    return []


class Results:
    """Every fit so far; what has been fitted once is not fitted again."""

    def __init__(
        self,
        study: CandidateStudy,
        run: Runner,
        *,
        gold_at: CandidateSetting | None = None,
        gold_draws: int | None = None,
        trials: CandidateTrials = EIGHT,
    ) -> None:
        """`gold_at`: the setting whose Gold serves for all; `gold_draws`: how many draws of Gold differ at all."""
        self.study = study
        self.run = run
        self.trials = trials
        self.gold_at = gold_at
        self.gold_draws = gold_draws
        self.outcomes: dict[CandidateTask, CandidateOutcome] = {}
        self.chosen: dict[str, dict[str, CandidateChoice]] = {}  # by setting and method

    def rows_of(self, setting: CandidateSetting, report: Report, *, like: CandidateSetting | None = None) -> list[Row]:
        """Choose for every method, or take over the choices of another setting, and give the rows of this one."""
        choices = self.choose(setting) if like is None else self.chosen[like.name]
        tasks = [
            self._task(setting, method, c, d) for method, c in choices.items() for d in self._draws(setting, method)
        ]
        self._fit(tasks)
        parts = "; ".join(f"{method} {choice}" for method, choice in choices.items())
        report(f"  {setting.name}: chosen on development data: {parts}")
        results: dict[str, list[CandidateOutcome]] = {method: [] for method in choices}
        for task in tasks:
            results[task.method].append(self.outcomes[task])
        return rows_of(setting, results)

    def choose(self, setting: CandidateSetting) -> dict[str, CandidateChoice]:
        """The choice of every method."""
        tried: dict[str, list[CandidateChoice]] = {method: [] for method in setting.methods}
        best = dict.fromkeys(setting.methods, CandidateChoice(0.0))
        for stage in range(STAGES):
            for method in setting.methods:
                tried[method] += choices_of(self.trials, method, stage, best[method], self.study)
            self._fit([task for method in tried for c in tried[method] for task in self._pilots(setting, method, c)])
            best = {method: self._best(setting, method, choices) for method, choices in tried.items()}
        self.chosen[setting.name] = best
        return best

    def _draws(self, setting: CandidateSetting, method: str) -> range:
        count = self.gold_draws if method == GOLD and self.gold_draws is not None else setting.draws
        return range(setting.first, setting.first + count)

    def _pilots(self, setting: CandidateSetting, method: str, choice: CandidateChoice) -> list[CandidateTask]:
        return [self._task(setting, method, choice, draw) for draw in setting.pilots]

    def _task(self, setting: CandidateSetting, method: str, choice: CandidateChoice, draw: int) -> CandidateTask:
        where = self.gold_at if method == GOLD and self.gold_at is not None else setting
        return CandidateTask(where, draw, method, choice)

    def _fit(self, requested: Sequence[CandidateTask]) -> None:
        tasks = [task for task in dict.fromkeys(requested) if task not in self.outcomes]
        # Slow fits come first, so that no core waits long for the last of them.
        tasks.sort(key=lambda task: (task.method != CL_SVM, -task.choice.price))
        self.outcomes |= dict(zip(tasks, self.run(tasks)))

    def _best(self, setting: CandidateSetting, method: str, tried: Sequence[CandidateChoice]) -> CandidateChoice:
        def score(choice: CandidateChoice) -> float:
            outcomes = (self.outcomes[task] for task in self._pilots(setting, method, choice))
            return fmean(next(iter(outcome.dev.values())) for outcome in outcomes)

        return min(tried, key=lambda choice: (-score(choice), choice.price, choice.inside or 0.0))


def rows_of(setting: CandidateSetting, results: Mapping[str, Sequence[CandidateOutcome]]) -> list[Row]:
    """The metrics of each method; then by how much one is better than another (`PAIRS`), with a paired t-test."""
    rows: list[Row] = []
    for method, outcomes in results.items():
        for number, metric in enumerate(outcomes[0].test):
            paper = setting.paper.get(method) if number == 0 else None
            rows.append(row(setting.name, method, metric, [o.test[metric] for o in outcomes], paper=paper))
    for one, other in PAIRS:
        if one in results and other in results:
            rows += difference_rows(setting, results, one, other)
    return rows


def difference_rows(
    setting: CandidateSetting, outcomes: Mapping[str, Sequence[CandidateOutcome]], one: str, other: str
) -> list[Row]:
    """The mean difference over draws in the first metric, and its p-value where there are at least two draws."""
    a, b = ([next(iter(outcome.test.values())) for outcome in outcomes[side]] for side in (one, other))
    paper, name = setting.paper, f"{one} - {other}"
    published = round(paper[one] - paper[other], 2) if one in paper and other in paper else None
    rows = [row(setting.name, name, "difference", [x - y for x, y in zip(a, b)], paper=published)]
    if len(a) > 1:
        rows.append({**row(setting.name, name, "p-value", [paired_t(a, b)[1]]), "draws": len(a)})
    return rows
