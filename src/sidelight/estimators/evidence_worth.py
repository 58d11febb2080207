"""The worth of each kind of evidence, measured on the user's own Gold.

Compares Gold alone, Gold with each kind, with all kinds, and with all kinds but one, by cross-validation over Gold.
Indirect evidence is in every training fold, and never in the held-out one. Differences are paired: the gain over Gold
alone on the same held-out sentences, with its standard error and the p-value of a two-sided normal test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sidelight.choice.held_out import FEWEST, FOLDS, Counted, blocks, label_counts
from sidelight.choice.plan import RULES, WORDS, Plan, fixed_plan, of_kinds, unheard
from sidelight.choice.race import FitAndPredict, Race
from sidelight.core import html
from sidelight.core.arrays import Floats
from sidelight.core.checks import shown
from sidelight.errors import DataError
from sidelight.estimators.base_estimator import metric_of
from sidelight.estimators.predictor import Predictor
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.estimators.taggers import Classifier, LearningEstimator, Tagger
from sidelight.evaluate.parts import Measure, part_counts
from sidelight.evidence import Evidence, Gold
from sidelight.recipes import recipe_of
from sidelight.structures.labels.encoding import labels_in


@dataclass(frozen=True, slots=True)
class WorthRow:
    """One way of learning, in per cent."""

    trained_on: str
    score: float
    spread: float  # standard error of the score
    gain: float  # over Gold alone
    error: float  # standard error of the gain
    p: float | None  # None for Gold alone
    seconds: float  # mean time of one fit


@dataclass(frozen=True, slots=True)
class Worth:
    """The worth of evidence: rows for Gold alone, Gold with each kind, all kinds, and all kinds but one."""

    metric: str
    labelled: int
    folds: int
    rows: tuple[WorthRow, ...]
    notes: tuple[str, ...] = ()  # evidence that Gold contradicts, and how it was treated

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    def table(self) -> list[tuple[str, ...]]:
        """Headers and rows as text."""
        rows: list[tuple[str, ...]] = [("trained on", self.metric.replace("_f1", " F1"), "gain", "p", "seconds a fit")]
        for row in self.rows:
            alone = row.p is None
            gain = "" if alone else f"{row.gain:+.1f} ± {row.error:.1f}"
            p = "" if row.p is None else f"{row.p:.2g}"
            rows.append((row.trained_on, f"{row.score:.1f} ± {row.spread:.1f}", gain, p, f"{row.seconds:.2f}"))
        return rows

    def __str__(self) -> str:
        table = self.table()
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
        return "\n".join([*lines, self._held_out, *self.notes])

    def _repr_html_(self) -> str:
        headers, *rows = self.table()
        caption = "; ".join([self._held_out, *self.notes])
        return html.block("what evidence is worth", html.table(headers, rows), html.muted(caption))

    @property
    def _held_out(self) -> str:
        return f"held out: {self.labelled:,} labelled inputs in {self.folds} folds"


def worth(
    evidence: Sequence[Evidence],
    *,
    estimator: LearningEstimator | None = None,
    measure: Measure | None = None,
    n_jobs: int | None = -1,
) -> Worth:
    """Measure what each kind of evidence adds to an estimator, by default a `Tagger()`.

    The rules are those of the estimator. A `Tagger` or a `Classifier` learns as with `learner="auto"`, a
    `SegmentTagger` or a `Predictor` with its own learner. Outputs of a `Predictor` are scored by a `measure` of their
    parts (`sidelight.evaluate.parts`), or by the share of right slots. Raises `DataError` if there is too little Gold
    to hold out, or nothing besides Gold.
    """
    model = Tagger(n_jobs=n_jobs) if estimator is None else estimator
    if not isinstance(model, Tagger | Classifier | SegmentTagger | Predictor):
        raise ValueError(f"estimator is {shown(model)}; give a Tagger, Classifier, SegmentTagger or Predictor")
    if measure is not None and not isinstance(model, Predictor):
        raise ValueError("measure is about the outputs of a Predictor; labels have a metric")
    pieces = model._evidence(evidence, None, None)
    trials = _of_labels(model, pieces) if isinstance(model, Tagger | Classifier) else _as_it_is(model, pieces, measure)
    known = [piece for piece in trials.evidence if isinstance(piece, Gold)]
    rest = [piece for piece in trials.evidence if not isinstance(piece, Gold)]
    if len(known) < FEWEST:
        raise DataError(f"{len(known)} labelled inputs", remedy=f"give at least {FEWEST}, to hold some of them out")
    plans = _plans(trials)
    if len(plans) < 2:
        why = "; ".join(["no evidence besides Gold to measure", *trials.notes])
        raise DataError(why, remedy="give other evidence, or rules")
    folds = blocks(len(known), model.seed)
    race = Race(known, rest, folds, trials.fit_and_predict, trials.counted, math.inf, model.n_jobs, FOLDS)
    for block in folds:
        race.try_all(block, list(plans.values()))
    base = plans["gold alone"]
    rows = tuple(_row(race, name, plan, base) for name, plan in plans.items() if race.usable(plan))
    return Worth(trials.metric, len(known), len(folds), rows, trials.notes)


class WorthTrials(NamedTuple):
    """The trials, and how they are scored."""

    evidence: Sequence[Evidence]
    kinds: frozenset[str]  # beside Gold
    plan: Callable[[frozenset[str]], Plan]  # of Gold and some kinds
    fit_and_predict: FitAndPredict
    counted: Counted
    metric: str
    notes: tuple[str, ...] = ()


def _of_labels(estimator: Tagger | Classifier, pieces: list[Evidence]) -> WorthTrials:
    """Plans as in the automatic choice."""
    trials = estimator._trials(pieces)
    question = trials.question
    every = fixed_plan(question.offer)
    return WorthTrials(
        question.evidence,
        every.kinds,
        lambda kinds: of_kinds(question.offer, kinds),
        trials.fit_and_predict,
        label_counts(question.metric, sequences=question.sequences),
        question.metric,
        (*trials.notes, *unheard(question.offer, every)),
    )


def _as_it_is(estimator: SegmentTagger | Predictor, pieces: list[Evidence], measure: Measure | None) -> WorthTrials:
    """The estimator's own learner, with part of the evidence, with or without its rules."""
    own = {**estimator.get_params(deep=False), "n_jobs": 1, "callbacks": (), "checkpoint": None, "warm_start": False}
    bare = {**own, **_without_rules(own)}
    kinds = {piece.kind for piece in pieces if not isinstance(piece, Gold)} | ({RULES} if bare != own else set())
    learner = recipe_of(own["learner"])

    def fit_and_predict(plan: Plan, evidence: Sequence[Evidence], xs: Sequence[Any]) -> list[Any]:
        params = own if RULES in plan.kinds else bare
        guesses: list[Any] = type(estimator)(**params).fit(list(evidence)).predict(xs)
        return guesses

    if isinstance(estimator, SegmentTagger):
        metric = metric_of(estimator.metric, labels_in(pieces, sequences=True))
        counted = label_counts(metric, sequences=True)
    elif measure is not None:
        metric, counted = measure.score, _measured(measure)
    else:
        metric, counted = "accuracy", _slots(estimator.structure)
    return WorthTrials(pieces, frozenset(kinds), lambda some: Plan(learner, some), fit_and_predict, counted, metric)


