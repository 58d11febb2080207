"""The one way this package compiles: no GIL, cached on disk, NumPy's rules for division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function of flat arrays; the type seen by a checker is the Python function's own."""
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy")(function))


def inline_kernel(function: Function) -> Function:
    """As `kernel`, for small functions that other kernels call in their inner loops."""
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")(function))
