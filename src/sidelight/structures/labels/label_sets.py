"""The labels of a task, numbered; a label may be a coarse name for several hidden states, and then these are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Ids
from sidelight.core.file_contents import list_of
from sidelight.errors import DataError, ModelFileError


def _order(label: Any) -> tuple[str, Any]:
    return (type(label).__name__, label)


def plain_label(name: Any) -> str | int | bool:
    """A label as JSON has it: text, a truth or a whole number.

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
        """The place in `classes` of what each number stands for. # [L]"""
        return np.arange(len(self), dtype=np.int32)

    def numbers(self, label: Any) -> tuple[int, ...]:
        """The numbers that stand for a known label."""
        return (self.number[label],)

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
    """Labels with hidden states: the numbers are states (those of a label in a row), outputs are made of labels.

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
        """The place in `classes` of each state's label. # [S]"""
        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many states each of `classes` has."""
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
    """Labels with so many states each, or those named in a mapping; the labels themselves where all have one.

    Raises `DataError` where the mapping names an unknown label.

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
    """Labels for a file; raises `ModelFileError` for those that are neither text nor numbers."""
    labels = list(names)
    odd = [name for name in labels if not isinstance(name, (str, int, np.integer, np.bool_))]
    if odd:
        raise ModelFileError(f"label {odd[0]!r} is neither text nor a number", remedy="use such labels")
    return [plain_label(name) for name in labels]


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
