"""Conversion of users' inputs to sequences of tokens for extractors.

Tokens are strings, lists of strings, or dicts (of the same kind as in training), optionally with dense rows; or inputs
are only rows of matrices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats32, Ints
from sidelight.core.checks import by_position, is_listed, is_table, real_numbers, shown
from sidelight.errors import DataError
from sidelight.evidence import TABLE_REMEDY
from sidelight.features.rows import check_values, offsets_of

TOKENS = "give a list of tokens; a dict is the features of one token: [{…}, {…}]"


@dataclass(frozen=True, slots=True, eq=False)
class WithDense:
    """A sequence of tokens, each with a dense row of numbers (such as an embedding).

    >>> len(WithDense(["light", "on"], np.zeros((2, 4))))
    2
    """

    tokens: Sequence[Any]
    dense: Any  # [tokens, D]

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, Sequence) or isinstance(self.tokens, str | bytes):
            raise DataError(f"the tokens are a {type(self.tokens).__name__}", remedy="give a list of tokens")
        if np.ndim(real_numbers("dense", self.dense)) != 2 or len(self.dense) != len(self.tokens):
            raise DataError(
                f"{len(self.tokens)} tokens with dense rows of shape {np.shape(self.dense)}",
                remedy="give an array [tokens, dimensions]",
            )

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tokens)

    def __getitem__(self, token: int) -> Any:
        return self.tokens[token]


class Matrix(Sequence["MatrixSequence"]):
    """Sequences whose token features are rows of a CSR matrix, a dense array, or both side by side.

    >>> from scipy.sparse import csr_matrix
    >>> xs = Matrix(csr_matrix(np.eye(3)), lengths=[2, 1])
    >>> len(xs), len(xs[0])
    (2, 2)
    """

    def __init__(self, sparse: Any = None, *, dense: Any = None, lengths: Sequence[int] | Ints) -> None:
        sizes: Any = np.asarray(lengths) if is_listed(lengths) and not any(map(is_listed, lengths)) else np.zeros(1)
        if sizes.dtype.kind not in "iu":
            raise DataError(f"lengths is {shown(lengths)}", remedy="give the number of tokens of every sequence")
        self.starts = offsets_of(sizes)
        tokens = int(self.starts[-1])
        if sparse is None and dense is None:
            raise ValueError("give a sparse matrix, dense rows, or both")
        if np.any(np.diff(self.starts) < 1):
            raise DataError(
                f"sequence {int(np.argmin(np.diff(self.starts)))} is empty", remedy="give lengths of 1 or more"
            )
        if sparse is not None:
            from scipy.sparse import csr_matrix

            if not hasattr(sparse, "tocsr"):
                sparse = np.atleast_2d(real_numbers("sparse", sparse))
                if sparse.ndim != 2:
                    raise DataError(f"sparse has the shape {sparse.shape}", remedy="give an array [tokens, features]")
            sparse = csr_matrix(sparse)
            sparse.sum_duplicates()
            check_values("sparse features", sparse.data)
        self.sparse = sparse
        if dense is None:
            self.dense: Floats32 = np.zeros((tokens, 0), dtype=np.float32)
        else:
            self.dense = _single(real_numbers("dense", dense))
        for name, rows in (("sparse", self.sparse), ("dense", self.dense)):
            if rows is not None and rows.ndim != 2:
                raise DataError(f"{name} has the shape {rows.shape}", remedy="give an array [tokens, dimensions]")
            if rows is not None and rows.shape[0] != tokens:
                raise DataError(
                    f"{rows.shape[0]} {name} rows for {tokens} tokens", remedy="make the lengths add up to the rows"
                )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [MatrixSequence(self, i) for i in range(*index.indices(len(self)))]
        i = int(index)
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return MatrixSequence(self, i % len(self))


@dataclass(frozen=True, slots=True)
class MatrixSequence:
    """One sequence of a `Matrix`."""

    matrix: Matrix
    index: int

    def __len__(self) -> int:
        return int(self.matrix.starts[self.index + 1] - self.matrix.starts[self.index])

    def __getitem__(self, token: int) -> None:
        raise TypeError("the tokens of a matrix are rows, not values")


def check_sequences(xs: Sequence[Any]) -> None:
    """Raises `DataError` for the first input that is not a sequence: the keys of a dict are not tokens, and a set has
    no order.

    >>> check_sequences([["light"], {"w": "light"}])
    Traceback (most recent call last):
        ...
    sidelight.errors.DataError: input 1 is not a sequence of tokens (dict); give a list of tokens; a dict is the \
