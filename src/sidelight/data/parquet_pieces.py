"""Parquet files piece by piece: each row as the line of JSON that it would be, so that all readers of these read it.

Columns are called as the keys of JSON lines are (`tokens`, `labels`, `weight`, …); others are left alone. Needs
`pyarrow`, which comes with `sidelight[arrow]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sidelight.core.checks import file_name
from sidelight.data.files import unreadable
from sidelight.data.json_lines.lines import KEYS
from sidelight.data.tables import class_names, label_column_of
from sidelight.data.text_pieces import TextPiece
from sidelight.errors import DataError

ROWS = 4096  # of a piece


def parquet_pieces(path: str | Path, *, begin: int = 0, rows: int = ROWS) -> Iterator[TextPiece]:
    """The rows from `begin` on; raises `DataError` where it is no Parquet file, and without `pyarrow`."""
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
                last, found = seen + batch.num_rows, batch.slice(max(begin - seen, 0))
                if found.num_rows:
                    yield TextPiece(
                        name, [_line(row, label, names) for row in found.to_pylist()], last - found.num_rows, last
                    )
                seen = last
    except ArrowException as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"no Parquet file ({told})", file=path, remedy="write it again, or name another") from None


def _line(row: dict[str, Any], label: str | None, names: Sequence[str] | None) -> str:
    """A row without what is null in it; labels that are numbers of names become these."""
    own = {"labels" if name == label else name: value for name, value in row.items() if value is not None}
    if names is not None and "labels" in own:
        own["labels"] = [names[one] if one is not None and 0 <= one < len(names) else None for one in own["labels"]]
    return json.dumps(own, ensure_ascii=False)
