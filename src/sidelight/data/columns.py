"""Column files: one token per line, a blank line after each sentence, as in the CoNLL shared tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sidelight.core.checks import arguments_checked
from sidelight.data.corpus import Corpus
from sidelight.data.files import read_lines, shown_name
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError
from sidelight.evidence import Origin

# White space for `str.split`, but not in column files: a no-break space is part of its word.
_ODD_SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c not in " \t\n\r")

_DOCUMENT = "-DOCSTART-"  # between the documents of a file, instead of a sentence


@arguments_checked
def read_columns(path: str | Path, *, label_column: int | None = -1, separator: str | None = None) -> Corpus:
    """A corpus of sentences: each token a tuple of its columns, and its label if there is a label column.

    `label_column` counts from 0, or from the end if negative; `None` says that all columns are input. `separator`
    separates columns; `None` means a tab if the first token's line has one, else runs of spaces. A line that begins
    with `-DOCSTART-`, between blank lines, marks a document, as in CoNLL-2003, and is left out. Raises `DataError` for
    a file without tokens, a line with more or fewer columns than the first, an empty label, and a label column that is
    not there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("Lights NNS NOUN\\non IN ADP\\n\\nOff RB ADV\\n")
    ...     corpus = read_columns(Path(folder, "a.txt"))
    >>> corpus.xs[0], corpus.ys[1]
    ([('Lights', 'NNS'), ('on', 'IN')], ['ADV'])
    """
    if separator == "":
        raise DataError("an empty separator", remedy="give the separator of columns, or None to detect it")
    file = shown_name(path)
    lines = _without_marks(read_lines(path))
    first = next((n for n, line in enumerate(lines) if line.strip(" \t")), None)
    if first is None:
        raise DataError("no tokens", file=file, remedy="give one token a line and a blank line after each sentence")
    if separator is None and "\t" in lines[first]:
        separator = "\t"
    split = _splitter(lines, separator)
    width = len(split(lines[first]))
    if label_column is not None:
        label_column = _label_position(label_column, width, FileLine(file, first + 1))

    shared = dict[str, str]().setdefault  # one object per distinct string
    xs: list[list[tuple[str, ...]]] = []
    ys: list[list[str]] = []
    origins: list[Origin] = []
    x: list[tuple[str, ...]] = []
    y: list[str] = []
    for number, line in enumerate([*lines, ""]):  # the blank line at the end closes the last sentence
        if line and line.strip(" \t"):
            cells = [shared(cell, cell) for cell in split(line)]
            if len(cells) != width:
                between = {None: "spaces", "\t": "tabs"}.get(separator, repr(separator))
                FileLine(file, number + 1).fail(
                    f"{len(cells)} column{'s' * (len(cells) != 1)} where {width} were expected",
                    f"give every token the {width} columns that line {first + 1} has, separated by {between}",
                )
            if label_column is not None:
                y.append(cells.pop(label_column))
            x.append(tuple(cells))
        elif x:
            if "" in y:
                remedy = "write the label; where it is not known write _ and read the file as partial or candidates"
                FileLine(file, number - len(y) + y.index("") + 1).fail("an empty label", remedy)
            xs.append(x)
            ys.append(y)
            origins.append(Origin(file, range(number - len(x) + 1, number + 1)))
            x, y = [], []
    return Corpus(xs, None if label_column is None else ys, origins)


@arguments_checked
def write_columns(xs: Sequence[Sequence[Any]], ys: Sequence[Sequence[str]] | None = None) -> str:
    """The text of a column file: tabs between columns, the label last, a blank line after each sentence.

    A token is a string or a sequence of strings. `read_columns` reads the text back as the same values. Raises
    `DataError` for values with which this is impossible: a tab or a line end inside a cell, an empty sentence, an empty
    label, a document mark.

    >>> write_columns([["Lights", "on"]], [["NOUN", "ADP"]])
    'Lights\\tNOUN\\non\\tADP\\n\\n'
    """
    if ys is not None and len(xs) != len(ys):
        raise DataError(f"{len(xs)} inputs but {len(ys)} outputs", remedy="give one output per input")
    pieces: list[str] = []
    width = 0
    for s, x in enumerate(xs):
        rows = [[token] if isinstance(token, str) else list(token) for token in x]
        if not rows:
            raise DataError(f"sentence {s} has no tokens", remedy="leave it out")
        if ys is not None:
            if len(ys[s]) != len(rows):
                raise DataError(f"sentence {s} has {len(rows)} tokens but {len(ys[s])} labels", remedy="give one each")
            for row, label in zip(rows, ys[s]):
                row.append(label)
        for t, row in enumerate(rows):
            width = width or len(row)
            problem = _unwritable(row, width, labelled=ys is not None)
            if not pieces and problem is None and row[0].startswith("\ufeff"):
                problem = "a file that starts with a byte order mark loses it when read"
            if problem:
                raise DataError(f"sentence {s}, token {t}: {problem}", remedy="change the token, or write JSON lines")
            pieces.append("\t".join(row) + "\n")
        if len(rows) == 1 and _marks_document(pieces[-1]):
            raise DataError(f"sentence {s} would be read as a mark of documents", remedy="leave it out")
        pieces.append("\n")
    return "".join(pieces)


def _marks_document(line: str) -> bool:
    """Whether a line is a document mark, if it is between blank lines; it may have any number of columns."""
    return line.startswith(_DOCUMENT) and line[len(_DOCUMENT) :][:1] in ("", " ", "\t", "\n")


def _without_marks(lines: list[str]) -> list[str]:
    """The lines, with document marks replaced by blank lines."""
    for n in [n for n, line in enumerate(lines) if _marks_document(line)]:
        if not any(line.strip(" \t") for line in (*lines[max(n - 1, 0) : n], *lines[n + 1 : n + 2])):
            lines[n] = ""
    return lines


def _splitter(lines: list[str], separator: str | None) -> Callable[[str], list[str]]:
    if separator is not None:
        return lambda line: line.split(separator)
    text = "\n".join(lines)
    if any(space in text for space in _ODD_SPACES):
        return lambda line: [cell for cell in line.replace("\t", " ").split(" ") if cell]
    return str.split


def _label_position(column: int, width: int, place: FileLine) -> int:
    if not -width <= column < width:
        problem = f"label column {column} where the file has {width} column{'s' * (width != 1)}"
        place.fail(problem, f"name a column from {-width} to {width - 1}")
    if width == 1:
        remedy = "add the columns that are missing; a file without labels is one to predict, or unlabelled"
        place.fail("1 column, which leaves no input beside the label", remedy)
    return column % width


def _unwritable(row: list[Any], width: int, *, labelled: bool) -> str | None:
    if len(row) != width or not row:
        return f"{len(row)} columns where {width} were expected"
    for cell in row:
        if not isinstance(cell, str):
            return f"{cell!r} is not a string"
        if "\t" in cell or "\n" in cell or "\r" in cell:
            return f"{cell!r} holds a tab or the end of a line"
    if labelled and not row[-1]:
        return "an empty label"
    if not "".join(row).strip(" ") or (width == 1 and " " in row[0]):
        return f"{row!r} would not be read as one token"
    return None
