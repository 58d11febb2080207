"""The program around its commands.

Commands are loaded when they are called (the list of commands needs only their names and one line each). Errors are one
line, with an exit code. --help shows the common options, and --help-all all of them.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, NamedTuple, TypeVar

import typer
import typer.core
import typer.main

from sidelight.errors import SidelightError

Result = TypeVar("Result")
MISTAKE, DEFECT, INTERRUPTED, TERMINATED = 2, 1, 130, 143  # exit codes
_USAGE: type[Exception] = typer.BadParameter.__mro__[2]  # ClickException of the click that typer uses
_QUIET = (typer.Exit, typer.Abort)


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM, and ends as after an interrupt."""


def heed_termination() -> None:
    """Let SIGTERM end the process with its cleanup and messages, like an interrupt."""

    def end(number: int, frame: object) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, end)


def guarded(run: Callable[[], Result], *, tracebacks: bool) -> Result:
    """The result of `run`; an exception becomes one line on standard error and `typer.Exit`."""
    try:
        return run()
    except _QUIET:
        raise
    except BrokenPipeError:
        _close_output()
        raise typer.Exit(DEFECT) from None
    except KeyboardInterrupt as stop:
        typer.echo(_line(f"interrupted; {stop}" if str(stop) else "interrupted"), err=True)
        raise typer.Exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED) from None
    except Exception as error:
        if tracebacks:
            traceback.print_exc()
        text, code = _told(error)
        typer.echo(_line(f"error: {text}"), err=True)
        raise typer.Exit(code) from None


def _told(error: Exception) -> tuple[str, int]:
    if isinstance(error, _USAGE):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "sidelight"
        return f"{error.format_message().rstrip('.')}; see {command} --help", MISTAKE  # type: ignore[attr-defined]
    if isinstance(error, SidelightError | ValueError):
        return str(error), MISTAKE
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror or error}; check the name, the permissions and the room on the disk", MISTAKE
    return f"unexpected {type(error).__name__}: {error}; run it with sidelight --traceback and report it", DEFECT


def _line(text: str) -> str:
    return " ".join(text.split())


def _close_output() -> None:
    """The reader of standard output is gone: discard the rest of the output."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


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
        kind = getattr(module, "KIND", None)  # class of the command, if it is not the default
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
    """A placeholder for a command until it is loaded."""


ALL = "help_all"


class Brief(NamedTuple):
    """The one-line display of an option."""

    panel: str | None
    metavar: str
    help: str


def with_short_help(shown: Mapping[str, Brief]) -> type[typer.core.TyperCommand]:
    """A class of commands whose --help shows these options, one line each."""

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


def _show(ctx: typer.Context, requested: bool) -> None:
    if requested:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help(), nl=False)
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show, metavar="", help="Show all options and exit.")
]
