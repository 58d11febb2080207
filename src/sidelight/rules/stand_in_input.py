"""A made-up input, so that a rule can be read before there is a real one.

Its items, attributes and call results are objects of the same kind. It is true, it is 1 if a number is needed, and it
unpacks into a few objects of its kind. An error caused by it says nothing about the rule; a mark in the message
identifies such errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from sidelight.core.checks import is_whole
from sidelight.errors import DataError
from sidelight.rules.output import ChosenVariable, Domain, Groups, NoSuchLabel, VariableGroup
from sidelight.rules.rule import Rule
from sidelight.rules.symbolic import Misused

MARK = "<made-up input>"
WIDTHS = (2, 3, 1)  # lengths tried for unpacking
MOST_LOOKS = 10_000  # a rule with more accesses may be in a loop that only a real input ends


class _Enough(Exception):
    """The rule has made too many accesses."""


class _Looks:
    """The number of accesses of a rule to an input, and whether it has used a number from it."""

    def __init__(self) -> None:
        self.count = 0
        self.numbers = False


class MadeUp:
    """A made-up input, or a part of one."""

    __slots__ = ("_looks", "_width")

    def __init__(self, width: int, looks: _Looks | None = None) -> None:
        self._width = width
        self._looks = _Looks() if looks is None else looks

    def _part(self, *_: Any) -> MadeUp:
        self._looks.count += 1
        if self._looks.count > MOST_LOOKS:
            raise _Enough
        return MadeUp(self._width, self._looks)

    def _number(self, number: int) -> int:
        self._part()
        self._looks.numbers = True
        return number

    def __getattr__(self, name: str) -> MadeUp:
        if name.startswith("_"):  # Python's own, which it asks for of anything
            raise AttributeError(name)
        return self._part()

    def __call__(self, *_: Any, **__: Any) -> MadeUp:
        return self._part()

    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _part

    def __iter__(self) -> Iterator[MadeUp]:
        return iter([self._part() for _ in range(self._width)])

    def __len__(self) -> int:
        return self._number(self._width)

    def __bool__(self) -> bool:
        self._part()
        return True

    def __index__(self) -> int:
        return self._number(1)

    def _holds(self, other: object) -> bool:
        self._part()
        return True

    __lt__ = __le__ = __gt__ = __ge__ = _holds

    def __repr__(self) -> str:
        return MARK


class _AnyKey(dict[Any, ChosenVariable]):
    """Variables of one kind: two that are listed, and one for any other key."""

    def __init__(self, domain: Domain, numbers: Iterator[int], width: int, looks: _Looks) -> None:
        super().__init__((MadeUp(width, looks), ChosenVariable(next(numbers), domain)) for _ in range(2))
        self._domain, self._numbers = domain, numbers

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: object) -> ChosenVariable:
        return ChosenVariable(next(self._numbers), self._domain)


def try_rules(rules: Iterable[Rule], domains: Mapping[str, Domain]) -> None:
    """Read rules about named variables on made-up inputs.

    Raises `DataError` if a rule mentions a kind or a label that does not exist, or uses something symbolic as if it
    were known. Conditions for special inputs may remain unread.

    >>> from sidelight.rules import rule
    >>> wrong = rule(name="wrong")(lambda x, y: y.animal[x["first"]] == "lino")
    >>> try_rules([wrong], {"animal": Domain(["lion", "bear"])})
    Traceback (most recent call last):
    sidelight.errors.DataError: ...the rule wrong: there is no label 'lino'; did you mean 'lion'?
    """
    for rule in rules:
        for width in WIDTHS:
            numbers, looks = count(), _Looks()
            groups = {
                kind: VariableGroup(kind, _AnyKey(domain, numbers, width, looks)) for kind, domain in domains.items()
            }
            try:
                rule.on(MadeUp(width, looks), Groups(groups))
            except DataError as error:
                if isinstance(error.__cause__, (DataError, Misused)) and not _made_up(error, looks):
                    raise


def _made_up(error: DataError, looks: _Looks) -> bool:
    """Whether an error may come from the made-up input, such as a label that is a number up to its length."""
    cause = error.__cause__
    return MARK in str(error) or (looks.numbers and isinstance(cause, NoSuchLabel) and is_whole(cause.label))
