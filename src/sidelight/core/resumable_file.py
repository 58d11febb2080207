"""A file written piece by piece, by a process that may be killed at any moment; another process can continue it.

Beside the file `out` there are `out.part`, which holds the output so far, and `out.journal`, which records how much of
the input it covers. The journal is written after its piece, completely or not at all. On resuming, anything in the part
beyond the journal is cut off. So no piece is lost or written twice. The last journal marks the output as complete; then
the part is renamed to the file.
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
    """One output; `mark` identifies the input and everything that determines the output."""

    def __init__(self, out: Path, mark: str) -> None:
        self.out, self.part = out, out.with_name(out.name + ".part")
        self.journal = Journal(out.with_name(out.name + ".journal"), mark)
        self.size = 0

    def alone(self) -> AbstractContextManager[None]:
        """Within it no other run writes this file; raises `DataError` where one does."""
        return self.journal.alone(self.out)

    def begin(self) -> Position | None:
        """The position from which to continue, or None if the output is complete; raises `DataError` for files of
        another run.
        """
        with reading(self.journal.path, remedy=REMEDY):
            if (entry := self.journal.last_entry()) is None:
                self.part.unlink(missing_ok=True)  # from a run that was killed in its first piece
                return START
            place, values = entry
            self.size = whole_of(values, "size")
            if flag_of(values, "done"):
                self._end()
                return None
            there = self.part.stat().st_size if self.part.exists() else 0
            if there < self.size:
                raise ModelFileError(f"{self.part} has less than it says", remedy=REMEDY)
        return place

    @contextmanager
    def writing(self) -> Iterator[ResumableFile]:
        """Context manager in which pieces can be added; raises `DataError` if they cannot be written."""
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
        """Write the output of the input up to a position."""
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.size += len(data)
        self.journal.tell(place, size=self.size, done=False)

    def end(self, place: Position) -> None:
        """Mark the output as complete and give it its name."""
        self.journal.tell(place, size=self.size, done=True)
        self._end()

    def _end(self) -> None:
        if self.part.exists():
            os.replace(self.part, self.out)
        self.journal.end()
