"""How far a run has come with a large file, for another run to go on with where that one is killed."""

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
    """How far the input was read: its bytes, and its lines."""

    begin: int = 0
    lines: int = 0


START = Position()


class Journal:
    """The file that says so; `mark` stands for the input and for everything that decides what is made of it."""

    def __init__(self, path: Path, mark: str) -> None:
        self.path, self.mark = path, mark

    @contextmanager
    def alone(self, out: Path) -> Iterator[None]:
        """Keep other runs with the same output out; raises `DataError` where there is one."""
        with locked(self.path.with_name(f".{self.path.name}.lock"), held=f"{out} is being written by another run"):
            yield

    def said(self) -> tuple[Position, Any] | None:
        """The last position with what was told beside it; raises `ModelFileError` for what another run has left."""
        if not self.path.exists():
            return None
        said = json.loads(self.path.read_text("utf-8"))
        if text_of(said, "mark") != self.mark:
            raise ModelFileError("it is of another input, model or options", remedy=REMEDY)
        return Position(whole_of(said, "begin"), whole_of(said, "lines")), said

    def tell(self, place: Position, **others: Any) -> None:
        """Write a position, in full or not at all."""
        write_atomically(self.path, json.dumps({"mark": self.mark, **place._asdict(), **others}).encode())

    def end(self) -> None:
        """There is nothing to go on with."""
        self.path.unlink(missing_ok=True)
