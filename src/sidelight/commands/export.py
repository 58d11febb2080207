"""`sidelight export`: a model for programs without this library."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.outputs import check_writable, note, size_of


class ExportForm(StrEnum):
    """The formats."""

    json = "json"
    onnx = "onnx"


def command(
    model: options.ModelFile,
    to: Annotated[ExportForm, typer.Option(help="json (features by name) or onnx (features by number).")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
) -> None:
    """Export a model for other programs, as plain JSON or as an ONNX graph.

    Works for taggers of order 1 and classifiers. docs/how_to/export.md has a JSON reader of fifty lines.
    """
    from sidelight.models.export import export

    check_writable(out, reads=[model])
    loaded = load(model)
    export(loaded, out, to=to.value)
    if names := loaded.about.get("rules"):
        note(f"{model} was trained under the rules {', '.join(names)}, which are not in the exported file")
    typer.echo(f"{out}: {size_of(out)}")
