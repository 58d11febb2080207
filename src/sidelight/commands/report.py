"""`sidelight report`: an HTML page about a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry import entry_of
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import check_fits, read_labelled
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.outputs import check_writable, write
from sidelight.commands.shared.rule_options import Inference, RulesFiles, check_inference, constrained
from sidelight.commands.shared.structured import (
    answers_of,
    filled,
    note_unproven,
    read_items,
    refuse,
    under_rules,
    with_rules,
)
from sidelight.data.items import Item
from sidelight.models.model import Model


def command(
    model: options.ModelFile,
    file: options.LabelledFile,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
) -> None:
    """Write an HTML page about a model: scores per label, confusions, training, most confident errors, rules.

    The page is one file that opens offline.
    """
    from sidelight.report.model_report import model_report

    check_writable(out, reads=[model, file, *(rules or ())])
    loaded = load(model)
    if (entry := entry_of(loaded)) is not None:
        usual = options.DEFAULTS["inference"]
        refuse(entry.name, {"--label-column": label_column != -1, "--inference": inference != usual})
        items = read_items(entry, file, format, "gold")
        write(_of_structure(under_rules(loaded, entry, rules), entry, items, model.name, file, format, jobs), out)
        return
    check_inference(inference, rules)
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


def _of_structure(
    model: Model, entry: StructureEntry, items: Sequence[Item], name: str, file: Path, format: str | None, jobs: int
) -> str:
    """The page about a model of another structure than labels."""
    from sidelight.report.structure_report import structure_report

    xs = [item.x for item in items]
    answers = answers_of(model, xs, jobs=jobs)
    note_unproven(answers)
    plain = model.structure.plain  # type: ignore[attr-defined]
    gold = [entry.output(plain, item, "gold") for item in items]
    pictures = [entry.picture(right, predicted) for right, predicted in zip(items, filled(entry, items, answers))]
    without = answers_of(with_rules(model, ()), xs, jobs=jobs).outputs if entry.ruled and plain.rules else None
    return structure_report(
        model,
        entry.measures(plain),
        xs,
        gold,
        answers.outputs,
        pictures,
        name=name,
        finds=entry.line,
        without_rules=without,
    )
