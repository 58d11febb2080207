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
