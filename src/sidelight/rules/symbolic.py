"""Symbolic objects in rules represent all outputs at once, so Python's own operators cannot decide on them.

A rule is also read on known outputs, where labels are plain values and Python accepts almost any operation. Operations
that would have another meaning there are refused here, with advice.
"""

from __future__ import annotations

import operator
import re
from typing import Any, NoReturn, SupportsIndex

ADVICE = (
    "what a rule says of y is symbolic, so Python's `and`, `or`, `not`, `if`, `in`, `sum`, `&`, `|`, `~`, `+`, sets "
    "and chained comparisons do not work on it; use every(…), some(…), not_(…), implies(…, …), one_of(y[t], labels), "
    "count(…)"
)


class Misused(TypeError):
    """Something symbolic is used as if it were known; such a rule is wrong for every input."""


class Symbolic:
    """Refuses Python's operations on known values; subclasses define the meaningful ones."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy numbers on the left leave the operation to the right side
    _advice = ADVICE


def _refuse(self: Symbolic, *_: Any) -> NoReturn:
    raise Misused(self._advice)


_ALONE = "bool hash int float index len iter contains getitem invert neg pos abs lt le gt ge"
_EITHER_SIDE = "add sub mul mod truediv floordiv pow and or xor"
for _name in [*_ALONE.split(), *_EITHER_SIDE.split(), *(f"r{name}" for name in _EITHER_SIDE.split())]:
    setattr(Symbolic, f"__{_name}__", _refuse)


def whole(value: SupportsIndex, problem: str) -> int:
    """A whole number, of Python or numpy; raises `Misused`, which begins with `problem`, for anything else.

    >>> whole(0.5, "weights are whole numbers")
    Traceback (most recent call last):
    sidelight.rules.symbolic.Misused: weights are whole numbers, not 0.5
    """
    try:
        return int(operator.index(value))
    except TypeError:
        raise Misused(f"{problem}, not {value!r}") from None


_NAMED = re.compile(
    r"\b(ChosenVariable|Labels|OneOf|Between|Total|VariableGroup|Groups)\b|'(KnownValue|Same|Not|Every|Some)'"
)


def of_symbols(error: BaseException | None) -> bool:
    """Whether an error comes from using something symbolic as if it were known: it was refused here, or Python names
    its type.

    >>> of_symbols(Misused(ADVICE)), of_symbols(TypeError("'int' object is not iterable"))
    (True, False)
    """
    return isinstance(error, Misused) or (isinstance(error, TypeError) and _NAMED.search(str(error)) is not None)
