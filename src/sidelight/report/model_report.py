"""The page about one model: its evidence, its training, its scores, and its errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.core.arrays import Bools, Floats
from sidelight.core.html import Html
from sidelight.core.progress import in_words
from sidelight.errors import Intractable
from sidelight.estimators.constrained import Constrained
from sidelight.evaluate import Evaluation, evaluate
from sidelight.evaluate.scores import Counts
from sidelight.models import probabilities
from sidelight.models.model import Model
from sidelight.report.charts import Series, curves
from sidelight.report.page import Page, beside, cards, coloured, fields, shaded, table
from sidelight.rules import Rule

MOST_CONFUSED = 20  # maximum labels in the table of confusions
MOST_ERRORS = 15
FAR = 20.0  # ratio from which a curve is drawn logarithmically
AROUND = 6  # tokens shown on either side of an error
LONGEST = 60  # maximum characters of a token; three times as many for an input with one label


def model_report(
    model: Model,
    xs: Sequence[Any],
    ys: Sequence[Any],
    *,
    name: str = "model",
    under: Constrained | None = None,
    scheme: Any = "auto",
    n_jobs: int | None = -1,
) -> str:
    """A page about a model of tokens or classes, on inputs whose labels are known; `under` is the model with rules."""
    plain = _outputs(model, model.predict(xs, n_jobs=n_jobs))
    guesses = plain if under is None else _outputs(model, under.predict(xs))
    truth = _outputs(model, ys)
    scores = evaluate(truth, guesses, scheme=scheme)
    size = f" with {scores.tokens:,} labels" if model.sequences else ""
    page = Page(f"Report on {name}", f"{scores.sentences:,} inputs{size}")
    page.add("Model", about_model(model))
    page.add("Scores", *_scores(scores, model.sequences))
    pairs = Counter(zip(_flat(truth, model.sequences), _flat(guesses, model.sequences)))
    page.add("Confusions", CONFUSIONS, confusions(pairs))
    page.add("Training", *training(model))
    page.add("Most confident errors", *_errors(model, xs, truth, guesses, n_jobs))
    if under is not None:
        page.add("Rules", _rules(under, xs, ys, plain, guesses))
    return page.html()


def _outputs(model: Model, ys: Sequence[Any]) -> list[Any]:
    """Labels as text, which is what files hold."""
    return [[str(label) for label in y] if model.sequences else str(y) for y in ys]


def about_model(model: Model, finds: str = "") -> Html:
    """A description of the model; `finds` describes its outputs if they are not labels."""
    about = model.about
    rows = [("learner", about.get("learner", ""))]
    if finds:
        rows.append(("finds", finds))
    else:
        classes = [str(one) for one in model.labels.classes]
        rows.append(("labels", f"{len(classes):,}: {', '.join(classes[:40])}"))
    rows += [("learned from", in_words(about["evidence"]))] if about.get("evidence") else []
    rows += [("rules in training", ", ".join(about["rules"]))] if about.get("rules") else []
    rows += [("nonzero weights", f"{np.count_nonzero(model.weights):,} of {len(model.weights):,}")]
    return table(["", ""], rows)


def _scores(evaluation: Evaluation, sequences: bool) -> list[Html]:
    """Scores of tokens, inputs and spans; classes have no spans."""
    kinds = [("span", evaluation.types)] if evaluation.types and sequences else []
    if sequences:
        shares = [(evaluation.accuracy, "token accuracy"), (evaluation.sentence_accuracy, "inputs entirely right")]
    else:
        shares = [(evaluation.accuracy, "accuracy"), (evaluation.label_macro_f1, "mean F1 over labels")]
    if kinds:
        shares += [
            (evaluation.precision, "span precision"),
            (evaluation.recall, "span recall"),
            (evaluation.f1, "span F1"),
        ]
    parts = []
    for what, each in (*kinds, ("label", evaluation.labels)):
        ordered = sorted(each.items(), key=lambda pair: -pair[1].gold)
        heads = [what, "precision", "recall", "F1", "gold", "predicted", "right"]
        parts.append(table(heads, [(name, *counts_of(one)) for name, one in ordered]))
    return [cards((f"{share:.2f} %", words) for share, words in shares), beside(*parts)]


def counts_of(one: Counts) -> tuple[float, float, float, int, int, int]:
    return one.precision, one.recall, one.f1, one.gold, one.predicted, one.correct


def _flat(outputs: Sequence[Any], sequences: bool) -> list[str]:
    return [label for y in outputs for label in y] if sequences else list(outputs)


ERRORS = "Arrows lead from predicted labels to right ones; what has a wrong label is underlined."
IN_SEQUENCES = "Of each input the wrong label that the model gives the highest probability, with the words around it."
CONFUSIONS = "Rows are right labels, columns predicted ones. The darker a cell, the larger its share of the row."


def confusions(pairs: Counter[tuple[str, str]]) -> Html:
    """Counts of (right, predicted) labels as a table, the most frequent first."""
    common: Counter[str] = Counter()
    for (right, guess), count in pairs.items():
        common[right] += count
        common[guess] += 0 if guess == right else count
    names = [name for name, _ in common.most_common(MOST_CONFUSED)]
    return shaded(names, [(right, [pairs[right, guess] for guess in names]) for right in names])


def training(model: Model) -> list[Html | str]:
    points = model.about.get("history", [])
    reached = Series("objective", [(n, y, None) for n, y, _ in points if y is not None])
    apart = Series("gap", [(n, gap, None) for n, y, gap in points if y is not None and gap is not None])
    heights = [y for _, y, _ in reached.points]
    far = bool(heights) and 0 < FAR * min(heights) < max(heights)
    title = "Objective by round" + (" (logarithmic)" if far else "")
    objective = curves([reached], title=title, x="round", logarithmic=(None, far))
    gap = curves([apart], title="Gap by round (logarithmic)", x="round", logarithmic=(None, True))
    charts: list[Html | str] = [one for one in (objective, gap) if one is not None]
    if charts:
        again = "Each completion of open labels starts a new convex problem, so objective and gap start again."
        return [*([again] if gap is not None and _rises(apart) else []), *charts]
    return [f"{len(points)} rounds, without an objective to plot." if len(points) > 1 else "Done in one round."]


def _rises(one: Series) -> bool:
    heights = [y for _, y, _ in one.points]
    return any(later > FAR * before > 0 for before, later in pairwise(heights))


def _errors(
    model: Model, xs: Sequence[Any], truth: Sequence[Any], guesses: Sequence[Any], n_jobs: int | None
) -> list[Html | str]:
    """Wrong labels by decreasing probability; for each input the most confident one, with its context."""
    try:
        shares = probabilities.marginals(model, xs, n_jobs=n_jobs)
    except Intractable as error:
        return [f"The model has no probabilities: {error}."]
    place = {str(label): k for k, label in enumerate(model.labels.classes)}
    wrong: list[tuple[float, int, int, int]] = []  # probability, token, wrong labels of the input, input
    for i, (right, guess, own) in enumerate(zip(truth, guesses, shares)):
        ours, theirs = (guess, right) if model.sequences else ([guess], [right])
        errors = [(_share(own, t, place.get(a)), -t) for t, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        if errors:
            share, t = max(errors)
            wrong.append((share, -t, len(errors), i))
    wrong.sort(key=lambda one: (-one[0], one[3]))
    colours = coloured(list(place))
    parts: list[Html | str] = []
    for share, t, count, i in wrong[:MOST_ERRORS]:
        first, last = max(0, t - AROUND), t + AROUND + 1
        words = [_word(x) for x in xs[i]][first:last] if model.sequences else [_single(xs[i])]
        ours, theirs = (guesses[i][first:last], truth[i][first:last]) if model.sequences else ([guesses[i]], [truth[i]])
        others = f", {count} wrong labels" if count > 1 else ""
        parts.append(Html(f'<h4>Input {i + 1}: <span class="faint">{100 * share:.1f} % confident{others}</span></h4>'))
        parts.append(fields(words, ours, theirs, colours, with_right=True))
    explained = f"{IN_SEQUENCES} {ERRORS}" if model.sequences else ERRORS
    return [explained, *parts] if parts else ["Every label is right."]


def _share(own: Floats, t: int, label: int | None) -> float:
    return 0.0 if label is None else float(own[t, label])


def _word(x: Any) -> str:
    """The display of a token: itself, its first column, or its features."""
    return _cut(str(x[0]) if isinstance(x, tuple | list) and x else _features(x), LONGEST)


def _single(x: Any) -> str:
    """The display of an input with one label: its words, or its features."""
    return _cut(" ".join(map(_word, x)) if isinstance(x, tuple | list) else _features(x), 3 * LONGEST)


def _features(x: Any) -> str:
    """Names of features, each with its value if that is not 1.

    >>> _features({"cheap": 1.0, "length": 7})
    'cheap, length: 7'
    """
    if not isinstance(x, Mapping):
        return str(x)
    return ", ".join(str(name) if value == 1 else f"{name}: {value}" for name, value in x.items())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _rules(
    under: Constrained, xs: Sequence[Any], ys: Sequence[Any], plain: Sequence[Any], guesses: Sequence[Any]
) -> Html:
    broken = [np.array(under.violations(xs, one)).reshape(len(xs), -1) > 0 for one in (ys, plain, guesses)]
    return rule_table(under.rules, under.prices(), np.array(under.coverage(xs)), *broken)


def rule_table(
    rules: Sequence[Rule], prices: Sequence[float], covered: Bools, right: Bools, before: Bools, after: Bools
) -> Html:
    """A table of rules: penalty, covered inputs, and violations before and after. # each [N, rules]"""
    rows = []
    for k, (rule, price) in enumerate(zip(rules, prices)):
        cost = "hard" if rule.hard else f"{price:.2f}"
        shares = 100.0 * float(np.mean(covered[:, k])), 100.0 * float(np.mean(~right[:, k]))
        rows.append((rule.name, cost, *shares, int(before[:, k].sum()), int(after[:, k].sum())))
    heads = [
        "rule",
        "cost",
        "inputs covered, %",
        "gold outputs that obey, %",
        "broken without rules",
        "broken with rules",
    ]
    return table(heads, rows)
