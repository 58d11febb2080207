"""Training with one or several sets of prices, and the results.

With `--valid`, prices are searched. With one or two kinds of evidence, every combination is tried. With more kinds, the
search starts from the prices nearest to the defaults and tries all prices of one kind after another, with the best
prices so far for the others, until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from sidelight.commands.shared.outputs import size_of
from sidelight.commands.shared.tasks import TrainTask
from sidelight.core.progress import Progress, in_words, relative_gap
from sidelight.core.records import MAX_COMPLETIONS, MAX_ROUNDS, Round
from sidelight.evidence import Evidence, Gold
from sidelight.recipes import Recipe
from sidelight.rules.taken import LEFT_OUT, SOFT
from sidelight.specs.settings import DEFAULT_PRICES
from sidelight.voting.table import reliability_table

Point = tuple[float, ...]  # a price for each kind
_SWEEPS = 3  # turns of each kind, if there are more than two
_CALLED = {"gold": "C1", "companion": "C2"}


@dataclass(frozen=True, slots=True)
class PriceSearch:
    """The kinds of evidence without a fixed price, and the prices to try, in ascending order."""

    kinds: tuple[str, ...]
    values: tuple[float, ...]
    fixed: Mapping[str, float]  # prices set by the user

    def prices(self, point: Point) -> dict[str, float]:
        """All prices of a point, including the fixed ones."""
        prices = {**self.fixed, **dict(zip(self.kinds, point))}
        return {kind: prices[kind] for kind in DEFAULT_PRICES if kind in prices}

    def named(self, point: Point) -> dict[str, float]:
        """The prices of a point with their names in records of rounds: c1, c2, and other kinds by name."""
        return {_CALLED.get(kind, kind).lower(): price for kind, price in self.prices(point).items()}

    def run(self, score: Callable[[Point, str], float]) -> Tried:
        """Try the points; `score` also gets the name of the trial."""
        tried = Tried(self)
        if len(self.kinds) <= 2:
            points = list(product(self.values, repeat=len(self.kinds)))
            for number, point in enumerate(points, start=1):
                tried.scores[point] = score(point, f"{number} of {len(points)}")
            return tried
        point = tuple(_nearest(self.values, DEFAULT_PRICES[kind]) for kind in self.kinds)
        for _ in range(_SWEEPS):
            before = point
            for axis in range(len(self.kinds)):
                for value in self.values:
                    turned = (*point[:axis], value, *point[axis + 1 :])
                    if turned not in tried.scores:
                        tried.scores[turned] = score(turned, f"trial {len(tried.scores) + 1}")
                point = tried.best
            if point == before:
                break
        return tried


@dataclass(slots=True)
class Tried:
    """The scores of the points, in the order of the trials."""

    search: PriceSearch
    scores: dict[Point, float] = field(default_factory=dict)

    @property
    def best(self) -> Point:
        """The first point of the highest score."""
        return max(self.scores, key=self.scores.__getitem__)

    def table(self, metric: str) -> str:
        """All points as text; a star marks the choice."""
        best = self.best
        names = [_CALLED.get(kind, kind) for kind in self.search.prices(best)]
        lines = ["".join(f"{name:>11}" for name in names) + f"  {'span F1' if metric == 'span_f1' else metric}"]
        for point, score in self.scores.items():
            cells = "".join(f"{price:>11g}" for price in self.search.prices(point).values())
            lines.append(f"{cells}  {100 * score:7.2f}%{' *' if point == best else ''}")
        return "\n".join(lines) + "\n\n"

    def edges(self) -> list[str]:
        """A note for each chosen price at an edge of the grid whose inner neighbour is worse."""
        values, best, edges = self.search.values, self.best, []
        for axis, kind in enumerate(self.search.kinds):
            place = values.index(best[axis])
            inner = {0: 1, len(values) - 1: len(values) - 2}.get(place)
            if inner is None or len(values) == 1:
                continue
            beside = (*best[:axis], values[inner], *best[axis + 1 :])
            if self.scores[best] > self.scores[beside]:
                which, more = ("smallest", "smaller") if place == 0 else ("largest", "larger")
                called = f" ({_CALLED[kind]})" if kind in _CALLED else ""
                wider = ",".join(f"{value:g}" for value in _wider(values, upwards=place > 0))
                edges.append(
                    f"the best price of {kind}{called} is the {which} tried, {best[axis]:g}; a {more} one may be "
                    f"better: --grid {wider}"
                )
        return edges


def price_search(
    text: str, fixed: Mapping[str, float], evidence: Sequence[Evidence], *, learner: Recipe
) -> PriceSearch:
    """The search of `--grid`: over the kinds of the evidence that have no fixed price, and for which the learner has a
    price.
    """
    try:
        values = sorted({float(value) for value in text.split(",")})
    except ValueError:
        values = []
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"--grid is {text!r}; give prices with commas between them, e.g. 0.1,1,10")
    there = {"gold"} if learner.prices_gold_alone else {piece.kind for piece in evidence}
    kinds = tuple(kind for kind in DEFAULT_PRICES if kind in there and kind not in fixed)
    return PriceSearch(kinds, tuple(values), fixed)


def _nearest(values: Sequence[float], to: float) -> float:
    return min(values, key=lambda value: abs(value - to))


def _wider(values: Sequence[float], *, upwards: bool) -> list[float]:
    """The values and one more beyond an edge, at the same distance as its neighbour."""
    edge, inner = (values[-1], values[-2]) if upwards else (values[0], values[1])
    more = edge * edge / inner if inner > 0 and edge > 0 else 10 * edge
    return sorted({*values, float(f"{more:.6g}")})


@dataclass(slots=True)
class PriceTrials:
    """Fits estimators to the same evidence, and stores the rounds of all fits."""

    task: TrainTask
    evidence: Sequence[Evidence]
    parameters: Mapping[str, Any]  # of the estimator, except prices
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
        best: tuple[float, Any] | None = None
        metric = ""

        def score(point: Point, called: str) -> float:
            nonlocal best, metric
            self.progress.prefix(f"{called}: ")
            fitted = self.fit(search.prices(point), search.named(point))
            metric, value = self.task.measured(fitted, judges)
            if best is None or value > best[0]:
                best = value, fitted
            return value

        tried = search.run(score)
        assert best is not None
        return best[1], tried.table(metric), tried.edges()


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
    lists = [("left out", about.get(LEFT_OUT, [])), ("taken as soft", about.get(SOFT, []))]
    text = "; ".join(f"{what}: {', '.join(names)}" for what, names in lists if names)
    shown = f"{count} ({text})" if text else f"{count}"
    if "rules" not in about:
        return shown
    return f"{shown}, not in the model file: give --rules again to predict under them"


def _why(last: Round) -> str:
    """Why training ended, in the words of options."""
    if last.stopped in _LIMITS:
        return _LIMITS[last.stopped]
    return f"at its precision: {last.stopped}" if last.own_precision else str(last.stopped)


_LIMITS = {MAX_ROUNDS: "by --max-rounds", MAX_COMPLETIONS: "by the limit of completions"}
