"""The picture of the README, as `make quickstart` trains: python tests/readme_picture.py > docs/quickstart.svg

One test reference as each of four models reads it, and how much each has right of all test references.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from sidelight.core.html import escape
from sidelight.corpus import FIELDS, Reference
from sidelight.evaluate import evaluate
from sidelight.quickstart import split, ways
from sidelight.report.page import coloured

SEED = 0  # that of `make quickstart`
WIDTH, EDGE, CHAR, SMALL, LINE = 900, 22, 7.4, 5.6, 30  # widths of letters, and the height of a line
BAR = 190  # the length of a bar of 100 %
COLOUR = coloured(sorted(FIELDS))


class Reading(NamedTuple):
    """What a model makes of a reference, and its share of right tokens in all."""

    name: str
    learner: str
    labels: Sequence[str]
    accuracy: float


def readings() -> tuple[Reference, list[Reading]]:
    """The first test reference, and what each model makes of it."""
    data = split(SEED)
    tokens, labels = [list(one.tokens) for one in data.test], [list(one.labels) for one in data.test]
    results = []
    for way in ways(data, SEED):
        found = way.tagger.fit(way.evidence).predict(tokens)
        results.append(Reading(way.name, way.learner, found[0], evaluate(labels, found).accuracy))
    return data.test[0], results


def drawn(reference: Reference, each: Sequence[Reading]) -> str:
    """The picture."""
    parts, v = [], 20.0
    for one in each:
        parts.append(_head(one, v))
        lines = _patches(reference, one.labels, v + 14)
        parts += lines.parts
        v = lines.end + 28
    right = "underlined: a wrong field"
    note = "The first test reference as each model reads it; at the right, tokens right in 500 test references"
    parts.append(f'<text x="{EDGE}" y="{v:.0f}" class="note">{note} ({right}).</text>')
    style = (
        "text{font-family:Helvetica,Arial,sans-serif;font-size:14px;fill:#1d2733}"
        ".head{font-weight:bold}.note{font-size:12.5px;fill:#5b6672}"
        ".word{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12.5px}"
        ".name{font-size:10.5px;font-weight:bold}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {v + 16:.0f}" role="img" '
        f'aria-label="A reference as four models read it"><style>{style}</style>'
        f'<rect width="{WIDTH}" height="{v + 16:.0f}" rx="8" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _head(one: Reading, v: float) -> str:
    left = WIDTH - EDGE - BAR
    return (
        f'<text x="{EDGE}" y="{v + 4:.1f}" class="head">{escape(one.name)} '
        f'<tspan class="note" font-weight="normal">{escape(one.learner)}</tspan></text>'
        f'<rect x="{left}" y="{v - 8:.1f}" width="{BAR}" height="15" rx="3" fill="#eef2f6"/>'
        f'<rect x="{left}" y="{v - 8:.1f}" width="{BAR * one.accuracy / 100:.1f}" height="15" rx="3" fill="#2f6fb2"/>'
        f'<text x="{left - 8}" y="{v + 4:.1f}" text-anchor="end" class="head">{one.accuracy:.1f} %</text>'
    )


class Lines(NamedTuple):
    """Lines of patches, and where they end."""

    parts: list[str]
    end: float


def _patches(reference: Reference, labels: Sequence[str], v: float) -> Lines:
    """Words of one field in a patch of its colour, with its name behind them; wrong ones are underlined."""
    parts: list[str] = []
    h = float(EDGE)
    for label, words in groupby(zip(labels, reference.tokens, reference.labels), key=lambda one: one[0]):
        group = list(words)
        while group:
            count = _fitting([word for _, word, _ in group], label, WIDTH - EDGE - h)
            if not count:
                h, v = float(EDGE), v + LINE
                continue
            here, group = group[:count], group[count:]
            text, width = _patch(here, label, h, v, named=not group)
            parts.append(text)
            h += width + 7
    return Lines(parts, v + LINE)


def _fitting(words: Sequence[str], label: str, room: float) -> int:
    """How many words fit into what is left of a line; all only with the name of the field."""
    for count in range(len(words), 0, -1):
        letters = sum(map(len, words[:count])) + count - 1
        name = SMALL * len(label) + 8 if count == len(words) else 0.0
        if CHAR * letters + name + 12 <= room:
            return count
    return 0


def _patch(group: Sequence[tuple[str, str, str]], label: str, h: float, v: float, *, named: bool) -> tuple[str, float]:
    colour, at, inside = COLOUR[label], h + 6, []
    for _, word, truth in group:
        width = CHAR * len(word)
        size = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
        inside.append(f'<text x="{at:.1f}" y="{v + 14:.1f}" class="word" {size}>{escape(word)}</text>')
        if truth != label:
            line = f'x1="{at:.1f}" x2="{at + width:.1f}" y1="{v + 18:.1f}" y2="{v + 18:.1f}"'
            inside.append(f'<line {line} stroke="#c0392b" stroke-width="1.6" stroke-dasharray="3 1.5"/>')
        at += width + CHAR
    end = at - CHAR
    if named:
        inside.append(
            f'<text x="{end + 6:.1f}" y="{v + 14:.1f}" class="name" style="fill:{_dark(colour)}">{escape(label)}</text>'
        )
        end += SMALL * len(label) + 6
    width = end - h + 6
    frame = f'x="{h:.1f}" y="{v:.1f}" width="{width:.1f}" height="22" rx="4"'
    return f'<rect {frame} fill="{colour}" fill-opacity=".15"/>' + "".join(inside), width


def _dark(colour: str) -> str:
    """A colour that can be read on a light patch of its own."""
    return "#" + "".join(f"{int(colour[k : k + 2], 16) * 6 // 10:02x}" for k in (1, 3, 5))


if __name__ == "__main__":
    sys.stdout.write(drawn(*readings()))
