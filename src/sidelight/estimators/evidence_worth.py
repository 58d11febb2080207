"""What each kind of evidence is worth, measured on the user's own Gold.

Gold alone, Gold with each kind, with all kinds, and with all but each, by cross-validation over Gold (indirect evidence
is in every training fold, never in the held-out one). Differences are paired: by how much a way of learning is ahead of
Gold alone on the same held-out sentences, with the standard error of that and the probability of such a difference, or
a larger one, if there were none (two-sided, normal).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.choice.held_out import FEWEST, FOLDS, blocks
from sidelight.choice.plan import WORDS, Plan, fixed_plan, gold_alone, only, without
from sidelight.choice.race import Race
from sidelight.core import html
from sidelight.core.checks import shown
from sidelight.errors import DataError
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.evidence import Evidence, Gold


@dataclass(frozen=True, slots=True)
class WorthRow:
    """One way of learning, in per cent."""

    trained_on: str
    score: float
    spread: float  # standard error of the score
    gain: float  # over Gold alone
    error: float  # standard error of the gain
    p: float | None  # None for Gold alone
    seconds: float  # of one fit, in the mean


@dataclass(frozen=True, slots=True)
class Worth:
    """What evidence is worth: a row for Gold alone, Gold with each kind, all, and all but each."""

    metric: str
    labelled: int
    folds: int
    rows: tuple[WorthRow, ...]
    notes: tuple[str, ...] = ()  # evidence that Gold contradicts, and what was done with it

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    def table(self) -> list[tuple[str, ...]]:
        """Headers and rows as text."""
        name = "span F1" if self.metric == "span_f1" else "accuracy"
        found: list[tuple[str, ...]] = [("trained on", name, "gain", "p", "seconds a fit")]
        for row in self.rows:
            alone = row.p is None
            gain = "" if alone else f"{row.gain:+.1f} ± {row.error:.1f}"
            p = "" if row.p is None else f"{row.p:.2g}"
            found.append((row.trained_on, f"{row.score:.1f} ± {row.spread:.1f}", gain, p, f"{row.seconds:.2f}"))
        return found

    def __str__(self) -> str:
        table = self.table()
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
        return "\n".join([*lines, self._held_out, *self.notes])

    def _repr_html_(self) -> str:
        headers, *rows = self.table()
        told = "; ".join([self._held_out, *self.notes])
        return html.block("what evidence is worth", html.table(headers, rows), html.muted(told))

    @property
    def _held_out(self) -> str:
        return f"held out: {self.labelled:,} labelled inputs in {self.folds} folds"


def worth(
    evidence: Sequence[Evidence], *, estimator: Tagger | Classifier | None = None, n_jobs: int | None = -1
) -> Worth:
    """What each kind of evidence is worth to an estimator, a `Tagger()` unless another is given, which has the rules.

    Raises `DataError` where there is too little Gold to hold out, or nothing beside Gold.
    """
    asked = Tagger(n_jobs=n_jobs) if estimator is None else estimator
    if not isinstance(asked, Tagger | Classifier):
        raise ValueError(f"estimator is {shown(asked)}; give a Tagger or a Classifier")
    trials = asked._trials(asked._evidence(evidence, None, None))
    question = trials.question
    known = [piece for piece in question.evidence if isinstance(piece, Gold)]
    rest = [piece for piece in question.evidence if not isinstance(piece, Gold)]
    if len(known) < FEWEST:
        raise DataError(f"{len(known)} labelled inputs", remedy=f"give at least {FEWEST}, to hold some of them out")
    plans = _plans(trials.question.offer)
    if len(plans) < 2:
        why = "; ".join(["nothing beside Gold that could be worth anything", *trials.notes])
        raise DataError(why, remedy="give other evidence, or rules")
    folds = blocks(len(known), question.seed)
    judged = (question.metric, question.sequences)
    race = Race(known, rest, folds, trials.fit_and_predict, *judged, math.inf, question.n_jobs, FOLDS)
    for block in folds:
        race.try_all(block, list(plans.values()))
    base = plans["gold alone"]
    rows = tuple(_row(race, name, plan, base) for name, plan in plans.items() if race.usable(plan))
    return Worth(question.metric, len(known), len(folds), rows, trials.notes)


def _plans(offer: Any) -> dict[str, Plan]:
    """Gold alone, with each kind, with all, with all but each; nothing twice."""
    everything = fixed_plan(offer)
    kinds = [kind for kind in WORDS if kind in everything.kinds]
    found = {"gold alone": gold_alone(offer)}
    found |= {f"gold + {WORDS[kind]}": only(offer, kind) for kind in kinds}
    if len(kinds) > 1:
        found["all"] = everything
    if len(kinds) > 2:
        found |= {f"all but {WORDS[kind]}": without(offer, everything, kind) for kind in kinds}
    return found


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
