"""What structures have in common in files: labels, and counts that must agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sidelight.errors import ModelFileError
from sidelight.stored import list_of
from sidelight.structures.labels import plain_label


def written_labels(names: Iterable[Any]) -> list[str | int]:
    """Labels for a file; raises `ModelFileError` for those that are neither text nor numbers."""
    found = list(names)
    odd = [name for name in found if not isinstance(name, (str, int, np.integer, np.bool_))]
    if odd:
        raise ModelFileError(f"label {odd[0]!r} is neither text nor a number", remedy="use such labels")
    return [plain_label(name) for name in found]


def read_labels(spec: Any) -> tuple[str | int, ...]:
    """The labels in a file: different texts, whole numbers or truths, one at least."""
    names = list_of(spec, "labels")
    if not names or not all(isinstance(name, str | int) for name in names):
        raise ModelFileError("its labels are not texts, whole numbers or truths")
    return tuple(names)


def check_same(what: str, found: int, expected: int) -> None:
    """Refuse parts of a file that contradict each other."""
    if found != expected:
        raise ModelFileError(f"there are {found:,} {what}, and weights for {expected:,}")
