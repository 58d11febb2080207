"""The page about a model of trees, alignments or other structures: scores, training, rules, pictures of errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.core.html import Html, escape
from sidelight.evaluate.parts import Measure, PartScores, part_counts, score_parts
from sidelight.models.model import Model
from sidelight.report.model_report import (
    CONFUSIONS,
    MOST_ERRORS,
    about_model,
    confusions,
    counts_of,
    rule_table,
    training,
)
from sidelight.report.page import Page, cards, table
from sidelight.report.pictures import STYLE, legend, picture

NONE = "none"  # if one output has a label and the other has none


def structure_report(
    model: Model,
    measures: Sequence[Measure],
    xs: Sequence[Any],
    truth: Sequence[Any],
    guesses: Sequence[Any],
    pictures: Sequence[Mapping[str, Any]],
    *,
    name: str = "model",
    finds: str = "",
    without_rules: Sequence[Any] | None = None,
) -> str:
    """A page about a model of a structure, on inputs whose outputs are known.

    `pictures` show right and predicted outputs; `finds` describes outputs; `without_rules` are the predictions without
    the rules of the structure.
    """
    scores = score_parts(measures, truth, guesses)
    page = Page(f"Report on {name}", f"{scores.outputs:,} inputs", style=STYLE)
    page.add("Model", about_model(model, finds))
    page.add("Scores", *_scores(scores))
    for one, pairs in _confused(measures, truth, guesses):
        page.add(f"Confusions: {one.name}", CONFUSIONS, confusions(pairs))
    page.add("Training", *training(model))
    parts = part_counts(measures[0], truth, guesses)  # right, found, there are
    wrong, missing = parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]
    order = [i for i in np.argsort(-(wrong + missing), kind="stable").tolist() if wrong[i] + missing[i]][:MOST_ERRORS]
    shown: list[Html | str] = [legend(pictures[order[0]]["kind"])] if order else ["Every output is right."]
    for i in order:
        caption = f"{measures[0].name}: {wrong[i]:,} wrong, {missing[i]:,} missing"
        shown.append(Html(f'<h4>Input {i + 1}: <span class="faint">{escape(caption)}</span></h4>'))
        shown.append(picture(pictures[i], {}))
    page.add("Inputs with the most errors", *shown)
    if without_rules is not None:
        page.add("Rules", _rules(model, xs, truth, without_rules, guesses))
    return page.html()


def _scores(scores: PartScores) -> list[Html]:
    shares = [(counts.f1, one.score) for one, counts in zip(scores.measures, scores.counts)]
    if scores.whole is not None and scores.outputs:
        shares.append((100.0 * scores.whole / scores.outputs, "outputs entirely right"))
    heads = ["precision", "recall", "F1", "gold", "predicted", "right"]
    lines = [(one.name, *counts_of(counts)) for one, counts in zip(scores.measures, scores.counts)]
    tables = [table(["parts", *heads], lines)]
    for one, labels in zip(scores.measures, scores.by_label):
        if labels:
            lines = [(label, *counts_of(own)) for label, own in labels.items()]
            tables.append(table([f"label ({one.name})", *heads], lines))
    return [cards((f"{share:.2f} %", words) for share, words in shares), *tables]


def _confused(
    measures: Sequence[Measure], truth: Sequence[Any], guesses: Sequence[Any]
) -> list[tuple[Measure, Counter[tuple[str, str]]]]:
    """(right, predicted) labels of labelled parts, by measure."""
    tables = []
    for one in measures:
        if one.labels is not None:
            pairs = Counter[tuple[str, str]]()
            for right, guess in zip(map(one.labels, truth), map(one.labels, guesses)):
                pairs.update((right.get(key, NONE), guess.get(key, NONE)) for key in {**right, **guess})
            tables.append((one, pairs))
    return tables


def _rules(model: Model, xs: Sequence[Any], truth: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> Html:
    structure: Any = model.structure.plain  # type: ignore[attr-defined]
    broken = [np.array([structure.violations(x, y) for x, y in zip(xs, ys)]) > 0 for ys in (truth, before, after)]
    prices = [float(rule.penalty) for rule in structure.rules]
    return rule_table(structure.rules, prices, np.array([structure.coverage(x) for x in xs]), *broken)
