"""Pictures of outputs: coloured tokens, alignments as grids and as lines between letters, relations as arcs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sidelight.core.html import Html, escape
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.report.page import COLOURS, coloured, fields

CELL, LETTER, CHAR = 22, 34, 7.9  # sizes of a grid cell, of a letter, and of a letter in a sentence
AROUND = 3  # words shown on either side of the entities of a sentence
Links = Iterable[tuple[int, int]]
Arcs = Sequence[tuple[int, str | None]]
LEVEL, LABEL = 22, 6.6  # vertical distance of arcs, and width of a letter of their names
RIGHT, WRONG, MISSED = COLOURS[2], COLOURS[1], "var(--faint)"


def picture(of: Mapping[str, Any], colours: Mapping[str, str]) -> Html:
    """A picture by its kind; `colours` are those of labels."""
    if of["kind"] == "labels":
        return fields(of["tokens"], of["labels"], of["right"], colours)
    return {"grid": _grid, "letters": _letters, "relations": _relations, "tree": _tree}[of["kind"]](of)


def links_picture(source: Sequence[str], target: Sequence[str], predicted: Links, right: Links) -> dict[str, Any]:
    """Two strings with lines between their symbols."""
    return {"kind": "letters", "source": source, "target": target, "links": sorted(predicted), "right": sorted(right)}


def grid_picture(
    source: Sequence[str], target: Sequence[str], predicted: Links, sure: Links, possible: Links = ()
) -> dict[str, Any]:
    """The words of two sentences as a grid with links."""
    links = {"links": sorted(predicted), "sure": sorted(sure), "possible": sorted(possible)}
    return {"kind": "grid", "source": source, "target": target, **links}


def relations_picture(x: EntitySentence, predicted: Extraction, right: Extraction) -> dict[str, Any]:
    """A sentence with its entities and their relations."""
    of = {"kind": "relations", "tokens": x.tokens, "spans": x.spans, "types": predicted.types}
    return of | {"relations": predicted.relations, "right types": right.types, "right relations": right.relations}


def tree_picture(tokens: Sequence[str], predicted: Arcs, right: Arcs) -> dict[str, Any]:
    """A sentence with the arcs of a tree above it: for every token its head (0 for the root) and its relation."""
    return {"kind": "tree", "tokens": tokens, "arcs": predicted, "right arcs": right}


STYLE = """
.beside { margin-bottom: 1rem; } .beside > div { flex: 1 1 26rem; max-width: 36rem; }
@media (max-width: 32rem) { .beside > div { flex-basis: 100%; } }
svg text.arc { paint-order: stroke; stroke: var(--back); stroke-width: 5px; }
.beside.relations > div { flex: 1 1 100%; max-width: 100%; }
.beside.small > div { flex: 0 1 auto; }
svg.picture { max-width: max(100%, 40rem); height: auto; }
.beside h5 { margin: .3rem 0; font-size: 13.5px; font-weight: 600; }
.beside h5 span { color: var(--faint); font-weight: normal; }
"""


def legend(kind: str) -> str:
    """The legend of a kind of pictures."""
    return {
        "labels": "Each field that the model found has a colour and a name. Words in a wrong field are underlined.",
        "grid": "Filled: links that the model found, green if right, red if wrong. Framed: right links, solid if "
        "sure, dotted if possible.",
        "letters": "Green: right links; red: wrong ones; dashed: missed ones.",
        "relations": "Boxes are entities with their types; arcs are relations, from the first argument to the second. "
        "Green: right; red: wrong; dashed: missed. The right type follows an arrow.",
        "tree": "Arcs go from a head to the token that depends on it. Green: right; red: wrong; dashed: missed. Tokens "
        "whose head is the root are framed.",
    }[kind]


def colours_of(pictures: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """A colour for each label of some pictures; if there are more labels than colours, labels share colours."""
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
        a, b = (sum(boxes[end]) / 2 + 5 * (number % 3 - 1) for end in (head, tail))
        line, word = _arc(a, b, top - 22 - 26 * number, top, colour, name, missed=arc not in ours)
        parts.append(line)
        names.append(word)
    for token, left, right in zip(of["tokens"], starts, ends):
        parts.append(_token(token, left, right, top + 20))
    for (left, right), predicted, truth in zip(boxes, of["types"], of["right types"]):
        colour = RIGHT if predicted == truth else WRONG
        at = f'x="{left:.1f}" y="{top + 4}" width="{right - left:.1f}" height="24" rx="4"'
        parts.append(f'<rect {at} fill="none" stroke="{colour}" stroke-width="1.8"/>')
        below = predicted if predicted == truth else f"{predicted} → {truth}"
        parts.append(f'<text x="{(left + right) / 2:.1f}" y="{top + 42}" text-anchor="middle">{escape(below)}</text>')
    return _svg(h + 8, top + 50, parts + names)


def _tree(of: Mapping[str, Any]) -> Html:
    """A sentence with arcs from heads to tokens above it; short arcs are below long ones."""
    ours, theirs = ([tuple(arc) for arc in of[name]] for name in ("arcs", "right arcs"))
    arcs = []  # first end, last end, head, token, colour, name, whether it was missed
    for t, (predicted, truth) in enumerate(zip(ours, theirs), start=1):
        same = predicted[0] == truth[0]
        name = str(predicted[1] or "") if not same or predicted[1] == truth[1] else f"{predicted[1]} → {truth[1]}"
        if predicted[0]:
            arcs.append(
                (*sorted((predicted[0], t)), predicted[0], t, RIGHT if predicted == truth else WRONG, name, False)
            )
        if truth[0] and not same:
            arcs.append((*sorted((truth[0], t)), truth[0], t, MISSED, str(truth[1] or ""), True))
    starts, ends, h = [0.0], [0.0], 8.0
    rooms = [0.0] * len(ours)  # minimum distance of neighbours, so that the name of an arc fits
    for first, last, _, _, _, name, _ in arcs:
        if last - first == 1:
            rooms[first - 1] = max(rooms[first - 1], LABEL * len(name))
    for token, room in zip(of["tokens"], rooms):
        starts.append(h)
        ends.append(h + CHAR * len(token))
        h += max(CHAR * len(token), room) + 2 * CHAR
    heights: list[int] = [0] * len(arcs)
    order = sorted(range(len(arcs)), key=lambda k: arcs[k][1] - arcs[k][0])
    for n, k in enumerate(order):
        first, last = arcs[k][:2]
        below = [heights[j] for j in order[:n] if arcs[j][0] < last and first < arcs[j][1]]
        heights[k] = max(below, default=0) + 1
    top = 16 + LEVEL * max(heights, default=0)
    parts, names = [], []
    for (_, _, head, t, colour, name, missed), height in zip(arcs, heights):
        a = (starts[head] + ends[head]) / 2 + (4 if t > head else -4)
        b = (starts[t] + ends[t]) / 2 + (-2 if missed else 2)
        line, word = _arc(a, b, top - LEVEL * height + 4, top, colour, name, missed=missed)
        parts.append(line)
        names.append(word)
    for t, token in enumerate(of["tokens"], start=1):
        parts.append(_token(token, starts[t], ends[t], top + 20))
        if not (ours[t - 1][0] and theirs[t - 1][0]):
            colour = RIGHT if ours[t - 1] == theirs[t - 1] else WRONG if not ours[t - 1][0] else MISSED
            dash = ' stroke-dasharray="4 3"' if colour == MISSED else ""
            at = f'x="{starts[t] - 3:.1f}" y="{top + 5}" width="{ends[t] - starts[t] + 6:.1f}" height="22" rx="4"'
            parts.append(f'<rect {at} fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
    return _svg(h + 8, top + 34, parts + names)


def _arc(a: float, b: float, v: float, low: float, colour: str, name: str, *, missed: bool) -> tuple[str, str]:
    """An arc from a to b at the height v with an arrow at the height `low`, and its name to be drawn after all arcs."""
    turn = 8 if b > a else -8
    path = f"M {a:.1f} {low} V {v + 8} Q {a:.1f} {v} {a + turn:.1f} {v} "
    path += f"H {b - turn:.1f} Q {b:.1f} {v} {b:.1f} {v + 8} V {low - 3}"
    dash = ' stroke-dasharray="4 3"' if missed else ""
    line = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'
    line += f'<path d="M {b - 4:.1f} {low - 8} L {b:.1f} {low - 1} L {b + 4:.1f} {low - 8} z" fill="{colour}"/>'
    return line, f'<text x="{(a + b) / 2:.1f}" y="{v - 4}" text-anchor="middle" class="arc">{escape(name)}</text>'


def _token(token: str, left: float, right: float, v: float) -> str:
    size = f'textLength="{right - left:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text class="mono" x="{left:.1f}" y="{v}" {size}>{escape(token)}</text>'


def _cut(of: Mapping[str, Any]) -> Mapping[str, Any]:
    """A sentence without the words far from all entities."""
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
