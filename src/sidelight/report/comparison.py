"""Rows of results as tables: settings and methods, the paper's figure beside ours, with deviation and significance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.core.html import Html, escape
from sidelight.report.page import details

Row = Mapping[str, Any]

DERIVED = ("difference", "p-value")
KNOWN = ("setting", "method", "metric", "value", "std", "paper", "draws", "curve", "picture")
SIGNIFICANT = 0.05
FEW, MANY_METRICS = 4, 3
TITLES = {"setting": "", "method": "method", "metric": ""}


def tables(rows: Sequence[Row]) -> list[Html]:
    """Scores, then differences, in tables that can be read."""
    parts: list[Html] = []
    for block in blocks([row for row in rows if row["metric"] not in DERIVED]):
        parts += _pivots(block)
    differences = [row for row in rows if row["metric"] == "difference"]
    if differences:
        parts.append(Html("<h4>Differences</h4>"))
    p_values = p_values_of(rows)
    for block in blocks(differences):
        parts += _pivots(block, p_values)
    return parts


def p_values_of(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """The p-values of differences, by setting and method."""
    return {(row["setting"], row["method"]): row["value"] for row in rows if row["metric"] == "p-value"}


def blocks(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows whose settings have much the same methods stand in one table."""
    methods: dict[str, set[str]] = {}
    for row in rows:
        methods.setdefault(row["setting"], set()).add(row["method"])
    groups: list[tuple[set[str], set[str]]] = []  # settings, and their methods
    for setting, own in methods.items():
        for settings, shared in groups:
            if 2 * len(own & shared) >= len(own | shared):
                settings.add(setting)
                shared |= own
                break
        else:
            groups.append(({setting}, set(own)))
    return [[row for row in rows if row["setting"] in settings] for settings, _ in groups]


def _pivots(rows: Sequence[Row], p_values: Mapping[tuple[str, str], float] | None = None) -> list[Html]:
    settings, methods, metrics = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("setting", "method", "metric")
    )
    each = max(len({row["metric"] for row in rows if row["setting"] == setting}) for setting in settings)
    if each >= MANY_METRICS:
        panel, down, across = "setting", "method", "metric"
    elif len(settings) <= FEW and len(methods) > len(settings):
        panel, down, across = "metric", "method", "setting"
    else:
        panel, down, across = "metric", "setting", "method"
    panels = {"setting": settings, "method": methods, "metric": metrics}[panel]
    tables_of_block = []
    for name in panels:
        own = [row for row in rows if row[panel] == name]
        plain = len(panels) == 1 and panel != "setting" and name in ("accuracy", "difference")
        title = "" if plain else metric_name(name)
        tables_of_block.append(_pivot(own, down, across, title, p_values))
    return tables_of_block


def _pivot(
    rows: Sequence[Row], down: str, across: str, title: str, p_values: Mapping[tuple[str, str], float] | None
) -> Html:
    """One table; a column of the paper only where it has figures, and one of p-values for differences."""
    names = list(dict.fromkeys(row[down] for row in rows))
    columns = list(dict.fromkeys(row[across] for row in rows))
    cells = {(row[down], row[across]): row for row in rows}
    published = {column for (_, column), row in cells.items() if row["paper"] is not None}
    sign = "+" if p_values is not None else ""
    if p_values is not None and not any(significance(row, p_values) for row in rows):
        p_values = None
    double = bool(published) or p_values is not None
    heads, seconds = [f"<th{' rowspan=2' if double else ''}>{escape(TITLES[down])}</th>"], []
    for column in columns:
        parts = [*(["paper"] if column in published else []), "here", *(["p"] if p_values is not None else [])]
        heads.append(f'<th class="number group" colspan="{len(parts)}">{escape(column)}</th>')
        seconds += [f'<th class="number{" group" if k == 0 else ""}">{part}</th>' for k, part in enumerate(parts)]
    lines = []
    for name in names:
        line = [f'<th class="row">{escape(name)}</th>']
        for column in columns:
            row = cells.get((name, column))
            p = None if p_values is None else "" if row is None else significance(row, p_values)
            line.append(_cells(row, column in published, sign, p))
        lines.append(f"<tr>{''.join(line)}</tr>")
    caption = f"<h4>{escape(title)}</h4>" if title else ""
    head = f"<tr>{''.join(heads)}</tr>" + (f"<tr>{''.join(seconds)}</tr>" if double else "")
    return Html(f'{caption}<div class="wide"><table class="results">{head}{"".join(lines)}</table>{_draws(rows)}</div>')


def metric_name(name: str) -> str:
    """The name of a metric, for people.

    >>> metric_name("span_f1"), metric_name("entity accuracy")
    ('span F1', 'entity accuracy')
    """
    return "span F1" if name == "span_f1" else name


def significance(row: Row, p_values: Mapping[tuple[str, str], float]) -> str:
    """The p-value of a difference, bold where it is small; nothing where there is none."""
    value = p_values.get((row["setting"], row["method"]))
    if value is None:
        return ""
    text = f"{value:.2g}"
    return f"<b>{text}</b>" if value < SIGNIFICANT else text


def _cells(row: Row | None, published: bool, sign: str, p: str | None) -> str:
    """The paper's figure, ours, and the p-value."""
    paper = "" if row is None or row["paper"] is None else points(row["paper"], sign)
    ours = "–" if row is None else shown(row, sign)
    first = f'<td class="number group paper">{paper}</td>' if published else ""
    here = f'<td class="number{"" if published else " group"}">{ours}</td>'
    return first + here + ("" if p is None else f'<td class="number p">{p}</td>')


def shown(row: Row, sign: str = "") -> str:
    """Our figure with its deviation.

    >>> shown({"value": 65.821, "std": 5.2})
    '65.82 <small>± 5.20</small>'
    """
    spread = "" if row.get("std") is None else f" <small>± {row['std']:.2f}</small>"
    return f"{points(row['value'], sign)}{spread}"


def points(value: float, sign: str = "") -> str:
    """A figure with two digits after the point.

    >>> points(-0.25), points(3.0, "+")
    ('−0.25', '+3.00')
    """
    return format(value, f"{sign}.2f").replace("-", "−")


def _draws(rows: Sequence[Row]) -> str:
    counts = sorted({row["draws"] for row in rows})
    if counts == [1]:
        return '<p class="faint small">One draw.</p>'
    text = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    what = "Means ± standard deviations over" if any(row.get("std") is not None for row in rows) else "From"
    return f'<p class="faint small">{what} {text} draws.</p>'


def _plain(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def all_rows(rows: Sequence[Row]) -> Html:
    """Every row as the file has it."""
    heads = [*KNOWN[:-2], "more"]
    lines = []
    for row in rows:
        more = "; ".join(
            f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items() if key not in KNOWN
        )
        cells = [escape(_plain(row[key])) for key in KNOWN[:-2]]
        numbers = [' class="number"' if key not in ("setting", "method", "metric") else "" for key in KNOWN[:-2]]
        line = "".join(f"<td{mark}>{cell}</td>" for mark, cell in zip(numbers, cells))
        lines.append(f'<tr class="one">{line}<td>{escape(more)}</td></tr>')
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    table = Html(f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>')
    return details(f"All {len(rows):,} rows" if len(rows) > 1 else "The row", table)
