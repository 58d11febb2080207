"""Text files piece by piece, for those that are larger than memory: whole sentences, or whole lines, at a time.

A piece stands for its file wherever a reader takes the name of one, and holds only some of its lines; `placed` makes
lines in errors those of the file.
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

SIZE = 1 << 22  # bytes of a piece, or a little more
NEAR = 1 << 16  # bytes at the end of a piece, where it is most likely cut
_END = rb"(?:\r\n|\n|\r(?!\n))"
_BETWEEN = re.compile(_END + rb"[ \t]*" + _END)  # sentences
_ENDS = re.compile(_END)


@dataclass(frozen=True, slots=True)
class TextPiece(PathLike[str]):
    """Some of the lines of a file, instead of the file."""

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
        """Whether there is nothing to read in it."""
        return not any(line.strip(" \t") and not line.startswith("-DOCSTART-") for line in self.lines)

    @property
    def last(self) -> Position:
        """Where it ends."""
        return Position(self.end, self.first + len(self.lines))


def pieces_of(
    path: str | Path, *, by_line: bool, begin: int = 0, first: int = 0, size: int | None = None
) -> Iterator[TextPiece]:
    """The pieces of a file, compressed or not; `by_line` may cut after any line, else between sentences.

    To go on where an earlier reading stopped, `begin` and `first` are the `end` of its last piece and the number of
    lines up to there. Raises `DataError` as `read_text` does.
    """
    name, cut, size = shown_name(path), _ENDS if by_line else _BETWEEN, SIZE if size is None else size
    with _opened(path) as file:
        if begin:
            file.seek(begin)
        held, ended, wanted = b"", False, size
        while held or not ended:
            if not ended:
                data = _read(file, wanted, path)
                ended = len(data) < wanted
                held += data
            if begin == 0:
                refuse_tensors(held, name)
            at = len(held) if ended else _last_cut(cut, held)
            if at == 0 and not ended:
                wanted *= 2  # a very long sentence
                continue
            data, held, wanted = held[:at], held[at:], size
            if not data:
                break
            text = data.removeprefix(codecs.BOM_UTF8) if begin == 0 else data
            lines = lines_of(decoded(text, name, before=first))
            begin += len(data)
            yield TextPiece(name, lines, first, begin)
            first += len(lines)


@contextmanager
def placed(piece: Any) -> Iterator[None]:
    """Errors about a piece have the lines of its file."""
    try:
        yield
    except DataError as error:
        if not isinstance(piece, TextPiece) or error.line is None or error.file != piece.file or not piece.first:
            raise
        moved = DataError(error.problem, file=error.file, line=error.line + piece.first, remedy=error.remedy)
        raise moved from error.__cause__


def _last_cut(cut: re.Pattern[bytes], data: bytes) -> int:
    """The last place where a piece may end; 0 where there is none. What ends in a return may go on with a new line."""
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
    """So many bytes; fewer at the end alone."""
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
