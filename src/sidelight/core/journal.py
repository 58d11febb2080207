"""The progress of a run over a large file, so that another run can continue if this one is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.core.atomic_files import locked, write_atomically
from sidelight.core.file_contents import text_of, whole_of
from sidelight.errors import ModelFileError

REMEDY = "delete it to start over"


class Position(NamedTuple):
    """A position in the input: bytes and lines read."""

    begin: int = 0
    lines: int = 0


START = Position()


class Journal:
    """The journal file; `mark` identifies the input and everything that determines the output."""

    def __init__(self, path: Path, mark: str) -> None:
        self.path, self.mark = path, mark

    @contextmanager
    def alone(self, out: Path) -> Iterator[None]:
        """Exclude other runs with the same output; raises `DataError` if there is one."""
        with locked(self.path.with_name(f".{self.path.name}.lock"), held=f"{out} is being written by another run"):
            yield

    def last_entry(self) -> tuple[Position, Any] | None:
        """The last position, with the values stored with it; raises `ModelFileError` for a journal of another run."""
        if not self.path.exists():
            return None
        entry = json.loads(self.path.read_text("utf-8"))
        if text_of(entry, "mark") != self.mark:
            raise ModelFileError("it is of another input, model or options", remedy=REMEDY)
        return Position(whole_of(entry, "begin"), whole_of(entry, "lines")), entry

    def tell(self, place: Position, **others: Any) -> None:
        """Write a position, completely or not at all."""
        write_atomically(self.path, json.dumps({"mark": self.mark, **place._asdict(), **others}).encode())

    def end(self) -> None:
        """Remove the journal."""
        self.path.unlink(missing_ok=True)
