"""The arguments of a rule: its input and its output.

The input is ordinary data, so Python's `for` and `if` work on it. The output is symbolic when the rule is lowered, and
known when its truth is checked. Rules use both forms in the same way: `y[t]` for a sequence, `y.relation[a, b]` for a
structure with named variables, and then `== label`, `!= label`, `== y[t - 1]`, `one_of(y[t], labels)`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

from sidelight.errors import DataError
from sidelight.rules.expr import FALSE, TRUE, Expr, OneOf, Same, negation
from sidelight.rules.symbolic import ADVICE, Misused, Symbolic


class Domain:
    """The labels that a variable can have, and their numbers."""

    __slots__ = ("__weakref__", "labels", "numbers")

    def __init__(self, labels: Sequence[Any]) -> None:
        self.labels = tuple(labels)
        self.numbers = {label: i for i, label in enumerate(self.labels)}

    def number(self, label: Any) -> int:
        """The number of a label; raises `DataError` if it is unknown, with a suggestion."""
        try:
            number = self.numbers.get(label)
        except TypeError:  # a list, say
            number = None
        if number is None:
            near = difflib.get_close_matches(str(label), [str(known) for known in self.labels], n=1)
            names = ", ".join(str(known) for known in self.labels[:12]) + (", …" if len(self.labels) > 12 else "")
            remedy = f"did you mean {near[0]!r}?" if near else f"the labels are {names}"
            if isinstance(label, (list, tuple, set, frozenset)):
                remedy = "ask for one of several labels with one_of(y[t], labels)"
            raise NoSuchLabel(label, remedy)
        return number


class NoSuchLabel(DataError):
    """A rule mentions a label that a variable cannot have."""

    def __init__(self, label: Any, remedy: str) -> None:
        super().__init__(f"there is no label {label!r}", remedy=remedy)
        self.label = label


class ChosenVariable(Symbolic):
    """A variable whose label is open."""

    __slots__ = ("domain", "variable")
    _advice = f"y[…] is a label that is not known yet; compare it: y[t] == 'X', y[t] == y[t - 1]; {ADVICE}"

    def __init__(self, variable: int, domain: Domain) -> None:
        self.variable = variable
        self.domain = domain

    def among(self, labels: Iterable[Any]) -> Expr:
        """It has one of some labels."""
        numbers = tuple(sorted({self.domain.number(label) for label in labels}))
        if not numbers:
            return FALSE
        return TRUE if len(numbers) == len(self.domain.labels) else OneOf(self.variable, numbers, self.domain.labels)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        if isinstance(other, Symbolic) and not isinstance(other, ChosenVariable):
            raise Misused(f"y[…] is a label, and is compared with a label or another y[…], not with {other!r}")
        if isinstance(other, ChosenVariable):
            if other.variable == self.variable:
                return TRUE
            if other.domain.labels != self.domain.labels:
                raise DataError("two variables with different labels are compared", remedy="compare each with a label")
            return Same(self.variable, other.variable)
        number = self.domain.number(other)
        return OneOf(self.variable, (number,), self.domain.labels) if len(self.domain.labels) > 1 else TRUE

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return negation(self == other)

    __hash__ = Symbolic.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # special attributes, which Python looks up on any object
            raise AttributeError(name)
        raise Misused(f"y[…] is a label that is not known yet and has no .{name}; list labels: one_of(y[t], labels)")

    def __repr__(self) -> str:
        return f"y[{self.variable}]"


class NoSuchPlace(DataError):
    """A rule refers to a token that the output does not have."""


class Labels:
    """The output of a sequence: `y[t]`; negative indices count from the end (`y[-1]`)."""

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def __getitem__(self, t: int) -> Any:
        try:
            return self._items[t]
        except IndexError:
            problem = f"the rule uses y[{t}] of an output with {len(self._items)} tokens"
            raise NoSuchPlace(problem, remedy="stay within x.positions") from None
        except TypeError:
            raise Misused(f"y[…] takes the position of a token, a whole number, not {t!r}") from None

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __eq__(self, other: object) -> NoReturn:
        raise Misused("y is a whole output; compare its labels one by one: every(y[t] == … for t in x.positions)")

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise Misused(f"the labels of a sequence have no .{name}; say it with y[t], every(…), some(…), count(…)")


class VariableGroup:
    """Named variables of one kind, by their keys: `y.relation[a, b]`."""

    __slots__ = ("_items", "_name")

    def __init__(self, name: str, items: Mapping[Any, Any]) -> None:
        self._name = name
        self._items = items

    def __getitem__(self, key: Any) -> Any:
        if key not in self._items:
            raise DataError(f"there is no variable {self._name}[{key!r}]", remedy="use the keys of the input")
        return self._items[key]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Keys and variables."""
        return self._items.items()

    def values(self) -> Iterable[Any]:
        """The variables alone."""
        return self._items.values()


class Groups:
    """The output of a structure with named variables."""

    __slots__ = ("_groups",)

    def __init__(self, groups: Mapping[str, VariableGroup]) -> None:
        self._groups = groups

    def __getattr__(self, name: str) -> VariableGroup:
        if name.startswith("_") or name not in self._groups:
            names = ", ".join(self._groups)
            raise DataError(f"there is no kind of variable y.{name}", remedy=f"there are {names}")
        return self._groups[name]


def symbolic_labels(length: int, domain: Domain) -> Labels:
    """A sequence whose labels are all open; variable t is token t."""
    return Labels([ChosenVariable(t, domain) for t in range(length)])


class Sentence:
    """A sequence of tokens: `x.words`, `x.positions`, `x[t]` (the token as it was given), `len(x)`.

    >>> x = Sentence([("Light", "NN"), ("shines", "VB")])
    >>> x.words, list(x.positions), x[1][1], x.columns[1]
    (['Light', 'shines'], [0, 1], 'VB', ['NN', 'VB'])
    """

    def __init__(self, tokens: Sequence[Any]) -> None:
        self.tokens = tokens

    @property
    def positions(self) -> range:
        """The positions 0, 1, … of the tokens."""
        return range(len(self.tokens))

    @cached_property
    def words(self) -> list[str]:
        """Every token as a string: itself, its first column, or its attribute "word" (or "w")."""
        return [_word(token) for token in self.tokens]

    @cached_property
    def lower(self) -> list[str]:
        """The words in lower case."""
        return [word.lower() for word in self.words]

    @cached_property
    def columns(self) -> list[list[Any]]:
        """The columns of tokens that have several."""
        return [list(column) for column in zip(*self.tokens)]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, t: int) -> Any:
        return self.tokens[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tokens)


def _word(token: Any) -> str:
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        for name in ("word", "w"):
            if name in token:
                return str(token[name])
        raise KeyError("the tokens are attributes without 'word': read x[t] instead of x.words")
    if isinstance(token, Sequence) and len(token):
        return str(token[0])
    return str(token)
