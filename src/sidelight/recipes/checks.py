"""Options of recipes, checked."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole(name: str, value: Any, *, least: int) -> int:
    """A whole number that is not too small; raises ValueError otherwise.

    >>> whole("restarts", 3, least=1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} on")
    return int(value)


def positive(name: str, value: Any) -> float:
    """A finite number above 0; raises ValueError otherwise.

    >>> positive("inside", 0.1)
    0.1
    """
    number = not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating))
    if not number or not 0 < value < np.inf:
        raise ValueError(f"{name} is {value!r}; give a number above 0")
    return float(value)
