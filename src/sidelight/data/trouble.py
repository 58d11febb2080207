"""The error that names a piece of evidence."""

from __future__ import annotations

from sidelight.errors import DataError
from sidelight.evidence import Evidence


def trouble(piece: Evidence, index: int, *, problem: str, remedy: str, token: int | None = None) -> DataError:
    """The error that names a piece of evidence, a token of it, and the file and line if these are known."""
    where = f"evidence {index} ({type(piece).__name__})" + ("" if token is None else f", token {token}")
    origin = piece.origin
    if origin is None:
        return DataError(f"{where}: {problem}", remedy=remedy)
    line = origin.line(token or 0) if len(origin.lines) else None
    return DataError(f"{where}: {problem}", file=origin.file, line=line, remedy=remedy)
