"""Evidence that stays in files: data larger than memory is read piece by piece.

A row of a Parquet file is converted to a JSON line, so that the readers of JSON lines can read it. Its columns have the
names of JSON keys (`tokens`, `labels`, `weight`, …); other columns are ignored. This needs `pyarrow`, which comes with
`sidelight[arrow]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sidelight.core.checks import file_name
from sidelight.core.journal import START, Position
from sidelight.data import text_pieces
from sidelight.data.files import STDIN, shown_name, unreadable
from sidelight.data.json_lines.lines import KEYS
from sidelight.data.load import format_of, load_corpus, load_evidence
from sidelight.data.tables import class_names, label_column_of
from sidelight.data.text_pieces import TextPiece, pieces_of, placed
from sidelight.errors import DataError
from sidelight.evidence import Evidence

KINDS = ("gold", "partial", "unlabeled")
Paths = str | Path | Sequence[str | Path] | None


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """Files of evidence by kind, and the folder for the features prepared from them."""

    files: Mapping[str, tuple[Path, ...]]
    folder: Path
    format: str | None = None
    label_column: int = -1

    def __str__(self) -> str:
        named = [f"{kind} in {', '.join(map(str, paths))}" for kind, paths in self.files.items()]
        return " and ".join(named)

    @property
    def paths(self) -> list[tuple[str, Path]]:
        """All files in order, each with its kind."""
        return [(kind, path) for kind, paths in self.files.items() for path in paths]

    def pieces(self, kind: str, path: Path, *, after: Position = START) -> Iterator[tuple[TextPiece, list[Evidence]]]:
        """The evidence of one file, piece by piece; raises `DataError` like `load_evidence`."""
        width: int | None = None
        empty = after.begin == 0
        for piece in file_pieces(path, self.format, after=after):
            if piece.is_blank:
                continue
            empty = False
            evidence = self.evidence(kind, path, piece)
            with placed(piece):
                width = _checked_width(evidence, width)
            yield piece, evidence
        if empty:  # raise the reader's error
            nothing: Any = TextPiece(shown_name(path), [], 0, 0)
            self.evidence(kind, path, nothing)

    def evidence(self, kind: str, path: Path, piece: TextPiece) -> list[Evidence]:
        """The evidence in one piece of a file."""
        column: Any = self.label_column if kind != "unlabeled" else "auto"
        with placed(piece):
            return load_evidence(piece, kind, format=_format(path, self.format), label_column=column)  # type: ignore[arg-type]


def stored(
    *,
    gold: Paths = None,
    partial: Paths = None,
    unlabeled: Paths = None,
    folder: str | Path,
    format: str | None = None,
    label_column: int = -1,
) -> StoredCorpus:
    """Evidence in files that may be larger than memory, to be fitted block by block.

    A fit writes the features of the files into `folder` once; another fit with the same data and templates reuses them.
    Files are columns, JSON lines or attributes, as for `load_evidence`, or Parquet (`pyarrow`). Raises `DataError` if
    no file is given.

    >>> str(stored(gold="train.txt", folder="prepared"))
    'gold in train.txt'
    """
    by_kind = {"gold": gold, "partial": partial, "unlabeled": unlabeled}
    files = {kind: _paths(kind, paths) for kind, paths in by_kind.items() if paths is not None}
    if not any(files.values()):
        raise DataError("no evidence", remedy="name at least one file, e.g. gold='train.txt'")
    return StoredCorpus({k: v for k, v in files.items() if v}, Path(file_name(folder)), format, label_column)


def file_pieces(path: Path, format: str | None, *, after: Position = START, parts: int = 1) -> Iterator[TextPiece]:
    """The pieces of a file of any format, from the position where an earlier reading stopped.

    With `parts`, pieces are smaller by this factor, for parallel work.
    """
    if (format or format_of(path)) == "parquet":
        return parquet_pieces(path, begin=after.begin, rows=ROWS // parts)
    by_line = (format or format_of(path)) == "jsonl"
    return pieces_of(path, by_line=by_line, begin=after.begin, first=after.lines, size=text_pieces.SIZE // parts)


def corpus_of(piece: TextPiece, path: Path, format: str | None, *, label_column: int | None) -> Any:
    """The inputs of a piece, read as by `load_corpus`."""
    with placed(piece):
        return load_corpus(piece, format=_format(path, format), label_column=label_column)  # type: ignore[arg-type]


def _format(path: Path, format: str | None) -> str:
    """The format of pieces: rows of Parquet have become JSON lines."""
    name = format or format_of(path)
    return "jsonl" if name == "parquet" else name


def _paths(kind: str, paths: Any) -> tuple[Path, ...]:
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    files = tuple(Path(file_name(path, name=kind)) for path in listed)
    if any(str(path) == STDIN for path in files):
        raise DataError("the standard input cannot be read twice", remedy="write it to a file, and name that")
    return files


def _checked_width(evidence: list[Evidence], width: int | None) -> int | None:
    """The number of columns of tokens; raises `DataError` if it differs from before."""
    token = evidence[0].x[0] if isinstance(evidence[0].x, list) else None
    own = len(token) if isinstance(token, tuple) else None
    if width is not None and own != width:
        origin = evidence[0].origin
        assert origin is not None
        problem = f"{own} columns of input where the lines before have {width}"
        raise DataError(problem, file=origin.file, line=origin.line(0), remedy="give every token the same columns")
    return own


ROWS = 4096  # of a piece


def parquet_pieces(path: str | Path, *, begin: int = 0, rows: int = ROWS) -> Iterator[TextPiece]:
    """The rows from `begin` on; raises `DataError` if this is not a Parquet file, and without `pyarrow`."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError(
            "Parquet is read by pyarrow, which is missing", file=path, remedy="pip install 'sidelight[arrow]'"
        ) from None
    name = file_name(path)
    try:
        with unreadable(path), open(name, "rb") as opened, parquet.ParquetFile(opened) as file:
            label = label_column_of(path)
            names = None if label is None else class_names(SimpleNamespace(schema=file.schema_arrow), label)
            columns = [column for column in file.schema_arrow.names if column in KEYS or column == label]
            seen = 0
            for batch in file.iter_batches(batch_size=rows, columns=columns):
                last, table = seen + batch.num_rows, batch.slice(max(begin - seen, 0))
                if table.num_rows:
                    yield TextPiece(
                        name, [_line(row, label, names) for row in table.to_pylist()], last - table.num_rows, last
                    )
                seen = last
    except ArrowException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"not a Parquet file ({reason})", file=path, remedy="write it again, or name another") from None


def _line(row: dict[str, Any], label: str | None, names: Sequence[str] | None) -> str:
    """A row without null values; labels given as numbers become names."""
    own = {"labels" if name == label else name: value for name, value in row.items() if value is not None}
    if names is not None and "labels" in own:
        own["labels"] = [names[one] if one is not None and 0 <= one < len(names) else None for one in own["labels"]]
    return json.dumps(own, ensure_ascii=False)
