"""Output files of commands: they are checked before the work begins."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from sidelight.data import write_text_atomically
from sidelight.errors import DataError


def check_writable(*paths: Path | None, reads: Iterable[Path | None] = ()) -> None:
    """Raise `DataError` for a file that could not be written at the end.

    No output may be a file that the command reads, or another output, even under another name or link.
    """
    outputs = [path for path in paths if path is not None]
    read = [path for path in reads if path is not None]
    for number, path in enumerate(outputs):
        if any(_same(path, other) for other in read):
            raise DataError("this command reads it, and would write over it", file=path, remedy="name another file")
        if any(_same(path, other) for other in outputs[:number]):
            raise DataError("this command would write it twice", file=path, remedy="name different files")
    for path in outputs:
        if path.exists() and not path.is_file():
            raise DataError("not a regular file", file=path, remedy="give the name of a file to write")
        if not path.parent.is_dir():
            problem = f"there is no folder {path.parent}"
            raise DataError(problem, file=path, remedy="create the folder, or name another file")
        if not os.access(path.parent, os.W_OK):
            problem = f"the folder {path.parent} cannot be written to"
            raise DataError(problem, file=path, remedy="check its permissions, or name another file")


def _same(one: Path, other: Path) -> bool:
    """Whether two names refer to one file, existing or not."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def keep(save: Callable[[Path], None], out: Path, *, checkpoint: Path | None = None) -> None:
    """Save a model. If this fails, save it in the folder for temporary files, unless a checkpoint has it.

    Then raises `DataError` with its place.
    """
    try:
        save(out)
    except DataError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        problem = f"the model {error.problem}"
        if checkpoint is not None and checkpoint.is_file():
            again = f"nothing is lost: {checkpoint} has the training; the same command with another --out ends it"
            raise DataError(problem, file=out, remedy=again) from None
        other = Path(tempfile.gettempdir(), f"sidelight-{secrets.token_hex(4)}.model")
        try:
            save(other)
        except DataError:
            raise DataError(problem, file=out, remedy=f"and not to {other.parent} either; make room") from None
        raise DataError(problem, file=out, remedy=f"it is in {other} instead: make room, and move it") from None


@contextmanager
def interruptible(out: Path, checkpoint: Path | None) -> Iterator[None]:
    """Say in an interruption of training what became of the model's file, and how to go on."""
    replaced = out.exists()
    try:
        yield
    except KeyboardInterrupt as stop:
        kept = checkpoint is not None and checkpoint.exists()  # there is none before the first round
        hint = "" if not kept else f"; the same command continues from {checkpoint}"
        nothing = "no model was written" if hint else "nothing was written"
        left = f"{out} is unchanged" if replaced else nothing
        raise type(stop)(f"{left}{hint}") from None


def write(text: str, out: Path | None) -> None:
    """Write text to a file, or as UTF-8 to standard output."""
    if out is None:
        typer.echo(text.encode("utf-8"), nl=False)
    else:
        write_text_atomically(out, text)


def note(text: str) -> None:
    """Print a one-line note to standard error."""
    typer.echo(f"note: {text}", err=True)


def write_json(value: Any, out: Path | None) -> None:
    """Write a value to a JSON file, if one is requested."""
    if out is not None:
        write_text_atomically(out, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def text_width() -> int:
    """The maximum number of characters per line of text."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def hanging(head: str, text: str, width: int) -> str:
    """A text with a head and hanging indentation."""
    return textwrap.fill(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def size_of(path: Path) -> str:
    """The size of a file, for display.

    >>> import os
    >>> size_of(Path(os.devnull))
    '0.0 kB'
    """
    size = path.stat().st_size / 1000
    return f"{size:.1f} kB" if size < 1000 else f"{size / 1000:.1f} MB"
