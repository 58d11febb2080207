"""CRFsuite's format: a label and its attributes on each line, a blank line after each sequence."""

from __future__ import annotations

import math
from pathlib import Path

from sidelight.core.checks import arguments_checked
from sidelight.data.corpus import Corpus
from sidelight.data.files import read_lines, shown_name
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError
from sidelight.evidence import Origin

_ESCAPE_REMEDY = "write a colon that belongs to a name as \\: and a backslash as \\\\"


@arguments_checked
def read_attributes(path: str | Path, *, labelled: bool = True) -> Corpus:
    """A corpus of sequences whose tokens are dicts from attribute to value.

    Each line is `label TAB attribute[:value] TAB ...`; the value is 1 if it is not given, and the values of an
    attribute named twice on a line add up. In names `\\:` is a colon and `\\\\` a backslash; any other backslash stands
    for itself. Empty fields are skipped. CRFsuite's tagging files have the first field although no label is known: with
    `labelled=False` it may be anything, even empty, and is returned unchanged. Raises `DataError` for a file without
    tokens, an empty label, an unescaped colon in a label, and a value that is not a finite number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.crfsuite").write_text("NOUN\\tw=Lights\\tlength:6\\nADP\\tw=on\\n")
    ...     corpus = read_attributes(Path(folder, "a.crfsuite"))
    >>> corpus.xs[0], corpus.ys[0]
    ([{'w=Lights': 1.0, 'length': 6.0}, {'w=on': 1.0}], ['NOUN', 'ADP'])
    """
    file = shown_name(path)
    xs: list[list[dict[str, float]]] = []
    ys: list[list[str]] = []
    origins: list[Origin] = []
    x: list[dict[str, float]] = []
    y: list[str] = []
    for number, line in enumerate([*read_lines(path), ""], start=1):  # the blank line at the end closes the last one
        if line and line.strip(" \t"):
            (label, *fields), place = line.split("\t"), FileLine(file, number)
            y.append(_label(label, place) if labelled else label)
            x.append(_token(fields, place))
        elif x:
            xs.append(x)
            ys.append(y)
            origins.append(Origin(file, range(number - len(x), number)))
            x, y = [], []
    if not xs:
        raise DataError("no tokens", file=file, remedy="give one token a line: label, tab, attributes")
    return Corpus(xs, ys, origins)


def _label(field: str, place: FileLine) -> str:
    name, value = _split(field)
    if value is not None:
        place.fail(f"an unescaped colon in the label {field!r}", _ESCAPE_REMEDY)
    if not name:
        place.fail("an empty label", "start the line with a label and a tab")
    return name


def _token(fields: list[str], place: FileLine) -> dict[str, float]:
    token: dict[str, float] = {}
    for field in fields:
        if not field:
            continue
        if ":" not in field and "\\" not in field:
            token[field] = token.get(field, 0.0) + 1.0
            continue
        name, value = _split(field)
        if not name:
            place.fail(f"no attribute before the colon in {field!r}", _ESCAPE_REMEDY)
        total = token.get(name, 0.0) + (1.0 if value is None else _number(value, field, place))
        if not math.isfinite(total):
            place.fail(f"the values of attribute {name!r} add up to {total}", "give values whose sum is finite")
        token[name] = total
    return token


def _number(value: str, field: str, place: FileLine) -> float:
    try:
        number = float(value) if "_" not in value else None
    except ValueError:
        number = None
    if number is None:
        place.fail(f"the value {value!r} of {field!r} is not a number", _ESCAPE_REMEDY)
    if not math.isfinite(number):
        remedy = "give a finite number, or leave the attribute out"
        place.fail(f"the value {value!r} of {field!r} is not finite", remedy)
    return number


def _split(field: str) -> tuple[str, str | None]:
    r"""The unescaped name and, after the first colon that is not escaped, the value.

    >>> _split(r"time=10\:30:2"), _split("w=on")
    (('time=10:30', '2'), ('w=on', None))
    """
    if "\\" not in field:
        name, colon, value = field.partition(":")
        return name, value if colon else None
    letters: list[str] = []
    at = 0
    while at < len(field) and field[at] != ":":
        if field[at] == "\\" and field[at + 1 : at + 2] in (":", "\\"):
            at += 1
        letters.append(field[at])
        at += 1
    return "".join(letters), field[at + 1 :] if at < len(field) else None
