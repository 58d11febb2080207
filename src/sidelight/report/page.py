"""A page of sections, tables and charts, in one file that opens without a network.

>>> page = Page("Sidelight <1>")
>>> page.add("Scores", table(["label", "F1"], [["A & B", 93.5]]))
>>> text = page.html()
>>> "Sidelight &lt;1&gt;" in text and "A &amp; B" in text and "http" not in text.replace("http://www.w3.org", "")
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidelight.core.html import Html, escape

COLOURS = ("#2f6fb2", "#c4572b", "#3a8f5c", "#8458a8", "#a37a1e", "#4b8d97", "#b0416c", "#6b7280")
STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --faint: #66717e; --line: #d9dee5; --back: #ffffff; --soft: #f3f6f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --faint: #9aa5b1; --line: #37414d; --back: #14191f; --soft: #1d242c; } }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
p { margin: .4rem 0; } .faint { color: var(--faint); }
nav a { margin-right: 1rem; color: inherit; }
.wide { overflow-x: auto; margin: .6rem 0 1.4rem; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.token { display: inline-block; margin: 0 .25rem .4rem 0; text-align: center; line-height: 1.15; }
.token small { display: block; font-size: 11px; color: var(--faint); }
.token b { border-bottom: 3px solid; padding: 0 .1rem; font-weight: normal; }
.token.wrong { background: var(--soft); outline: 1px solid #c4572b; border-radius: 3px; padding: 0 .15rem; }
svg text { fill: var(--faint); font-size: 12px; }
"""


@dataclass
class Page:
    """Sections in their order."""

    title: str
    lead: str = ""
    sections: list[tuple[str, str]] = field(default_factory=list)
    style: str = ""  # beside that of all pages

    def add(self, title: str, *parts: Html | str | None) -> None:
        """A section; text is escaped, nothing is left out but None."""
        inside = "".join(part.text if isinstance(part, Html) else f"<p>{escape(part)}</p>" for part in parts if part)
        self.sections.append((title, inside))

    def html(self) -> str:
        """The whole page."""
        links = "".join(f'<a href="#s{k}">{escape(title)}</a>' for k, (title, _) in enumerate(self.sections))
        body = "".join(
            f'<section id="s{k}"><h2>{escape(title)}</h2>{inside}</section>'
            for k, (title, inside) in enumerate(self.sections)
        )
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}{self.style}</style></head><body><main>"
            f'<h1>{escape(self.title)}</h1><p class="faint">{escape(self.lead)}</p><nav>{links}</nav>{body}'
            f"</main></body></html>\n"
        )


def table(heads: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Html:
    """A table; numbers stand to the right, with two digits after the point where they are no whole numbers."""
    lines = [list(row) for row in rows]
    right = [bool(lines) and all(isinstance(row[k], int | float) for row in lines) for k in range(len(heads))]
    marks = [' class="number"' if one else "" for one in right]
    top = "".join(f"<th{mark}>{escape(head)}</th>" for mark, head in zip(marks, heads))
    body = "".join(
        "<tr>" + "".join(f"<td{mark}>{escape(_written(cell))}</td>" for mark, cell in zip(marks, row)) + "</tr>"
        for row in lines
    )
    return Html(f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>')


def _written(cell: Any) -> Any:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"


def shaded(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[int]]]) -> Html:
    """A table of counts whose cells are the darker the larger their share of the row is; the diagonal is green."""
    lines = []
    for k, (name, counts) in enumerate(rows):
        total = max(sum(counts), 1)
        cells = "".join(
            f'<td class="number" style="background:rgba({"58,143,92" if k == j else "196,87,43"},{count / total:.3f})">'
            f"{count:,}</td>"
            if count
            else "<td></td>"
            for j, count in enumerate(counts)
        )
        lines.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    top = "".join(f'<th class="number">{escape(head)}</th>' for head in heads)
    return Html(f'<div class="wide"><table><tr><th></th>{top}</tr>{"".join(lines)}</table></div>')


def chart(points: Sequence[tuple[float, float]], *, title: str, logarithmic: bool = False) -> Html | None:
    """A line through points; None where there are fewer than two that are finite (and positive, if logarithmic)."""
    kept = [(x, y) for x, y in points if math.isfinite(y) and (y > 0 or not logarithmic)]
    if len(kept) < 2:
        return None
    width, height, left, low = 460, 220, 76, 28
    xs, ys = [x for x, _ in kept], [math.log10(y) if logarithmic else y for _, y in kept]
    wide, high = max(max(xs) - min(xs), 1e-12), max(max(ys) - min(ys), 1e-12)
    places = [
        (left + (width - left - 10) * (x - min(xs)) / wide, height - low - (height - low - 24) * (y - min(ys)) / high)
        for x, y in zip(xs, ys)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    top, bottom = (10**value if logarithmic else value for value in (max(ys), min(ys)))
    return Html(
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{escape(title)}">'
        f'<text x="{left}" y="14">{escape(title)}</text>'
        f'<line x1="{left}" y1="{height - low}" x2="{width - 10}" y2="{height - low}" stroke="var(--line)"/>'
        f'<line x1="{left}" y1="24" x2="{left}" y2="{height - low}" stroke="var(--line)"/>'
        f'<text x="{left - 6}" y="30" text-anchor="end">{top:.4g}</text>'
        f'<text x="{left - 6}" y="{height - low}" text-anchor="end">{bottom:.4g}</text>'
        f'<text x="{left}" y="{height - 10}">{min(xs):g}</text>'
        f'<text x="{width - 10}" y="{height - 10}" text-anchor="end">{max(xs):g}</text>'
        f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/></svg>'
    )


def sentence(tokens: Sequence[str], labels: Sequence[str], right: Sequence[str], colours: Sequence[str]) -> Html:
    """Tokens coloured by label, the label below; where another is right it stands there too."""
    parts = []
    for token, label, truth, colour in zip(tokens, labels, right, colours):
        wrong = label != truth
        below = escape(label) + (f" → {escape(truth)}" if wrong else "")
        parts.append(
            f'<span class="token{" wrong" if wrong else ""}"><b style="border-color:{colour}">{escape(token)}</b>'
            f"<small>{below}</small></span>"
        )
    return Html(f"<p>{''.join(parts)}</p>")
