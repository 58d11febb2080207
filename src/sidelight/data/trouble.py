"""Errors that name a piece of evidence, and the file and line that it was read from."""

from __future__ import annotations

from sidelight.errors import DataError
from sidelight.evidence import Evidence, Origin


def trouble(piece: Evidence, index: int | None, *, problem: str, remedy: str, token: int | None = None) -> DataError:
    """The error that names a piece of evidence, a token of it, and the file and line if these are known.

    The index is `None` where only the caller knows which piece it is, and names it.
    """
    where = [] if index is None else [f"evidence {index} ({type(piece).__name__})"]
    where += [] if token is None else [f"token {token}"]
    place = f"{', '.join(where)}: " if where else ""
    return error_at(piece.origin, f"{place}{problem}", remedy=remedy, token=token or 0)


def error_at(origin: Origin | None, problem: str, *, remedy: str, token: int = 0) -> DataError:
    """The error that names the file and the line of a token, if these are known."""
    if origin is None:
        return DataError(problem, remedy=remedy)
    line = origin.line(token) if len(origin.lines) else None
    return DataError(problem, file=origin.file, line=line, remedy=remedy)
