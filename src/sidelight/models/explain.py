"""Why this output and not the second best: the margin between the two, split into the weights that contribute to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sidelight.core import html
from sidelight.core.arrays import Floats
from sidelight.errors import DataError
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.features.segments.segment_rows import Segments
from sidelight.models.model import Model, model_of
from sidelight.objective.scorers.chain_scorer import ChainScorer, chain_of
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.spaces import sums
from sidelight.spaces.slots import BatchedSlotSpace
from sidelight.structures.chain_structure import ChainStructure
from sidelight.structures.segment_structure import SegmentStructure
from sidelight.structures.weight_names import FeatureWeightNames, label_words

SHOWN = 30  # maximum number of contributions shown
WHOLE = -1  # instead of a token: the whole output
SLOT = "slot"  # the total score of a choice, if features have no names
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

        Rules are not part of a model: pass the labels under the rules, which are shown beside those of the model alone.
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
        """The place to which a weight refers."""
        if item.part == SLOT:
            return f"{self.tokens[item.token]}:"
        where = "" if item.token == WHOLE else f" at {item.token} ({self.tokens[item.token]})"
        return f"{item.part}{where}: {item.name} " if item.name else f"{item.part}{where}:"

    def _repr_html_(self) -> str:
        """For notebooks: the labels below their tokens, and the decisive weights."""
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
        caption = f"score {self.score:.4f}, margin over the runner-up {self.margin:.4f}, of which"
        return html.block("Explanation", labels, caption, html.table(heads, rows))


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
    """Contributions by decreasing absolute size, without zeros."""
    return sorted((item for item in items if item.amount != 0.0), key=lambda item: -abs(item.amount))


def shown_tokens(x: Any, count: int) -> list[str]:
    """The words of a sequence, or other texts that distinguish its tokens."""
    try:
        tokens = list(x)
    except TypeError:
        return [f"row {t}" for t in range(count)]
    return [t if isinstance(t, str) else str(t[0]) if isinstance(t, (tuple, list)) and t else str(t) for t in tokens]


def explain(fitted: Any, x: Any) -> Explanation:
    """Explain the best output of an input: the runner-up, and the weights that separate the two.

    `fitted` is any fitted estimator of labels or structures, or a model. Rules are ignored (see `explain_rules`). With
    hidden states, contributions name states; for a segmenter they name segment labels; for `Joint` and `Predictor` they
    cover the whole output. Raises `DataError` if the input admits only one output, and `Intractable` if the structure
    has no second-best output.

    >>> import sidelight as sl
    >>> tagger = sl.Tagger(learner="crf").fit([["a", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> why = sl.explain(tagger, ["a", "cat"])
    >>> why.predicted, why.margin > 0
    (['D', 'N'], True)
    """
    model = model_of(fitted)
    if isinstance(model.structure, SegmentStructure):
        return _explain_segments(model, x)
    if not isinstance(model.structure, ChainStructure):
        return _explain_whole(model, x)
    batch = model.batch([x])
    scorer = chain_of(batch)
    best = batch.best(model.weights)
    count = int(batch.starts[-1])
    label_of = model.labels.label_of
    mask = (label_of == label_of[best.labels][:, None]).astype(np.uint8)  # [T, L] every state of the labels
    if len(model.labels.classes) < 2:
        raise DataError("there is one label only, so nothing to compare with", remedy="train with two labels or more")
    other = replace(batch, space=batch.space.outside(mask)).best(model.weights)
    items = largest_first(_contributions(model, scorer, best.labels, other.labels))
    names = model.labels.decode(best.labels), model.labels.decode(other.labels)
    margin = float(best.values[0] - other.values[0])
    tokens = shown_tokens(x, count) if model.sequences else ["input"]
    return Explanation(tokens, *names, float(best.values[0]), margin, items)


def _explain_whole(model: Model, x: Any) -> Explanation:
    """Contributions by the feature counts in which two outputs of any structure differ; by slots if features have no
    names.
    """
    rows = model.prepare([x])
    batch = model.batch(rows)
    outputs, values = sums.k_best(batch.space, batch.scores(model.weights), 2)
    if values[1, 0] == -np.inf:
        raise DataError("there is one output only, so nothing to compare with", remedy="give a larger input")
    slots = model.structure.slots(rows)
    best, other = (model.structure.choice_words(rows, one) for one in outputs)
    margin = float(values[0, 0] - values[1, 0])
    names = model.structure.weight_names()
    if isinstance(batch.space, BatchedSlotSpace) and isinstance(names, FeatureWeightNames) and names.hashed:
        table = batch.space.block(batch.scores(model.weights))  # [slots, choices]
        items = [
            Contribution(SLOT, t, "choice", str(one), str(two), float(table[t, a] - table[t, b]))
            for t, (one, two, a, b) in enumerate(zip(best, other, *outputs.tolist()))
        ]
        return Explanation(slots, best, other, float(values[0, 0]), margin, largest_first(items))
    differs = batch.differences(np.arange(1), *outputs, scales=np.ones(1))
    items = []
    for place, count in zip(differs.indices.tolist(), differs.values.tolist()):
        part, name, label = names.named(place)
        word = "more" if label is None else label_words(label)
        pair = (word, NONE) if count > 0 else (NONE, word)
        items.append(Contribution(part, WHOLE, name, *pair, count * float(model.weights[place])))
    return Explanation(slots, best, other, float(values[0, 0]), margin, largest_first(items))


def _contributions(model: Model, scorer: ChainScorer, first: Any, second: Any) -> Iterator[Contribution]:
    """Contributions by feature: the weight for the prediction minus that for the runner-up."""
    rows, layout, weights = scorer.rows, scorer.layout, model.weights
    names = [str(name) for name in model.labels.names]
    start, end, transition = layout.start(weights), layout.end(weights), layout.transition(weights)
    triple = layout.second(weights)
    last = rows.n_tokens - 1
    for t in range(rows.n_tokens):
        a, b = int(first[t]), int(second[t])
        pair = names[a], names[b]
        if a != b:
            yield from _of_token(model, rows, layout, weights, t, (a, b), pair)
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


def _of_token(
    model: Model, rows: Rows, layout: Layout, weights: Floats, t: int, labels: tuple[int, int], names: tuple[str, str]
) -> Iterator[Contribution]:
    """The contributions of a token's own features for one label and against another."""
    sparse, dense = layout.attribute_weights(weights), layout.dense_weights(weights)
    columns = [label - (layout.n_labels - layout.columns) for label in labels]  # negative if a label has no weights

    def lead(table: Floats) -> Floats:
        a, b = (table[..., column] if column >= 0 else np.zeros(table.shape[:-1]) for column in columns)
        return np.asarray(a - b)

    for k in range(int(rows.indptr[t]), int(rows.indptr[t + 1])):
        attribute = int(rows.indices[k])
        value = float(rows.values[k]) if len(rows.values) else 1.0
        yield Contribution(
            "feature", t, model.extractor.name(attribute), *names, value * float(lead(sparse[attribute]))
        )
    if layout.n_dense:
        yield Contribution("dense", t, "dense row", *names, float(rows.dense[t].astype(np.float64) @ lead(dense)))


explain.__dict__.update(explain=explain, Explanation=Explanation, Contribution=Contribution)


class _Piece(NamedTuple):
    """One segment as scored by the model: a long run of one label may be several segments."""

    first: int
    last: int
    label: int


def _explain_segments(model: Model, x: Any) -> Explanation:
    """The best segmentation of an input, the second best, and the contributions to the difference.

    Labels are those of tokens; contributions name labels of segments, and segments by their last token. Raises
    `DataError` if the input admits only one segmentation.
    """
    batch = model.batch([x])
    assert isinstance(batch.scorer, SegmentScorer)
    outputs, values = sums.k_best(batch.space, batch.scores(model.weights), 2)
    if values[1, 0] == -np.inf:
        raise DataError("there is one segmentation only, so nothing to compare with", remedy="give a longer input")
    best, other = (batch.scorer.reading.cut(batch.starts, one)[0] for one in outputs)
    pieces = _pieces(best), _pieces(other)
    items = [*_of_tokens(model, batch.scorer, best, other), *_of_segments(model, batch.scorer, *pieces)]
    items += _of_steps(model, *pieces)
    labels = [model.labels.decode(one) for one in outputs]
    margin = float(values[0, 0] - values[1, 0])
    tokens = shown_tokens(x, int(batch.starts[-1]))
    return Explanation(tokens, labels[0], labels[1], float(values[0, 0]), margin, largest_first(items))


def _pieces(segments: Segments) -> list[_Piece]:
    firsts = [*np.flatnonzero(segments.begins).tolist(), len(segments.labels)]
    return [_Piece(a, b - 1, int(segments.labels[a])) for a, b in pairwise(firsts)]


def _of_tokens(model: Model, scorer: SegmentScorer, best: Segments, other: Segments) -> Iterator[Contribution]:
    """The contributions of tokens whose segments have different labels."""
    layout, weights = model.segmental.layout.tokens, model.segmental.layout.token_weights(model.weights)
    names = [str(name) for name in model.segmental.scheme.segments.names]
    for t in np.flatnonzero(best.labels != other.labels).tolist():
        a, b = int(best.labels[t]), int(other.labels[t])
        yield from _of_token(model, scorer.rows, layout, weights, t, (a, b), (names[a], names[b]))


def _of_segments(
    model: Model, scorer: SegmentScorer, best: list[_Piece], other: list[_Piece]
) -> Iterator[Contribution]:
    """The contributions of segments that only one of the two has."""
    rows, weights = scorer.segments, model.segmental.layout.segment_weights(model.weights)
    for sign, pieces in ((1.0, set(best) - set(other)), (-1.0, set(other) - set(best))):
        for piece in sorted(pieces):
            row = piece.last * rows.max_length + piece.last - piece.first
            for attribute in rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist():
                shown = f"{model.segmental.segments.name(attribute)} of {piece.first}–{piece.last}"
                sides = _sides(sign, str(model.segmental.scheme.segments.names[piece.label]))
                amount = sign * float(weights[attribute, piece.label])
                yield Contribution("segment feature", piece.last, shown, *sides, amount)


def _of_steps(model: Model, best: list[_Piece], other: list[_Piece]) -> Iterator[Contribution]:
    """The contributions of first and last labels, and of transitions between segments that only one of the two has."""
    layout, names = model.segmental.layout.tokens, [str(name) for name in model.segmental.scheme.segments.names]
    weights = model.segmental.layout.token_weights(model.weights)
    start, end, transition = layout.start(weights), layout.end(weights), layout.transition(weights)
    for part, name, values, (a, b) in (
        ("start", "first label", start, (best[0], other[0])),
        ("end", "last label", end, (best[-1], other[-1])),
    ):
        token = 0 if part == "start" else a.last
        yield Contribution(part, token, name, names[a.label], names[b.label], float(values[a.label] - values[b.label]))
    steps = [{(right.first, left.label, right.label) for left, right in pairwise(side)} for side in (best, other)]
    for sign, ones in ((1.0, steps[0] - steps[1]), (-1.0, steps[1] - steps[0])):
        for token, before, after in sorted(ones):
            sides = _sides(sign, f"{names[before]} → {names[after]}")
            yield Contribution("transition", token, "transition", *sides, sign * float(transition[before, after]))


def _sides(sign: float, shown: str) -> tuple[str, str]:
    return (shown, NONE) if sign > 0 else (NONE, shown)
