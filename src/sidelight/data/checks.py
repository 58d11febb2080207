"""Conversion and checks of evidence made in memory, before training.

Arrays and Series become lists (`as_read`). Values of a wrong form would be misread (letters of a string, keys of a
dict, a boolean mask) or fail later, far from their origin. So they are refused here, by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.core.checks import LARGEST, by_position, is_hashable, is_listed, is_number
from sidelight.data.single import single_label
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Chunk, Companion, Evidence, Gold, Partial, Voted, trouble

__all__ = ["KNOWN_REMEDY", "check_evidence", "check_known_label", "trouble"]


def check_evidence(evidence: Sequence[Evidence], *, per_token: bool = True) -> None:
    """Raise `DataError` at the first piece of evidence that cannot be used; it is named by its index, from 0.

    A weight is finite and not negative, a companion answer +1 or -1, a sequence not empty, a candidate set not empty,
    and a known label in its set. With `per_token`, outputs are ordered and have one element per token of the input, and
    those of `Gold` contain no `None`. Turn it off for inputs with one output each, of any kind: then `Gold` is not
    checked, and the other kinds refer to one label (`single_label`).

    >>> from sidelight.evidence import Candidates
    >>> check_evidence([Candidates(["Lights", "on"], [{"NOUN", "VERB"}, None])])
    >>> check_evidence([Candidates(["Lights", "on"], [{"NOUN", "VERB"}, set()])])
    Traceback (most recent call last):
        ...
    sidelight.errors.DataError: evidence 0 (Candidates), token 1: an empty candidate set; give at least one label, \
or None for any label
    """
    for index, piece in enumerate(evidence):
        if not isinstance(piece, Evidence):
            raise DataError(
                f"evidence {index} is a {type(piece).__name__}",
                remedy="wrap the input in Gold, Partial, Candidates, Companion, Unlabeled or Voted",
            )
        check_weight(piece, index)
        if isinstance(piece.x, str):
            raise trouble(piece, index, problem="the input is a string", remedy="give a list of tokens")
        length = _length(piece.x)
        if length == 0:
            raise trouble(piece, index, problem="the input has no tokens", remedy="leave it out")
        if not per_token:
            piece, length = single_label(piece, index), None if length is None else 1
        match piece:
            case Gold(y=y):
                if per_token:
                    _check_output(piece, index, length=length, output=y)
            case Partial(y=y):
                _check_listed(piece, index, length=length, output=y)
            case Candidates(y=y, known=known):
                _check_listed(piece, index, length=length, output=y)
                _check_sets(piece, index, sets=y, in_sequence=length is not None)
                if known is not None:
                    _check_known(piece, index, known=known)
                if piece.initial is not None and len(piece.initial) != len(y):
                    problem = f"{len(y)} candidate sets but {len(piece.initial)} initial labels"
                    raise trouble(piece, index, problem=problem, remedy="give one initial label, or None, per token")
                _check_chunks(piece, index)
            case Companion(z=z, candidates=limits):
                if not is_number(z) or z not in (1, -1):
                    raise trouble(piece, index, problem=f"the answer {z!r}", remedy="answer +1 or -1")
                if limits is not None:
                    _check_listed(piece, index, length=length, output=limits)
                    _check_sets(piece, index, sets=limits, in_sequence=length is not None)
            case Voted():
                _check_votes(piece, index, length=length)


def check_known_label(label: Any, labels: Collection[Any]) -> str | None:
    """The problem with a known label and its candidate set, or `None`.

    >>> check_known_label("A", ("B", "C"))
    "the known label 'A' is not among the candidates {'B', 'C'}"
    """
    if label in labels:
        return None
    return f"the known label {label!r} is not among the candidates {{{', '.join(sorted(map(repr, labels)))}}}"


KNOWN_REMEDY = "add the label to the candidates, or correct it"


def _length(x: Any) -> int | None:
    """The number of tokens, or `None` for an input that is not a sequence: a text, attributes, an object."""
    if isinstance(x, str | bytes | Mapping):
        return None
    try:
        return len(x)
    except TypeError:
        return None


def check_weight(piece: Evidence, index: int) -> None:
    try:
        single = type(piece.weight) is float or (np.ndim(piece.weight) == 0 and not np.iscomplexobj(piece.weight))
        usable = single and 0 <= piece.weight < LARGEST
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise trouble(piece, index, problem=f"the weight {piece.weight!r}", remedy="give a finite number, 0 or more")


def _check_output(piece: Evidence, index: int, *, length: int | None, output: Any) -> None:
    if length is None:
        return
    _check_listed(piece, index, length=length, output=output)
    for t, label in enumerate(output):
        if label is None:
            raise trouble(piece, index, token=t, problem="no label", remedy="use Partial where labels are missing")


def _check_listed(piece: Evidence, index: int, *, length: int | None, output: Any) -> None:
    """Check that an output has one element for every token, in order: it is neither a label nor a set."""
    if isinstance(output, Set) or not is_listed(output) or not hasattr(output, "__len__"):
        problem = f"the output {output!r} is a {type(output).__name__}"
        raise trouble(piece, index, problem=problem, remedy="give a list with one element per token")
    if length is not None and len(output) != length:
        problem = f"{length} tokens but an output for {len(output)}"
        raise trouble(piece, index, problem=problem, remedy="give one element per token")


def _check_sets(piece: Evidence, index: int, *, sets: Sequence[Collection[Any] | None], in_sequence: bool) -> None:
    for t, labels in enumerate(sets):
        if labels is None:
            continue
        if in_sequence and (isinstance(labels, str) or not isinstance(labels, Collection)):
            problem = f"the candidates {labels!r} are a {type(labels).__name__}"
            raise trouble(
                piece, index, token=t, problem=problem, remedy="give a set or tuple of labels, or None for any"
            )
        if len(labels) == 0:
            remedy = "give at least one label, or None for any label"
            raise trouble(piece, index, token=t, problem="an empty candidate set", remedy=remedy)


def _check_votes(piece: Voted, index: int, *, length: int | None) -> None:
    """Check the votes of each function, by its name: one per token, each a label, a set of labels, or `None`."""
    votes: Any = piece.votes
    if not isinstance(votes, Mapping):
        problem = f"the votes are a {type(votes).__name__}"
        raise trouble(piece, index, problem=problem, remedy="give {name of the function: [vote of each token]}")
    for name, own in votes.items():
        if not isinstance(name, str):
            problem = f"a function is called {name!r}"
            raise trouble(piece, index, problem=problem, remedy="name functions by strings")
        if own is None:
            continue
        if isinstance(own, str | bytes | Set | Mapping) or not hasattr(own, "__len__"):
            problem = f"the votes of {name!r} are a {type(own).__name__}"
            raise trouble(piece, index, problem=problem, remedy="give a list with one vote, or None, per token")
        if length is not None and len(own) != length:
            problem = f"{length} tokens but {len(own)} votes of {name!r}"
            raise trouble(piece, index, problem=problem, remedy="give one vote, or None, per token")
        for t, vote in enumerate(own):
            if not (vote is None or (len(vote) > 0 if isinstance(vote, Set) else is_hashable(vote))):
                problem = f"{name!r} votes {vote!r}"
                raise trouble(piece, index, token=t, problem=problem, remedy="give a label, a set of them, or None")


def _check_known(piece: Candidates, index: int, *, known: Sequence[Any | None]) -> None:
    if len(known) != len(piece.y):
        problem = f"{len(piece.y)} candidate sets but {len(known)} known labels"
        raise trouble(piece, index, problem=problem, remedy="give one known label, or None, per token")
    for t, (label, labels) in enumerate(zip(known, piece.y)):
        mismatch = None if label is None or labels is None else check_known_label(label, labels)
        if mismatch:
            raise trouble(piece, index, token=t, problem=mismatch, remedy=KNOWN_REMEDY)


def _check_chunks(piece: Candidates, index: int) -> None:
    tokens_so_far: set[int] = set()
    for chunk in piece.chunks:
        lengths = {len(labeling) for labeling in chunk.labelings}
        if len(lengths) != 1 or 0 in lengths:
            problem = "a chunk without labelings, or with labelings of different lengths"
            raise trouble(piece, index, problem=problem, remedy="give each chunk labelings of its own length")
        tokens = range(chunk.first, chunk.first + chunk.length)
        if chunk.first < 0 or tokens.stop > len(piece.y):
            problem = f"a chunk of {chunk.length} tokens from token {chunk.first} on, where there are {len(piece.y)}"
            raise trouble(piece, index, problem=problem, remedy="count tokens from 0")
        for t in tokens:
            if t in tokens_so_far or piece.y[t] is not None:
                problem = "a token of a chunk has candidates of its own, or is in two chunks"
                raise trouble(piece, index, token=t, problem=problem, remedy="give None for the tokens of a chunk")
        tokens_so_far.update(tokens)


SETS = "give for each token a set of labels, or None for any"
LABELS = "give a list with one label, or None, per token"
CHUNKS = "give a list of Chunk(first, [labeling, …]), where a labeling is a tuple of labels"


def as_read(evidence: Sequence[Any], *, sequences: bool) -> list[Any]:
    """The same evidence, with lists instead of arrays; raises `DataError` for what cannot be read as labels or tokens.

    Other functions check that there is one element for every token, and that labels are known.

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
        _check_chunk_forms(piece, i)
    if sets is piece.y and known is piece.known and initial is piece.initial:
        return piece
    return replace(piece, y=sets, known=known, initial=initial)


