"""`sidelight quickstart`: five labelled references against fifty, in less than a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.shared import options


def command(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the model and the data.")] = Path(
        "quickstart-out"
    ),
    text: Annotated[str | None, typer.Option("--text", help="A bibliographic reference to tag.")] = None,
    seed: options.Seed = options.DEFAULTS["seed"],
) -> None:
    """Train a tagger of bibliographic references from 5 labelled ones, 1,000 unlabelled ones and rules."""
    from sidelight.quickstart import show

    show(out, text=text, seed=seed)
