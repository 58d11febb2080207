"""Charts as SVG: curves with bands, and values with whiskers where x is not a number.

>>> drawn = curves([Series("SVM", [(10, 60.0, 2.0), (100, 70.0, 1.0)])], title="accuracy", x="tokens")
>>> drawn is not None and "<polyline" in drawn.text and "SVM" in drawn.text
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sidelight.core.html import Html, escape
from sidelight.report.page import COLOURS

Point = tuple[float, float, float | None]  # x, y, and the standard deviation of y
Scale = Callable[[float], float]

WIDTH, HEIGHT, LEFT, TOP, RIGHT, LOW = 460, 290, 62, 14, 24, 46
DASHES = ("", "7 3", "2 3")  # of series that share a colour
MANY = 16  # maximum number of points of a curve with marks


@dataclass(frozen=True)
class Series:
    """A named curve, and the published points for it."""

    name: str
    points: list[Point]
    published: list[Point] = field(default_factory=list)


def curves(
    series: Sequence[Series],
    *,
    title: str,
    x: str = "",
    y: str = "",
    logarithmic: tuple[bool | None, bool] = (None, False),
) -> Html | None:
    """Curves with bands of a standard deviation; None if no curve has two points.

    `logarithmic` is for x and y; None uses a logarithmic x axis if the values are far apart.
    """
    drawable = [
        Series(one.name, *(_shown(some, logarithmic) for some in (one.points, one.published))) for one in series
    ]
    drawable = _joined([one for one in drawable if one.points])
    if max((len(one.points) for one in drawable), default=0) < 2:
        return None
    xs = sorted({point[0] for one in drawable for point in one.points})
    every = [point for one in drawable for point in (*one.points, *one.published)]
    ends = [y + side * (std or 0.0) for _, y, std in every for side in (-1, 0, 1)]
    by_decades = _spread_out(xs) if logarithmic[0] is None else logarithmic[0]
    ys = [end for end in ends if end > 0] if logarithmic[1] else ends
    across, ticks = _axis(xs, (LEFT, WIDTH - RIGHT), by_decades, at=xs if len(xs) <= MANY else None)
    up, levels = _axis(ys, (HEIGHT - LOW, TOP), logarithmic[1])
    parts = [_frame(ticks, levels, across, up, x, y)]
    marked = max(len(one.points) for one in drawable) <= MANY
    for number, one in enumerate(drawable):
        parts.append(_curve(one, number, across, up, min(ys), marked=marked))
    names = [one.name for one in drawable]
    keys = _lines(names) if len(names) > 1 else ""
    keys += _told("dotted, hollow: the paper") if any(one.published for one in drawable) else ""
    keys += _told("bands: ± one standard deviation") if any(std for one in drawable for *_, std in one.points) else ""
    return _figure(title, parts, HEIGHT, keys)


def _joined(series: Sequence[Series]) -> list[Series]:
    """Coinciding curves merged into one with all their names, since only the last one drawn would be visible.

    >>> low, high = [(1.0, 2.0, None)], [(1.0, 3.0, None)]
    >>> [one.name for one in _joined([Series("A", low), Series("B", high), Series("C", low)])]
    ['A = C', 'B']
    """
    names: dict[str, list[Series]] = {}
    for one in series:
        names.setdefault(repr((one.points, one.published)), []).append(one)
    return [replace(same[0], name=" = ".join(one.name for one in same)) for same in names.values()]


def _spread_out(xs: Sequence[float]) -> bool:
    """Whether sorted numbers are positive, with differences that grow with their size.

    >>> _spread_out([100, 400, 1600]), _spread_out([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    (True, False)
    """
    return xs[0] > 0 and xs[-1] >= 8 * xs[0] and xs[-1] - xs[-2] >= 3 * (xs[1] - xs[0])


def _shown(points: Sequence[Point], logarithmic: tuple[bool | None, bool]) -> list[Point]:
    """Points that can be drawn, sorted by x."""
    visible = [point for point in points if math.isfinite(point[0]) and math.isfinite(point[1])]
    if logarithmic[0]:
        visible = [point for point in visible if point[0] > 0]
    return sorted(point for point in visible if point[1] > 0 or not logarithmic[1])


def _axis(
    values: Sequence[float], place: tuple[float, float], by_decades: bool, *, at: Sequence[float] | None = None
) -> tuple[Scale, list[float]]:
    """A function from values to positions, and the values with ticks."""
    low, high = min(values), max(values)
    if at is None:
        ticks = _decades(low, high) if by_decades else _round_steps(low, high)
        low, high = min(low, ticks[0]), max(high, ticks[-1])
    else:
        ticks = list(at)
    turn: Scale = math.log10 if by_decades else float
    first, last = turn(low), turn(high)
    width = (last - first) or 1.0

    def scale(value: float) -> float:
        return place[0] + (place[1] - place[0]) * (turn(value) - first) / width

    return scale, ticks


def _round_steps(low: float, high: float) -> list[float]:
    """About five round numbers around all values.

    >>> _round_steps(61.2, 68.9)
    [60.0, 62.0, 64.0, 66.0, 68.0, 70.0]
    >>> _round_steps(100.0, 100.0)
    [99.0, 99.5, 100.0, 100.5, 101.0]
    """
    if high <= low:
        room = 0.01 * abs(high) or 1.0
        low, high = low - room, high + room
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(k * size for k in (1, 2, 5, 10) if k * size >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]


def _decades(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return [10.0**k for k in range(first, max(last, first + 1) + 1)]


def _frame(ticks: Sequence[float], levels: Sequence[float], across: Scale, up: Scale, x: str, y: str) -> str:
    """Grid, numbers and names of both axes."""
    parts = []
    for level in levels:
        v = up(level)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{v:.1f}" x2="{WIDTH - RIGHT}" y2="{v:.1f}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{v + 4:.1f}" text-anchor="end">{_number(level)}</text>')
    last = -math.inf
    for tick in ticks:
        h, text = across(tick), _number(tick)
        parts.append(f'<line class="tick" x1="{h:.1f}" y1="{HEIGHT - LOW}" x2="{h:.1f}" y2="{HEIGHT - LOW + 4}"/>')
        if h - last >= 7.0 * len(text) + 6:
            parts.append(f'<text x="{h:.1f}" y="{HEIGHT - LOW + 18}" text-anchor="middle">{text}</text>')
            last = h
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x)}</text>')
    if y:
        v = (TOP + HEIGHT - LOW) / 2
        turned = f'text-anchor="middle" transform="rotate(-90 14 {v})"'
        parts.append(f'<text class="name" x="14" y="{v}" {turned}>{escape(y)}</text>')
    return "".join(parts)


def _number(value: float) -> str:
    """A number on an axis.

    >>> [_number(value) for value in (12000.0, 0.5, 0.001, 1e-05)]
    ['12,000', '0.5', '0.001', '1e-5']
    """
    if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.6g}" if value != int(value) else f"{int(value):,}"


def _curve(one: Series, number: int, across: Scale, up: Scale, floor: float, *, marked: bool) -> str:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y, _ in one.points)
    parts = []
    if any(point[2] for point in one.points):
        above = [f"{across(x):.1f},{up(y + (std or 0.0)):.1f}" for x, y, std in one.points]
        below = [f"{across(x):.1f},{up(max(y - (std or 0.0), floor)):.1f}" for x, y, std in reversed(one.points)]
        parts.append(f'<polygon points="{" ".join(above + below)}" fill="{colour}" fill-opacity=".12"/>')
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
    published = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y, _ in one.published)
    if published:
        dotted = 'stroke-width="1.6" stroke-dasharray="1 5" stroke-linecap="round"'
        parts.append(f'<polyline points="{published}" fill="none" stroke="{colour}" {dotted}/>')
    for x, y, _ in one.published:
        place = f'cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.5"'
        parts.append(f'<circle {place} fill="var(--back)" stroke="{colour}" stroke-width="1.6">')
        parts.append(f"<title>{escape(f'{one.name}, paper: {_number(x)}, {y:.2f}')}</title></circle>")
    for x, y, std in one.points if marked or len(one.points) == 1 else ():
        tooltip = f"{one.name}: {_number(x)}, {y:.2f}" + ("" if std is None else f" ± {std:.2f}")
        parts.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.2" fill="{colour}">')
        parts.append(f"<title>{escape(tooltip)}</title></circle>")
    return "".join(parts)


def dots(lines: Sequence[tuple[str, float, float | None, float | None]], *, title: str, x: str = "") -> Html | None:
    """Values by name, each with its standard deviation and, if there is one, a published value."""
    if not lines:
        return None
    values = [value + side * (std or 0.0) for _, value, std, _ in lines for side in (-1, 1)]
    values += [paper for *_, paper in lines if paper is not None]
    left = 20 + 7.3 * min(max(len(name) for name, *_ in lines), 40)
    height = TOP + 24 * len(lines) + LOW
    across, ticks = _axis(values, (left, WIDTH - RIGHT), by_decades=False)
    parts = []
    for tick in ticks:
        h = across(tick)
        parts.append(f'<line class="grid" x1="{h:.1f}" y1="{TOP}" x2="{h:.1f}" y2="{height - LOW}"/>')
        parts.append(f'<text x="{h:.1f}" y="{height - LOW + 18}" text-anchor="middle">{_number(tick)}</text>')
    parts.append(f'<text class="name" x="{(left + WIDTH - RIGHT) / 2}" y="{height - 8}" text-anchor="middle">')
    parts.append(f"{escape(x)}</text>")
    for number, (name, value, std, paper) in enumerate(lines):
        v = TOP + 24 * number + 14
        shown = name if len(name) <= 40 else name[:39] + "…"
        parts.append(f'<text x="{left - 8}" y="{v + 4}" text-anchor="end">{escape(shown)}</text>')
        if std:
            ends = f'x1="{across(value - std):.1f}" x2="{across(value + std):.1f}"'
            parts.append(f'<line {ends} y1="{v}" y2="{v}" stroke="{COLOURS[0]}" stroke-width="2" stroke-opacity=".5"/>')
        parts.append(f'<circle cx="{across(value):.1f}" cy="{v}" r="4" fill="{COLOURS[0]}">')
        parts.append(f"<title>{escape(f'{name}: {value:.2f}')}</title></circle>")
        if paper is not None:
            h = across(paper)
            corners = f"{h:.1f},{v - 5.5} {h + 5.5:.1f},{v} {h:.1f},{v + 5.5} {h - 5.5:.1f},{v}"
            parts.append(f'<polygon points="{corners}" fill="none" stroke="{COLOURS[1]}" stroke-width="2"/>')
    keys = _marks() if any(paper is not None for *_, paper in lines) else ""
    return _figure(title, parts, height, keys)


def scatter(groups: Mapping[str, Sequence[tuple[float, float, str]]], *, title: str, x: str, y: str) -> Html | None:
    """Points (x, y, name) by group, with the diagonal x = y."""
    points = [point for group in groups.values() for point in group]
    if len(points) < 2:
        return None
    ends = [value for a, b, _ in points for value in (a, b)]
    across, ticks = _axis(ends, (LEFT, WIDTH - RIGHT), by_decades=False)
    up, _ = _axis(ends, (HEIGHT - LOW, TOP), by_decades=False)
    parts = [_frame(ticks, ticks, across, up, x, y)]
    first, last = ticks[0], ticks[-1]
    ends_of = f'x1="{across(first):.1f}" y1="{up(first):.1f}" x2="{across(last):.1f}" y2="{up(last):.1f}"'
    parts.append(f'<line class="tick" stroke-dasharray="4 4" {ends_of}/>')
    if first < 0 < last:  # the line of no gain
        parts.append(f'<line class="zero" x1="{across(0):.1f}" x2="{across(0):.1f}" y1="{TOP}" y2="{HEIGHT - LOW}"/>')
        parts.append(f'<line class="zero" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(0):.1f}" y2="{up(0):.1f}"/>')
    for number, group in enumerate(groups.values()):
        colour = COLOURS[number % len(COLOURS)]
        for a, b, name in group:
            place = f'cx="{across(a):.1f}" cy="{up(b):.1f}"'
            parts.append(
                f'<circle {place} r="4" fill="{colour}" fill-opacity=".75"><title>{escape(name)}</title></circle>'
            )
    return _figure(title, parts, HEIGHT, _discs(list(groups)) if len(groups) > 1 else "")


def _lines(names: Sequence[str]) -> str:
    """The colours and dashes of curves."""
    return "".join(
        f'<span class="key"><svg width="26" height="10" aria-hidden="true"><line x1="1" y1="5" x2="25" y2="5" '
        f'stroke="{COLOURS[k % len(COLOURS)]}" stroke-width="3"'
        f' stroke-dasharray="{DASHES[k // len(COLOURS) % len(DASHES)] or "none"}"/></svg>{escape(name)}</span>'
        for k, name in enumerate(names)
    )


def _discs(names: Sequence[str]) -> str:
    """The colours of points."""
    return "".join(
        f'<span class="key"><svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4" '
        f'fill="{COLOURS[k % len(COLOURS)]}"/></svg>{escape(name)}</span>'
        for k, name in enumerate(names)
    )


def _marks() -> str:
    """The marks of our values and of a paper's."""
    disc = f'<circle cx="6" cy="6" r="4" fill="{COLOURS[0]}"/>'
    diamond = f'<polygon points="6,1 11,6 6,11 1,6" fill="none" stroke="{COLOURS[1]}" stroke-width="2"/>'
    return "".join(
        f'<span class="key"><svg width="12" height="12" aria-hidden="true">{mark}</svg>{name}</span>'
        for mark, name in ((disc, "here"), (diamond, "paper"))
    )


def _told(text: str) -> str:
    return f'<span class="key faint">{escape(text)}</span>'


def _figure(title: str, parts: Sequence[str], height: float, keys: str) -> Html:
    """A chart with its title above and its legend below."""
    legend = f'<div class="legend">{keys}</div>' if keys else ""
    return Html(
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>{legend}</figure>'
    )
