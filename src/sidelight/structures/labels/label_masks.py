"""Labels of tokens that users fix or give: checked, and as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Ints, by_position
from sidelight.errors import DataError
from sidelight.structures.labels.label_sets import LabelSet

Clamp = Sequence[Sequence[Any | None] | None]  # for each input and token a label, or None
CLAMP_FORM = "give every input a list with a label or None for every token, or None where no label is known"


def mask_of(labels: LabelSet, lengths: Sequence[int] | Ints, clamp: Clamp) -> Bytes:
    """Which labels clamping leaves to each token of inputs with these many tokens. # [T, L]"""
    if not is_list(clamp):
        raise DataError(f"clamp is of type {type(clamp).__name__}", remedy=CLAMP_FORM)
    if len(clamp) != len(lengths):
        problem = f"clamp does not fit the inputs: it has {len(clamp)} entries for {len(lengths)} inputs"
        raise DataError(problem, remedy=CLAMP_FORM)
    mask = np.ones((int(np.sum(lengths)), len(labels)), dtype=np.uint8)
    first = 0
    for i, (own, length) in enumerate(zip(clamp, lengths)):
        if own is not None:
            _check_clamp(labels, own, i, int(length))
            for t, label in enumerate(own, start=first):
                if label is not None:
                    mask[t] = labels.mask([label])
        first += int(length)
    return mask


def _check_clamp(labels: LabelSet, own: Any, i: int, length: int) -> None:
    if not is_list(own):
        raise DataError(f"clamp does not fit the inputs: that of input {i} is {own!r}", remedy=CLAMP_FORM)
    if len(own) != length:
        tokens = f"input {i} has {length} token{'' if length == 1 else 's'}"
        raise DataError(f"clamp does not fit the inputs: {tokens}, its clamp {len(own)}", remedy=CLAMP_FORM)
    for t, label in enumerate(own):
        try:
            known = label is None or label in labels
        except TypeError:
            problem = f"clamp has the {type(label).__name__} {label!r} for token {t} of input {i}, which is not a label"
            raise DataError(problem, remedy="give one label, or None; rules can leave a choice of labels") from None
        if not known:
            raise DataError(f"clamp names the unknown label {label!r}", remedy="use labels of the model")


def is_list(given: Any) -> bool:
    listed = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes))
    return listed and getattr(given, "shape", None) != ()


def label_names(labels: LabelSet, lengths: Sequence[int] | Ints, outputs: Sequence[Any]) -> list[Any]:
    """The labels of all tokens in a row; raises `DataError` where they do not fit the inputs or are unknown."""
    outputs = by_position(outputs)
    if (
        not is_list(outputs)
        or len(outputs) != len(lengths)
        or any(not is_list(y) or len(y) != n for y, n in zip(outputs, lengths))
    ):
        raise DataError("the outputs do not fit the inputs", remedy="give one label per token of every input")
    names = [label for y in outputs for label in y]
    for label in names:
        if label not in labels:
            raise DataError(f"unknown label {label!r}", remedy="use labels of the model")
    return names
