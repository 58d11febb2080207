"""The one way this package compiles: no GIL, cached on disk, NumPy's rules for division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function of flat arrays; the type seen by a checker is the Python function's own."""
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy")(function))


def inline_kernel(function: Function) -> Function:
    """As `kernel`, for small functions that other kernels call in their inner loops."""
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")(function))


@inline_kernel
def mix(z: Any) -> Any:
    """The finaliser of splitmix64: a 64-bit number well stirred; adding a constant and mixing gives a random stream."""
    z = np.uint64(z)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of a splitmix64 stream
