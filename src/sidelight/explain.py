"""Why this output and not the next best: the margin between the two, split into the weights that make it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sidelight.errors import DataError
from sidelight.model import Model


@dataclass(frozen=True, slots=True)
class Contribution:
    """One weight's share of the margin: positive for the prediction, negative for the runner-up."""

    part: str  # "feature", "dense", "transition", "start", "end" or "segment feature"
    token: int
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
        for item in self.contributions[:30]:
            place = f"{item.part} at {item.token} ({self.tokens[item.token]})"
            lines.append(f"  {item.amount:+.4f}  {place}: {item.name}  {item.predicted} against {item.runner_up}")
        rest = self.contributions[30:]
        if rest:
            lines.append(f"  {sum(item.amount for item in rest):+.4f}  {len(rest)} smaller ones")
        return "\n".join(lines)


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


def explain(model: Model, x: Any) -> Explanation:
    """The best output of an input, the best one that differs from it, and what makes the difference.

    Where labels have hidden states, contributions name the states.

    Raises `DataError` where the input admits one output only.
    """
    batch = model.batch([x])
    best = batch.best(model.weights)
    count = batch.rows.n_tokens
    label_of = model.labels.label_of
    mask = (label_of == label_of[best.labels][:, None]).astype(np.uint8)  # [T, L] every state of the labels
    if len(model.labels.classes) < 2:
        raise DataError("there is one label only, so nothing to compare with", remedy="train with two labels or more")
    other = replace(batch, space=batch.space.outside(mask)).best(model.weights)
    items = largest_first(_contributions(model, batch.rows, best.labels, other.labels))
    names = model.labels.decode(best.labels), model.labels.decode(other.labels)
    margin = float(best.values[0] - other.values[0])
    tokens = shown_tokens(x, count) if model.sequences else ["input"]
    return Explanation(tokens, *names, float(best.values[0]), margin, items)


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


def _contributions(model: Model, rows: Any, first: Any, second: Any) -> Iterator[Contribution]:
    """Feature by feature: the prediction's weight less the runner-up's."""
    layout, weights = model.layout, model.weights
    names = [str(name) for name in model.labels.names]
    shift = layout.n_labels - layout.columns
    sparse = np.zeros((layout.n_attributes, layout.n_labels)) if shift else layout.attribute_weights(weights)
    dense = np.zeros((layout.n_dense, layout.n_labels)) if shift else layout.dense_weights(weights)
    if shift:
        sparse[:, shift:] = layout.attribute_weights(weights)
        dense[:, shift:] = layout.dense_weights(weights)
    start, end, transition = layout.start(weights), layout.end(weights), layout.transition(weights)
    triple = layout.second(weights)
    last = rows.n_tokens - 1
    for t in range(rows.n_tokens):
        a, b = int(first[t]), int(second[t])
        pair = names[a], names[b]
        if a != b:
            for k in range(int(rows.indptr[t]), int(rows.indptr[t + 1])):
                attribute = int(rows.indices[k])
                value = float(rows.values[k]) if len(rows.values) else 1.0
                amount = value * float(sparse[attribute, a] - sparse[attribute, b])
                yield Contribution("feature", t, model.extractor.name(attribute), *pair, amount)
            if layout.n_dense:
                amount = float(rows.dense[t].astype(np.float64) @ (dense[:, a] - dense[:, b]))
                yield Contribution("dense", t, "dense row", *pair, amount)
            if t == 0:
                yield Contribution("start", t, "first label", *pair, float(start[a] - start[b]))
            if t == last:
                yield Contribution("end", t, "last label", *pair, float(end[a] - end[b]))
        if t > 0 and (a != b or first[t - 1] != second[t - 1]):
            c, d = int(first[t - 1]), int(second[t - 1])
            steps = f"{names[c]} → {names[a]}", f"{names[d]} → {names[b]}"
            amount = float(transition[c, a] - transition[d, b])
            yield Contribution("transition", t, "transition", *steps, amount)
        three = slice(t - 2, t + 1)
        if layout.order == 2 and t > 1 and np.any(first[three] != second[three]):
            (c, d, a), (e, f, b) = first[three].tolist(), second[three].tolist()
            steps = f"{names[c]} {names[d]} → {names[a]}", f"{names[e]} {names[f]} → {names[b]}"
            amount = float(triple[c, d, a] - triple[e, f, b])
            yield Contribution("transition", t, "second-order transition", *steps, amount)
