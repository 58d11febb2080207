"""Rules on the command line: a file of them, and a loaded model under them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sidelight.commands.loading import load

if TYPE_CHECKING:
    from sidelight.constrained import Constrained
    from sidelight.rules import Rule

RULES = "Rules"
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE.py",
        help="Rules that outputs obey: functions with @rule above them, or a list RULES. The file is run.",
        rich_help_panel=RULES,
    ),
]
Inference = Annotated[
    str,
    typer.Option(
        "--inference",
        metavar="auto|dynamic|a_star|beam|ilp|lp|lagrangian",
        help="How the best output under rules is found.",
        rich_help_panel=RULES,
    ),
]


def rules_in(path: Path | None) -> Sequence[Rule]:
    """The rules of a file, or none."""
    from sidelight.rules import read_rules

    return () if path is None else read_rules(path)


def constrained(model: Any, rules: Path, inference: str, *, jobs: int = -1) -> Constrained:
    """A loaded model under the rules of a file, with the penalties that were learned in training."""
    from sidelight.constrained import Constrained

    return Constrained(model, rules_in(rules), method=inference, n_jobs=jobs)


def predictor(path: Path, rules: Path | None, inference: str) -> tuple[Any, Any]:
    """The model in a file, and a function of inputs and threads that predicts with it, under rules if there are any."""
    model = load(path)
    if rules is None:
        return model, lambda xs, jobs: model.predict(xs, n_jobs=jobs)
    return model, lambda xs, jobs: constrained(model, rules, inference, jobs=jobs).predict(xs)
