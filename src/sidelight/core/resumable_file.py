"""A file that is written piece by piece, by a process that may be killed at any moment, and gone on with by another.

Beside the file `out` there are `out.part`, with what is written so far, and `out.journal`, which says how much of the
input that is. The journal is written after its piece, in full or not at all; what the part has beyond it is cut off
when writing goes on. So no piece is lost and none is there twice. The last journal says that all is there; then the
part takes the name of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sidelight.core.file_contents import flag_of, reading, whole_of
from sidelight.core.journal import REMEDY, START, Journal, Position
from sidelight.errors import DataError, ModelFileError


class ResumableFile:
    """One output; `mark` stands for the input and for everything that decides what is written."""

    def __init__(self, out: Path, mark: str) -> None:
        self.out, self.part = out, out.with_name(out.name + ".part")
        self.journal = Journal(out.with_name(out.name + ".journal"), mark)
        self.size = 0

    def alone(self) -> AbstractContextManager[None]:
        """Within it no other run writes this file; raises `DataError` where one does."""
        return self.journal.alone(self.out)

    def begin(self) -> Position | None:
        """Where to go on, or None where all is there; raises `DataError` for what another run has left."""
        with reading(self.journal.path, remedy=REMEDY):
            if (found := self.journal.said()) is None:
                self.part.unlink(missing_ok=True)  # of a run that was killed in its first piece
                return START
            place, said = found
            self.size = whole_of(said, "size")
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
        finally:
            if not self.size:  # nothing came of it
                self.part.unlink(missing_ok=True)

    def add(self, data: bytes, place: Position) -> None:
        """Write what comes of the input up to a place."""
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.size += len(data)
        self.journal.tell(place, size=self.size, done=False)

    def end(self, place: Position) -> None:
        """All is there."""
        self.journal.tell(place, size=self.size, done=True)
        self._end()

    def _end(self) -> None:
        if self.part.exists():
            os.replace(self.part, self.out)
        self.journal.end()
