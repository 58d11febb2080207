"""Why this output and not the next best: the margin between the two, split into the weights that make it up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.errors import DataError
from sidelight.models.contributions import NONE, SLOT, WHOLE, Contribution, Explanation, largest_first, shown_tokens

if TYPE_CHECKING:
    from sidelight.models.model import Model
    from sidelight.objective.scorers.chain_scorer import ChainScorer


def explain(fitted: Any, x: Any) -> Explanation:
    """The best output of an input, the best one that differs from it, and what makes the difference.

    `fitted` is any fitted estimator of labels or structures, or a model. Rules have no part in it (see
    `explain_rules`). Where labels have hidden states, contributions name the states; of a segmenter they name labels of
    segments; of `Joint` and `Predictor` they are of the whole output. Raises `DataError` where the input admits one
    output only, `Intractable` where a structure has no second best one.

    >>> import sidelight as sl
    >>> tagger = sl.Tagger(learner="crf").fit([["a", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> why = sl.explain(tagger, ["a", "cat"])
    >>> why.predicted, why.margin > 0
    (['D', 'N'], True)
    """
    from sidelight.models.model import model_of
    from sidelight.models.segment_explain import explain_segments
    from sidelight.objective.scorers.chain_scorer import chain_of
    from sidelight.structures.chain_structure import ChainStructure
    from sidelight.structures.segment_structure import SegmentStructure

    model = model_of(fitted)
    if isinstance(model.structure, SegmentStructure):
        return explain_segments(model, x)
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
    """By the counts of features that two outputs of any structure differ in; by slots where features have no names."""
    from sidelight.spaces import sums
    from sidelight.spaces.slots import BatchedSlotSpace
    from sidelight.structures.weight_names import FeatureWeightNames, label_words

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
    """Feature by feature: the prediction's weight less the runner-up's."""
    rows, layout, weights = scorer.rows, scorer.layout, model.weights
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


explain.__dict__.update(explain=explain, Explanation=Explanation, Contribution=Contribution)
