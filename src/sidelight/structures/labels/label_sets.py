"""The numbered labels of a task; with hidden states, the states are numbered.

Too many labels usually mean that they come from a wrong column, or are measured numbers. Memory for transitions grows
with the square of the number of labels, and memory for features with the product of both numbers. So labels are checked
before anything of that size is allocated. Invalid labels (None, nan, a list) are refused too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Ids
from sidelight.core.checks import is_hashable
from sidelight.core.file_contents import list_of
from sidelight.errors import DataError, ModelFileError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial, Voted, trouble, voted_labels


def _order(label: Any) -> tuple[str, Any]:
    return (type(label).__name__, label)


def plain_label(name: Any) -> str | int | bool:
    """A label as a JSON value: a string, a bool or an integer.

    >>> plain_label(np.bool_(True)), plain_label(np.int64(1))
    (True, 1)
    """
    return name if isinstance(name, str) else bool(name) if isinstance(name, bool | np.bool_) else int(name)


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
            raise ValueError("a label is listed twice; give every label once")

    @classmethod
    def of(cls, labels: Iterable[Any]) -> LabelSet:
        """The distinct labels, sorted; raises `DataError` for labels that have no order."""
        names = dict.fromkeys(
            name.item() if isinstance(name, np.str_ | np.integer | np.bool_) else name for name in labels
        )
        try:
            return cls(tuple(sorted(names, key=_order)))
        except TypeError:
            kinds = ", ".join(dict.fromkeys(type(name).__name__ for name in names))
            raise DataError(f"labels that have no order ({kinds})", remedy="give strings or numbers") from None

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, label: Any) -> bool:
        return label in self.number

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels that outputs are made of."""
        return self.names

    @property
    def hidden(self) -> bool:
        """Whether some label has several states."""
        return False

    @property
    def label_of(self) -> Ids:
        """The position in `classes` of each number's label. # [L]"""
        return np.arange(len(self), dtype=np.int32)

    def numbers(self, label: Any) -> tuple[int, ...]:
        """The numbers of a known label."""
        return (self.number[label],)

    def encode(self, labels: Sequence[Any]) -> Ids:
        """The numbers of known labels."""
        return np.fromiter(map(self.number.__getitem__, labels), dtype=np.int32, count=len(labels))

    def decode(self, numbers: Ids) -> list[Any]:
        """Labels of numbers."""
        names = self.names
        return [names[i] for i in numbers.tolist()]

    def mask(self, labels: Collection[Any] | None) -> Bytes:
        """1 for the given labels, or for all if none are given. # [L]"""
        if labels is None:
            return np.ones(len(self), dtype=np.uint8)
        out = np.zeros(len(self), dtype=np.uint8)
        out[[number for label in labels for number in self.numbers(label)]] = 1
        return out


class HiddenState(NamedTuple):
    """One of a label's hidden states, counted from 1; 0 for the only state of a label.

    >>> str(HiddenState("NP", 2)), str(HiddenState("O", 0))
    ('NP/2', 'O')
    """

    label: Any
    place: int

    def __str__(self) -> str:
        return f"{self.label}/{self.place}" if self.place else str(self.label)


