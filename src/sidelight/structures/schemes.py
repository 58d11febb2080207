"""Which label may follow which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sidelight.errors import DataError
from sidelight.spaces import Transitions
from sidelight.structures.labels import LabelSet


def bio_transitions(labels: LabelSet) -> Transitions:
    """The transitions of valid BIO (IOB2) labels: I-X only after B-X or I-X.

    >>> bio_transitions(LabelSet.of(["B-A", "I-A", "O"])).start.tolist()
    [1, 0, 1]
    """
    names = labels.classes
    size = len(names)
    between = np.ones((size, size), dtype=np.uint8)
    start = np.ones(size, dtype=np.uint8)
    for i, label in enumerate(names):
        text = str(label)
        if text != "O" and text[:2] not in ("B-", "I-"):
            raise DataError(f"label {text!r} is not a BIO label", remedy="use O, B-type and I-type, or no scheme")
        if text.startswith("I-"):
            start[i] = 0
            for j, before in enumerate(names):
                between[j, i] = str(before) in ("B-" + text[2:], "I-" + text[2:])
    return _over_states(Transitions(between, start, np.ones(size, dtype=np.uint8)), labels)


def allowed_transitions(
    labels: LabelSet,
    pairs: Iterable[tuple[Any, Any]],
    *,
    start: Iterable[Any] | None = None,
    end: Iterable[Any] | None = None,
) -> Transitions:
    """Only the listed (from, to) pairs, first labels and last labels; no list of first or last labels allows all."""
    plain = LabelSet(labels.classes)
    between = np.zeros((len(plain), len(plain)), dtype=np.uint8)
    for before, after in pairs:
        for label in (before, after):
            if label not in labels:
                raise DataError(f"an allowed transition names the unknown label {label!r}", remedy="list known labels")
        between[plain.number[before], plain.number[after]] = 1
    found = Transitions(
        between,
        plain.mask(None if start is None else list(start)),
        plain.mask(None if end is None else list(end)),
    )
    return _over_states(found, labels)


def _over_states(found: Transitions, labels: LabelSet) -> Transitions:
    """Transitions between labels, for all states of these."""
    of = labels.label_of
    between = np.ascontiguousarray(found.between[of[:, None], of])
    return Transitions(between, found.start[of], found.end[of])
