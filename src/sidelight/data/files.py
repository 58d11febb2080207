"""Text files: UTF-8, compressed or not, read whole and written whole."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sidelight.core.atomic_files import write_atomically
from sidelight.core.checks import file_name
from sidelight.errors import DataError

STDIN = "-"
CHUNK = 1 << 20  # bytes that are read at a time


class Digest(Protocol):
    """A digest of `hashlib`."""

    def update(self, data: bytes, /) -> None: ...


def shown_name(path: str | Path) -> str:
    """The name of a file in messages and origins.

    >>> shown_name("data/train.txt"), shown_name("-")
    ('data/train.txt', '<stdin>')
    """
    return "<stdin>" if str(path) == STDIN else str(path)


def read_text(path: str | Path, *, as_it_is: bool = False) -> str:
    """The text of a UTF-8 file, every line ended by `\\n`.

    A file whose name ends in `.gz` is decompressed, and `-` is the standard input. A byte order mark is dropped; with
    `as_it_is`, it and the line ends are left unchanged. Raises `DataError` for a file that cannot be read, for a model,
    and for a byte that is not UTF-8, with its line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text_atomically(Path(folder, "a.txt.gz"), "Licht\\r\\nan\\r\\n")
    ...     read_text(Path(folder, "a.txt.gz"))
    'Licht\\nan\\n'
    """
    data = _read_bytes(path)
    if not as_it_is:
        data = data.removeprefix(codecs.BOM_UTF8)
    refuse_tensors(data, shown_name(path))
    return decoded(data, shown_name(path), as_it_is=as_it_is)


def decoded(data: bytes, name: str, *, before: int = 0, as_it_is: bool = False) -> str:
    """Bytes as text, every line ended by `\\n`; raises `DataError` at a byte that is not UTF-8, after so many lines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        utf16 = not before and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        line = before + _unix_lines(data[: error.start].decode("utf-8")).count("\n") + 1
        raise DataError(
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            file=name,
            line=line,
            remedy=f"convert the file to UTF-8, e.g. iconv -f {'utf-16' if utf16 else 'latin1'} -t utf8",
        ) from None
    return text if as_it_is else _unix_lines(text)


def refuse_tensors(data: bytes, name: str) -> None:
    """Raise `DataError` for data that begins like a model file."""
    if (kind := _tensors_in(data)) is not None:
        raise DataError(f"a {kind}, not data", file=name, remedy="name a file with inputs")


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file, or of a piece of one, without their ends.

    Only `\\n`, `\\r\\n` and `\\r` end a line.
    """
    own: list[str] | None = getattr(path, "lines", None)
    return lines_of(read_text(path)) if own is None else list(own)


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a UTF-8 file completely or not at all; if its name ends in `.gz`, it is compressed.

    The text is written to a temporary file in the same folder, which then replaces `path`. Raises `DataError` if
    the folder is missing or cannot be written to, or if `path` is not a file.
    """
    write_atomically(path, encoded(path, text))


def encoded(path: str | Path, text: str) -> bytes:
    """The bytes of a text, or of a piece of it, in a file of this name; raises `DataError` if it cannot be encoded."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"the character {text[error.start]!r} cannot be written as UTF-8",
            file=path,
            line=text.count("\n", 0, error.start) + 1,
            remedy="remove it: it is half of a surrogate pair",
        ) from None
    return gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data


def add_contents(digest: Digest, path: str | Path) -> None:
    """Add the size and the bytes of a file to a digest; raises `DataError` if it cannot be read."""
    with unreadable(path), open(path, "rb") as file:
        digest.update(f"{os.fstat(file.fileno()).st_size}:".encode())
        while data := file.read(CHUNK):
            digest.update(data)


@contextmanager
def unreadable(path: str | Path) -> Iterator[None]:
    """Context manager: an error on opening a file becomes a `DataError` with the reason."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, remedy="check the name") from None
    except IsADirectoryError:
        raise DataError("a folder, not a file", file=path, remedy="name a file in it") from None
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror or error})", file=path, remedy="check the name and the permissions"
        ) from error


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _tensors_in(data: bytes) -> str | None:
    """The format that a tensor file declares (it begins with the length of a JSON object); None for other files."""
    end = 8 + int.from_bytes(data[:8], "little")
    if data[8:9] != b"{" or end > len(data):
        return None
    try:
        header = json.loads(data[8:end])
        return str(json.loads(header["__metadata__"]["sidelight"])["kind"])
    except (ValueError, KeyError, TypeError):  # for example, not JSON or not text
        return None


def _read_bytes(path: str | Path) -> bytes:
    if str(path) == STDIN:
        return sys.stdin.buffer.read()
    with unreadable(path):
        data = Path(file_name(path)).read_bytes()
    if Path(path).suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"not a whole gzip file ({error})", file=path, remedy="compress it again, or drop .gz from its name"
        ) from error
