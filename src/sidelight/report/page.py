"""A page of sections, tables and charts, in one file that opens without a network.

>>> page = Page("Sidelight <1>")
>>> page.add("Scores", table(["label", "F1"], [["A & B", 93.5]]))
>>> text = page.html()
>>> "Sidelight &lt;1&gt;" in text and "A &amp; B" in text and "http" not in text.replace("http://www.w3.org", "")
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sidelight.core.html import Html, escape

COLOURS = ("#2f6fb2", "#c4572b", "#3a8f5c", "#8458a8", "#a37a1e", "#b0416c", "#4b8d97", "#6b7280")
MORE = ("#5b6ee1", "#7a8b1e", "#d46fae", "#4fb3e8", "#e09a2b", "#8a5a3c")  # colours of labels
FIELDS = (*COLOURS[:5], COLOURS[6], COLOURS[5], *MORE, COLOURS[7])
STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --faint: #66717e; --line: #d9dee5; --back: #ffffff; --soft: #f3f6f9;
  --here: #2f6fb2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --faint: #9aa5b1; --line: #37414d; --back: #14191f; --soft: #1d242c; --here: #7fb2e5; } }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .3rem; } h4 { font-size: .95rem; margin: 1.2rem 0 .2rem; }
p { margin: .4rem 0; max-width: 48rem; } .faint { color: var(--faint); } a { color: var(--here); }
nav a { margin-right: 1rem; color: inherit; }
.wide { overflow-x: auto; margin: .6rem 0 1.4rem; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.number[style] { padding-left: .6rem; }
.fields { line-height: 1.35; max-width: 36rem; }
.field { display: inline; border-bottom: 2px solid; border-radius: 3px; line-height: 2; margin-right: .1rem;
  padding: .05rem .3rem .12rem; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.field small { font-size: 11px; font-weight: 600; margin-left: .4rem; white-space: nowrap; }
.field u { text-decoration: underline wavy #c4572b 1.5px; text-underline-offset: 3px; }
@media (max-width: 40rem) { table { font-size: 13px; } th, td { padding-right: .5rem; }
  .wide th.row, .wide td:first-child:not(.number) { min-width: 6.5rem; } }
figure { display: inline-block; vertical-align: top; margin: .6rem 1rem 1rem 0; max-width: min(460px, 100%); }
figure > svg { max-width: 100%; height: auto; } figcaption { font-weight: 600; font-size: 14px; }
.legend { font-size: 13px; line-height: 1.4; } .key { display: inline-block; margin-right: .9rem; }
.key svg { margin-right: .35rem; }
svg text { fill: var(--faint); font-size: 12.5px; }
pre, code { overflow-wrap: anywhere; } pre { white-space: pre-wrap; margin: .3rem 0; font-size: 12.5px; }
.wide > pre { white-space: pre; }
svg text.name { fill: var(--ink); }
svg text.big { fill: var(--ink); font-size: 16px; }
svg text.mono { fill: var(--ink); font: 13px ui-monospace, Menlo, Consolas, monospace; }
svg .grid { stroke: var(--line); } svg .tick { stroke: var(--faint); } svg .zero { stroke: var(--faint); opacity: .6; }
.beside { display: flex; flex-wrap: wrap; gap: .4rem 2.5rem; } .beside > div { min-width: 0; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .5rem 1rem; background: var(--soft); }
.card b { display: block; font-size: 1.5rem; line-height: 1.3; }
details { margin: .5rem 0 1rem; } summary { cursor: pointer; color: var(--faint); }
details table { font-size: 12.5px; }
"""
ASIDE = """
body.aside nav { position: fixed; top: 0; bottom: 0; left: 0; width: 15.5rem; box-sizing: border-box; margin: 0;
  overflow-y: auto; padding: 1.4rem .6rem 2rem 1.2rem; border-right: 1px solid var(--line); font-size: 13.5px; }
body.aside nav a { display: block; margin: 0; padding: .12rem 0; text-decoration: none; }
body.aside nav a:hover { color: var(--here); }
body.aside nav a.l2 { font-weight: 600; margin-top: .7rem; }
body.aside nav a.l3 { padding-left: .8rem; color: var(--faint); }
body.aside main { margin-left: 15.5rem; max-width: 74rem; padding: 2rem 2rem 6rem; }
body.aside h2 { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: 1.4rem; }
@media (max-width: 60rem) {
  body.aside nav { position: static; width: auto; max-height: 11rem; border: 0; border-bottom: 1px solid var(--line); }
  body.aside main { margin-left: 0; padding: 1rem; } }
@media print { body.aside nav { display: none; } body.aside main { margin-left: 0; } }
"""


