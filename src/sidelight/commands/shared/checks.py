"""Options whose values are checked when they are read, so that errors speak of options and not of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def at_least(flag: str, least: float) -> Callable[[Any], Any]:
    """A callback of an option that is left out or a number from `least` on.

    >>> at_least("--max-rounds", 1)(0)
    Traceback (most recent call last):
        ...
    ValueError: --max-rounds is 0; give a number from 1 on
    """
    return _checked(flag, lambda value: value >= least, f"give a number from {least:g} on")


def between(flag: str, least: int, most: int) -> Callable[[Any], Any]:
    """A callback of an option that is left out or a number from `least` to `most`."""
    return _checked(flag, lambda value: least <= value <= most, f"give a number from {least} to {most}")


def among(flag: str, *choices: object) -> Callable[[Any], Any]:
    """A callback of an option that is left out or one of some values."""
    others = "" if len(choices) > 1 else ", or leave it out"
    return _checked(flag, lambda value: value in choices, f"give {' or '.join(map(str, choices))}{others}")


def threads(flag: str) -> Callable[[Any], Any]:
    """A callback of an option that is a number of threads."""
    return _checked(flag, lambda value: value != 0, "give a positive number, or -1 for all cores")


def _checked(flag: str, good: Callable[[Any], bool], remedy: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value is not None and not good(value):
            raise ValueError(f"{flag} is {value!r}; {remedy}")
        return value

    return check
