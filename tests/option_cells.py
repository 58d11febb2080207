"""What every learner does on every structure besides learning: options of a fit, and questions to its model, tiny.

A cell works if it keeps its law: an option that says what is so anyway changes no bit, one that says something else
does; validation keeps the best model; an interrupted fit goes on to the same bits; answers agree with each other.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sidelight as sl
from cells import NAMES, STRUCTURES, Cell, Outcome, check_outputs, estimator_of, evidence_of, inputs, labels, outputs
from sidelight import recipes
from sidelight.errors import DataError, Intractable, NotProved

OPTIONS = ("cost", "class_weight", "validation", "checkpoint", "partial_fit", "warm_start", "rules_in_training")
QUESTIONS = ("k_best", "marginals", "samples", "clamps", "decisions", "files")


ALONE = {"contrastive": "unlabeled", "lclr": "companion"}  # learners that do not learn from Gold alone


class OptionCell(NamedTuple):
    """One learner, one structure, one option or question."""

    learner: str
    structure: str
    option: str


class Broken(AssertionError):
    """A law that a cell does not keep."""


def option_cells() -> Iterator[OptionCell]:
    """All of them: questions are asked of the models of two learners."""
    for structure in STRUCTURES:
        for learner in recipes.LEARNERS:
            for option in OPTIONS:
                yield OptionCell(learner, structure, option)
        for option in QUESTIONS:
            for learner in ASKED:
                yield OptionCell(learner, structure, option)


ASKED = ("jlis", "partial_crf")  # learners whose models are asked


def option_outcome(cell: OptionCell) -> Outcome:
    """Whether a cell keeps its law; what is refused is reported, anything else is raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotProved)
            plain = _plain(cell.learner, cell.structure)
            if isinstance(plain, Outcome):
                return plain
            LAWS[cell.option](cell, plain)
    except (DataError, ValueError, Intractable) as error:
        return Outcome(False, str(error).splitlines()[0])
    return Outcome(True)


def _cell(cell: OptionCell, kind: str = "gold") -> Cell:
    """Gold alone, but for learners that need other evidence; with `kind` "rules" the estimator has one."""
    return Cell(cell.learner, cell.structure, ALONE.get(cell.learner, kind) if kind == "gold" else kind)


@cache
def _plain(learner: str, structure: str) -> Any:
    """A fit without any option, or why there is none."""
    cell = _cell(OptionCell(learner, structure, ""))
    try:
        return estimator_of(cell).fit(evidence_of(cell))
    except (DataError, ValueError, Intractable) as error:
        return Outcome(False, str(error).splitlines()[0])


def _fit(cell: OptionCell, **params: Any) -> Any:
    return estimator_of(_cell(cell), **params).fit(evidence_of(_cell(cell)))


def _names(cell: OptionCell) -> list[Any]:
    """Labels as costs name them."""
    if cell.structure == "own":
        return [0, 1, 2, 3]
    return [("tag", one) if cell.structure == "variables" else one for one in labels(_cell(cell))]


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(one.model_.weights, other.model_.weights)


def _changes(cell: OptionCell, plain: Any, neutral: dict[str, Any], other: dict[str, Any]) -> None:
    if not _same(_fit(cell, **neutral), plain):
        raise Broken(f"{cell}: it changes what it should not")
    changed = _fit(cell, **other)
    first, last = (fitted.rounds_[0] for fitted in (plain, changed))
    if _same(changed, plain) and (first.objective, first.primal) == (last.objective, last.primal):
        raise Broken(f"{cell}: it changes nothing")


def cost(cell: OptionCell, plain: Any) -> None:
    names = _names(cell)
    every = {(one, other): 1.0 for one in names for other in names if one != other}
    _changes(cell, plain, {"cost": every}, {"cost": dict.fromkeys(every, 7.0)})


def class_weight(cell: OptionCell, plain: Any) -> None:
    names = _names(cell)
    _changes(cell, plain, {"class_weight": dict.fromkeys(names, 1.0)}, {"class_weight": dict.fromkeys(names, 7.0)})


def validation(cell: OptionCell, plain: Any) -> None:
    held = inputs(_cell(cell)), outputs(_cell(cell))
    fitted = estimator_of(_cell(cell)).fit(evidence_of(_cell(cell)), validation=held)
    scores = [record.validation for record in fitted.rounds_ if record.validation is not None]
    if not scores or abs(fitted.score(*held) - max(scores)) > 1e-12:
        raise Broken(f"{cell}: {scores} and {fitted.score(*held)}")


def checkpoint(cell: OptionCell, plain: Any) -> None:
    def stop(record: Any) -> None:
        raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        with suppress(KeyboardInterrupt):
            _fit(cell, checkpoint=path, callbacks=[stop])
        if not _same(_fit(cell, checkpoint=path), plain):
            raise Broken(f"{cell}: other bits")


def partial_fit(cell: OptionCell, plain: Any) -> None:
    fitted = _fit(cell)
    size = fitted.model_.structure.size
    more = inputs(_cell(cell))[3:], outputs(_cell(cell))[3:]
    fitted.partial_fit(*more)
    check_outputs(_cell(cell), fitted.predict(inputs(_cell(cell))), labels(_cell(cell)))
    if fitted.model_.structure.size <= size:
        raise Broken(f"{cell}: new features have no weights")


