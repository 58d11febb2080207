"""Reading files of any format: a corpus, or evidence of one kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from sidelight.core.checks import arguments_checked
from sidelight.core.collection import without_collection
from sidelight.data.attributes import read_attributes
from sidelight.data.checks import KNOWN_REMEDY, check_known_label
from sidelight.data.columns import read_columns
from sidelight.data.corpus import Corpus
from sidelight.data.files import shown_name
from sidelight.data.json_lines.candidates import details_of
from sidelight.data.json_lines.lines import Record, output, read_jsonl, read_records
from sidelight.data.json_lines.votes import votes_of
from sidelight.data.tables import label_column_of, read_parquet
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Origin, Partial, Unlabeled, Voted, error_at

FORMATS = ("columns", "jsonl", "attributes", "parquet")
KINDS = ("gold", "partial", "candidates", "good", "bad", "companion", "unlabeled", "votes")
_WITH_LABELS = ("gold", "partial", "candidates")
_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".crfsuite": "attributes",
    ".attributes": "attributes",
    ".parquet": "parquet",
}


def format_of(path: str | Path) -> str:
    """The format of a file by its name; columns if the name has no known ending.

    >>> format_of("train.jsonl.gz"), format_of("train.crfsuite"), format_of("train.txt")
    ('jsonl', 'attributes', 'columns')
    """
    return _EXTENSIONS.get(Path(str(path).lower().removesuffix(".gz")).suffix, "columns")


@arguments_checked
@without_collection()
def load_corpus(path: str | Path, *, format: str | None = None, label_column: int | None = -1) -> Corpus:
    """The inputs and outputs of a file in any format; the file's extension determines the format if it is not given.

    `label_column` is for column files; with `None`, no labels are read from a file of any format. Raises `DataError`
    for an unknown format, and the errors of the readers.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("Lights NOUN\\non ADP\\n")
    ...     load_corpus(Path(folder, "a.txt")).ys
    [['NOUN', 'ADP']]
    """
    match _known_format(path, format):
        case "columns":
            return read_columns(path, label_column=label_column)
        case "attributes":
            corpus = read_attributes(path, labelled=label_column is not None)
            return Corpus(corpus.xs, None if label_column is None else corpus.ys, corpus.origins)
        case "parquet":
            return read_parquet(path, labels=None if label_column is None else label_column_of(path))
        case _:
            if label_column is not None:
                return read_jsonl(path)
            records = read_records(path)
            return Corpus([record.x for record in records], None, [record.origin for record in records])


@arguments_checked
@without_collection()
def load_evidence(
    path: str | Path,
    kind: str,
    *,
    format: str | None = None,
    label_column: int | Literal["auto"] | None = "auto",
    weight: float = 1.0,
) -> list[Evidence]:
    """Evidence of one kind from a file, each piece with its origin.

    `kind` is gold, partial, candidates, good, bad, companion, unlabeled or votes. In the label of a column or attribute
    file, `_` means "not known" for partial; for candidates `A|B` lists labels, and `_` or `*` alone means any label.
    With "auto", the label column is the last one for these kinds and gold. For the other kinds all columns are input,
    and a number names a column to leave out. A companion file has JSON lines with the key `"good"`; a file of votes has
    JSON lines too (`data.json_lines.votes`). JSON lines with candidates may have `"known"` and `"initial"` labels and
    `"chunks"` (`data.json_lines.candidates`). Weights given in the file are multiplied by `weight`. Inputs given by
    features have a single label for `Gold`, and lists of one element for `Partial` and `Candidates`. Raises `DataError`
    with the file and the line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("Lights NOUN|VERB\\non _\\n")
    ...     load_evidence(Path(folder, "a.txt"), "candidates")
    [Candidates(x=[('Lights',), ('on',)], weight=1.0, y=[('NOUN', 'VERB'), None], known=None, initial=None, chunks=())]
    """
    if kind not in KINDS:
        raise DataError(f"no kind of evidence is called {kind!r}", remedy=f"choose one of {', '.join(KINDS)}")
    if not (math.isfinite(weight) and weight >= 0):
        raise DataError(f"the weight {weight!r}", file=shown_name(path), remedy="give a finite number, 0 or more")
    if label_column == "auto":
        label_column = -1 if kind in _WITH_LABELS else None
    if kind in _WITH_LABELS and label_column is None:
        raise DataError(f"{kind} evidence needs labels", file=shown_name(path), remedy="name a label column")
    if _known_format(path, format) == "jsonl":
        records = read_records(path)
    elif kind == "votes":
        remedy = "let sidelight votes make the file, or write JSON lines"
        raise DataError("votes need JSON lines", file=shown_name(path), remedy=remedy)
    elif kind == "companion":
        problem = "companion evidence of both sorts needs JSON lines"
        raise DataError(problem, file=shown_name(path), remedy="keep two files and read one as good, one as bad")
    else:
        records = _records_of_cells(load_corpus(path, format=format, label_column=label_column), kind)
    make = _MAKERS[kind]
    return [make(record, weight * record.weight) for record in records]


def _known_format(path: str | Path, format: str | None) -> str:
    if format is not None and format not in FORMATS:
        remedy = f"choose one of {', '.join(FORMATS)}; sidelight.annotation_tools has label-studio, doccano and brat"
        raise DataError(f"no format is called {format!r}", file=shown_name(path), remedy=remedy)
    return format or format_of(path)


def _records_of_cells(corpus: Corpus, kind: str) -> list[Record]:
    """The label cells of a column or attribute file, read as a kind of evidence."""
    read = {"gold": _read_label, "partial": _read_partial}.get(kind)
    sets: dict[str, tuple[str, ...] | None] = {}
    records = []
    for s, (x, origin) in enumerate(zip(corpus.xs, corpus.origins)):
        cells = [] if corpus.ys is None else corpus.ys[s]
        labels = [read(cell) for cell in cells] if read else None
        candidates = None
        if kind == "candidates":
            for t, cell in enumerate(cells):
                if cell not in sets:
                    sets[cell] = _read_set(cell, origin, t)
            candidates = [sets[cell] for cell in cells]
        records.append(Record(x, labels, candidates, None, 1.0, origin))
    return records


def _read_label(cell: str) -> str | None:
    return cell


def _read_partial(cell: str) -> str | None:
    return None if cell == "_" else cell


def _read_set(cell: str, origin: Origin, token: int) -> tuple[str, ...] | None:
    if cell in ("_", "*"):
        return None
    labels = cell.split("|")
    if "" in labels:
        remedy = "write labels with one | between them, e.g. NOUN|VERB, or _ for any label"
        raise error_at(origin, f"an empty candidate in {cell!r}", remedy=remedy, token=token)
    return tuple(dict.fromkeys(labels))


def _labels(record: Record, kind: str) -> list[str | None]:
    if record.labels is None:
        raise error_at(record.origin, "no labels", remedy=f"add labels, or read the file as something else than {kind}")
    return record.labels


def _gold(record: Record, weight: float) -> Evidence:
    for t, label in enumerate(_labels(record, "gold")):
        if label is None:
            raise error_at(record.origin, f"token {t} has no label (null)", remedy="use partial for this file", token=t)
    return Gold(record.x, output(record), weight=weight, origin=record.origin)


def _partial(record: Record, weight: float) -> Evidence:
    return Partial(record.x, _labels(record, "partial"), weight=weight, origin=record.origin)


def _candidates(record: Record, weight: float) -> Evidence:
    details = details_of(record)
    sets = [None] * len(record.x) if record.candidates is None and details.chunks else record.candidates
    if sets is None:
        remedy = "add candidates, or read the file as something else than candidates"
        raise error_at(record.origin, "no candidates", remedy=remedy)
    for t, (label, labels) in enumerate(zip(details.known or (), sets)):
        problem = None if label is None or labels is None else check_known_label(label, labels)
        if problem:
            raise error_at(record.origin, f"token {t}: {problem}", remedy=KNOWN_REMEDY, token=t)
    known, initial, chunks = details
    return Candidates(record.x, sets, known=known, initial=initial, chunks=chunks, weight=weight, origin=record.origin)


def _companion(record: Record, weight: float) -> Evidence:
    if record.good is None:
        raise error_at(record.origin, 'no "good"', remedy='add "good": true or "good": false')
    return Companion(record.x, 1 if record.good else -1, weight=weight, origin=record.origin)


def _answered(good: bool) -> Callable[[Record, float], Evidence]:
    def make(record: Record, weight: float) -> Evidence:
        if record.good is not None and record.good is not good:
            problem = f'"good" is {str(record.good).lower()} in a file read as {"good" if good else "bad"}'
            raise error_at(record.origin, problem, remedy="correct it, or read the file as companion")
        return Companion(record.x, 1 if good else -1, weight=weight, origin=record.origin)

    return make


def _unlabeled(record: Record, weight: float) -> Evidence:
    return Unlabeled(record.x, weight=weight, origin=record.origin)


def _voted(record: Record, weight: float) -> Evidence:
    return Voted(record.x, votes_of(record), weight=weight, origin=record.origin)


_MAKERS: dict[str, Callable[[Record, float], Any]] = {
    "gold": _gold,
    "partial": _partial,
    "candidates": _candidates,
    "good": _answered(True),
    "bad": _answered(False),
    "companion": _companion,
    "unlabeled": _unlabeled,
    "votes": _voted,
}
INDIRECT = {kind: _MAKERS[kind] for kind in ("good", "bad", "companion", "unlabeled")}  # for items too
