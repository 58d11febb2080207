"""Small tables for notebooks: text in, HTML out, with everything escaped.

Styles are written into the elements, so a fragment can be shown anywhere. Colours are inherited from the page, so it
can be read on white and on black.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

LINE = "1px solid rgba(128,128,128,.35)"
_FRAME = (
    "display:inline-block;max-width:100%;overflow-x:auto;padding:.6em .9em;margin:.2em 0;"
    f"border:{LINE};border-radius:6px;font-size:13px;line-height:1.45"
)
_CELL = "padding:.15em .7em .15em 0;border:0;background:none;color:inherit;vertical-align:top"
_TABLE = "border-collapse:collapse;border:0;margin:0;font-size:13px;color:inherit"
_HEAD = f"{_CELL};font-weight:600;opacity:.65;border-bottom:{LINE}"


_NUMBER = re.compile(r"[+−-]?[0-9][0-9.,e+-]* ?%?")


@dataclass(frozen=True, slots=True)
class Html:
    """A fragment that is HTML already; everything else is escaped."""

    text: str


def escape(value: Any) -> str:
    """A value as escaped text.

    >>> escape("a < b")
    'a &lt; b'
    """
    return value.text if isinstance(value, Html) else html.escape(str(value))


def block(title: Any, *parts: Any) -> str:
    """A frame with a title, and with fragments below each other."""
    inside = "".join(f'<div style="margin-top:.5em">{escape(part)}</div>' for part in parts if part not in (None, ""))
    return f'<div style="{_FRAME}"><div style="font-weight:600">{escape(title)}</div>{inside}</div>'


def table(headers: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Html:
    """A table; columns of numbers are aligned to the right.

    >>> "<script>" in table(["word"], [["<script>"]]).text
    False
    """
    lines = [[*row] for row in rows]
    right = [bool(lines) and all(_is_number(row[k]) for row in lines) for k in range(len(headers))]
    return _table([_row("th", _HEAD, headers, right), *(_row("td", _CELL, row, right) for row in lines)])


def pairs(rows: Iterable[tuple[Any, Any]]) -> Html | None:
    """A table of names and values; None if there are none."""
    lines = [_row("td", _CELL, (muted(name), value), (False, False)) for name, value in rows]
    return _table(lines) if lines else None


def muted(value: Any) -> Html:
    """In a fainter colour."""
    return Html(f'<span style="opacity:.65">{escape(value)}</span>')


def code(value: Any) -> Html:
    """In the font of code."""
    return Html(f'<code style="background:none;color:inherit">{escape(value)}</code>')


def _table(rows: Sequence[str]) -> Html:
    return Html(f'<table style="{_TABLE}">{"".join(rows)}</table>')


def _row(kind: str, style: str, cells: Sequence[Any], right: Sequence[bool]) -> str:
    sides = ["right" if to_right else "left" for to_right in right]
    shown = (f'<{kind} style="{style};text-align:{side}">{escape(cell)}</{kind}>' for side, cell in zip(sides, cells))
    return f"<tr>{''.join(shown)}</tr>"


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number, or text that is one: 12, +0.5, 93.1%."""
    return isinstance(cell, int | float) or (isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None)


__all__ = ["Html", "block", "code", "escape", "muted", "pairs", "table"]
