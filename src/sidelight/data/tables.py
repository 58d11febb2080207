"""Inputs and outputs from tables: Hugging Face datasets, frames of pandas and polars, Arrow tables, Parquet files.

Each row of a table is a sentence, with tokens and labels as lists; or, with a column of sentence numbers or names, each
row is a token. Columns are read through the table's own methods, without importing its library. Only pyarrow is
imported: for files, and for tables that have only Arrow's stream interface or `__dataframe__`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.core.checks import arguments_checked, by_position, file_name, is_listed, is_table, is_whole, shown
from sidelight.data.corpus import Corpus
from sidelight.data.files import shown_name
from sidelight.errors import DataError
from sidelight.evidence import Origin

NOT_KNOWN = -100  # Hugging Face's label for tokens without a label of their own
ARROW = 'install it with pip install "sidelight[arrow]"'
_LIST = "give lists; or name the column that says which sentence a row is of, sentence=…"


@arguments_checked
def from_table(
    table: Any,
    *,
    tokens: str | Sequence[str] = "tokens",
    labels: str | None = None,
    sentence: str | None = None,
    names: Sequence[str] | None = None,
    file: str | Path = "table",
) -> Corpus:
    """The inputs of a table, and the outputs if a column of `labels` is named.

    `tokens` names the column of tokens, or several columns for tokens of several columns. If each row is one token,
    `sentence` names the column with the number or name of its sentence; rows of a sentence are consecutive, and an
    empty cell means the sentence of the previous row. Labels given as numbers are looked up in `names`, which a dataset
    with `ClassLabel` has itself. An unknown label (None, NaN, -100, or -1 if there are names) becomes None, for
    `partial`. Raises `DataError` for a missing column and for data of another shape.

    >>> table = {"tokens": [["Ann", "left"], ["Oslo"]], "tags": [[1, 0], [2]]}
    >>> from_table(table, labels="tags", names=["O", "B-PER", "B-LOC"]).ys
    [['B-PER', 'O'], ['B-LOC']]
    >>> from_table({"word": ["Ann", "left", "Oslo"], "of": [1, 1, 2]}, tokens="word", sentence="of").xs
    [['Ann', 'left'], ['Oslo']]
    """
    names_of_columns = [tokens] if isinstance(tokens, str) else list(tokens)
    if not names_of_columns:
        raise DataError("no column of tokens", remedy='name one, such as tokens="tokens"')
    columns = _columns(
        table, [*names_of_columns, *([] if labels is None else [labels]), *([] if sentence is None else [sentence])]
    )
    if labels is not None and names is None:
        names = class_names(table, labels)
    names = None if names is None else list(names)
    place = shown_name(file)
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name!r} has {len(column)}" for name, column in columns.items())
        raise DataError(f"columns of different lengths: {sizes} rows", file=place, remedy="give equal numbers of both")
    if not len(columns[names_of_columns[0]]):
        raise DataError("no rows", file=place, remedy="give at least one sentence")
    cells = [columns[name] for name in names_of_columns]
    if sentence is not None:
        rows = _groups(columns[sentence], sentence, place)
        listed = [[[column[r] for r in own] for column in cells] for own in rows]
        outputs = None if labels is None else [[columns[labels][r] for r in own] for own in rows]
    else:
        rows = [(r,) for r in range(len(cells[0]))]
        named = list(zip(names_of_columns, cells))
        listed = [[_list(column[r], name, r, place) for name, column in named] for (r,) in rows]
        outputs = None if labels is None else [_list(cell, labels, r, place) for r, cell in enumerate(columns[labels])]
    xs = [_input(lists, names_of_columns, own, place) for lists, own in zip(listed, rows)]
    ys = None if outputs is None else [_output(cell, x, names, own, place) for cell, x, own in zip(outputs, xs, rows)]
    return Corpus(xs, ys, [Origin(place, own) for own in rows])


@arguments_checked
def read_parquet(
    path: str | Path, *, tokens: str | Sequence[str] = "tokens", labels: str | None = None, names: Any = None
) -> Corpus:
    """The inputs of a Parquet file, read as by `from_table`; raises `DataError` without pyarrow."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError("Parquet files need pyarrow", file=path, remedy=ARROW) from None
    try:
        table = parquet.read_table(file_name(path))
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, remedy="check the name") from None
    except (ArrowException, OSError) as error:
        raise DataError(f"not a Parquet file ({shown(error)})", file=path, remedy="check what wrote it") from None
    return from_table(table, tokens=tokens, labels=labels, names=names, file=path)


def label_column_of(path: str | Path) -> str | None:
    """The label column of a Parquet file: labels, ner_tags, tags or pos_tags; None if there is none."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError("Parquet files need pyarrow", file=path, remedy=ARROW) from None
    try:
        there = parquet.read_schema(file_name(path)).names
    except (ArrowException, OSError):
        return None  # reading the file gives a better error
    return next((name for name in ("labels", "ner_tags", "tags", "pos_tags") if name in there), None)


def _columns(table: Any, names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Columns by name, as lists of Python values."""
    if hasattr(type(table), "collect") and not hasattr(type(table), "get_column"):
        raise DataError("a lazy frame", remedy="collect it first: from_table(frame.collect(), …)")
    there = list(table) if isinstance(table, Mapping) else None
    if is_table(table) and there is None:
        there = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if there is None:
        return _columns(_by_arrow(table), names)
    if isinstance(table, Mapping) and any(map(is_table, table.values())):
        splits = ", ".join(map(str, table))
        raise DataError(f"several tables: {splits}", remedy=f"give one of them, such as table[{next(iter(table))!r}]")
    for name in names:
        if name not in there:
            raise DataError(f"no column {name!r}; there are {', '.join(map(repr, there))}", remedy="name one of them")
    if hasattr(table, "with_format") and not hasattr(table, "__len__"):
        raise DataError("a stream of rows", remedy="take some: Dataset.from_list(list(stream.take(1000)))")
    if hasattr(table, "with_format"):
        table = table.select_columns(list(dict.fromkeys(names))).with_format(None)[:]
    elif hasattr(table, "get_column"):
        table = {name: table.get_column(name).to_list() for name in names}
    elif hasattr(table, "column_names"):
        table = {name: table.column(name).to_pylist() for name in names}
    columns = {name: table[name] for name in names}
    for name, column in columns.items():
        if not is_listed(column) or len(getattr(column, "shape", (0,))) != 1:
            raise DataError(f"the column {name!r} is {shown(column)}", remedy="give one list for each column")
    return {name: list(column) for name, column in columns.items()}


