"""`sidelight reproduce`: the experiments of the papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.outputs import check_writable
from sidelight.errors import DataError


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment; --list shows them.")] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", envvar="SIDELIGHT_DATA", help="The folder with the data sets."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the results there.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller run that only shows the direction.")] = False,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    choose: Annotated[
        list[str] | None,
        typer.Option(
            "--choose", metavar="NAME=VALUE", help="Part of a large experiment, such as sizes='20;50'; repeatable."
        ),
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="Show the experiments and exit.")] = False,
) -> None:
    """Run a published experiment again and show its results beside the published ones."""
    from sidelight.experiments import NAMES, reproduce

    if list_names:
        width = max(map(len, NAMES))
        for known, line in NAMES.items():
            typer.echo(f"{known:<{width}}  {line}")
        return
    if name is None or name not in NAMES:
        problem = "no experiment was named" if name is None else f"no experiment is called {name!r}"
        raise ValueError(f"{problem}; choose one of {', '.join(NAMES)}")
    if data is None:
        raise ValueError("no data folder; give --data DIR, or set SIDELIGHT_DATA")
    if not data.is_dir():
        raise DataError("there is no such folder", file=data, remedy="give --data DIR, or set SIDELIGHT_DATA")
    among = json is not None and json.exists() and json.resolve().is_relative_to(data.resolve())
    check_writable(json, reads=[json] if among else [])
    chosen = dict(_choice(text) for text in choose or [])
    reproduce(name, data=data, json_path=json, quick=quick, n_jobs=jobs, choose=chosen, report=typer.echo)


def _choice(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark:
        raise ValueError(f"--choose {text} has no =; write it as NAME=VALUE")
    return name, value
