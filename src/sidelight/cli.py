"""The command line: `sidelight --help` lists the commands; each is a file in `sidelight.commands`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sidelight.commands import describe, evaluate, explain, predict, quickstart, reproduce, train
from sidelight.commands.failing import INTERRUPTED, Commands

app = typer.Typer(
    cls=Commands,
    name="sidelight",
    help="Learn to tag and to classify from labels, candidates, yes/no answers and unlabelled text. "
    "New here? Run: sidelight quickstart",
    epilog="Example: sidelight train --gold train.txt --out model.sidelight",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from sidelight import __version__

        typer.echo(f"sidelight {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", envvar="SIDELIGHT_TRACEBACK", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _module, _example in (
    (quickstart, "sidelight quickstart --seed 3"),
    (train, "sidelight train --gold train.txt --good adverts.txt --shuffle-good 1 --out model.sidelight"),
    (predict, "sidelight predict model.sidelight new.txt --out tagged.txt"),
    (evaluate, "sidelight evaluate model.sidelight test.txt --against older.sidelight"),
    (explain, 'sidelight explain model.sidelight --text "Light is good"'),
    (describe, "sidelight describe --gold train.txt --candidates dictionary.txt"),
    (reproduce, "sidelight reproduce --list"),
):
    app.command(name=_module.__name__.rpartition(".")[2], epilog=f"Example: {_example}")(_module.command)


def main() -> None:
    """The entry point of the `sidelight` program."""
    try:
        app(prog_name="sidelight")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        os._exit(INTERRUPTED)
