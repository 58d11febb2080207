"""Reading text files larger than memory in pieces of whole sentences or whole lines.

Readers accept a piece instead of a file name; it holds only some lines of the file. `placed` converts lines in errors
to lines of the file.
"""

from __future__ import annotations

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

from sidelight.core.checks import file_name
from sidelight.core.journal import Position
from sidelight.data.files import STDIN, decoded, lines_of, refuse_tensors, shown_name, unreadable
from sidelight.errors import DataError

SIZE = 1 << 22  # bytes of a piece, approximately
NEAR = 1 << 16  # bytes at the end of a piece, where a cut is searched first
_END = rb"(?:\r\n|\n|\r(?!\n))"
_BETWEEN = re.compile(_END + rb"[ \t]*" + _END)  # sentences
_ENDS = re.compile(_END)


@dataclass(frozen=True, slots=True)
class TextPiece(PathLike[str]):
    """Some lines of a file."""

    file: str
    lines: list[str]
    first: int  # lines before them
    end: int  # bytes of the file, without compression, up to the end of the piece

    def __fspath__(self) -> str:
        return self.file

    def __str__(self) -> str:
        return self.file

    @property
    def is_blank(self) -> bool:
        """Whether the piece has nothing to read."""
        return not any(line.strip(" \t") and not line.startswith("-DOCSTART-") for line in self.lines)

    @property
    def last(self) -> Position:
        """The last position of the piece."""
        return Position(self.end, self.first + len(self.lines))


def pieces_of(
    path: str | Path, *, by_line: bool, begin: int = 0, first: int = 0, size: int | None = None
) -> Iterator[TextPiece]:
    """The pieces of a file, compressed or not; with `by_line` they may end after any line, else only between sentences.

    To continue an earlier reading, pass the `end` of its last piece as `begin`, and the number of lines up to there as
    `first`. Raises `DataError` like `read_text`.
    """
    name, cut, size = shown_name(path), _ENDS if by_line else _BETWEEN, SIZE if size is None else size
    with _opened(path) as file:
        if begin:
            file.seek(begin)
        held, ended, room = b"", False, size
        while held or not ended:
            if not ended:
                data = _read(file, room, path)
                ended = len(data) < room
                held += data
            if begin == 0:
                refuse_tensors(held, name)
            at = len(held) if ended else _last_cut(cut, held)
            if at == 0 and not ended:
                room *= 2  # a very long sentence
                continue
            data, held, room = held[:at], held[at:], size
            if not data:
                break
            text = data.removeprefix(codecs.BOM_UTF8) if begin == 0 else data
            lines = lines_of(decoded(text, name, before=first))
            begin += len(data)
            yield TextPiece(name, lines, first, begin)
            first += len(lines)


@contextmanager
def placed(piece: Any) -> Iterator[None]:
    """Context manager: errors about a piece get the lines of its file."""
    try:
        yield
    except DataError as error:
        if not isinstance(piece, TextPiece) or error.line is None or error.file != piece.file or not piece.first:
            raise
        moved = DataError(error.problem, file=error.file, line=error.line + piece.first, remedy=error.remedy)
        raise moved from error.__cause__


def _last_cut(cut: re.Pattern[bytes], data: bytes) -> int:
    """The last position where a piece may end; 0 if there is none. After a carriage return, a newline may follow."""
    for begin in (max(len(data) - NEAR, 0), 0):
        places = [match.end() for match in cut.finditer(data, begin) if match.end() < len(data)]
        if places:
            return places[-1]
    return 0


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    with unreadable(path):
        file = open(file_name(path), "rb")  # noqa: SIM115
    with file:
        yield gzip.GzipFile(fileobj=file) if Path(path).suffix == ".gz" else file  # type: ignore[misc]


def _read(file: IO[bytes], size: int, path: str | Path) -> bytes:
    """Read `size` bytes; fewer only at the end."""
    try:
        parts = []
        while size > 0 and (part := file.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"not a whole gzip file ({error})"
        remedy = "compress it again, or drop .gz from its name"
        raise DataError(problem, file=path, remedy=remedy) from error
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise DataError(problem, file=path, remedy="check the name and the permissions") from error
