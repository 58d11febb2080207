"""Inputs as users give them, as the sequences of tokens that extractors take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from sidelight.core.arrays import by_position, is_table
from sidelight.errors import DataError
from sidelight.evidence import TABLE_REMEDY
from sidelight.features.inputs import Matrix, MatrixSequence, check_sequences, matrix_of


def as_sequences(xs: Any, *, sequences: bool) -> Sequence[Any]:
    """Inputs as the extractors take them: for classes every input is a sequence of one token.

    Raises `DataError` where an input is a string, which would be read letter by letter, or an array of numbers.
    """
    if isinstance(xs, Matrix):
        return xs
    if sequences and is_table(xs):
        raise DataError(f"a table ({type(xs).__name__}) in the place of all inputs", remedy=TABLE_REMEDY)
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
        wanted = "lists of tokens" if sequences else "lists of words, or dicts of features"
        raise DataError(f"{type(xs).__name__} in the place of all inputs", remedy=f"give a list of {wanted}")
    if not sequences:
        xs = list(xs)
        if (rows := matrix_of(xs)) is not None:
            return rows
    plain = [_plain(i, x, sequences) for i, x in enumerate(xs)]
    if sequences:
        check_sequences(plain)
    return plain if sequences or (plain and isinstance(plain[0], MatrixSequence)) else [[x] for x in plain]


def _plain(i: int, x: Any, sequences: bool) -> Any:
    """An input as it is, or the list of strings that an array or a Series holds."""
    x = by_position(x)
    if isinstance(x, str):
        wanted = "a list of tokens" if sequences else "a list of words, or a dict of features"
        raise DataError(f"input {i} is a string", remedy=f"give {wanted}; split() makes words of it")
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "UO":
            raise DataError(f"input {i} is an array of numbers", remedy="sidelight.Matrix takes rows of numbers")
        return x.tolist()
    return x


def _can_be_listed(xs: Any) -> bool:
    """Whether it can be gone through; an array of no dimension says that it can, and cannot."""
    return isinstance(xs, Iterable) and getattr(xs, "shape", None) != ()
