"""How commands fail: one line on the standard error, and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

import typer

from sidelight.errors import SidelightError

Result = TypeVar("Result")
MISTAKE, DEFECT, INTERRUPTED, TERMINATED = 2, 1, 130, 143  # exit codes
_USAGE: type[Exception] = typer.BadParameter.__mro__[2]  # whichever click typer brings: ClickException
_QUIET = (typer.Exit, typer.Abort)


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM), and ends as if a person had interrupted it."""


def heed_termination() -> None:
    """Let SIGTERM end the process with what it cleans up and says, as an interrupt does."""

    def end(number: int, frame: object) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, end)


def guarded(run: Callable[[], Result], *, tracebacks: bool) -> Result:
    """What `run` returns; an exception becomes one line on the standard error and `typer.Exit`."""
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
    """The reader of the standard output is gone: let what is left of it vanish."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
