"""Text files: UTF-8, compressed or not, read whole and written whole."""

from __future__ import annotations

import codecs
import gzip
import json
import sys
import zlib
from pathlib import Path

from sidelight.core.atomic_files import write_atomically
from sidelight.core.checks import file_name
from sidelight.errors import DataError

STDIN = "-"


def shown_name(path: str | Path) -> str:
    """The name of a file as messages and origins give it.

    >>> shown_name("data/train.txt"), shown_name("-")
    ('data/train.txt', '<stdin>')
    """
    return "<stdin>" if str(path) == STDIN else str(path)


def read_text(path: str | Path, *, as_it_is: bool = False) -> str:
    """The text of a UTF-8 file, every line ended by `\\n`.

    A name that ends in `.gz` is decompressed and `-` is the standard input. A byte order mark is dropped; `as_it_is`
    leaves it there, and the ends of lines as they are. Raises `DataError` for a file that cannot be read, for a model,
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
    if (kind := _tensors_in(data)) is not None:
        raise DataError(f"a {kind}, not data", file=shown_name(path), remedy="name a file with inputs")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _unix_lines(data[: error.start].decode("utf-8")).count("\n") + 1
        raise DataError(
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            file=shown_name(path),
            line=line,
            remedy="convert the file to UTF-8, e.g. iconv -f latin1 -t utf8",
        ) from None
    return text if as_it_is else _unix_lines(text)


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file without their ends; only `\\n`, `\\r\\n` and `\\r` end a line."""
    lines = read_text(path).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a UTF-8 file so that it is there in full or not at all; a name that ends in `.gz` is compressed.

    The text goes to a temporary name in the same folder, which then takes the place of `path`. Raises `DataError` if
    the folder is missing or cannot be written to, or if `path` is something else than a file.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"the character {text[error.start]!r} cannot be written as UTF-8",
            file=path,
            line=text.count("\n", 0, error.start) + 1,
            remedy="remove it: it is half of a surrogate pair",
        ) from None
    if Path(path).suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    write_atomically(path, data)


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _tensors_in(data: bytes) -> str | None:
    """What a file of tensors says it is, which begins with the length of a JSON object; None for any other file."""
    end = 8 + int.from_bytes(data[:8], "little")
    if data[8:9] != b"{" or end > len(data):
        return None
    try:
        header = json.loads(data[8:end])
        return str(json.loads(header["__metadata__"]["sidelight"])["kind"])
    except (ValueError, KeyError, TypeError):  # among them what is no JSON and no text
        return None


def _read_bytes(path: str | Path) -> bytes:
    if str(path) == STDIN:
        return sys.stdin.buffer.read()
    try:
        data = Path(file_name(path)).read_bytes()
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, remedy="check the name") from None
    except IsADirectoryError:
        raise DataError("a folder, not a file", file=path, remedy="name a file in it") from None
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror or error})", file=path, remedy="check the name and the permissions"
        ) from error
    if Path(path).suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"not a whole gzip file ({error})", file=path, remedy="compress it again, or drop .gz from its name"
        ) from error
