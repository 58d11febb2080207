"""`sidelight rank`: ranks candidates by the scores of their structures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry.asking import AskedModel, ranked
from sidelight.commands.shared import options
from sidelight.commands.shared.options import at_least
from sidelight.commands.shared.outputs import check_writable, write
from sidelight.commands.shared.rule_options import RulesFiles


def command(
    model: options.ModelFile,
    input: Annotated[Path, typer.Argument(metavar="INPUT", help="The candidates; - reads stdin.")],
    every: options.AllPairs = False,
    top: Annotated[
        int | None, typer.Option("--top", callback=at_least("--top", 1), help="Write only the best N of each query.")
    ] = None,
    out: options.OutFile = None,
    format: options.Format = None,
    rules: RulesFiles = None,
    seconds: options.Seconds = None,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
) -> None:
    """Rank the candidates of each query by the score of their best structure.

    Pairs with the same left side, or inputs with the same "group", are candidates of one query; without either, all
    inputs are. sidelight evaluate --by ranking scores the ranking.
    """
    check_writable(out, reads=[model, input, *(rules or ())])
    judge = AskedModel.loaded(model, seconds=seconds, rules=rules, jobs=jobs, place=place)
    groups = ranked(judge, judge.groups(judge.read(input, format), every=every))
    write(judge.write([item for group in groups for item in group[:top]], input, format), out)
