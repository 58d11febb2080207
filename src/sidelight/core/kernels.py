"""Compilation of kernels: without the GIL, cached on disk, with NumPy's rules for division.

With NUMBA_DISABLE_JIT=1, kernels are plain Python functions, so that you can step through them: slow, with NumPy's
rules for division and for integer overflow, and with the same results.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from sidelight.core import compiling

Function = TypeVar("Function", bound=Callable[..., Any])

NEWEST = (0, 68)  # the newest Numba whose internals were tested with `inner_compiler`
KNOWN_INSIDES = tuple(int(part) for part in numba.__version__.split(".")[:2]) <= NEWEST

if hasattr(os, "register_at_fork"):  # a child forked while another thread compiles could never compile anything
    _free = global_compiler_lock.release
    os.register_at_fork(before=global_compiler_lock.acquire, after_in_parent=_free, after_in_child=_free)


def kernel(function: Function) -> Function:
    """Compile a function of flat arrays; type checkers see the type of the Python function."""
    return _compiled(function)


def inner_kernel(function: Function) -> Function:
    """As `kernel`, for functions that only kernels call: they have no entry from Python and no machine code of their
    own.

    With a Numba newer than the tested ones, machine code is generated anyway, which takes a little longer.
    """
    if not KNOWN_INSIDES:
        return _compiled(function, no_cpython_wrapper=True)
    from sidelight.core.inner_compiler import InnerCompiler, InnerDispatcher

    dispatcher: Any = _compiled(function, no_cpython_wrapper=True, pipeline_class=InnerCompiler)
    if isinstance(dispatcher, Dispatcher):
        dispatcher.__class__ = InnerDispatcher
        cast(Any, dispatcher)._cache.disable()  # the cache of its callers contains its code
    return cast(Function, dispatcher)


def inline_kernel(function: Function) -> Function:
    """As `kernel`, for small functions that other kernels call in their inner loops."""
    return _compiled(function, inline="always")


def _compiled(function: Function, **options: Any) -> Function:
    jit: Any = numba.njit  # the stubs do not have these options
    dispatcher = jit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    return cast(Function, _stamped(dispatcher))


def _stamped(dispatcher: Any) -> Any:
    """Make the cache of a kernel depend also on the kernels of other files that its file imports.

    Numba checks only a kernel's own file, so a kernel that calls a changed one would keep using the old one.
    """
    if not isinstance(dispatcher, Dispatcher):  # NUMBA_DISABLE_JIT
        return _stepped(dispatcher)
    cache = _cache_file(dispatcher)
    function = dispatcher.py_func
    others = {
        value.py_func.__module__: stamp._source_stamp
        for value in function.__globals__.values()
        if isinstance(value, Dispatcher)
        and value.py_func.__module__ != function.__module__
        and (stamp := _cache_file(value)) is not None
    }
    if cache is not None and others:
        stamps = repr((cache._source_stamp, sorted(others.items())))
        cache._source_stamp = hashlib.sha256(stamps.encode()).hexdigest()
    return dispatcher


def _stepped(function: Function) -> Function:
    """A kernel as plain Python, without warnings about integer overflow and division by 0, as when compiled."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(Function, run)


def _cache_file(dispatcher: Any) -> Any:
    """The path of numba's cache file, if this version of numba provides it."""
    cache = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return cache if hasattr(cache, "_source_stamp") else None


compiling.listen()


@inline_kernel
def mix(z: Any) -> Any:
    """The finaliser of splitmix64, which mixes the bits of a 64-bit number. Adding a constant and mixing gives a random
    stream.
    """
    z = np.uint64(z)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of a splitmix64 stream
# odd numbers with which hashes distinguish the positions and sides of a template's values
A, B, C = GOLDEN, np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)


@inline_kernel
def uniform(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1) of a splitmix64 stream; advances its state [1]."""
    state[0] += GOLDEN
    return float(mix(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def inner(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The inner product of two vectors, on this thread only: BLAS would start its own threads, and results would depend
    on them.
    """
    lanes = np.empty(8)
    for lane in range(8):
        lanes[lane] = 0.0
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


@inner_kernel
def copy_row(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """out[:] = values, as a loop: for the assignment, Numba would spend two seconds compiling an error message."""
    for k in range(values.shape[0]):
        out[k] = values[k]
