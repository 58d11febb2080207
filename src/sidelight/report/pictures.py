"""Outputs to look at: coloured tokens, alignments as grids and as lines between letters, relations as arcs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sidelight.core.html import Html, escape
from sidelight.report.page import COLOURS, coloured, fields

CELL, LETTER, CHAR = 22, 34, 7.9  # sizes of a cell of a grid, of a letter, and of a letter of a sentence
AROUND = 3  # words of a sentence on either side of its entities
RIGHT, WRONG, MISSED = COLOURS[2], COLOURS[1], "var(--faint)"


def picture(of: Mapping[str, Any], colours: Mapping[str, str]) -> Html:
    """A picture by its kind; `colours` are those of labels."""
    if of["kind"] == "labels":
        return fields(of["tokens"], of["labels"], of["right"], colours)
    return {"grid": _grid, "letters": _letters, "relations": _relations}[of["kind"]](of)


STYLE = """
.beside { margin-bottom: 1rem; } .beside > div { flex: 1 1 26rem; max-width: 36rem; }
@media (max-width: 32rem) { .beside > div { flex-basis: 100%; } }
svg text.arc { paint-order: stroke; stroke: var(--back); stroke-width: 5px; }
.beside.relations > div { flex: 1 1 100%; max-width: 100%; }
.beside.small > div { flex: 0 1 auto; }
.beside h5 { margin: .3rem 0; font-size: 13.5px; font-weight: 600; }
.beside h5 span { color: var(--faint); font-weight: normal; }
"""


def legend(kind: str) -> str:
    """How pictures of a kind are read."""
    return {
        "labels": "Every field that a model finds has its colour and its name; words in a wrong field are underlined.",
        "grid": "Filled: a link that was found, green where a person has it too (surely or possibly), red where not. "
        "Framed: a link that a person is sure of; dotted: one that may be there.",
        "letters": "Green: a link as a person has it; red: a wrong one; dashed: one that was missed.",
        "relations": "Boxes are entities with their types, arcs relations from the first argument to the second. Green "
        "is right, red is wrong, dashed is missed; after an arrow stands the right type.",
    }[kind]


def colours_of(pictures: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """A colour for each label of some pictures; labels beyond the colours share them."""
    labels = sorted(
        {label for of in pictures for label in (*of.get("labels", ()), *of.get("right", ())) if of["kind"] == "labels"}
    )
    return coloured(labels)


def _grid(of: Mapping[str, Any]) -> Html:
    """Words of one language in rows, of the other in columns."""
    links, sure, possible = ({tuple(link) for link in of[name]} for name in ("links", "sure", "possible"))
    rows, columns = of["source"], of["target"]
    left = 14 + CHAR * max(map(len, rows))
    top = 14 + 0.72 * CHAR * max(map(len, columns))
    width, height = left + CELL * len(columns) + 60, top + CELL * len(rows) + 8
    parts = []
    for j, word in enumerate(columns):
        h = left + CELL * j + CELL / 2
        parts.append(f'<text x="{h:.1f}" y="{top - 6:.1f}" transform="rotate(-45 {h:.1f} {top - 6:.1f})">')
        parts.append(f"{escape(word)}</text>")
    for i, word in enumerate(rows):
        v = top + CELL * i
        parts.append(f'<text x="{left - 6:.1f}" y="{v + 15:.1f}" text-anchor="end">{escape(word)}</text>')
        for j in range(len(columns)):
            h = left + CELL * j
            link = (i, j)
            at = f'x="{h + 1:.1f}" y="{v + 1:.1f}" width="{CELL - 2}" height="{CELL - 2}" rx="3"'
            parts.append(f'<rect {at} fill="var(--soft)"/>')
            if link in links:
                parts.append(f'<rect {at} fill="{RIGHT if link in sure | possible else WRONG}"/>')
            if link in sure | possible:
                inside = f'x="{h + 3:.1f}" y="{v + 3:.1f}" width="{CELL - 6}" height="{CELL - 6}" rx="2"'
                dots = "" if link in sure else ' stroke-dasharray="2 2"'
                parts.append(f'<rect {inside} fill="none" stroke="var(--ink)" stroke-width="1.6"{dots}/>')
    return _svg(width, height, parts)


def _letters(of: Mapping[str, Any]) -> Html:
    """Two rows of symbols with lines between them."""
    links, right = ({tuple(link) for link in of[name]} for name in ("links", "right"))
    parts = []
    for i, j in sorted(links | right):
        colour = RIGHT if (i, j) in links & right else WRONG if (i, j) in links else MISSED
        dash = ' stroke-dasharray="4 3"' if (i, j) not in links else ""
        ends = f'x1="{LETTER * i + 21}" y1="34" x2="{LETTER * j + 21}" y2="76"'
        parts.append(f'<line {ends} stroke="{colour}" stroke-width="2.5"{dash}/>')
    for symbols, v in ((of["source"], 8), (of["target"], 76)):
        for k, symbol in enumerate(symbols):
            h = LETTER * k + 8
            parts.append(f'<rect x="{h}" y="{v}" width="26" height="26" rx="4" fill="var(--soft)"/>')
            parts.append(f'<text class="big" x="{h + 13}" y="{v + 18}" text-anchor="middle">{escape(symbol)}</text>')
    return _svg(LETTER * max(len(of["source"]), len(of["target"])) + 16, 110, parts)


def _relations(of: Mapping[str, Any]) -> Html:
    """A sentence with boxes around entities, and arcs above it."""
    starts, ends, h = [], [], 8.0
    of = _cut(of)
    for token in of["tokens"]:
        starts.append(h)
        ends.append(h + CHAR * len(token))
        h = ends[-1] + CHAR + 2
    boxes = [(starts[first] - 3, ends[last - 1] + 3) for first, last in of["spans"]]
    ours, theirs = ({tuple(one) for one in of[name]} for name in ("relations", "right relations"))
    arcs = sorted(ours | theirs, key=lambda one: (abs(one[0] - one[1]), one))
    top = 26 + 26 * len(arcs)
    parts, names = [], []
    for number, (head, tail, name) in enumerate(arcs):
        arc = (head, tail, name)
        colour = RIGHT if arc in ours & theirs else WRONG if arc in ours else MISSED
        dash = ' stroke-dasharray="4 3"' if arc not in ours else ""
        a, b = (sum(boxes[end]) / 2 + 5 * (number % 3 - 1) for end in (head, tail))
        v = top - 22 - 26 * number
        path = f"M {a:.1f} {top} V {v + 8} Q {a:.1f} {v} {a + (8 if b > a else -8):.1f} {v} "
        path += f"H {b - (8 if b > a else -8):.1f} Q {b:.1f} {v} {b:.1f} {v + 8} V {top - 3}"
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
        parts.append(
            f'<path d="M {b - 4:.1f} {top - 8} L {b:.1f} {top - 1} L {b + 4:.1f} {top - 8} z" fill="{colour}"/>'
        )
        names.append(f'<text x="{(a + b) / 2:.1f}" y="{v - 4}" text-anchor="middle" class="arc">{escape(name)}</text>')
    for token, left, right in zip(of["tokens"], starts, ends):
        size = f'textLength="{right - left:.1f}" lengthAdjust="spacingAndGlyphs"'
        parts.append(f'<text class="mono" x="{left:.1f}" y="{top + 20}" {size}>{escape(token)}</text>')
    for (left, right), said, truth in zip(boxes, of["types"], of["right types"]):
        colour = RIGHT if said == truth else WRONG
        at = f'x="{left:.1f}" y="{top + 4}" width="{right - left:.1f}" height="24" rx="4"'
        parts.append(f'<rect {at} fill="none" stroke="{colour}" stroke-width="1.8"/>')
        below = said if said == truth else f"{said} → {truth}"
        parts.append(f'<text x="{(left + right) / 2:.1f}" y="{top + 42}" text-anchor="middle">{escape(below)}</text>')
    return _svg(h + 8, top + 50, parts + names)


def _cut(of: Mapping[str, Any]) -> Mapping[str, Any]:
    """A sentence without what is far from all of its entities."""
    first = max(min(span[0] for span in of["spans"]) - AROUND, 0)
    last = min(max(span[1] for span in of["spans"]) + AROUND, len(of["tokens"]))
    before, after = ["…"] * (first > 0), ["…"] * (last < len(of["tokens"]))
    shift = first - len(before)
    spans = [(start - shift, end - shift) for start, end in of["spans"]]
    return {**of, "tokens": [*before, *of["tokens"][first:last], *after], "spans": spans}


def _svg(width: float, height: float, parts: Sequence[str]) -> Html:
    return Html(
        f'<div class="wide"><svg class="picture" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img">{"".join(parts)}</svg></div>'
    )
