"""The position of each weight in the flat weight vector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import flag_of, mapping_of, whole_of
from sidelight.errors import DataError

LARGEST = 2**31 - 1  # parameter numbers are 32-bit


@dataclass(frozen=True, slots=True)
class Layout:
    """Threshold, start, end, transition, second-order, dense and sparse weights, in this order.

    New attributes append at the end.
    `null_label` is the asymmetric reduction of two classes: label 0 has no features, so its score is always 0.
    `chain` gives transition and end weights; `bias` start weights (for classes: one weight per class). `order` 2 gives
    every three labels in a row a weight of their own, beside those of the transitions between them.
    """

    n_labels: int
    n_attributes: int
    n_dense: int = 0
    chain: bool = True
    bias: bool = True
    null_label: bool = False
    order: int = 1  # 1 or 2

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"order is {self.order}; give 1 or 2")
        if self.order == 2 and not self.chain:
            raise ValueError("order is 2, and there are no transitions; give 1")
        if self.size > LARGEST:
            raise DataError(
                f"{self.n_attributes:,} attributes times {self.n_labels} labels are more than {LARGEST:,} weights",
                remedy="raise min_count, or lower hash_bits",
            )

    @classmethod
    def stored(cls, spec: Any, name: str) -> Layout:
        """The layout that a file holds under a name; raises `ModelFileError` if it holds none."""
        fields = mapping_of(spec, name)
        return cls(
            whole_of(fields, "n_labels", low=1, high=LARGEST),
            whole_of(fields, "n_attributes", high=LARGEST),
            whole_of(fields, "n_dense", high=LARGEST),
            chain=flag_of(fields, "chain"),
            bias=flag_of(fields, "bias"),
            null_label=flag_of(fields, "null_label"),
            order=whole_of(fields, "order", low=1, high=2) if "order" in fields else 1,
        )

    @property
    def columns(self) -> int:
        """The number of labels with feature weights."""
        return self.n_labels - 1 if self.null_label else self.n_labels

    @property
    def start_at(self) -> int:
        return 1

    @property
    def end_at(self) -> int:
        return self.start_at + (self.columns if self.bias else 0)

    @property
    def transition_at(self) -> int:
        return self.end_at + (self.n_labels if self.chain else 0)

    @property
    def second_at(self) -> int:
        return self.transition_at + (self.n_labels**2 if self.chain else 0)

    @property
    def dense_at(self) -> int:
        return self.second_at + (self.n_labels**3 if self.order == 2 else 0)

    @property
    def emission_at(self) -> int:
        return self.dense_at + self.n_dense * self.columns

    @property
    def size(self) -> int:
        return self.emission_at + self.n_attributes * self.columns

    def zeros(self) -> Floats:
        return np.zeros(self.size)

    def start(self, weights: Floats) -> Floats:
        """Start weights. # [L]"""
        out = np.zeros(self.n_labels)
        if self.bias:
            out[self.n_labels - self.columns :] = weights[self.start_at : self.end_at]
        return out

    def end(self, weights: Floats) -> Floats:
        """End weights. # [L]"""
        return weights[self.end_at : self.transition_at].copy() if self.chain else np.zeros(self.n_labels)

    def transition(self, weights: Floats) -> Floats:
        """Transition weights. # [L, L] from, to"""
        shape = (self.n_labels, self.n_labels)
        return weights[self.transition_at : self.second_at].reshape(shape).copy() if self.chain else np.zeros(shape)

    def second(self, weights: Floats) -> Floats:
        """A view of the second-order weights. # [L, L, L] before the previous, previous, label"""
        size = self.n_labels if self.order == 2 else 0
        return weights[self.second_at : self.dense_at].reshape(size, size, size)

    def attribute_weights(self, weights: Floats) -> Floats:
        """A view of the sparse weights. # [A, columns]"""
        return weights[self.emission_at :].reshape(self.n_attributes, self.columns)

    def dense_weights(self, weights: Floats) -> Floats:
        """A view of the dense weights. # [D, columns]"""
        return weights[self.dense_at : self.emission_at].reshape(self.n_dense, self.columns)

    def grown(self, n_attributes: int) -> Layout:
        """The same layout with more attributes; old weights keep their positions."""
        return replace(self, n_attributes=n_attributes)
