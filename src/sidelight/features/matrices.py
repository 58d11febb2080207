"""Features that come as matrices: nothing is numbered, widths are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import flag_of, whole_of
from sidelight.errors import DataError
from sidelight.features.extractor import Tensors
from sidelight.features.inputs import Matrix, MatrixSequence
from sidelight.features.rows import NO_VALUES, Rows, stack_rows


@dataclass(frozen=True, slots=True)
class GivenMatrix:
    """Inputs are the sequences of a `Matrix`."""

    transitions: bool = True


class MatrixExtractor:
    """Passes matrix rows through; the first batch fixes the widths."""

    def __init__(self, matrix: GivenMatrix) -> None:
        self.given = matrix
        self.n_attributes = -1
        self.n_dense = -1

    @property
    def transitions(self) -> bool:
        return self.given.transitions

    def copy(self) -> MatrixExtractor:
        other = MatrixExtractor(self.given)
        other.n_attributes, other.n_dense = self.n_attributes, self.n_dense
        return other

    def grow(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        if self.n_attributes < 0 and len(xs):
            matrix = self._matrix(xs[0], 0)
            self.n_attributes = 0 if matrix.sparse is None else matrix.sparse.shape[1]
            self.n_dense = matrix.dense.shape[1]
        return self.rows(xs)

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        if isinstance(xs, Matrix):
            return self._whole(xs)
        matrices: dict[int, Matrix] = {}
        for i, x in enumerate(xs):
            matrix = self._matrix(x, i)
            matrices.setdefault(id(matrix), matrix)
        if len(matrices) == 1:
            (matrix,) = matrices.values()
            return self._whole(matrix).take([x.index for x in xs])
        whole = {key: self._whole(matrix) for key, matrix in matrices.items()}
        return stack_rows([whole[id(x.matrix)].take([x.index]) for x in xs], n_dense=max(self.n_dense, 0))

    def _matrix(self, x: Any, i: int) -> Matrix:
        if not isinstance(x, MatrixSequence):
            raise DataError(
                f"input {i} is a {type(x).__name__} where the model is of rows of numbers",
                remedy="give sequences of a sidelight.Matrix, as in training",
            )
        return x.matrix

    def _whole(self, matrix: Matrix) -> Rows:
        width = 0 if matrix.sparse is None else matrix.sparse.shape[1]
        if (width, matrix.dense.shape[1]) != (self.n_attributes, self.n_dense):
            raise DataError(
                f"a matrix with {width} sparse and {matrix.dense.shape[1]} dense columns where the model has "
                f"{self.n_attributes} and {self.n_dense}",
                remedy="give the same columns as in training",
            )
        if matrix.sparse is None:
            empty = np.zeros(int(matrix.starts[-1]) + 1, dtype=np.int64)
            return Rows(matrix.starts, empty, np.empty(0, dtype=np.int32), NO_VALUES, matrix.dense)
        data = matrix.sparse.data.astype(np.float64)
        return Rows(
            matrix.starts,
            matrix.sparse.indptr.astype(np.int64),
            matrix.sparse.indices.astype(np.int32),
            NO_VALUES if np.all(data == 1.0) else data,
            matrix.dense,
        )

    def name(self, attribute: int) -> str:
        return f"column {attribute}"

    def state(self) -> tuple[dict[str, Any], Tensors]:
        spec = {
            "kind": "matrix",
            "transitions": self.given.transitions,
            "n_attributes": self.n_attributes,
            "n_dense": self.n_dense,
        }
        return spec, {}

    @classmethod
    def restored(cls, spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> MatrixExtractor:
        self = cls(GivenMatrix(flag_of(spec, "transitions")))
        self.n_attributes, self.n_dense = (whole_of(spec, n, high=2**31 - 1) for n in ("n_attributes", "n_dense"))
        return self
