"""The promises of the library to new users, computed from the scores: differences from labelled sentences alone.

A cell is the mean over draws of a method in a setting. All differences are in points of the corpus's own metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from sidelight.experiments.strangers.cells import CellOutcome
from sidelight.experiments.strangers.choices import names_as_useless
from sidelight.experiments.strangers.kinds import GOLD, KINDS, SPOILED

NEAR, FAR, SHARE = 0.5, 1.5, 0.9  # points below gold alone: nine cells in ten, and any cell
HINDSIGHT = 1.5  # points below the best choice of each cell, in the mean
SPOILED_LOSS = 2.0  # points below gold alone, in the mean
FEW, FEW_GAIN = 20, 8.0  # labelled sentences, and the gain of rules and of dictionaries


@dataclass(frozen=True)
class Promise:
    """A figure, its target, and whether it is met."""

    name: str
    value: float
    wanted: str
    kept: bool

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'NOT KEPT':8}  {self.name}: {self.value:+.2f} (wanted: {self.wanted})"


def means_of(outcomes: Iterable[CellOutcome]) -> dict[tuple[str, str], float]:
    """The mean score over draws, by setting and method."""
    scores: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        scores.setdefault((outcome.cell.setting, outcome.cell.method), []).append(outcome.score)
    return {key: fmean(values) for key, values in scores.items()}


def gains_of(outcomes: Sequence[CellOutcome], methods: Iterable[str]) -> dict[tuple[str, str], float]:
    """Mean over draws of the difference from gold alone with the same draw, by setting and method."""
    base = {_draw(outcome): outcome.score for outcome in outcomes if outcome.cell.method == GOLD}
    names = set(methods)
    results: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        if outcome.cell.method in names and _draw(outcome) in base:
            gain = outcome.score - base[_draw(outcome)]
            results.setdefault((outcome.cell.setting, outcome.cell.method), []).append(gain)
    return {key: fmean(values) for key, values in results.items()}


def regrets_of(outcomes: Sequence[CellOutcome]) -> list[float]:
    """The difference between each cell's best choice in hindsight and the actual choice; means over draws first."""
    tried: dict[tuple[str, str], dict[str, list[float]]] = {}
    differences: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        if outcome.cell.method in KINDS and outcome.hindsight:
            key = (outcome.cell.setting, outcome.cell.method)
            differences.setdefault(key, []).append(outcome.score)
            for name, score in outcome.hindsight.items():
                tried.setdefault(key, {}).setdefault(name, []).append(score)
    regrets = []
    for key, scores in differences.items():
        whole = [fmean(values) for values in tried[key].values() if len(values) == len(scores)]
        if whole:
            regrets.append(max(0.0, max(whole) - fmean(scores)))
    return regrets


def promises_of(outcomes: Sequence[CellOutcome]) -> list[Promise]:
    """All promises that the outcomes allow to be looked at."""
    gains = gains_of(outcomes, KINDS)
    results: list[Promise] = []
    if gains:
        values = list(gains.values())
        near = sum(gain >= -NEAR for gain in values) / len(values)
        results.append(Promise(f"cells at most {NEAR} below gold, %", 100 * near, ">= 90", near >= SHARE))
        results.append(Promise("the worst cell against gold", min(values), f">= {-FAR}", min(values) >= -FAR))
    means = {kind: fmean(v) for kind in KINDS if (v := [gain for (_, k), gain in gains.items() if k == kind])}
    for kind, mean in means.items():
        results.append(Promise(f"mean gain of {kind}", mean, "> 0", mean > 0))
    if "all" in means and len(means) > 1:
        lead = means["all"] - max(mean for kind, mean in means.items() if kind != "all")
        results.append(Promise("mean of all together above the best single kind", lead, ">= 0", lead >= 0))
    regrets = regrets_of(outcomes)
    if regrets:
        mean = fmean(regrets)
        results.append(
            Promise("mean distance from the best choice in hindsight", mean, f"<= {HINDSIGHT}", mean <= HINDSIGHT)
        )
    return [*results, *_spoiled(outcomes), *_few(gains)]


def _spoiled(outcomes: Sequence[CellOutcome]) -> list[Promise]:
    gains = gains_of(outcomes, SPOILED)
    results = []
    for kind in SPOILED:
        values = [gain for (_, k), gain in gains.items() if k == kind]
        if values:
            mean = fmean(values)
            results.append(Promise(f"mean of {kind} against gold", mean, f">= {-SPOILED_LOSS}", mean >= -SPOILED_LOSS))
            harmed = [o for o in outcomes if o.cell.method == kind]
            named = sum(names_as_useless(o.verdicts, kind.removeprefix("spoiled ")) for o in harmed) / len(harmed)
            results.append(Promise(f"{kind} named in the report, %", 100 * named, "100", named == 1.0))
    return results


def _few(gains: dict[tuple[str, str], float]) -> list[Promise]:
    values = {
        kind: [gain for (setting, k), gain in gains.items() if k == kind and setting.endswith(f", {FEW}")]
        for kind in ("rules", "dictionary")
    }
    both = [gain for some in values.values() for gain in some]
    if not both:
        return []
    mean = fmean(both)
    kinds = [
        Promise(f"mean gain of {kind} at {FEW}", fmean(some), f">= {FEW_GAIN}", fmean(some) >= FEW_GAIN)
        for kind, some in values.items()
        if some
    ]
    together = Promise(f"mean gain of rules and dictionary at {FEW}", mean, f">= {FEW_GAIN}", mean >= FEW_GAIN)
    return [*kinds, together]


def _draw(outcome: CellOutcome) -> tuple[str, int]:
    return outcome.cell.setting, outcome.cell.draw
