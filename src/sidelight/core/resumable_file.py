"""A file that is written piece by piece, by a process that may be killed at any moment, and gone on with by another.

Beside the file `out` there are `out.part`, with what is written so far, and `out.journal`, which says how much of the
input that is. The journal is written after its piece, in full or not at all; what the part has beyond it is cut off
when writing goes on. So no piece is lost and none is there twice. The last journal says that all is there; then the
part takes the name of the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.core.atomic_files import write_atomically
from sidelight.core.file_contents import flag_of, reading, text_of, whole_of
from sidelight.errors import DataError, ModelFileError

REMEDY = "delete it to start over"


class Position(NamedTuple):
    """How far the input was read: its bytes, and its lines."""

    begin: int = 0
    lines: int = 0


class ResumableFile:
    """One output; `mark` stands for the input and for everything that decides what is written."""

    def __init__(self, out: Path, mark: str) -> None:
        self.out, self.mark = out, mark
        self.part, self.journal = out.with_name(out.name + ".part"), out.with_name(out.name + ".journal")
        self.size = 0

    def begin(self) -> Position | None:
        """Where to go on, or None where all is there; raises `DataError` for what another run has left."""
        if not self.journal.exists():
            self.part.unlink(missing_ok=True)  # of a run that was killed in its first piece
            return Position()
        with reading(self.journal, remedy=REMEDY):
            said = json.loads(self.journal.read_text("utf-8"))
            if text_of(said, "mark") != self.mark:
                raise ModelFileError("it is of another input, model or options", remedy=REMEDY)
            place, self.size = Position(whole_of(said, "begin"), whole_of(said, "lines")), whole_of(said, "size")
            if flag_of(said, "done"):
                self._end()
                return None
            there = self.part.stat().st_size if self.part.exists() else 0
            if there < self.size:
                raise ModelFileError(f"{self.part} has less than it says", remedy=REMEDY)
        return place

    @contextmanager
    def writing(self) -> Iterator[ResumableFile]:
        """Within it pieces can be added; raises `DataError` where they cannot be written."""
        try:
            with open(self.part, "ab") as self._file:
                self._file.truncate(self.size)
                yield self
        except OSError as error:
            problem = f"cannot be written ({error.strerror or error})"
            raise DataError(problem, file=self.part, remedy="make room on the disk; --resume goes on") from error

    def add(self, data: bytes, place: Position) -> None:
        """Write what comes of the input up to a place."""
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.size += len(data)
        self._tell(place, done=False)

    def end(self, place: Position) -> None:
        """All is there."""
        self._tell(place, done=True)
        self._end()

    def _end(self) -> None:
        if self.part.exists():
            os.replace(self.part, self.out)
        self.journal.unlink(missing_ok=True)

    def _tell(self, place: Position, *, done: bool) -> None:
        said: dict[str, Any] = {"mark": self.mark, **place._asdict(), "size": self.size, "done": done}
        write_atomically(self.journal, json.dumps(said).encode())