features of one token: [{…}, {…}]
    """
    if (i := first_without_tokens(xs)) is not None:
        raise DataError(f"input {i} is not a sequence of tokens ({type(xs[i]).__name__})", remedy=TOKENS)


def first_without_tokens(xs: Sequence[Any]) -> int | None:
    """The place of the first input that is not a sequence of tokens."""
    wrong = {kind for kind in set(map(type, xs)) if not hasattr(kind, "__len__") or issubclass(kind, Mapping | Set)}
    return next((i for i, x in enumerate(xs) if type(x) in wrong), None) if wrong else None


def matrix_of(rows: Sequence[Any]) -> Matrix | None:
    """Single inputs that are rows of numbers (numpy or scipy) as one matrix; None for other inputs.

    >>> len(matrix_of([np.ones(3), np.zeros(3)])), matrix_of([{"a": 1.0}])
    (2, None)
    """
    if not len(rows):
        return None
    ones = np.ones(len(rows), dtype=np.int64)
    if all(isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "fiub" for row in rows):
        if len({len(row) for row in rows}) > 1:
            raise DataError("rows of numbers have different lengths", remedy="give every input as many numbers")
        return Matrix(dense=np.stack(rows), lengths=ones)
    if all(hasattr(row, "tocsr") and row.shape[0] == 1 for row in rows):
        from scipy.sparse import vstack

        return Matrix(vstack(rows), lengths=ones)
    return None


def dense_rows(xs: Sequence[Any]) -> Floats32:
    """The dense rows of a batch, [T, 0] if no input has any."""
    widths = {np.shape(x.dense)[1] if isinstance(x, WithDense) else 0 for x in xs}
    if len(widths) > 1:
        raise DataError(
            f"dense rows of widths {sorted(widths)} in one batch", remedy="give all inputs the same dimensions"
        )
    if widths <= {0}:
        return np.zeros((sum(len(x) for x in xs), 0), dtype=np.float32)
    return np.concatenate([_single(x.dense) for x in xs])


def _single(dense: Any) -> Floats32:
    """Dense rows in single precision."""
    with np.errstate(over="ignore"):  # refused in one line instead
        rows: Floats32 = np.ascontiguousarray(dense, dtype=np.float32)
    check_values("dense features", rows)
    return rows


def as_sequences(xs: Any, *, sequences: bool) -> Sequence[Any]:
    """Inputs in the form for extractors: for classes every input is a sequence of one token.

    Raises `DataError` if an input is a string, which would be read letter by letter, or an array of numbers.
    """
    if isinstance(xs, Matrix):
        return xs
    if sequences and is_table(xs):
        raise DataError(f"a table ({type(xs).__name__}) instead of a list of inputs", remedy=TABLE_REMEDY)
    xs = by_position(xs)
    if hasattr(xs, "shape") and len(xs.shape) == 2:  # a scipy matrix or a numpy array
        if sequences:
            raise DataError(
                "a matrix does not say where sequences begin", remedy="wrap it: sidelight.Matrix(matrix, lengths=…)"
            )
        if getattr(xs, "dtype", np.dtype(float)).kind not in "biuf":
            remedy = "give rows of numbers, lists of words, or dicts of features"
            raise DataError(f"the inputs are an array of {xs.dtype}", remedy=remedy)
        ones = np.ones(xs.shape[0], dtype=np.int64)
        return Matrix(xs, lengths=ones) if hasattr(xs, "tocsr") else Matrix(dense=xs, lengths=ones)
    if isinstance(xs, str | bytes | Mapping | Set) or not _can_be_listed(xs):
        expected = "lists of tokens" if sequences else "lists of words, or dicts of features"
        raise DataError(f"{type(xs).__name__} instead of a list of inputs", remedy=f"give a list of {expected}")
    if not sequences:
        xs = list(xs)
        if (rows := matrix_of(xs)) is not None:
            return rows
    xs = xs if isinstance(xs, list) else list(xs)
    as_they_are = sequences and set(map(type, xs)) <= {list, tuple}
    plain = xs if as_they_are else [_plain(i, x, sequences) for i, x in enumerate(xs)]
    if sequences:
        check_sequences(plain)
    return plain if sequences or (plain and isinstance(plain[0], MatrixSequence)) else [[x] for x in plain]


def _plain(i: int, x: Any, sequences: bool) -> Any:
    """An input unchanged, or the strings of an array or a Series as a list."""
    x = by_position(x)
    if isinstance(x, str):
        expected = "a list of tokens" if sequences else "a list of words, or a dict of features"
        raise DataError(f"input {i} is a string", remedy=f"give {expected}; split() makes words of it")
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "UO":
            raise DataError(f"input {i} is an array of numbers", remedy="sidelight.Matrix takes rows of numbers")
        return x.tolist()
    return x


def _can_be_listed(xs: Any) -> bool:
    """Whether a value can be iterated; an array without dimensions claims that it can, but cannot."""
    return isinstance(xs, Iterable) and getattr(xs, "shape", None) != ()


KINDS: dict[str, tuple[type, ...]] = {
    "strings": (str,),
    "dicts": (Mapping,),
    "lists": (list, tuple, set, frozenset),
}
NAMED_LISTS = "lists of name=value"
NAMED = 0.9  # share of strings of the form name=value from which lists are attributes
UNNAMED = 0.5  # share up to which lists are columns: columns may contain values like UD's Case=Nom


def kind_of(kind: type) -> str:
    """The name of a token's type; its own where it is none of the usual ones.

    >>> kind_of(tuple), kind_of(float)
    ('lists', 'float')
    """
    return next((name for name, types in KINDS.items() if issubclass(kind, types)), kind.__name__)


def kinds_in(xs: Sequence[Any]) -> set[str]:
    """The kind of tokens of a batch; raises `DataError` for rows of a matrix, which have no tokens."""
    refuse_matrices(xs)
    return {kind_of(kind) for kind in set(map(type, chain.from_iterable(xs)))}


def refuse_matrices(xs: Sequence[Any]) -> None:
    """Raise `DataError` if inputs are rows of a matrix."""
    if isinstance(xs, Matrix) or MatrixSequence in set(map(type, xs)):
        raise DataError(
            "rows of a matrix where the features are of words or attributes",
            remedy="give inputs as in training, or train on matrices",
        )


def kinds_trained_on(xs: Sequence[Any]) -> set[str]:
    """As `kinds_in`, and whether most strings of lists are of the form name=value."""
    kinds = kinds_in(xs)
    if "lists" in kinds and _share_named(chain.from_iterable(xs)) >= UNNAMED:
        kinds = kinds - {"lists"} | {NAMED_LISTS}
    return kinds


def check_kinds(xs: Sequence[Any], trained: Collection[str]) -> None:
    """Refuse tokens of another kind than a model was trained on."""
    kinds, known = kinds_in(xs), set(trained)
    if NAMED_LISTS in known and any(map(_has_named, chain.from_iterable(xs))):
        known.add("lists")
    if kinds <= known:
        return
    i, t, kind = next(
        (i, t, kind_of(type(token)))
        for i, x in enumerate(xs)
        for t, token in enumerate(x)
        if kind_of(type(token)) not in known
    )
    expected = " and ".join(sorted(trained))
    raise DataError(
        f"input {i}, token {t}: {kind} where the model was trained on {expected}",
        remedy=f"give tokens as {expected}, with the names that training had, or train on {kind}",
    )


def lists_are_attributes(xs: Sequence[Sequence[Any]]) -> bool:
    """Whether tokens that are lists of strings are attributes (CRFsuite's name=value), and not columns.

    Raises `DataError` if this is ambiguous.

    >>> lists_are_attributes([[["w=light", "pos=NN"], ["w=on"]]]), lists_are_attributes([[["light", "NN"]]])
    (True, False)
    """
    tokens = list(chain.from_iterable(xs))
    if any(isinstance(token, (set, frozenset)) for token in tokens):
        return True
    widths = set(map(len, tokens))
    share = _share_named(tokens)
    if share >= (NAMED if len(widths) == 1 else UNNAMED):
        return True
    firsts = {token[0] for token in tokens if len(token)}  # a column of words has more than one value, "bias" has one
    first = sum(map(_is_named, firsts)) / max(1, len(firsts))
    wordless = share > 0.0 and len(firsts) == 1 and len(tokens) > 1
    if len(widths) == 1 and share <= UNNAMED and first <= UNNAMED and not wordless:
        return False
    seen = "of different lengths" if len(widths) > 1 else f"in which {share:.0%} of the strings read name=value"
    raise DataError(
        f"tokens are lists {seen}: columns, or names of attributes?",
        remedy="say features=sl.features.attributes() (--features attributes) for names, or "
        "features=sl.features.standard(columns=…) for columns, the same number for every token",
    )


def refuse_attributes(columns: Sequence[Sequence[Any]], *, trained: int) -> None:
    """Raise `DataError` if tokens with more columns than in training are lists of attributes (0: not known).

    They are attributes if most of the strings in the place of words are of the form name=value, or if all of these are
    equal ("bias") and there is a column of the form name=value.
    """
    if not 0 < trained < len(columns):
        return
    words = columns[0]
    named = sum(map(_is_named, words)) > UNNAMED * len(words)
    alike = len(words) > 1 and len(set(words)) == 1
    beside = alike and any(all(map(_is_named, column)) and len(set(column)) > 1 for column in columns[1:])
    if named or beside:
        expected = "words" if trained == 1 else f"{trained} columns"
        raise DataError(
            f"tokens are lists of attributes ({words[0]!r}, …) where the model was trained on {expected}",
            remedy=f"give {expected}, or train on attributes: features=sl.features.attributes()",
        )


def _share_named(tokens: Iterable[Any]) -> float:
    """The share of name=value among the strings of tokens that are lists."""
    strings = [text for token in tokens if kind_of(type(token)) == "lists" for text in token]
    return sum(map(_is_named, strings)) / max(1, len(strings))


def _has_named(token: Any) -> bool:
    return kind_of(type(token)) == "lists" and any(map(_is_named, token))


def _is_named(text: Any) -> bool:
    return isinstance(text, str) and text.find("=") > 0