def _votes(votes: Any) -> Any:
    """The votes of a function without arrays."""
    return votes.tolist() if isinstance(votes, np.ndarray) else votes


def _sets(piece: Evidence, i: int, sets: Any, sequences: bool) -> Any:
    """Candidate sets, or any values in their place, without arrays."""
    if isinstance(sets, np.ndarray):
        sets = _listed(piece, i, sets, None)
    if not isinstance(sets, list | tuple):
        return sets
    if any(hasattr(labels, "iloc") for labels in sets):
        sets = [by_position(labels) for labels in sets]
    kinds = set(map(type, sets))
    if any(issubclass(kind, Mapping) for kind in kinds):
        t = next(t for t, labels in enumerate(sets) if isinstance(labels, Mapping))
        problem = f"the candidates {sets[t]!r} are a dict, whose values would be ignored"
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


def _check_chunk_forms(piece: Candidates, i: int) -> None:
    if isinstance(piece.chunks, Chunk) or not isinstance(piece.chunks, list | tuple):
        raise trouble(piece, i, problem=f"the chunks are a {type(piece.chunks).__name__}", remedy=CHUNKS)
    for chunk in piece.chunks:
        if not isinstance(chunk, Chunk):
            raise trouble(piece, i, problem=f"{chunk!r} among the chunks", remedy=CHUNKS)
        if isinstance(chunk.first, bool) or not isinstance(chunk.first, int | np.integer):
            raise trouble(piece, i, problem=f"a chunk from token {chunk.first!r} on", remedy="count tokens from 0")
        if not _is_listed(chunk.labelings) or not all(map(_is_listed, chunk.labelings)):
            raise trouble(piece, i, problem=f"the labelings {chunk.labelings!r} of a chunk", remedy=CHUNKS)


def _is_listed(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)