@dataclass
class Page:
    """Sections in their order; those of level 3 belong to the one of level 2 before them."""

    title: str
    lead: str = ""
    sections: list[tuple[str, str, int]] = field(default_factory=list)
    style: str = ""  # in addition to the style of all pages
    aside: bool = False  # whether links to sections are beside them instead of above

    def add(self, title: str, *parts: Html | str | None, level: int = 2) -> None:
        """Add a section; links refer to it by its number."""
        self.sections.append((title, fragments(parts), level))

    def html(self) -> str:
        """The whole page."""
        links = "".join(
            f'<a class="l{level}" href="#s{k}">{escape(title)}</a>' for k, (title, _, level) in enumerate(self.sections)
        )
        body = "".join(
            f'<section id="s{k}"><h{level}>{escape(title)}</h{level}>{inside}</section>'
            for k, (title, inside, level) in enumerate(self.sections)
        )
        nav = f"<nav>{links}</nav>"
        before, within = (nav, "") if self.aside else ("", nav)
        style = STYLE + (ASIDE if self.aside else "") + self.style
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{style}</style></head>"
            f"<body{' class=aside' if self.aside else ''}>{before}<main>"
            f'<h1>{escape(self.title)}</h1><p class="faint">{escape(self.lead)}</p>{within}{body}'
            f"</main></body></html>\n"
        )


def table(heads: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Html:
    """A table; numbers are aligned to the right, with two decimals unless they are integers."""
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
    """A table of counts; the larger a cell's share of its row, the darker it is; the diagonal is green."""
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


def cards(each: Iterable[tuple[str, str]]) -> Html:
    """The main numbers, each with its name."""
    inside = "".join(f'<div class="card"><b>{escape(number)}</b>{escape(words)}</div>' for number, words in each)
    return Html(f'<div class="cards">{inside}</div>')


def beside(*parts: Html) -> Html:
    """Parts side by side if there is room."""
    return Html(f'<div class="beside">{"".join(f"<div>{part.text}</div>" for part in parts)}</div>')


def coloured(labels: Sequence[str]) -> dict[str, str]:
    """A colour for each label; if there are more labels than colours, labels share colours."""
    return {label: FIELDS[k % len(FIELDS)] for k, label in enumerate(labels)}


def details(summary: str, *parts: Html | str | None) -> Html:
    """Parts folded under a summary line."""
    return Html(f"<details><summary>{escape(summary)}</summary>{fragments(parts)}</details>")


def fragments(parts: Iterable[Html | str | None]) -> str:
    """Parts one after another; text becomes an escaped paragraph, and None is skipped."""
    return "".join(part.text if isinstance(part, Html) else f"<p>{escape(part)}</p>" for part in parts if part)


def fields(
    tokens: Sequence[str],
    labels: Sequence[str],
    right: Sequence[str],
    colours: Mapping[str, str],
    *,
    with_right: bool = False,
) -> Html:
    """Consecutive tokens of one label share a coloured patch, followed by the label's name; wrong ones are underlined.

    With `with_right`, the right label is shown after an arrow, and not only as a tooltip.
    """
    parts = []
    each = list(zip(tokens, labels, right))
    for _, words in groupby(each, key=(lambda one: one[1:]) if with_right else (lambda one: one[1])):
        group = list(words)
        inside = " ".join(
            escape(word) if truth == label else f'<u title="{escape(truth)}">{escape(word)}</u>'
            for word, label, truth in group
        )
        label, truth = group[0][1:]
        name = f"{label} → {truth}" if with_right and label != truth else label
        colour = colours.get(label, COLOURS[-1])
        ink = f"color-mix(in srgb, {colour} 65%, var(--ink))"
        parts.append(
            f'<span class="field" style="background:{colour}26;border-color:{colour}">{inside}'
            f'<small style="color:{ink}">{escape(name)}</small></span> '
        )
    return Html(f'<div class="fields">{"".join(parts)}</div>')
