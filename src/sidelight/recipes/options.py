"""The options of learners, with what they may be: as the recipes say that refuse all else."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, get_args, get_type_hints

from sidelight.recipe_kinds import Recipe

WRONG: dict[type, tuple[Any, ...]] = {str: ("?",), int: (-(10**9),), float: (-1e9, -math.inf)}  # nobody means these
ANY: dict[type, str] = {str: "a name", int: "a whole number", float: "a number", bool: "True or False"}


class Option(NamedTuple):
    """An option of a learner."""

    name: str
    default: Any
    values: str  # what it may be, in words


def options_of(make: Callable[..., Recipe]) -> list[Option]:
    """The options of a recipe, in their order.

    >>> from sidelight.recipes import crf
    >>> for option in options_of(crf): print(*option, sep=" | ")
    solver | lbfgs | lbfgs, sgd, eg
    l1 | 0.0 | a number that is not negative
    support | seen | 'seen' or 'all'
    """
    types = get_type_hints(make)
    parameters = inspect.signature(make).parameters.values()
    return [Option(one.name, one.default, _values(make, one.name, types[one.name])) for one in parameters]


def _values(make: Callable[..., Recipe], name: str, kind: Any) -> str:
    """What an option may be, as the error about a wrong value says it."""
    kinds = get_args(kind) or (kind,)
    first = kinds[0]
    found = ANY.get(first, "")
    for wrong in WRONG.get(first, ()):
        try:
            make(**{name: wrong})
        except ValueError as error:
            problem, _, remedy = str(error).partition("; ")
            owner = problem.partition(" is an option of ")[2].partition(",")[0]
            found = f"{found}, with solver={owner.replace(' and ', ' or ')}" if owner else _without_verb(remedy)
            break
    return f"{found}, or None" if type(None) in kinds else found


def _without_verb(remedy: str) -> str:
    return remedy.removeprefix("there are ").removeprefix("give ")
