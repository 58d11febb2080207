"""Transitions between labels that schemes and users allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sidelight.errors import DataError
from sidelight.evaluate.schemes import SchemeName, may_follow
from sidelight.spaces import Transitions
from sidelight.structures.labels.label_sets import LabelSet


def scheme_transitions(labels: LabelSet, scheme: SchemeName) -> Transitions:
    """The transitions that a scheme of chunk labels allows, and which labels may be first and last.

    Raises `DataError` for a label that the scheme does not have.

    >>> scheme_transitions(LabelSet.of(["B-A", "I-A", "O"]), "BIO").start.tolist()
    [1, 0, 1]
    >>> scheme_transitions(LabelSet.of(["B-A", "E-A", "I-A", "O", "S-A"]), "BIOES").end.tolist()
    [0, 1, 0, 1, 1]
    """
    names = labels.classes
    table = [[may_follow(before, after, scheme) for after in (*names, None)] for before in (*names, None)]
    square = np.array(table, dtype=np.uint8)  # [L + 1, L + 1] with the edges of the sentence
    between, start, end = (np.ascontiguousarray(part) for part in (square[:-1, :-1], square[-1, :-1], square[:-1, -1]))
    return _over_states(Transitions(between, start, end), labels)


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
    transitions = Transitions(
        between,
        plain.mask(None if start is None else list(start)),
        plain.mask(None if end is None else list(end)),
    )
    return _over_states(transitions, labels)


def _over_states(transitions: Transitions, labels: LabelSet) -> Transitions:
    """Transitions between labels, for all states of these."""
    of = labels.label_of
    between = np.ascontiguousarray(transitions.between[of[:, None], of])
    return Transitions(between, transitions.start[of], transitions.end[of])
