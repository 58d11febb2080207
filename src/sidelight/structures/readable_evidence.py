"""Evidence as people write it, brought to the form that is read: arrays and Series become lists.

What is written in another form than it is read in would be misread (letters of a string, keys of a dict, a mask of
truths) or fail far from its place; so it is refused here, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.core.arrays import by_position
from sidelight.evidence import Candidates, Chunk, Companion, Evidence, Voted, trouble

SETS = "give for each token a set of labels, or None for any"
LABELS = "give a list with one label, or None, per token"
CHUNKS = "give a list of Chunk(first, [labeling, …]), where a labeling is a tuple of labels"


def as_read(evidence: Sequence[Any], *, sequences: bool) -> list[Any]:
    """The same evidence, with lists for arrays; raises `DataError` at what cannot be read as labels or tokens.

    Whether there is one element for every token, and whether labels are known, is for others to check.

    >>> as_read([Candidates(["on"], [np.array(["N", "V"])])], sequences=True)[0].y
    [['N', 'V']]
    """
    return [_piece(piece, i, sequences) if isinstance(piece, Evidence) else piece for i, piece in enumerate(evidence)]


_PARTS = ("x", "y", "candidates", "known", "initial")  # that may be a Series


def _piece(piece: Evidence, i: int, sequences: bool) -> Evidence:
    series = {name: by_position(part) for name in _PARTS if hasattr(part := getattr(piece, name, None), "iloc")}
    piece = replace(piece, **series) if series else piece
    if sequences and isinstance(piece.x, np.ndarray):
        if piece.x.dtype.kind not in "UO":
            remedy = "sidelight.Matrix takes rows of numbers"
            raise trouble(piece, i, problem="the input is an array of numbers", remedy=remedy)
        piece = replace(piece, x=piece.x.tolist())
    if isinstance(piece, Companion) and piece.candidates is not None:
        return replace(piece, candidates=_sets(piece, i, piece.candidates, sequences))
    if isinstance(piece, Voted) and isinstance(piece.votes, Mapping):
        return replace(piece, votes={name: _votes(votes) for name, votes in piece.votes.items()})
    if not isinstance(piece, Candidates):
        return piece
    sets, known, initial = _sets(piece, i, piece.y, sequences), piece.known, piece.initial
    if sequences:
        known, initial = _labels(piece, i, known, "known"), _labels(piece, i, initial, "initial")
        _check_chunks(piece, i)
    if sets is piece.y and known is piece.known and initial is piece.initial:
        return piece
    return replace(piece, y=sets, known=known, initial=initial)


def _votes(given: Any) -> Any:
    """The votes of a function without arrays."""
    return given.tolist() if isinstance(given, np.ndarray) else given


def _sets(piece: Evidence, i: int, sets: Any, sequences: bool) -> Any:
    """Candidate sets, or whatever stands in their place, without arrays."""
    if isinstance(sets, np.ndarray):
        sets = _listed(piece, i, sets, None)
    if not isinstance(sets, list | tuple):
        return sets
    if any(hasattr(labels, "iloc") for labels in sets):
        sets = [by_position(labels) for labels in sets]
    kinds = set(map(type, sets))
    if any(issubclass(kind, Mapping) for kind in kinds):
        t = next(t for t, labels in enumerate(sets) if isinstance(labels, Mapping))
        problem = f"the candidates {sets[t]!r} are a dict, and what it says of them would not be heeded"
        raise trouble(piece, i, token=t if sequences else None, problem=problem, remedy=SETS)
    for t, labels in enumerate(sets if sequences and kinds & {bytes, bytearray} else ()):
        if isinstance(labels, bytes | bytearray):
            problem = f"the candidates {labels!r} are {type(labels).__name__}"
            raise trouble(piece, i, token=t, problem=problem, remedy=SETS)
    if np.ndarray not in kinds:
        return sets
    return [_listed(piece, i, labels, t) if isinstance(labels, np.ndarray) else labels for t, labels in enumerate(sets)]


def _listed(piece: Evidence, i: int, labels: Any, token: int | None) -> list[Any]:
    if labels.dtype.kind == "b":
        raise trouble(piece, i, token=token, problem="the candidates are a mask, an array of truths", remedy=SETS)
    values: list[Any] = labels.tolist()
    return values


def _labels(piece: Evidence, i: int, labels: Any, what: str) -> Any:
    """Known or initial labels of tokens, without arrays."""
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    if labels is None:
        return None
    if isinstance(labels, str | bytes | Set | Mapping) or not isinstance(labels, Sequence):
        raise trouble(piece, i, problem=f"the {what} labels {labels!r} are a {type(labels).__name__}", remedy=LABELS)
    for t, label in enumerate(labels):
        if isinstance(label, list | set | dict | np.ndarray):
            raise trouble(piece, i, token=t, problem=f"the {what} label {label!r} is not a label", remedy=LABELS)
    return labels


def _check_chunks(piece: Candidates, i: int) -> None:
    if isinstance(piece.chunks, Chunk) or not isinstance(piece.chunks, list | tuple):
        raise trouble(piece, i, problem=f"the chunks are a {type(piece.chunks).__name__}", remedy=CHUNKS)
    for chunk in piece.chunks:
        if not isinstance(chunk, Chunk):
            raise trouble(piece, i, problem=f"{chunk!r} among the chunks", remedy=CHUNKS)
        if isinstance(chunk.first, bool) or not isinstance(chunk.first, int | np.integer):
            raise trouble(piece, i, problem=f"a chunk from token {chunk.first!r} on", remedy="count tokens from 0")
        if not _is_listed(chunk.labelings) or not all(map(_is_listed, chunk.labelings)):
            raise trouble(piece, i, problem=f"the labelings {chunk.labelings!r} of a chunk", remedy=CHUNKS)


def _is_listed(given: Any) -> bool:
    return isinstance(given, list | tuple | np.ndarray)
