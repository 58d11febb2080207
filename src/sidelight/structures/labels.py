"""The labels of a task, numbered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.arrays import Bytes, Ids


def _order(label: Any) -> tuple[str, Any]:
    return (type(label).__name__, label)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Distinct labels in a fixed order.

    >>> LabelSet.of(["O", "B-NP", "O"]).names
    ('B-NP', 'O')
    """

    names: tuple[Any, ...]
    number: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", {name: i for i, name in enumerate(self.names)})
        if len(self.number) != len(self.names):
            raise ValueError("a label is listed twice")

    @classmethod
    def of(cls, labels: Iterable[Any]) -> LabelSet:
        """The distinct labels, sorted."""
        return cls(tuple(sorted(dict.fromkeys(labels), key=_order)))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, label: Any) -> bool:
        return label in self.number

    def encode(self, labels: Sequence[Any]) -> Ids:
        """Numbers of labels that are all known."""
        return np.fromiter(map(self.number.__getitem__, labels), dtype=np.int32, count=len(labels))

    def decode(self, numbers: Ids) -> list[Any]:
        """Labels of numbers."""
        names = self.names
        return [names[i] for i in numbers.tolist()]

    def mask(self, labels: Collection[Any] | None) -> Bytes:
        """1 for the labels given, or for all of them. # [L]"""
        if labels is None:
            return np.ones(len(self), dtype=np.uint8)
        out = np.zeros(len(self), dtype=np.uint8)
        out[[self.number[label] for label in labels]] = 1
        return out
