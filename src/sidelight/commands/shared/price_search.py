"""Which prices to try, and what was found: the search that `sidelight train --valid` makes.

With one or two kinds of evidence every combination of prices is tried. With more the kinds take turns, from the prices
that are nearest to the usual ones: all prices of one kind, the others as they are best so far, until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from sidelight.evidence import Evidence
from sidelight.recipes import Recipe
from sidelight.specs.settings import DEFAULT_PRICES

Point = tuple[float, ...]  # a price for each kind
_SWEEPS = 3  # turns of each kind, where there are more than two
_CALLED = {"gold": "C1", "companion": "C2"}


@dataclass(frozen=True, slots=True)
class PriceSearch:
    """The kinds of evidence that are there and have no price yet, and the prices to try, small ones first."""

    kinds: tuple[str, ...]
    values: tuple[float, ...]
    fixed: Mapping[str, float]  # prices that were given

    def prices(self, point: Point) -> dict[str, float]:
        """All prices of a point, and those that were given."""
        prices = {**self.fixed, **dict(zip(self.kinds, point))}
        return {kind: prices[kind] for kind in DEFAULT_PRICES if kind in prices}

    def named(self, point: Point) -> dict[str, float]:
        """The prices of a point as a record of rounds has them: c1, c2, and other kinds by name."""
        return {_CALLED.get(kind, kind).lower(): price for kind, price in self.prices(point).items()}

    def run(self, score: Callable[[Point, str], float]) -> Tried:
        """Try the points; `score` also takes what the trial is called."""
        tried = Tried(self)
        if len(self.kinds) <= 2:
            points = list(product(self.values, repeat=len(self.kinds)))
            for number, point in enumerate(points, start=1):
                tried.scores[point] = score(point, f"{number} of {len(points)}")
            return tried
        point = tuple(_nearest(self.values, DEFAULT_PRICES[kind]) for kind in self.kinds)
        for _ in range(_SWEEPS):
            before = point
            for axis in range(len(self.kinds)):
                for value in self.values:
                    turned = (*point[:axis], value, *point[axis + 1 :])
                    if turned not in tried.scores:
                        tried.scores[turned] = score(turned, f"trial {len(tried.scores) + 1}")
                point = tried.best
            if point == before:
                break
        return tried


@dataclass(slots=True)
class Tried:
    """The scores of the points that were tried, in the order of trying."""

    search: PriceSearch
    scores: dict[Point, float] = field(default_factory=dict)

    @property
    def best(self) -> Point:
        """The first point of the highest score."""
        return max(self.scores, key=self.scores.__getitem__)

    def table(self, metric: str) -> str:
        """All points as text; a star marks the choice."""
        best = self.best
        names = [_CALLED.get(kind, kind) for kind in self.search.prices(best)]
        lines = ["".join(f"{name:>11}" for name in names) + f"  {'span F1' if metric == 'span_f1' else metric}"]
        for point, score in self.scores.items():
            cells = "".join(f"{price:>11g}" for price in self.search.prices(point).values())
            lines.append(f"{cells}  {100 * score:7.2f}%{' *' if point == best else ''}")
        return "\n".join(lines) + "\n\n"

    def edges(self) -> list[str]:
        """A note on each price that was chosen at an edge of the grid, where the next one inside is worse."""
        values, best, edges = self.search.values, self.best, []
        for axis, kind in enumerate(self.search.kinds):
            place = values.index(best[axis])
            inner = {0: 1, len(values) - 1: len(values) - 2}.get(place)
            if inner is None or len(values) == 1:
                continue
            beside = (*best[:axis], values[inner], *best[axis + 1 :])
            if self.scores[best] > self.scores[beside]:
                which, more = ("smallest", "smaller") if place == 0 else ("largest", "larger")
                called = f" ({_CALLED[kind]})" if kind in _CALLED else ""
                wider = ",".join(f"{value:g}" for value in _wider(values, upwards=place > 0))
                edges.append(
                    f"the best price of {kind}{called} is the {which} tried, {best[axis]:g}; a {more} one may be "
                    f"better: --grid {wider}"
                )
        return edges


def price_search(
    text: str, fixed: Mapping[str, float], evidence: Sequence[Evidence], *, learner: Recipe
) -> PriceSearch:
    """The search that `--grid` asks for: over the kinds that are there, have no price yet, and one for the learner."""
    try:
        values = sorted({float(value) for value in text.split(",")})
    except ValueError:
        values = []
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"--grid is {text!r}; give prices with commas between them, e.g. 0.1,1,10")
    there = {"gold"} if learner.prices_gold_alone else {piece.kind for piece in evidence}
    kinds = tuple(kind for kind in DEFAULT_PRICES if kind in there and kind not in fixed)
    return PriceSearch(kinds, tuple(values), fixed)


def _nearest(values: Sequence[float], to: float) -> float:
    return min(values, key=lambda value: abs(value - to))


def _wider(values: Sequence[float], *, upwards: bool) -> list[float]:
    """The values and one more beyond an edge, as far from it as it is from its neighbour."""
    edge, inner = (values[-1], values[-2]) if upwards else (values[0], values[1])
    more = edge * edge / inner if inner > 0 and edge > 0 else 10 * edge
    return sorted({*values, float(f"{more:.6g}")})
