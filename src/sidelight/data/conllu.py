"""Sentences with dependency trees from CoNLL-U files (ten columns, a blank line after each sentence)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sidelight.data.files import read_lines
from sidelight.errors import DataError

FORM, UPOS, XPOS, HEAD, RELATION = 1, 3, 4, 6, 7  # columns


class Treebank(NamedTuple):
    """Sentences and their trees."""

    xs: list[list[tuple[str, str]]]  # form and tag of every token
    ys: list[list[tuple[int, str]]]  # head, 0 for the root, and relation of every token

    @property
    def heads(self) -> list[list[int]]:
        """The trees without relations."""
        return [[head for head, _ in y] for y in self.ys]


def read_treebank(path: Path, *, tags: int = UPOS) -> Treebank:
    """The sentences of a file, without multi-word tokens and empty nodes; raises `DataError` for what is no tree."""
    found = Treebank([], [])
    x: list[tuple[str, str]] = []
    y: list[tuple[int, str]] = []
    lines: list[int] = []
    for number, line in enumerate([*read_lines(path), ""], start=1):
        cells = line.split("\t")
        if not line.strip():
            if x:
                _check_heads(y, path, lines)
                found.xs.append(x)
                found.ys.append(y)
            x, y, lines = [], [], []
        elif not line.startswith("#") and cells[0].isdigit():
            if len(cells) != 10:
                raise DataError("not a token in 10 columns", file=path, line=number, remedy="check the file")
            if not cells[HEAD].isdigit():
                problem = f"the head of a token is {cells[HEAD]!r}"
                raise DataError(problem, file=path, line=number, remedy="give its number, or 0 for the root")
            x.append((cells[FORM], cells[tags]))
            y.append((int(cells[HEAD]), cells[RELATION]))
            lines.append(number)
    return found


def _check_heads(y: list[tuple[int, str]], path: Path, lines: list[int]) -> None:
    for token, ((head, _), line) in enumerate(zip(y, lines), start=1):
        if head > len(y) or head == token:
            problem = f"token {token} of a sentence of {len(y)} has the head {head}"
            raise DataError(problem, file=path, line=line, remedy="give 0 for the root, or another token")
