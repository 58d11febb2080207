"""Options of recipes, checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

Options = ParamSpec("Options")
Made = TypeVar("Made")

LARGEST = 1e100  # larger numbers are mistakes, and their products infinite


def whole(name: str, value: Any, *, least: int) -> int:
    """A whole number that is not too small; raises ValueError otherwise.

    >>> whole("restarts", 3, least=1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} on")
    return int(value)


def options_checked(make: Callable[Options, Made]) -> Callable[Options, Made]:
    """A maker of recipes whose options have the types of its signature; raises ValueError for others, by name."""
    kinds = {name: str(one.annotation).split(" | ") for name, one in inspect.signature(make).parameters.items()}

    @wraps(make)
    def checked(*args: Options.args, **given: Options.kwargs) -> Made:
        found: dict[str, Any] = {
            name: _typed(name, value, kinds[name]) if name in kinds else value for name, value in given.items()
        }
        return make(*args, **found)

    return checked


def _typed(name: str, value: Any, kinds: list[str]) -> Any:
    """An option as its type has it: numbers of other libraries become Python's."""
    if (value is None and "None" in kinds) or (isinstance(value, str) and "str" in kinds):
        return value
    if "float" in kinds:
        if not is_number(value) or not (abs(value) < LARGEST or abs(value) == np.inf):  # infinity is for it to judge
            raise ValueError(f"{name} is {value!r}; give a number")
        return float(value)
    if "int" in kinds:
        if not is_number(value) or not abs(value) < 2**31 or value != int(value):
            raise ValueError(f"{name} is {value!r}; give a whole number, below 2**31")
        return value  # what is 2.0 and not 2 is for the recipe to judge
    if "bool" in kinds and not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; give True or False")
    if kinds in (["str"], ["str", "None"]) and not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}; give a text")
    return value


def amount(name: str, value: Any) -> float:
    """A finite number from 0 on; raises ValueError otherwise.

    >>> amount("tolerance", 0.1)
    0.1
    """
    if not is_number(value):
        raise ValueError(f"{name} is {value!r}; give a number")
    if not 0 <= value < LARGEST:
        raise ValueError(f"{name} is {value}; give a number that is not negative, and not infinite")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False, or 1 or 0; raises ValueError otherwise.

    >>> flag("bias", 1)
    True
    """
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise ValueError(f"{name} is {value!r}; give True or False")
    return bool(value)


def is_number(value: Any) -> bool:
    """Whether this is a number and not a bool; it may be NaN or infinite."""
    return not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating))


def positive(name: str, value: Any) -> float:
    """A finite number above 0; raises ValueError otherwise.

    >>> positive("inside", 0.1)
    0.1
    """
    if not is_number(value) or not 0 < value < LARGEST:
        raise ValueError(f"{name} is {value!r}; give a number above 0")
    return float(value)
