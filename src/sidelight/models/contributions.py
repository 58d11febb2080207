"""What the margin between two outputs consists of: weights by name, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.core import html

SHOWN = 30  # contributions, the largest
WHOLE = -1  # in the place of a token: of the whole output
SLOT = "slot"  # all that a choice is worth, where features have no names
NONE = "–"  # the other output has no such part


@dataclass(frozen=True, slots=True)
class Contribution:
    """One weight's share of the margin: positive for the prediction, negative for the runner-up."""

    part: str  # "feature", "dense", "transition", "start", "end", "segment feature", or SLOT
    token: int  # or WHOLE
    name: str
    predicted: str
    runner_up: str
    amount: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A prediction, its runner-up, and contributions that add up to the margin between them."""

    tokens: list[str]
    predicted: list[Any]
    runner_up: list[Any]
    score: float
    margin: float
    contributions: list[Contribution]  # largest first, without zeros

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)

    def __str__(self) -> str:
        return self.shown()

    def shown(self, under_rules: Sequence[Any] | None = None) -> str:
        """A table of the labels, and what the margin consists of.

        Rules are no part of a model: the labels that they lead to are given, and shown beside those of the model alone.
        """
        others = ["" if label == other else other for label, other in zip(self.predicted, self.runner_up)]
        columns: dict[str, Sequence[Any]] = {"token": self.tokens, "predicted": self.predicted, "runner-up": others}
        if under_rules is not None:
            alone = {"without rules": self.predicted, "its runner-up": others}
            columns = {"token": self.tokens, "under rules": under_rules, **alone}
        lines = [side_by_side(columns), ""]
        whose = "" if under_rules is None else " without rules"
        lines.append(f"score{whose} {self.score:.4f}, margin over the runner-up {self.margin:.4f}, of which")
        for item in self.contributions[:SHOWN]:
            lines.append(f"  {item.amount:+.4f}  {self._place(item)} {item.predicted} against {item.runner_up}")
        rest = self.contributions[SHOWN:]
        if rest:
            lines.append(f"  {sum(item.amount for item in rest):+.4f}  {len(rest)} smaller ones")
        return "\n".join(lines)

    def _place(self, item: Contribution) -> str:
        """What a weight is about."""
        if item.part == SLOT:
            return f"{self.tokens[item.token]}:"
        where = "" if item.token == WHOLE else f" at {item.token} ({self.tokens[item.token]})"
        return f"{item.part}{where}: {item.name} " if item.name else f"{item.part}{where}:"

    def _repr_html_(self) -> str:
        """For notebooks: the labels below their tokens, and the weights that decide."""
        words = [html.muted("token"), *map(html.code, self.tokens)]
        best = [html.muted("predicted"), *map(html.code, self.predicted)]
        others = ["" if a == b else html.code(b) for a, b in zip(self.predicted, self.runner_up)]
        labels = html.table(words, [best, [html.muted("runner-up"), *others]])
        rows: list[tuple[Any, ...]] = [
            (
                f"{item.amount:+.4f}",
                item.part if item.token == WHOLE else f"{item.part} at {item.token}",
                "" if item.token == WHOLE else html.code(self.tokens[item.token]),
                html.code(item.name),
                html.code(item.predicted),
                html.code(item.runner_up),
            )
            for item in self.contributions[:SHOWN]
        ]
        if rest := self.contributions[SHOWN:]:
            rows.append((f"{sum(item.amount for item in rest):+.4f}", f"{len(rest):,} smaller ones", "", "", "", ""))
        heads = ("weight", "of", "token", "feature", "for", "against")
        said = f"score {self.score:.4f}, margin over the runner-up {self.margin:.4f}, of which"
        return html.block("Explanation", labels, said, html.table(heads, rows))


def side_by_side(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns under their heads.

    >>> print(side_by_side({"token": ["light"], "predicted": ["N"]}))
    token  predicted
    light  N
    """
    cells = [[head, *map(str, column)] for head, column in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    rows = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in zip(*cells)]
    return "\n".join(rows)


def largest_first(items: Iterable[Contribution]) -> list[Contribution]:
    """Contributions in the order of their size, without zeros."""
    return sorted((item for item in items if item.amount != 0.0), key=lambda item: -abs(item.amount))


def shown_tokens(x: Any, count: int) -> list[str]:
    """The words of a sequence, or whatever tells its tokens apart."""
    try:
        tokens = list(x)
    except TypeError:
        return [f"row {t}" for t in range(count)]
    return [t if isinstance(t, str) else str(t[0]) if isinstance(t, (tuple, list)) and t else str(t) for t in tokens]
