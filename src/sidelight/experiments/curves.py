"""Curves as an SVG file, both axes logarithmic, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from sidelight.data.files import write_text_atomically

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 70, 40, 210, 50
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")

Points = Sequence[tuple[float, float]]


def write_curves(path: Path, curves: Mapping[str, Points], *, title: str, x: str, y: str) -> None:
    """Write named curves of positive points; points that are not positive are left out."""
    kept = {name: [(a, b) for a, b in points if a > 0 and b > 0] for name, points in curves.items()}
    every = [point for points in kept.values() for point in points]
    if not every:
        return
    (x0, x1), (y0, y1) = (_decades([point[axis] for point in every]) for axis in (0, 1))
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(point: tuple[float, float]) -> tuple[float, float]:
        h = LEFT + across * (math.log10(point[0]) - x0) / (x1 - x0)
        v = TOP + down * (1 - (math.log10(point[1]) - y0) / (y1 - y0))
        return h, v

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
        f'<text x="{LEFT + across / 2}" y="{HEIGHT - 10}" font-size="12" text-anchor="middle">{escape(x)}</text>',
        f'<text x="16" y="{TOP + down / 2}" font-size="12" text-anchor="middle" '
        f'transform="rotate(-90 16 {TOP + down / 2})">{escape(y)}</text>',
    ]
    for decade in range(x0, x1 + 1):
        h, _ = place((10.0**decade, 10.0**y0))
        parts.append(f'<line x1="{h:.1f}" y1="{TOP}" x2="{h:.1f}" y2="{TOP + down}" stroke="#ddd"/>')
        parts.append(_tick(h, TOP + down + 16, decade, "middle"))
    for decade in range(y0, y1 + 1):
        _, v = place((10.0**x0, 10.0**decade))
        parts.append(f'<line x1="{LEFT}" y1="{v:.1f}" x2="{LEFT + across}" y2="{v:.1f}" stroke="#ddd"/>')
        parts.append(_tick(LEFT - 6, v + 4, decade, "end"))
    for number, (name, points) in enumerate(kept.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(f"{h:.1f},{v:.1f}" for h, v in map(place, points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        h, v = WIDTH - RIGHT + 14, TOP + 14 + 20 * number
        parts.append(f'<line x1="{h}" y1="{v - 4}" x2="{h + 22}" y2="{v - 4}" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{h + 28}" y="{v}" font-size="12">{escape(name)}</text>')
    write_text_atomically(path, "\n".join([*parts, "</svg>"]) + "\n")


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _tick(h: float, v: float, decade: int, anchor: str) -> str:
    return f'<text x="{h:.1f}" y="{v:.1f}" font-size="11" text-anchor="{anchor}">1e{decade}</text>'
