"""Selection of part of an experiment by `--choose NAME=VALUE;VALUE`: values of its parameters, or fewer draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.errors import DataError


def chosen(choose: Mapping[str, str], **known: Sequence[Any]) -> dict[str, list[Any]]:
    """The selected values of every parameter, in order; all values of parameters that are not mentioned.

    Draws are a number: `draws=3` selects the first three. Raises `DataError` for unknown names or values.

    >>> chosen({"sizes": "20;10", "draws": "3"}, sizes=(10, 20, 40), draws=range(5))
    {'sizes': [10, 20], 'draws': [0, 1, 2]}
    """
    results = {name: list(values) for name, values in known.items()}
    for name, text in choose.items():
        if name not in known:
            raise DataError(f"there is no choice {name!r}", remedy=f"choose {', '.join(known)}")
        if name == "draws":
            if not (text.isascii() and text.isdigit() and int(text) > 0):
                raise DataError(f"draws is {text!r}", remedy="give a whole number from 1 on")
            results[name] = list(range(int(text)))
            continue
        by_name = {str(value): value for value in known[name]}
        parts = {part.strip() for part in text.split(";")}
        if strange := sorted(parts - by_name.keys()):
            raise DataError(f"{name} has no {strange[0]!r}", remedy=f"choose {name}={';'.join(by_name)}, or some of it")
        results[name] = [value for label, value in by_name.items() if label in parts]
    return results
