"""Labels and allowed transitions that leave an input no output at all, by the name of the input.

Learners meet such an input in a batch of their own, and know its number there alone; so all are looked at first.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes
from sidelight.data.checks import trouble
from sidelight.errors import Infeasible
from sidelight.making.given import Given
from sidelight.objective.candidates import inside_of
from sidelight.spaces import ChainSpace, Transitions
from sidelight.spaces.parts import Parts
from sidelight.structure import SegmentStructure

RESTRICTED = ("partial", "candidates", "companion")  # Gold is checked label by label


def check_feasible(given: Given) -> None:
    """Raise `Infeasible` at the first input whose labels cannot follow each other."""
    encoded, allowed = given.encoded, given.allowed
    if isinstance(given.structure, SegmentStructure):
        _check_segments(given)
    if allowed is None or encoded.admitted is None:
        return
    chunks = encoded.chunks
    which = np.arange(len(given.rows)) if chunks else encoded.of_kind(*RESTRICTED)
    rows = given.rows.take(which)
    admitted = encoded.admitted[given.rows.tokens_of(which)]
    space = inside_of(
        ChainSpace(rows.starts, len(given.labels), allowed), Parts.of(admitted, chunks) if chunks else admitted
    )
    closed = np.flatnonzero(~space.feasible(n_jobs=given.settings.n_jobs))
    if len(closed):
        i, (first, last) = int(which[closed[0]]), rows.starts[closed[0] : closed[0] + 2]
        problem = "the allowed transitions leave no output that has its labels"
        remedy = "correct or add candidates, or leave scheme and allowed out"
        token = _first_closed(admitted[first:last], allowed)
        raise Infeasible(str(trouble(given.evidence[i], i, problem=problem, remedy=remedy, token=token)), example=i)


def _check_segments(given: Given) -> None:
    """Raise `DataError` at the first input without a segmentation."""
    admitted = given.encoded.admitted
    which = given.encoded.of_kind(*RESTRICTED, "unlabeled")
    batch = given.batch(which).inside(None if admitted is None else admitted[given.rows.tokens_of(which)])
    closed = np.flatnonzero(~batch.space.feasible(n_jobs=batch.n_jobs))
    if len(closed):
        i = int(which[closed[0]])
        problem = "no segmentation has labels that all tokens admit"
        remedy = "correct the labels; with BIO, raise max_length or check that I-X can follow B-X"
        raise trouble(given.evidence[i], i, problem=problem, remedy=remedy)


def _first_closed(admitted: Bytes, allowed: Transitions) -> int | None:
    """The first token that no labeling of the tokens before it can go on to; None where the end or a chunk is at fault.

    >>> alternating = Transitions(np.eye(2, dtype=np.uint8)[::-1], np.ones(2, np.uint8), np.ones(2, np.uint8))
    >>> _first_closed(np.array([[1, 0], [1, 0]], dtype=np.uint8), alternating)
    1
    """
    reached = (admitted[0] != 0) & (allowed.start != 0)
    for t, labels in enumerate(admitted):
        if t > 0:
            reached = (labels != 0) & (allowed.between[reached] != 0).any(axis=0)
        if not reached.any():
            return t
    return None
