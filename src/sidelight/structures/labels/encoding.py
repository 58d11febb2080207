"""Conversion of evidence to arrays, with checks of outputs against labels, lengths and masks.

A *symbol* is one possible vote of one function: a label, or a set of labels. Every function has its own symbols, so
that the reliability of each can be learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.data.checks import KNOWN_REMEDY, trouble
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Chunk, Companion, Evidence, Gold, Partial, Voted, voted_labels
from sidelight.spaces.parts import Labelings
from sidelight.structures.labels.label_sets import (
    LabelSet,
    check_equal_labels,
    is_no_label,
    named,
    no_label,
    raise_at_no_label,
)
from sidelight.voting.votes import EncodedVotes

Unknown = Callable[[int, int, Any], DataError]  # the error for a label of an input's token that does not exist


def encode_votes(evidence: Sequence[Evidence], labels: LabelSet, starts: Ints, unknown: Unknown) -> EncodedVotes | None:
    """The votes in the evidence, or `None` if there are none; raises the error of `unknown` for an unknown label."""
    voted = [(i, piece) for i, piece in enumerate(evidence) if isinstance(piece, Voted)]
    if not voted:
        return None
    functions = tuple(dict.fromkeys(name for _, piece in voted for name in piece.votes))
    number = {name: f for f, name in enumerate(functions)}
    symbols: dict[tuple[int, frozenset[Any]], int] = {}
    known: dict[tuple[int, Any], int] = {}  # symbols by votes as written
    tokens: list[int] = []
    votes: list[int] = []
    for i, piece in voted:
        first = int(starts[i])
        for name, votes_of_function in piece.votes.items():
            f = number[name]
            for t, vote in enumerate(() if votes_of_function is None else votes_of_function):
                if vote is None:
                    continue
                key = f, (frozenset(vote) if isinstance(vote, Set) else vote)
                symbol = known.get(key)
                if symbol is None:
                    named = frozenset(voted_labels(vote))
                    for label in named:
                        if label not in labels:
                            raise unknown(i, t, label)
                    symbol = known[key] = symbols.setdefault((f, named), len(symbols))
                tokens.append(first + t)
                votes.append(symbol)
    at = np.array(tokens, dtype=np.int64)
    order = np.argsort(at, kind="stable")
    counts = np.bincount(at, minlength=int(starts[-1]))
    named_by = [tuple(label for label in labels.classes if label in named) for _, named in symbols]
    masks = [labels.mask(names) for names in named_by]
    return EncodedVotes(
        functions,
        tuple(named_by),
        np.array([f for f, _ in symbols], dtype=np.int64),
        np.array(masks, dtype=np.uint8).reshape(len(masks), len(labels)),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array(votes, dtype=np.int32)[order],
    )


RESTRICTED = ("partial", "candidates", "companion")  # kinds that may restrict outputs; Gold is checked label by label


@dataclass(frozen=True, slots=True)
class Encoded:
    """The evidence about N inputs, as arrays, in the order of the inputs; `rows` are computed elsewhere.

    With hidden states, L counts states, and a known label admits all its states.
    """

    kinds: list[str]  # [N]
    weights: Floats  # [N]
    answers: Ints  # [N] +1 or -1 for Companion, else 0
    targets: Ids  # [T] known labels, -1 elsewhere and for labels of several states
    admitted: Bytes | None  # [T, L], None when no input restricts its labels
    starts: Ints  # [N + 1]
    initial: Ids  # [T] labels to begin with, by their first states; -1 elsewhere
    chunks: list[Labelings]  # parts of more than one token
    votes: EncodedVotes | None = None  # of functions, if there are any

    @classmethod
    def of(cls, evidence: Sequence[Evidence], starts: Ints, targets: Ids, admitted: Bytes | None) -> Encoded:
        """The outputs admitted by pieces of evidence, and their weights."""
        weights = np.array([piece.weight for piece in evidence], dtype=np.float64)
        encoded = cls.of_kinds([piece.kind for piece in evidence], weights, starts, targets, admitted)
        answers = [piece.z if isinstance(piece, Companion) else 0 for piece in evidence]
        return replace(encoded, answers=np.array(answers, dtype=np.int64))

    @classmethod
    def of_kinds(
        cls, kinds: list[str], weights: Floats, starts: Ints, targets: Ids, admitted: Bytes | None = None
    ) -> Encoded:
        """Inputs of these kinds without companion answers, initial labels, and chunks."""
        answers, nothing = np.zeros(len(kinds), dtype=np.int64), np.full(len(targets), -1, dtype=np.int32)
        return cls(kinds, weights, answers, targets, admitted, starts, nothing, [])

    def of_kind(self, *kinds: str) -> Ints:
        """The inputs of these kinds."""
        return np.array([i for i, kind in enumerate(self.kinds) if kind in kinds], dtype=np.int64)

    def gold(self) -> tuple[Ints, Ints]:
        """Gold without hidden states, and Gold with a label of several states."""
        rows = self.of_kind("gold")
        hidden = np.minimum.reduceat(self.targets, self.starts[:-1])[rows] < 0
        return rows[~hidden], rows[hidden]


def labels_in(evidence: Sequence[Evidence], *, sequences: bool) -> list[Any]:
    """Every label in the evidence, in order of appearance; raises `DataError` for values that cannot be labels."""
    names: dict[Any, None] = {}
    try:
        for piece in evidence:
            if isinstance(piece, Gold):
                names.update(dict.fromkeys(piece.y if sequences else [piece.y]))
            else:
                names.update(dict.fromkeys(label for _, label in named(piece, sequences=sequences)))
    except TypeError:  # something that cannot be hashed
        raise_at_no_label(evidence, sequences=sequences)
        raise
    if any(map(is_no_label, names)):
        raise_at_no_label(evidence, sequences=sequences)
    return list(names)


def encode(evidence: Sequence[Evidence], labels: LabelSet, starts: Ints, *, sequences: bool) -> Encoded:
    """Check outputs and convert them to numbers; raises `DataError` with the piece of evidence, its file and line."""
    try:
        check_equal_labels(evidence, labels.classes, sequences=sequences)
        return _encode(evidence, labels, starts, sequences=sequences)
    except TypeError:  # something that cannot be hashed
        raise_at_no_label(evidence, sequences=sequences)
        raise


def _encode(evidence: Sequence[Evidence], labels: LabelSet, starts: Ints, *, sequences: bool) -> Encoded:
    tokens = int(starts[-1])
    targets = np.full(tokens, -1, dtype=np.int32)
    initial = np.full(tokens, -1, dtype=np.int32)
    chunks: list[Labelings] = []
    kinds = (Gold, Partial, Candidates) if labels.hidden else (Partial, Candidates)
    restricted = any(
        isinstance(piece, kinds) or (isinstance(piece, Companion) and piece.candidates is not None)
        for piece in evidence
    )
    admitted = np.ones((tokens, len(labels)), dtype=np.uint8) if restricted else None
    number = labels.number
    for i, piece in enumerate(evidence):
        first, last = int(starts[i]), int(starts[i + 1])
        _check_length(piece, i, last - first)
        if isinstance(piece, Gold):
            ys = piece.y if sequences else [piece.y]
            try:
                targets[first:last] = [number[label] for label in ys]
            except KeyError:
                t = next(t for t, label in enumerate(ys) if label not in number)
                raise unknown_label(evidence, i, t, ys[t], labels) from None
            if labels.hidden:
                assert admitted is not None
                for t, label in enumerate(ys):
                    admitted[first + t] = labels.mask([label])
        elif isinstance(piece, Partial):
            assert admitted is not None
            for t, label in enumerate(piece.y):
                if label is not None:
                    if label not in number:
                        raise unknown_label(evidence, i, t, label, labels)
                    targets[first + t] = number[label]
                    admitted[first + t] = labels.mask([label])
        elif isinstance(piece, Candidates):
            assert admitted is not None
            for t, options in enumerate(piece.y):
                for label in () if options is None else options:
                    if label not in number:
                        raise unknown_label(evidence, i, t, label, labels)
                known = None if piece.known is None else piece.known[t]
                if known is not None and known not in number:
                    raise unknown_label(evidence, i, t, known, labels)
                admitted[first + t] = labels.mask(options if known is None else [known])
                guess = None if piece.initial is None else piece.initial[t]
                if guess is not None:
                    initial[first + t] = labels.numbers(guess)[0] if guess in labels else -1
                    if initial[first + t] < 0 or admitted[first + t, initial[first + t]] == 0:
                        problem = f"the initial label {guess!r} is not among the candidates"
                        raise trouble(piece, i, problem=problem, remedy="begin with a candidate", token=t)
            for chunk in piece.chunks:
                for t, label in ((chunk.first + k, label) for row in chunk.labelings for k, label in enumerate(row)):
                    if label not in number:
                        raise unknown_label(evidence, i, t, label, labels)
                fitting = [row for row in chunk.labelings if _has_known(piece, chunk, row)]
                if not fitting:
                    problem = "the known labels of a chunk are in none of its labelings"
                    raise trouble(piece, i, problem=problem, remedy=KNOWN_REMEDY, token=chunk.first)
                rows = [path for row in fitting for path in product(*map(labels.numbers, row))]
                chunks.append(Labelings(first + chunk.first, np.array(rows, dtype=np.int32)))
        elif isinstance(piece, Companion) and piece.candidates is not None:
            assert admitted is not None
            for t, options in enumerate(piece.candidates):
                for label in () if options is None else options:
                    if label not in number:
                        raise unknown_label(evidence, i, t, label, labels)
                admitted[first + t] = labels.mask(options)
    votes = encode_votes(evidence, labels, starts, lambda i, t, label: unknown_label(evidence, i, t, label, labels))
    return replace(Encoded.of(evidence, starts, targets, admitted), initial=initial, chunks=chunks, votes=votes)


def _has_known(piece: Candidates, chunk: Chunk, labeling: Sequence[Any]) -> bool:
    """Whether a labeling of a chunk has the known labels of its tokens."""
    if piece.known is None:
        return True
    known = piece.known[chunk.first : chunk.first + len(labeling)]
    return all(right is None or right == label for right, label in zip(known, labeling))


def _check_length(piece: Evidence, i: int, length: int) -> None:
    """Check the length: a list that is too long would refer to tokens of the next input."""
    if isinstance(piece, Voted):
        for name, votes in piece.votes.items():
            if votes is not None and len(votes) != length:
                problem = f"{length} tokens but {len(votes)} votes of {name!r}"
                raise trouble(piece, i, problem=problem, remedy="give one vote, or None, per token")
    listed = piece.candidates if isinstance(piece, Companion) else getattr(piece, "y", None)
    if isinstance(piece, Gold) or listed is None or len(listed) == length:
        return
    problem = f"{length} tokens but an output for {len(listed)}"
    raise trouble(piece, i, problem=problem, remedy="give one element per token")


def unknown_label(evidence: Sequence[Evidence], i: int, token: int, label: Any, labels: LabelSet) -> DataError:
    """The error for a label that is not among the declared ones."""
    if is_no_label(label):
        return no_label(evidence[i], i, label, token)
    known = ", ".join(map(str, labels.classes[:12])) + (" …" if len(labels.classes) > 12 else "")
    return trouble(
        evidence[i],
        i,
        problem=f"unknown label {label!r}",
        remedy=f"use one of {known}, or add it to the labels",
        token=token,
    )
