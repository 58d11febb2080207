"""Trainings with one set of prices or with many, and what they came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidelight.commands.shared.outputs import size_of
from sidelight.commands.shared.price_search import Point, PriceSearch
from sidelight.commands.shared.tasks import TrainTask
from sidelight.core.fit_log import in_words
from sidelight.core.progress import Progress, relative_gap
from sidelight.core.records import MAX_COMPLETIONS, MAX_ROUNDS, Round
from sidelight.evidence import Evidence, Gold
from sidelight.rules.taken import LEFT_OUT, SOFT
from sidelight.voting.table import reliability_table


@dataclass(slots=True)
class PriceTrials:
    """Fits estimators to the same evidence, and keeps the rounds of all of them."""

    task: TrainTask
    evidence: Sequence[Evidence]
    parameters: Mapping[str, Any]  # of the estimator, but for the prices
    progress: Progress
    history: list[dict[str, Any]] = field(default_factory=list)

    def fit(
        self,
        prices: Mapping[str, float],
        extra: Mapping[str, float] | None = None,
        *,
        validation: Sequence[Gold] | None = None,
    ) -> Any:
        """One training; `extra` goes into each record of its rounds."""

        def keep(record: Round) -> None:
            self.history.append({**(extra or {}), **record.as_dict()})

        parameters = {**self.parameters, "prices": prices, "callbacks": [keep]}
        return self.task.estimator(parameters, self.evidence).fit(self.evidence, validation=validation)

    def choose(self, search: PriceSearch, judges: Sequence[Evidence]) -> tuple[Any, str, list[str]]:
        """The first estimator of the best score on judges, the table of all, and notes on the search."""
        kept: tuple[float, Any] | None = None
        metric = ""

        def score(point: Point, called: str) -> float:
            nonlocal kept, metric
            self.progress.prefix(f"{called}: ")
            fitted = self.fit(search.prices(point), search.named(point))
            metric, value = self.task.measured(fitted, judges)
            if kept is None or value > kept[0]:
                kept = value, fitted
            return value

        tried = search.run(score)
        assert kept is not None
        return kept[1], tried.table(metric), tried.edges()


def summary(fitted: Any, out: Path) -> str:
    """What was learned, in a few lines."""
    model, last = fitted.model_, fitted.rounds_[-1] if fitted.rounds_ else None
    rows = [("evidence", in_words(fitted.evidence_)), ("learner", str(model.about["learner"]))]
    if hasattr(model.structure, "extractor"):
        rows += [("labels", f"{len(fitted.classes_):,}"), ("features", f"{model.extractor.n_attributes:,}")]
    else:
        rows += [("structure", model.structure.outputs_are), ("weights", f"{model.structure.size:,}")]
    if last is not None:
        completions = f" ({last.completion} completions)" if last.completion else ""
        rows.append(("rounds", f"{last.number:,}{completions}"))
        if last.restart is not None:  # what follows is about the one that was kept
            count = len({record.restart for record in fitted.rounds_})
            rows.append(("kept", f"restart {last.restart + 1} of {count}"))
        if last.objective is not None:
            rows.append(("objective", f"{last.objective:.6g}"))
        if (gap := relative_gap(last)) is not None:
            rows.append(("gap", f"{gap:.2%}"))
        if last.stopped is not None:
            rows.append(("stopped", _why(last)))
        if last.mistakes is not None:
            rows.append(("mistakes", f"{last.mistakes:,}"))
        rows.append(("seconds", f"{last.seconds:.2f}"))
    rows.append(("model", f"{out} ({size_of(out)})"))
    if fitted.rules:
        rows.append(("rules", _rules_in_words(len(fitted.rules), model.about)))
    text = "".join(f"{name:<10} {value}\n" for name, value in rows)
    reliabilities = getattr(fitted, "reliabilities_", [])
    return f"{text}\n{reliability_table(reliabilities)}\n" if reliabilities else text


def _rules_in_words(count: int, about: Mapping[str, Any]) -> str:
    """How many rules there are, which were left out or taken as soft, and how to predict under the others."""
    told = [("left out", about.get(LEFT_OUT, [])), ("taken as soft", about.get(SOFT, []))]
    said = "; ".join(f"{what}: {', '.join(names)}" for what, names in told if names)
    shown = f"{count} ({said})" if said else f"{count}"
    if "rules" not in about:
        return shown
    return f"{shown}, no part of the model file: give --rules again to predict under them"


def _why(last: Round) -> str:
    """Why training ended, in the words of options."""
    if last.stopped in _LIMITS:
        return _LIMITS[last.stopped]
    return f"at its precision: {last.stopped}" if last.own_precision else str(last.stopped)


_LIMITS = {MAX_ROUNDS: "by --max-rounds", MAX_COMPLETIONS: "by the limit of completions"}