@dataclass(frozen=True, slots=True)
class StateSet(LabelSet):
    """Labels with hidden states: numbers are states (those of a label are consecutive), and outputs consist of labels.

    `number` of a label with several states is -1; `numbers` has them all.

    >>> states = StateSet((HiddenState("NP", 1), HiddenState("NP", 2), HiddenState("O", 0)))
    >>> states.classes, states.mask(["NP"]).tolist(), states.decode(np.array([1, 2]))
    (('NP', 'O'), [1, 1, 0], ['NP', 'O'])
    """

    names: tuple[HiddenState, ...]
    members: dict[Any, tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        members: dict[Any, tuple[int, ...]] = {}
        for i, state in enumerate(self.names):
            members[state.label] = (*members.get(state.label, ()), i)
        if len(set(self.names)) != len(self.names) or any(own[-1] - own[0] >= len(own) for own in members.values()):
            raise ValueError("a state is listed twice, or away from the others of its label")
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "number", {label: own[0] if len(own) == 1 else -1 for label, own in members.items()})

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels that outputs are made of."""
        return tuple(self.members)

    @property
    def hidden(self) -> bool:
        """Whether some label has several states."""
        return len(self.members) < len(self.names)

    @property
    def label_of(self) -> Ids:
        """The position in `classes` of each state's label. # [S]"""
        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of states of each of `classes`."""
        return tuple(len(own) for own in self.members.values())

    def numbers(self, label: Any) -> tuple[int, ...]:
        """The states of a known label."""
        return self.members[label]

    def encode(self, labels: Sequence[Any]) -> Ids:
        """Numbers of labels that are all known and have one state; raises `DataError` for others."""
        for label in labels:
            if self.number[label] < 0:
                raise DataError(f"the label {label!r} has several states, not one number", remedy="use its mask")
        return np.array([self.number[label] for label in labels], dtype=np.int32)

    def decode(self, numbers: Ids) -> list[Any]:
        """Labels of states."""
        labels = [state.label for state in self.names]
        return [labels[i] for i in numbers.tolist()]


def with_states(labels: LabelSet, states: int | Mapping[Any, int] | None) -> LabelSet:
    """Labels with this number of states each, or as given by a mapping; the labels themselves if all have one state.

    Raises `DataError` if the mapping has an unknown label.

    >>> [str(name) for name in with_states(LabelSet.of(["NP", "O"]), {"NP": 2}).names]
    ['NP/1', 'NP/2', 'O']
    """
    if isinstance(states, Mapping):
        for label in states:
            if label not in labels:
                raise DataError(f"states names the unknown label {label!r}", remedy="use known labels")
    each = {label: states.get(label, 1) if isinstance(states, Mapping) else states or 1 for label in labels.classes}
    if all(count == 1 for count in each.values()):
        return labels
    return StateSet(
        tuple(
            HiddenState(label, k) for label, count in each.items() for k in (range(1, count + 1) if count > 1 else (0,))
        )
    )


def written_labels(names: Iterable[Any]) -> list[str | int]:
    """Labels for a file; raises `ModelFileError` for labels that are neither strings nor numbers."""
    labels = list(names)
    odd = [name for name in labels if not isinstance(name, (str, int, np.integer, np.bool_))]
    if odd:
        raise ModelFileError(f"label {odd[0]!r} is neither text nor a number", remedy="use such labels")
    return [plain_label(name) for name in labels]


def read_labels(spec: Any) -> tuple[str | int, ...]:
    """The labels in a file: distinct strings, integers or bools, at least one."""
    names = list_of(spec, "labels")
    if not names or not all(isinstance(name, str | int) for name in names):
        raise ModelFileError("its labels are not texts, whole numbers or truths")
    return tuple(names)


def check_same(what: str, count: int, expected: int) -> None:
    """Refuse parts of a file that contradict each other."""
    if count != expected:
        raise ModelFileError(f"there are {count:,} {what}, and weights for {expected:,}")


def named(piece: Evidence, *, sequences: bool) -> Iterator[tuple[int, Any]]:
    """Every label in a piece of evidence, with its token.

    >>> list(named(Partial(["Lights", "on"], [None, "ADP"]), sequences=True))
    [(1, 'ADP')]
    """
    if isinstance(piece, Gold):
        yield from enumerate(piece.y if sequences else [piece.y])
    elif isinstance(piece, Partial):
        yield from ((t, label) for t, label in enumerate(piece.y) if label is not None)
    elif isinstance(piece, Candidates | Companion):
        sets = piece.y if isinstance(piece, Candidates) else () if piece.candidates is None else piece.candidates
        yield from ((t, label) for t, own in enumerate(sets) if own is not None for label in own)
    elif isinstance(piece, Voted):
        voted = (votes for votes in piece.votes.values() if votes is not None)
        yield from ((t, label) for votes in voted for t, vote in enumerate(votes) for label in voted_labels(vote))
    if isinstance(piece, Candidates):
        for first, labelings in piece.chunks:
            yield from ((first + k, label) for labeling in labelings for k, label in enumerate(labeling))


def check_equal_labels(evidence: Sequence[Evidence], labels: Sequence[Any], *, sequences: bool) -> None:
    """Raise `DataError` for different labels that are equal in Python: True, 1 and 1.0.

    >>> check_equal_labels([Gold(["a"], [True])], [0, 1], sequences=True)
    Traceback (most recent call last):
        ...
    sidelight.errors.DataError: evidence 0 (Gold), token 0: the label True is equal to the label 1; give labels of one \
