"""Defaults that can be told from the same numbers given by a person.

Estimators have a default for every setting, and some learners another one of their own: completions end at a `decrease`
of 1e-5 with `jlis`, of 1e-4 with `cllp`. A learner that has its own takes the estimator's number where it was asked
for. In all else a default is the number that it is.
"""

from __future__ import annotations

from typing import Any, Self


class _Usual:
    """What both kinds of numbers share: a copy is the default itself, as it is for other numbers."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class UsualAmount(_Usual, float):
    """A default that is a real number."""

    __slots__ = ()


class UsualCount(_Usual, int):
    """A default that is a whole number."""

    __slots__ = ()


DECREASE = UsualAmount(1e-5)  # of estimators
MAX_COMPLETIONS = UsualCount(50)


def is_asked(value: Any) -> bool:
    """Whether a number was asked for, and is not what stands where nothing was.

    >>> is_asked(1e-5), is_asked(DECREASE)
    (True, False)
    """
    return not isinstance(value, _Usual)
