"""The outcomes as rows for JSON and as tables for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from sidelight.experiments.strangers.cells import CellOutcome
from sidelight.experiments.strangers.corpora import CORPORA
from sidelight.experiments.strangers.promises import gains_of, means_of, promises_of

Row = dict[str, Any]


def rows_of(outcomes: Sequence[CellOutcome], *, metrics: Mapping[str, str]) -> list[Row]:
    """One row for every setting and method: means over draws, and the frequencies of choices."""
    grouped: dict[tuple[str, str], list[CellOutcome]] = {}
    for outcome in outcomes:
        grouped.setdefault((outcome.cell.setting, outcome.cell.method), []).append(outcome)
    gains = gains_of(outcomes, {method for _, method in grouped})
    rows = []
    for (setting, method), some in grouped.items():
        scores = [outcome.score for outcome in some]
        spread = stdev(scores) if len(scores) > 1 else None
        names = list(dict.fromkeys(name for outcome in some for name in outcome.hindsight))
        rows.append(
            {
                "setting": setting,
                "method": method,
                "metric": metrics[some[0].cell.corpus],
                "value": fmean(scores),
                "std": spread,
                "standard_error": None if spread is None else spread / math.sqrt(len(scores)),
                "paper": None,
                "draws": len(scores),
                "gain": gains.get((setting, method)),
                "seconds": fmean(outcome.seconds for outcome in some),
                "chosen": dict(Counter(outcome.chosen for outcome in some)),
                "verdicts": _verdicts(some),
                "hindsight": {name: _mean_of(name, some) for name in names},
            }
        )
    return rows


def _verdicts(some: Sequence[CellOutcome]) -> dict[str, dict[str, int]]:
    """How often each kind of evidence was reported to help, to harm, …"""
    results: dict[str, Counter[str]] = {}
    for outcome in some:
        for kind, verdict in outcome.verdicts.items():
            results.setdefault(kind, Counter())[verdict] += 1
    return {kind: dict(counts) for kind, counts in results.items()}


def _mean_of(name: str, some: Sequence[CellOutcome]) -> float:
    return fmean(outcome.hindsight[name] for outcome in some if name in outcome.hindsight)


def promise_rows(outcomes: Sequence[CellOutcome]) -> list[Row]:
    """The promises as rows of a setting of their own."""
    return [
        {
            "setting": "promises",
            "method": promise.name,
            "metric": "points",
            "value": promise.value,
            "std": None,
            "paper": None,
            "draws": 1,
            "wanted": promise.wanted,
            "kept": promise.kept,
        }
        for promise in promises_of(outcomes)
    ]


def lines_of(outcomes: Sequence[CellOutcome]) -> list[str]:
    """A table of scores, settings by methods, with the difference from gold alone; then the promises."""
    methods = list(dict.fromkeys(outcome.cell.method for outcome in outcomes))
    settings = sorted({outcome.cell.setting for outcome in outcomes}, key=_place)
    means, gains = means_of(outcomes), gains_of(outcomes, methods)
    table = [["", *methods]]
    for setting in settings:
        line = [setting]
        for method in methods:
            if (setting, method) not in means:
                line.append("")
            elif method == "gold" or (setting, method) not in gains:
                line.append(f"{means[setting, method]:.1f}")
            else:
                line.append(f"{means[setting, method]:.1f} {gains[setting, method]:+.1f}")
        table.append(line)
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table]
    return [*lines, "", *(str(promise) for promise in promises_of(outcomes))]


def _place(setting: str) -> tuple[int, int]:
    corpus, size = setting.rsplit(", ", 1)
    return list(CORPORA).index(corpus), int(size)
