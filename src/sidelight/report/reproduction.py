"""The page about reproduced experiments: published and own results side by side, made only from the JSON files of a
folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sidelight.core.html import Html, escape
from sidelight.experiments import NAMES
from sidelight.experiments.result_files import StoredResult, results_in
from sidelight.report.charts import Point, Series, curves, dots, scatter
from sidelight.report.comparison import (
    DERIVED,
    Row,
    all_rows,
    metric_name,
    p_values_of,
    points,
    shown,
    significance,
    tables,
)
from sidelight.report.page import Page, cards, details, table
from sidelight.report.papers import CLAIMS, PAPERS, PLAIN, PLOTS, Claim, DotPlot, Plot, experiments_of
from sidelight.report.pictures import STYLE as PICTURE_STYLE
from sidelight.report.pictures import colours_of, legend, picture

EXAMPLES = "examples"
PICTURES = {
    "labels": "References before and after the rules",
    "grid": "Words that translate each other",
    "letters": "Letters and their sounds",
    "relations": "Entities and relations",
}
STYLE = """
table.results td.paper { color: var(--faint); } table.results td.number { color: var(--ink); }
table.results .group { padding-left: 1rem; } table.results th.row { color: var(--ink); font-weight: normal; }
table.results td, table.results th { vertical-align: baseline; }
table.results small { color: var(--faint); } td.p { font-size: 12.5px; } .small { font-size: 13px; }
.state { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: 12.5px;
  border: 1px solid var(--line); }