type, or strings
    """
    if all(isinstance(label, str) for label in labels):
        return
    seen = {type(label) for piece in evidence for _, label in named(piece, sequences=sequences)}
    if len({_sort(kind) for kind in seen | set(map(type, labels))} - {None}) < 2:
        return
    known = {label: label for label in labels}
    for i, piece in enumerate(evidence):
        for t, label in named(piece, sequences=sequences):
            other = known.setdefault(label, label)
            if _sort(type(label)) is not _sort(type(other)):
                problem = f"the label {label!r} is equal to the label {other!r}"
                remedy = "give labels of one type, or strings"
                raise trouble(piece, i, problem=problem, remedy=remedy, token=t if sequences else None)


def _sort(kind: type) -> type | None:
    """The kind of number of a type, with numpy's types treated like Python's; None if it is not a number."""
    for sort, others in ((bool, np.bool_), (int, np.integer), (float, np.floating)):
        if issubclass(kind, (sort, others)):
            return sort
    return None


def is_no_label(label: Any) -> bool:
    """Whether this value means a missing label.

    >>> is_no_label(None), is_no_label(float("nan")), is_no_label("")
    (True, True, False)
    """
    return label is None or (isinstance(label, float) and label != label)


def raise_at_no_label(evidence: Sequence[Evidence], *, sequences: bool) -> None:
    """Raise `DataError` for the first label that is missing or invalid."""
    for i, piece in enumerate(evidence):
        for t, label in named(piece, sequences=sequences):
            if is_no_label(label) or not is_hashable(label):
                raise no_label(piece, i, label, t if sequences else None)


def no_label(piece: Evidence, i: int, label: Any, token: int | None) -> DataError:
    """The error for an invalid label."""
    remedy = "give sets of labels; None instead of a set means any label"
    if isinstance(piece, Gold):
        remedy = "give labels; Candidates takes sets of them, and Partial None where there is none"
    elif isinstance(piece, Partial):
        remedy = "give labels, or None where one is not known"
    elif isinstance(piece, Voted):
        remedy = "a vote is a label, a set of labels, or None"
    return trouble(piece, i, problem=f"{label!r} is not a label", remedy=remedy, token=token)


MANY = 1000  # number of labels that needs no check
OFTEN = {True: 20, False: 2}  # minimum mean frequency of labels if there are more, for tokens and for single inputs
COPIES = 3  # minimum number of copies of the weights in training
_COLUMN = "is the label the last column (label_column=…, --label-column)?"


def check_label_count(count: int, evidence: Sequence[Evidence], *, sequences: bool) -> None:
    """Raise `DataError` for very many labels found in evidence that hardly repeat."""
    if count <= MANY:
        return
    met = 0
    for piece in evidence:
        if isinstance(piece, Gold):
            met += len(piece.y) if sequences else 1
        else:
            met += sum(1 for _ in named(piece, sequences=sequences))
    if count * OFTEN[sequences] > met:
        what = "tokens" if sequences else "inputs"
        raise DataError(
            f"{count:,} different labels on {met:,} {what}",
            remedy=f"{_COLUMN} If they are right, give them: labels=[…]",
        )


def check_memory(n_weights: int, n_labels: int, n_features: int, *, memory: int | None = None) -> None:
    """Raise `DataError` if the weights of labels found in evidence do not fit into memory (in bytes)."""
    most = _memory() if memory is None else memory
    needed = 8 * COPIES * n_weights
    if n_labels > 2 and most is not None and needed > most:
        raise DataError(
            f"{n_labels:,} labels and {n_features:,} features need about {needed / 1e9:,.1f} GB, and there are "
            f"{most / 1e9:,.1f}",
            remedy="are these the labels, and is theirs the last column? Raise min_count, lower hash_bits, or give "
            "labels=[…] to try all the same",
        )


def _memory() -> int | None:
    """The memory of this machine in bytes, if known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
