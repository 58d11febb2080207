"""Commands that are loaded when they are called: the list of commands needs their names and a line each, no more."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
import typer.main

from sidelight.commands.shared.failures import guarded

SETTINGS = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the file `sidelight.commands.<name>` has it as a function `command`, or a group of them as `app`."""

    name: str
    line: str  # the first sentence of its documentation
    example: str


def listed(app: typer.Typer, entries: tuple[Entry, ...]) -> None:
    """Put commands into an app by their names and lines alone."""
    for entry in entries:
        app.command(name=entry.name, help=entry.line)(_nothing)
        _ENTRIES[entry.name] = entry


def loaded(entry: Entry) -> Any:
    """The command itself."""
    module = import_module(f"sidelight.commands.{entry.name}")
    epilog = f"Example: {entry.example}"
    if hasattr(module, "app"):
        group: typer.Typer = module.app
        group.info.epilog = epilog
        whole: Any = typer.main.get_group(group)
    else:
        alone = typer.Typer(context_settings=SETTINGS, rich_markup_mode="rich", add_completion=False)
        kind = getattr(module, "KIND", None)  # of command, where it is not the usual one
        alone.command(name=entry.name, epilog=epilog, cls=kind)(module.command)
        whole = typer.main.get_command(alone)
    whole.name = entry.name
    if whole.help:
        whole.help = "\n\n".join(" ".join(part.split()) for part in whole.help.split("\n\n"))
    for command in getattr(whole, "commands", {"": whole}).values():
        for option in command.params:
            if getattr(option, "is_flag", False) and option.metavar is None:
                option.metavar = ""  # a flag has no value to name
    return whole


class LazyCommands(typer.core.TyperGroup):
    """A group whose commands are loaded when they are called, and fail in one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _ENTRIES:
            self.commands[args[0]] = loaded(_ENTRIES[args[0]])
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return guarded(lambda: super(LazyCommands, self).parse_args(ctx, args), tracebacks="--traceback" in args)

    def invoke(self, ctx: Any) -> Any:
        return guarded(lambda: super(LazyCommands, self).invoke(ctx), tracebacks=bool(ctx.params.get("traceback")))


_ENTRIES: dict[str, Entry] = {}  # filled once, when the program is put together


def _nothing() -> None:
    """Stands for a command until it is loaded."""
