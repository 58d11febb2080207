"""Results as rows for JSON and as a table for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from sidelight.data.files import write_text_atomically
from sidelight.evaluate.paired import paired_t
from sidelight.experiments.grid import JLIS, KEPT, SSVM, TOGETHER, Result

Row = dict[str, Any]

GAIN = f"{JLIS} - {SSVM}"
DEVIATION = "±"
HEAD = ("setting", "method", "paper", "here", "std", "draws", "chosen on dev")


def row(setting: str, method: str, metric: str, values: Sequence[float], *, paper: float | None = None) -> Row:
    """A mean with its standard deviation over draws (None for one draw).

    >>> row("100 tokens", "SSVM", "accuracy", [50.0, 60.0])["value"]
    55.0
    """
    return {
        "setting": setting,
        "method": method,
        "metric": metric,
        "value": fmean(values),
        "std": stdev(values) if len(values) > 1 else None,
        "paper": paper,
        "draws": len(values),
    }


def rows_of(results: Sequence[Result], *, completions: bool = False) -> list[Row]:
    """The accuracy of each method in one setting; then the gain of J-LIS and the p-value of the paired t-test on it."""
    rows: list[Row] = []
    for result in results:
        setting = result.setting
        paper = setting.paper.get(result.method.removesuffix(TOGETHER))
        rows.append(row(setting.name, result.method, "accuracy", result.accuracies, paper=paper))
        if completions and result.method == JLIS:
            rows.append(row(setting.name, result.method, "completions", result.completions))
    methods = {result.method: result for result in results}
    for suffix in ("", TOGETHER):
        for method in (JLIS, KEPT):
            if SSVM + suffix in methods and method + suffix in methods:
                name = f"{method} - {SSVM}{suffix}"
                rows += gain_rows(methods[SSVM + suffix], methods[method + suffix], name=name)
    return rows


def gain_rows(base: Result, other: Result, *, name: str = GAIN) -> list[Row]:
    """The mean difference over draws, and its p-value where there are at least two."""
    setting = base.setting
    gains = [b - a for a, b in zip(base.accuracies, other.accuracies)]
    paper = setting.paper
    published = round(paper[JLIS] - paper[SSVM], 2) if JLIS in paper and SSVM in paper else None
    rows = [row(setting.name, name, "difference", gains, paper=published)]
    if len(gains) > 1:
        _, p = paired_t(other.accuracies, base.accuracies)
        rows.append({**row(setting.name, name, "p-value", [p]), "draws": len(gains)})
    return rows


def lines_of(rows: Iterable[Row], *, choices: Mapping[tuple[str, str], str], notes: Sequence[str] = ()) -> list[str]:
    """A table in plain text; `choices` has the prices by setting and method."""
    cells = [HEAD]
    for item in rows:
        if item["metric"] == "p-value":
            continue
        name = item["method"] if item["metric"] in ("accuracy", "difference") else f"{item['method']} {item['metric']}"
        sign = "+" if item["metric"] == "difference" else ""
        paper = "" if item["paper"] is None else format(item["paper"], f"{sign}.2f")
        spread = "" if item["std"] is None else f"{DEVIATION} {item['std']:.2f}"
        prices = choices.get((item["setting"], item["method"]), "") if item["metric"] == "accuracy" else ""
        if item["metric"] == "difference":
            prices = _p_value(rows, item["setting"], item["method"])
        cells.append(
            (item["setting"], name, paper, format(item["value"], f"{sign}.2f"), spread, str(item["draws"]), prices)
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    left = {0, 1, len(HEAD) - 1}
    text = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in cells
    ]
    text.insert(1, "-" * max(len(line) for line in text))
    return [*text, *(f"note: {note}" for note in notes)]


def write_rows(path: Path | None, rows: Sequence[Row]) -> None:
    """Write the rows as JSON, whole or not at all."""
    if path is not None:
        write_text_atomically(path, json.dumps(list(rows), indent=1) + "\n")


def _p_value(rows: Iterable[Row], setting: str, method: str) -> str:
    where = (setting, method, "p-value")
    results = [item["value"] for item in rows if (item["setting"], item["method"], item["metric"]) == where]
    return f"paired t-test p = {results[0]:.2g}" if results else ""
