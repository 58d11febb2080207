"""A command with many options, whose --help shows those that most people need and whose --help-all shows them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import typer
import typer.core

ALL = "help_all"


class Brief(NamedTuple):
    """How an option is shown in a line."""

    panel: str | None
    metavar: str
    help: str


def with_short_help(shown: Mapping[str, Brief]) -> type[typer.core.TyperCommand]:
    """A kind of command whose --help shows these options in a line each."""

    class ShortHelp(typer.core.TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            for one in () if ctx.meta.get(ALL) else self.params:
                _shorten(one, shown)
            super().format_help(ctx, formatter)

    return ShortHelp


def _shorten(option: Any, shown: Mapping[str, Brief]) -> None:
    brief = shown.get(option.name)
    option.hidden = brief is None
    if brief is not None:
        option.rich_help_panel, option.metavar, option.help = brief
        option.show_default = False


def _show(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help(), nl=False)
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show, metavar="", help="Show all options and exit.")
]
