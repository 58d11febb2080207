"""Files that commands write: their places are checked before the work begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import typer

from sidelight.data import write_text_atomically
from sidelight.errors import DataError


def check_writable(*paths: Path | None) -> None:
    """Raise `DataError` for a file that could not be written when the work is done."""
    for path in paths:
        if path is None:
            continue
        if path.exists() and not path.is_file():
            raise DataError("not a regular file", file=path, remedy="give the name of a file to write")
        if not path.parent.is_dir():
            problem = f"there is no folder {path.parent}"
            raise DataError(problem, file=path, remedy="create the folder, or name another file")
        if not os.access(path.parent, os.W_OK):
            problem = f"the folder {path.parent} cannot be written to"
            raise DataError(problem, file=path, remedy="check its permissions, or name another file")


def write(text: str, out: Path | None) -> None:
    """Write text to a file, or as UTF-8 to the standard output."""
    if out is None:
        typer.echo(text.encode("utf-8"), nl=False)
    else:
        write_text_atomically(out, text)


def note(text: str) -> None:
    """Say in one line on the standard error what is no error but may surprise."""
    typer.echo(f"note: {text}", err=True)


def write_json(value: Any, out: Path | None) -> None:
    """Write a value to a JSON file, if there is one to write."""
    if out is not None:
        write_text_atomically(out, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def size_of(path: Path) -> str:
    """The size of a file for people.

    >>> import os
    >>> size_of(Path(os.devnull))
    '0.0 kB'
    """
    size = path.stat().st_size / 1000
    return f"{size:.1f} kB" if size < 1000 else f"{size / 1000:.1f} MB"