def _without_rules(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that change if rules are left out."""
    if params.get("rules"):
        return {"rules": ()}
    structure: Any = params.get("structure")
    return {"structure": replace(structure, rules=())} if getattr(structure, "rules", ()) else {}


def _measured(measure: Measure) -> Counted:
    return lambda guesses, held_out: part_counts(measure, [one.y for one in held_out], guesses).astype(np.float64)


def _slots(structure: Any) -> Counted:
    """For every output, which slots have the right choice."""

    def counted(guesses: Sequence[Any], held_out: Sequence[Gold]) -> Floats:
        pairs = [(structure.encode(one.x, y), structure.encode(one.x, one.y)) for y, one in zip(guesses, held_out)]
        return np.array([(np.sum(a == b), len(b), len(b)) for a, b in pairs], dtype=np.float64).reshape(-1, 3)

    return counted


def _plans(trials: WorthTrials) -> dict[str, Plan]:
    """Plans for Gold alone, with each kind, with all kinds, with all but one; without repetition."""
    every = trials.kinds
    kinds = [kind for kind in WORDS if kind in every]
    plans = {"gold alone": trials.plan(frozenset())}
    plans |= {f"gold + {WORDS[kind]}": trials.plan(frozenset({kind})) for kind in kinds}
    if len(kinds) > 1:
        plans["all"] = trials.plan(every)
    if len(kinds) > 2:
        plans |= {f"all but {WORDS[kind]}": trials.plan(every - {kind}) for kind in kinds}
    return plans


def _row(race: Race, name: str, plan: Plan, base: Plan) -> WorthRow:
    result = race.results[plan]
    score, spread = result.score()
    gain, error = race.ahead(plan, base)
    p = None if plan == base else _p_value(gain, error)
    seconds = result.seconds / max(1, len(result.folds))
    return WorthRow(name, 100 * score, 100 * spread, 100 * gain, 100 * error, p, seconds)


def _p_value(gain: float, error: float) -> float:
    if error == 0.0:
        return 1.0 if gain == 0.0 else 0.0
    return math.erfc(abs(gain / error) / math.sqrt(2.0))