def _by_arrow(table: Any) -> Any:
    """A table with Arrow's stream interface or `__dataframe__`, as an Arrow table."""
    if not any(hasattr(table, name) for name in ("__arrow_c_stream__", "__dataframe__")):
        raise DataError(
            f"{shown(table)} is not a table", remedy="give a Dataset, a frame of pandas or polars, or an Arrow table"
        )
    try:
        import pyarrow
        from pyarrow.interchange import from_dataframe
    except ImportError:
        raise DataError(f"a {type(table).__name__} is read by pyarrow", remedy=ARROW) from None
    return pyarrow.table(table) if hasattr(table, "__arrow_c_stream__") else from_dataframe(table)


def class_names(table: Any, labels: str) -> Sequence[str] | None:
    """The label names of a Hugging Face dataset, which its files contain too."""
    features = getattr(table, "features", None)
    kind = features.get(labels) if isinstance(features, Mapping) else None
    while kind is not None and not hasattr(kind, "names"):
        kind = getattr(kind, "feature", None)
    if kind is not None:
        return list(kind.names)
    metadata: Any = getattr(getattr(table, "schema", None), "metadata", None)
    try:
        stored = json.loads(metadata[b"huggingface"])["info"]["features"][labels]
        return [str(name) for name in stored.get("feature", stored)["names"]]
    except (TypeError, KeyError, ValueError, AttributeError):  # not an Arrow table, or not written by datasets
        return None


def _groups(column: Sequence[Any], name: str, file: str) -> list[tuple[int, ...]]:
    """The rows of each sentence, in their order."""
    begins: dict[Any, int] = {}
    rows: list[list[int]] = []
    before: Any = None
    for r, cell in enumerate(column):
        if _is_missing(cell):
            if r == 0:
                raise DataError(f"{name!r} is empty in the first row", file=file, remedy="say which sentence it is of")
        elif r == 0 or cell != before:
            if cell in begins:
                problem = f"row {r} is of the sentence {cell!r}, which began in row {begins[cell]} and had ended"
                raise DataError(problem, file=file, remedy=f"sort the rows by {name!r}, or give new names")
            begins[cell], before = r, cell
            rows.append([])
        rows[-1].append(r)
    return [tuple(own) for own in rows]


def _list(cell: Any, name: str, row: int, file: str) -> list[Any]:
    cell = by_position(cell)
    if isinstance(cell, str | bytes | Mapping) or not isinstance(cell, Iterable):
        raise DataError(f"row {row}: {name!r} is {shown(cell)}, not a list", file=file, remedy=_LIST)
    return list(cell)


def _input(lists: Sequence[list[Any]], names: Sequence[str], rows: Sequence[int], file: str) -> list[Any]:
    place = f"row {rows[0]}"
    if not lists[0]:
        raise DataError(f"{place} has no tokens", file=file, remedy="leave it out")
    for name, own in zip(names, lists):
        if len(own) != len(lists[0]):
            problem = f"{place}: {len(lists[0])} {names[0]} but {len(own)} {name}"
            raise DataError(problem, file=file, remedy="give one of each for every token")
        for t, token in enumerate(own):
            if not isinstance(token, str):
                where = f"row {rows[t]}" if len(rows) > 1 else f"{place}, token {t}"
                raise DataError(f"{where}: {name!r} is {shown(token)}, not text", file=file, remedy="give words")
    words = [[str(token) for token in own] for own in lists]
    return words[0] if len(words) == 1 else list(zip(*words))


def _output(output: Any, x: list[Any], names: Sequence[str] | None, rows: Sequence[int], file: str) -> list[Any]:
    if len(output) != len(x):
        problem = f"row {rows[0]}: {len(x)} tokens but {len(output)} labels"
        raise DataError(problem, file=file, remedy="give one label for every token")
    return [_label(label, t, names, rows, file) for t, label in enumerate(output)]


def _label(label: Any, t: int, names: Sequence[str] | None, rows: Sequence[int], file: str) -> Any:
    label = label.item() if hasattr(label, "item") else label
    if _is_missing(label) or (not isinstance(label, bool) and label in (NOT_KNOWN, *([-1] if names else []))):
        return None
    if is_whole(label):
        if names is None:
            return label
        if 0 <= label < len(names):
            return names[label]
    elif isinstance(label, str) and label:
        return str(label)
    where = f"row {rows[t]}" if len(rows) > 1 else f"row {rows[0]}, token {t}"
    there = f", where there are {len(names)} names" if names is not None else ""
    raise DataError(f"{where}: the label {shown(label)}{there}", file=file, remedy="give names, or their numbers")


def _is_missing(cell: Any) -> bool:
    """Whether a cell is None or a missing value of frames: NaN, NaT, NA."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return type(cell).__name__ == "NAType"
