"""`sidelight judge`: decides whether inputs have a good structure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry.asking import AskedModel
from sidelight.commands.shared import options
from sidelight.commands.shared.outputs import check_writable, write
from sidelight.commands.shared.rule_options import RulesFiles


def command(
    model: options.ModelFile,
    input: Annotated[Path, typer.Argument(metavar="INPUT", help="The inputs to judge; - reads stdin.")],
    out: options.OutFile = None,
    format: options.Format = None,
    rules: RulesFiles = None,
    seconds: options.Seconds = None,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
) -> None:
    """Decide for each input whether it has a good structure, and show its score and best structure.

    Models trained on good and bad inputs (jlis, lclr, …) answer yes from a score of 0 on. The output is the input with
    the best structure, the answer and the score; for files of labels it is one line per input.
    """
    check_writable(out, reads=[model, input, *(rules or ())])
    judge = AskedModel.loaded(model, seconds=seconds, rules=rules, jobs=jobs, place=place)
    write(judge.write(judge.judged(judge.read(input, format)), input, format), out)
