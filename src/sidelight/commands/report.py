"""`sidelight report`: one page about a model, to look at and to send around."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry import entry_of
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import check_fits, read_labelled
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.outputs import check_writable, write
from sidelight.commands.shared.rule_options import Inference, RulesFiles, check_inference, constrained


def command(
    model: options.ModelFile,
    file: options.LabelledFile,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the page is written.")] = Path("report.html"),
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
) -> None:
    """Write a page about a model: scores per label, confusions, training, errors that it is surest of, rules.

    The page is one HTML file that opens without a network.
    """
    from sidelight.report.model_report import model_report

    check_writable(out, reads=[model, file, *(rules or ())])
    check_inference(inference, rules)
    loaded = load(model)
    if (entry := entry_of(loaded)) is not None:
        raise ValueError(f"reports are of models of labels, and this is one of {entry.name}; use sidelight evaluate")
    pieces = read_labelled(file, format=format, label_column=label_column)
    check_fits(loaded, [(piece.x, piece.origin) for piece in pieces])
    under = constrained(loaded, rules, inference, jobs=jobs) if rules else None
    with warnings_noted():
        page = model_report(
            loaded,
            [piece.x for piece in pieces],
            [piece.y for piece in pieces],
            name=model.name,
            under=under,
            n_jobs=jobs,
        )
    write(page, out)