.full { background: rgba(58,143,92,.18); } .quick { background: rgba(47,111,178,.15); }
.missing { background: rgba(196,87,43,.15); }
a.name, .state { white-space: nowrap; } .halves { columns: 2 25rem; column-gap: 2rem; }
.half { break-inside: avoid; } .half h4 { margin: 0; padding-top: .4rem; } .half table { font-size: 13px; }
"""
SEEDS = (
    "Draw k of an experiment uses seed k for sampling and training (some experiments start at a draw other than 0; see "
    "their settings). All methods of an experiment use the same draws."
)


def reproduction_page(folder: Path) -> str:
    """The page about the results in a folder; missing experiments are named."""
    results = results_in(folder, list(NAMES))
    page = Page("Published results, run again", _lead(results), style=STYLE + PICTURE_STYLE, aside=True)
    page.add("At a glance", *_glance(results))
    page.add("Tables and figures", *_contents(results))
    if EXAMPLES in results:
        page.add("Examples", "What the numbers mean: single inputs, chosen to show a difference.")
        for kind, title in PICTURES.items():
            page.add(title, *_pictures(results[EXAMPLES], kind), level=3)
        page.add("How examples were chosen", *results[EXAMPLES].notes, all_rows(results[EXAMPLES].rows), level=3)
    else:
        page.add("Examples", _missing(EXAMPLES))
    for paper in PAPERS:
        page.add(paper.name, paper.title)
        for name in experiments_of(paper):
            places = [place.name for place in paper.places if place.experiment == name]
            page.add("; ".join(places), *_experiment(name, results.get(name)), level=3)
    page.add("Runs", *_runs(results))
    return page.html()


def _lead(results: Mapping[str, StoredResult]) -> str:
    quick = sum(result.quick for result in results.values())
    kinds = [f"{len(results) - quick} in full"] if len(results) > quick else []
    kinds += [f"{quick} quick"] if quick else []
    return f"Sidelight: {len(results)} of {len(NAMES)} experiments ({', '.join(kinds) or 'none yet'})"


def _missing(name: str) -> Html:
    command = f"sidelight reproduce {name} --data DIR --out FOLDER"
    return Html(f'<p><span class="state missing">not run</span> <code>{escape(command)}</code> adds it.</p>')


def _state(result: StoredResult | None) -> Html:
    kind = "missing" if result is None else "quick" if result.quick else "full"
    words = {"missing": "not run", "quick": "quick run", "full": "in full"}
    return Html(f'<span class="state {kind}">{words[kind]}</span>')


def _glance(results: Mapping[str, StoredResult]) -> list[Html | str | None]:
    """How many gains of the papers are reproduced, as numbers and as a chart."""
    if not results:
        return ["No experiment has run."]
    gains = list(_gains(results))
    rows = [row for result in results.values() for row in result.rows]
    compared = [row for row in rows if row["paper"] is not None and row["metric"] not in DERIVED]
    same = sum(paper * here > 0 for _, _, paper, here in gains)
    counts = [(f"{len(results)} of {len(NAMES)}", "experiments have run"), (f"{len(rows):,}", "results")]
    counts += [(f"{len(compared) + len(gains):,}", "of them with a published figure")]
    counts += [(f"{same} of {len(gains)}", "published gains have the same sign here")] if gains else []
    by_paper: dict[str, list[tuple[float, float, str]]] = {}
    for paper_name, text, paper, here in gains:
        by_paper.setdefault(paper_name, []).append((paper, here, f"{text}: paper {paper:+.2f}, here {here:+.2f}"))
    return [
        cards(counts),
        *_claims(results),
        "Each dot is the difference between two methods, in points, as published and as measured here. On the dashed "
        "line both are equal."
        if gains
        else None,
        scatter(by_paper, title="Gains: published and here", x="published", y="here"),
        "Some corpora of the papers are not public and are replaced by others; the notes of each experiment name them. "
        "A quick run has fewer settings and draws: it shows the direction of a difference, not its size."
        if any(result.quick for result in results.values())
        else None,
    ]


def _claims(results: Mapping[str, StoredResult]) -> Iterator[Html]:
    """The gains of indirect supervision: for each claim the first difference that shows it, in points."""
    numbers = _section_numbers(results)
    lines = []
    for claim in CLAIMS:
        rows = results[claim.experiment].rows if claim.experiment in results else ()
        row = next((row for row in rows if _shows(row, claim)), None)
        if row is None:
            continue
        words = Html(f'<a href="#s{numbers[claim.experiment]}">{escape(claim.words)}</a>')
        paper = "" if row["paper"] is None else points(row["paper"], "+")
        p = significance(row, p_values_of(rows))
        lines.append((words, row["setting"], row["method"], paper, Html(shown(row, "+")), Html(p)))
    if lines:
        yield Html("<h4>What indirect supervision buys, in points</h4>")
        yield table(["claim", "setting", "comparison", "paper", "here", "p"], lines)


def _shows(row: Row, claim: Claim) -> bool:
    is_difference = row["metric"] == "difference"
    return bool(is_difference and re.search(claim.setting, row["setting"]) and re.search(claim.method, row["method"]))


def _gains(results: Mapping[str, StoredResult]) -> Iterator[tuple[str, str, float, float]]:
    """For each comparison: paper, description, published gain, our gain."""
    for paper in PAPERS:
        for name in experiments_of(paper):
            for row in results[name].rows if name in results else ():
                if row["metric"] == "difference" and row["paper"] is not None and re.search(PLAIN, row["method"]):
                    yield paper.name, f"{name}, {row['setting']}, {row['method']}", row["paper"], row["value"]


def _contents(results: Mapping[str, StoredResult]) -> list[Html]:
    """Every table and figure, and whether it was reproduced."""
    parts = []
    numbers = _section_numbers(results)
    for paper in PAPERS:
        lines: list[tuple[str, str | Html, Html]] = []
        for place in paper.places:
            if place.experiment is None:
                lines.append((place.name, f"none: {place.reason}", Html('<span class="state missing">not here</span>')))
                continue
            link = Html(f'<a class="name" href="#s{numbers[place.experiment]}">{place.experiment}</a>')
            lines.append((place.name, link, _state(results.get(place.experiment))))
        inside = table(["table or figure", "experiment", ""], lines).text
        parts.append(f'<div class="half"><h4>{escape(paper.title)}</h4>{inside}</div>')
    return [Html(f'<div class="halves">{"".join(parts)}</div>')]


def _section_numbers(results: Mapping[str, StoredResult]) -> dict[str, int]:
    """The section of each experiment, as `reproduction_page` adds them."""
    number = 3 + (len(PICTURES) + 1 if EXAMPLES in results else 0)
    numbers = {}
    for paper in PAPERS:
        number += 1
        for name in experiments_of(paper):
            numbers[name] = number
            number += 1
    return numbers


def _experiment(name: str, result: StoredResult | None) -> list[Html | str | None]:
    """Figures, tables, notes, settings."""
    what = f"<p><code>{name}</code>: {escape(NAMES[name])}."
    if result is None:
        return [Html(f"{what}</p>"), _missing(name)]
    head = Html(f"{what} {escape(_state(result))}</p>")
    charts = [chart for plot in PLOTS.get(name, ()) for chart in _charts(plot, result.rows)]
    charts += _traces(result.rows)
    notes = (
        Html("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in result.notes) + "</ul>") if result.notes else None
    )
    named = [(key.lower().replace("_", " "), value) for key, value in result.settings.items()]
    about = table(["", ""], [*named, *result.data.items()])
    log = Html('<div class="wide"><pre>' + escape("\n".join(result.run.get("told", []))) + "</pre></div>")
    return [
        head,
        *charts,
        *tables(result.rows),
        details("Notes: what differs from the paper", notes) if notes else None,
        details("Settings and data", about) if result.settings or result.data else None,
        all_rows(result.rows),
        details("Log of the run, with the choices made on development data", log) if result.run.get("told") else None,
    ]


def _charts(plot: Plot | DotPlot, rows: Sequence[Mapping[str, Any]]) -> list[Html]:
    drawn = [
        row
        for row in rows
        if (row["metric"] == plot.metric or (not plot.metric and row["metric"] not in DERIVED))
        and (not plot.methods or re.search(plot.methods, row["method"]))
    ]
    return _dot_charts(plot, drawn) if isinstance(plot, DotPlot) else _curve_charts(plot, drawn)


def _dot_charts(plot: DotPlot, rows: Sequence[Mapping[str, Any]]) -> list[Html]:
    settings: dict[tuple[str, str], list[tuple[str, float, float | None, float | None]]] = {}
    for row in rows:
        lines = settings.setdefault((row["setting"], row["metric"]), [])
        lines.append((row["method"], row["value"], row["std"], row["paper"]))
    charts = [
        dots(lines, title=f"{plot.title}: {setting}", x=metric)
        for (setting, metric), lines in settings.items()
        if len(lines) > 1
    ]
    return [chart for chart in charts if chart is not None]


def _curve_charts(plot: Plot, rows: Sequence[Mapping[str, Any]]) -> list[Html]:
    panels: dict[str, dict[str, Series]] = {}
    metrics: dict[str, str] = {}
    for row in rows:
        setting, method = row["setting"], row["method"]
        key = "setting" if re.search(plot.x, setting) else "method"
        match = re.search(plot.x, row[key])
        if match is None:
            continue
        rest = (row[key][: match.start()] + row[key][match.end() :]).strip(" ,")
        setting, method = (rest, method) if key == "setting" else (setting, rest)
        panel = setting if plot.panels else ""
        name = method if plot.panels else ", ".join(part for part in (setting, method) if part)
        metrics[panel] = row["metric"]
        series = panels.setdefault(panel, {}).setdefault(name, Series(name, [], []))
        x = number_of(match.group(1))
        series.points.append((x, row["value"], row["std"]))
        if row["paper"] is not None:
            series.published.append((x, row["paper"], None))
    charts = []
    for panel, named in panels.items():
        title = f"{plot.title}: {panel}" if panel else plot.title
        charts.append(curves(list(named.values()), title=title, x=plot.axis, y=metric_name(metrics[panel])))
    return [chart for chart in charts if chart is not None]


def number_of(text: str) -> float:
    """A number of a setting's name.

    >>> number_of("9k"), number_of("1,600"), number_of("0.5")
    (9000.0, 1600.0, 0.5)
    """
    plain = text.rstrip(".,").replace(",", "")
    return 1000.0 * float(plain[:-1]) if plain.endswith("k") else float(plain)


def _traces(rows: Sequence[Mapping[str, Any]]) -> list[Html]:
    """Curves stored in rows: the gap of a solver over time."""
    panels: dict[str, list[Series]] = {}
    for row in rows:
        if row.get("curve"):
            points: list[Point] = [(x, y, None) for x, y in row["curve"]]
            panels.setdefault(row["setting"], []).append(Series(row["method"], points))
    traces = [
        curves(series, title=f"Convergence: {name}", x="seconds", y="relative gap", logarithmic=(True, True))
        for name, series in panels.items()
    ]
    return [chart for chart in traces if chart is not None]


def _pictures(result: StoredResult, kind: str) -> list[Html | str]:
    """The pictures of a kind; those of one input are side by side."""
    rows = [row for row in result.rows if row.get("picture", {}).get("kind") == kind]
    colours = colours_of(row["picture"] for row in rows)
    groups = [(setting, list(own)) for setting, own in groupby(rows, key=lambda row: row["setting"])]
    several = any(len(own) > 1 for _, own in groups)
    parts = []
    for setting, own in groups:
        if several:
            parts.append(f'<h4>{escape(setting)}</h4><div class="beside {kind}">')
        for row in own:
            name = row["method"] if several else setting
            head = f"{escape(name)} <span>{escape(row['metric'])} {row['value']:.1f} %</span>"
            parts.append(f"<div><h5>{head}</h5>{picture(row['picture'], colours).text}</div>")
        parts.append("</div>" if several else "")
    return [legend(kind), Html("".join(parts) if several else f'<div class="beside small">{"".join(parts)}</div>')]


def _runs(results: Mapping[str, StoredResult]) -> list[Html | str]:
    """Time, memory and versions of every run."""
    runs = {name: result.run for name, result in results.items()}
    lines = [
        (
            name,
            _state(results[name]),
            *(run.get(key, "") for key in ("seconds", "cpu_seconds", "megabytes", "finished")),
        )
        for name, run in runs.items()
    ]
    heads = ["experiment", "", "seconds", "processor seconds", "megabytes", "finished"]
    total = sum(run.get("cpu_seconds", 0.0) for run in runs.values())
    resumed = [name for name, run in runs.items() if run.get("resumed")]
    note = f" Interrupted and resumed: {', '.join(resumed)}." if resumed else ""
    return [
        SEEDS,
        f"All runs together took {total:,.0f} seconds of processor time.{note}",
        table(heads, lines),
        Html("<h4>Versions</h4>"),
        *_versions(runs.values()),
    ]


def _versions(runs: Iterable[Mapping[str, Any]]) -> Iterator[Html]:
    """The software versions of the experiments: one table if all are equal."""
    kinds = Counter(tuple(run.get("versions", {}).items()) for run in runs)
    for kind, count in kinds.items():
        yield table(
            [f"{count} experiments" if count > 1 else "1 experiment", ""], [(key, value) for key, value in kind]
        )


__all__ = ["reproduction_page"]