def warm_start(cell: OptionCell, plain: Any) -> None:
    fitted = _fit(cell, warm_start=True)
    first = fitted.rounds_[-1].objective
    last = fitted.fit(evidence_of(_cell(cell))).rounds_[-1].objective
    if cell.learner in FALLING and first is not None and last is not None and last > first * (1 + 1e-6):
        raise Broken(f"{cell}: {last} after {first}")


FALLING = ("jlis", "latent_svm", "structural_svm", "crf", "partial_crf", "semi_crf", "semi_svm")  # whose objective does


def rules_in_training(cell: OptionCell, plain: Any) -> None:
    fitted = estimator_of(_cell(cell, "rules"), rules_in="training").fit(evidence_of(_cell(cell)))
    check_outputs(_cell(cell), fitted.predict(inputs(_cell(cell))), labels(_cell(cell)))


def k_best(cell: OptionCell, plain: Any) -> None:
    xs = inputs(_cell(cell))
    for x, found, best in zip(xs, plain.k_best(xs, 3), plain.predict(xs)):
        values = [value for _, value in found]
        if found[0][0] != best or values != sorted(values, reverse=True):
            raise Broken(f"{cell}: {x}")


def marginals(cell: OptionCell, plain: Any) -> None:
    xs = inputs(_cell(cell))
    for table in plain.predict_marginals(xs):
        rows = [table] if cell.structure == "classes" else table["tag"].values() if isinstance(table, dict) else table
        if any(abs(sum(row.values()) - 1.0) > 1e-9 for row in rows):
            raise Broken(f"{cell}: not 1 in sum")
    ys = plain.predict(xs)
    chances = np.exp(plain.log_probability(xs, ys))
    scored = [found[0][1] for found in plain.k_best(xs, 1)]
    if not np.allclose(np.log(chances), np.array(scored) - plain.log_partition(xs)):
        raise Broken(f"{cell}: probabilities do not agree with scores and their sums")


def samples(cell: OptionCell, plain: Any) -> None:
    xs = inputs(_cell(cell))
    drawn = plain.sample(xs, seed=1)
    check_outputs(_cell(cell), drawn, labels(_cell(cell)))
    if drawn != plain.sample(xs, seed=1):
        raise Broken(f"{cell}: another sample by the same seed")


def clamps(cell: OptionCell, plain: Any) -> None:
    xs = inputs(_cell(cell))
    last = labels(_cell(cell))[-1]
    one: Any = {"variables": {"tag": {0: last}}, "classes": last}.get(cell.structure)
    for x, y in zip(xs, [plain.predict([x], clamp=[one or [last, *[None] * (len(x) - 1)]])[0] for x in xs]):
        if (y if cell.structure == "classes" else y["tag"][0] if isinstance(y, dict) else y[0]) != last:
            raise Broken(f"{cell}: {x} has {y}")


def decisions(cell: OptionCell, plain: Any) -> None:
    xs = inputs(_cell(cell))
    fitted = estimator_of(_cell(cell)).fit([*evidence_of(_cell(cell)), *sl.companion(xs[:1], 1)])
    if len(fitted.judge(xs)) != len(xs):
        raise Broken(f"{cell}: not a decision for every input")


def files(cell: OptionCell, plain: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        plain.save(path)
        fresh = estimator_of(_cell(cell)) if cell.structure in ("variables", "own") else type(plain)
        again = fresh.load(path)
    if not _same(again, plain) or again.predict(inputs(_cell(cell))) != plain.predict(inputs(_cell(cell))):
        raise Broken(f"{cell}: another model")


LAWS: dict[str, Callable[[OptionCell, Any], None]] = {name: globals()[name] for name in (*OPTIONS, *QUESTIONS)}
LETTERS = dict(zip(OPTIONS, ("K", "W", "V", "H", "F", "S", "T")))
HEAD = """## Options of a fit

The tests check each setting: default costs and weights change no bit, and others do; the model is the one that scored
best in validation; an interrupted fit resumes from its checkpoint to the same bits; `partial_fit` learns weights for
new features.

K: cost, W: class weights, V: validation, H: checkpoint, F: `partial_fit`, S: warm start, T: rules in training."""
ASKING = """## Questions to a model

✓: margin and likelihood models, m: margin models only."""


def option_page(found: dict[OptionCell, Outcome]) -> str:
    """Two tables: options by learner and structure, questions by structure."""
    columns = " | ".join(NAMES[one] for one in STRUCTURES)
    lines = [HEAD, "", f"| learner | {columns} |", "|---" * (1 + len(STRUCTURES)) + "|"]
    for learner in recipes.LEARNERS:
        cells = [[o for o in OPTIONS if found[OptionCell(learner, one, o)].works] for one in STRUCTURES]
        lines.append(f"| `{learner}` | " + " | ".join(" ".join(LETTERS[o] for o in own) or "–" for own in cells) + " |")
    lines += ["", ASKING, "", f"| question | {columns} |", "|---" * (1 + len(STRUCTURES)) + "|"]
    for question in QUESTIONS:
        works = [[found[OptionCell(learner, one, question)].works for learner in ASKED] for one in STRUCTURES]
        told = ["✓" if all(own) else "m" if own[0] else "–" for own in works]
        lines.append(f"| {question.replace('_', ' ')} | " + " | ".join(told) + " |")
    return "\n".join(lines) + "\n"
