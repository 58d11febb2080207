"""The one way this package compiles: no GIL, cached on disk, NumPy's rules for division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

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


@kernel
def inner(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The inner product of two vectors on this thread alone: BLAS would start threads of its own and vary with them."""
    lanes = np.zeros(8)
    whole = a.shape[0] // 8 * 8
    for k in range(0, whole, 8):
        for lane in range(8):
            lanes[lane] += a[k + lane] * b[k + lane]
    total = 0.0
    for k in range(whole, a.shape[0]):
        total += a[k] * b[k]
    for lane in range(8):
        total += lanes[lane]
    return total
