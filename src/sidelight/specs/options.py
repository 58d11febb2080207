"""Options of learners: fields of a frozen dataclass with types and ranges, which are checked on creation.

    restarts: int = option(1, low=1)

The annotation gives the types (int, float, str, bool, None), and `option` gives the range. Errors and lists of options
are made from both.
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.checks import LARGEST, is_number, is_text, shown

MOST = 2**31  # upper limit of whole numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The allowed values of an option, within its types."""

    low: float | None = None  # the least
    high: float | None = None  # the greatest
    above: float | None = None  # more than this
    below: float | None = None  # less than this
    among: tuple[str, ...] = ()  # allowed strings; empty for any
    infinite: bool = False  # whether numbers may be infinite
    goes_with: tuple[str, tuple[str, ...]] | None = None  # another option, and its values that this one needs

    def has(self, value: float) -> bool:
        """Whether a number is in the range; NaN never is."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and not math.isnan(value)
        )

    @property
    def number(self) -> str:
        """A description of the numbers in the range.

        >>> Range(above=0, high=1).number, Range(low=0).number, Range(above=0).number
        ('a number above 0 and up to 1', 'a number that is not negative', 'a number above 0')
        """
        if self.low is not None and self.high is not None:
            return f"a number from {self.low} to {self.high}"
        if self.low is not None and self.below is not None:
            return f"a number from {self.low} to below {self.below}"
        if self.above is not None and self.below is not None:
            return f"a number between {self.above} and {self.below}"
        if self.above is not None:
            return f"a number above {self.above}" + ("" if self.high is None else f" and up to {self.high}")
        if self.low is not None:
            return "a number that is not negative" if self.low == 0 else f"a number from {self.low} on"
        return "a number, infinite or not" if self.infinite else "a number"

    @property
    def names(self) -> str:
        """The allowed strings.

        >>> Range(among=("seen", "all")).names
        "'seen' or 'all'"
        """
        if not self.among:
            return "a name"
        *first, last = map(repr, self.among)
        return f"{', '.join(first)} or {last}" if first else last


def option(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    among: tuple[str, ...] = (),
    infinite: bool = False,
    goes_with: tuple[str, tuple[str, ...]] | None = None,
) -> Any:
    """A field of a learner with its allowed values."""
    bounds = Range(low=low, high=high, above=above, below=below, among=among, infinite=infinite, goes_with=goes_with)
    return field(default=default, metadata={"range": bounds})


class Option(NamedTuple):
    """An option for display."""

    name: str
    default: Any
    values: str  # a description of its values


def options_of(learner: Any) -> list[Option]:
    """The options of a learner, in their order.

    >>> from sidelight.recipes import crf
    >>> for option in options_of(crf): print(*option, sep=" | ")
    solver | lbfgs | 'lbfgs', 'sgd' or 'eg'
    l1 | 0.0 | a number that is not negative
    support | seen | 'seen' or 'all'
    """
    options = []
    for one in fields(learner):
        words, within = _words(one), _range(one)
        if within.goes_with is not None:
            words += f", with {within.goes_with[0]}={' or '.join(within.goes_with[1])}"
        options.append(Option(one.name, one.default, f"{words}, or None" if "None" in _types(one) else words))
    return options


def check_options(learner: Any) -> None:
    """Raise ValueError, by name, for an option out of its range; numbers become Python numbers."""
    for one in fields(learner):
        value = _checked(one, getattr(learner, one.name))
        object.__setattr__(learner, one.name, value)
    for one in fields(learner):
        goes_with = _range(one).goes_with
        if goes_with is None or getattr(learner, one.name) is None:
            continue
        other, values = goes_with
        if (setting := getattr(learner, other)) not in values:
            able = " or ".join(f"{other}={value!r}" for value in values)
            raise ValueError(f"{one.name} goes with {able}, and {other} is {setting!r}; leave it out")


def _checked(one: Field[Any], value: Any) -> Any:
    """A value converted to the option's types."""
    within = _range(one)
    value = (
        value.item() if isinstance(value, np.generic) else value
    )  # numpy's cannot be compared with what is too large
    for kind in _types(one):
        match kind:
            case "None" if value is None:
                return None
            case "bool" if isinstance(value, bool):
                return value
            case "int" if is_number(value) and isinstance(value, int):
                if abs(value) < MOST and within.has(value):
                    return value
            case "float" if is_number(value) and within.has(value):
                if abs(value) < LARGEST or (within.infinite and math.isinf(value)):
                    return float(value)
            case "str" if isinstance(value, str) and is_text(value) and (not within.among or value in within.among):
                return value
            case "LearnerSpec":  # checked by the learner itself
                return value
    large = "" if not is_number(value) or isinstance(value, float) or abs(int(value)) < MOST else ", below 2**31"
    raise ValueError(f"{one.name} is {shown(value)}; give {_words(one)}{large}")


def _range(one: Field[Any]) -> Range:
    bounds = one.metadata.get("range")
    return bounds if isinstance(bounds, Range) else Range()


def _types(one: Field[Any]) -> list[str]:
    """The types of an option by name, whether annotations are text or types."""
    words = one.type.__name__ if isinstance(one.type, type) else str(one.type)
    return [part.strip() for part in words.split("|")]


def _words(one: Field[Any]) -> str:
    """The allowed values of an option, in words."""
    within = _range(one)
    least = "" if within.low is None else f" from {within.low} on"
    words = {"int": f"a whole number{least}", "float": within.number, "str": within.names, "bool": "True or False"}
    names = [words[kind] for kind in _types(one) if kind in words]
    return " or ".join(names)
