"""Reports kernels that are compiled because the cache does not have them, to watchers and to the log.

Numba reports a compilation if its cache has no code for a kernel, so each reported wait happens only once. Kernels are
compiled one at a time, on any thread (numba has a lock). The time of a kernel includes that of the kernels that it
calls.

Meanwhile the garbage collector is paused (`collection`): a compiler creates millions of objects that live until it
ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from sidelight.core.collection import pause_collection, resume_collection

LOG = logging.getLogger("sidelight.core.kernels")

SHARED = 3.0  # CPU seconds to compile the kernels of features and of decoding (benchmarks/compile_times.py)


class Watcher(Protocol):
    """Is notified of each kernel that is compiled, on the thread that compiles it."""

    def compiling(self, kernel: str) -> None:
        """A kernel was not in the cache; its compilation begins."""
        ...

    def compiled(self, kernel: str, seconds: float) -> None:
        """The compilation has ended."""
        ...


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Context manager: the watcher is notified inside, on any thread that compiles."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


_watchers: list[Watcher] = []


class _Heard:
    """Listener to Numba's events; kernels compiled within another one are part of it."""

    def __init__(self) -> None:
        self._began: list[float] = []
        self._said = False

    def begins(self, name: str) -> None:
        self._began.append(time.perf_counter())
        if len(self._began) > 1:
            return
        pause_collection()
        if not _watchers and not self._said:
            LOG.info("compiling what is used for the first time, once; it is kept on disk")
            self._said = True
        for watcher in list(_watchers):
            watcher.compiling(name)

    def ends(self, name: str) -> None:
        seconds = time.perf_counter() - self._began.pop()
        if self._began:
            return
        resume_collection()
        LOG.debug("compiled %s in %.2f s", name, seconds)
        for watcher in list(_watchers):
            watcher.compiled(name, seconds)


def listen() -> None:
    """Listen to Numba's compilations from now on; called once, in the module that makes kernels."""
    from numba.core import event

    heard = _Heard()

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            if name := _kernel_of(event):
                heard.begins(name)

        def on_end(self, event: Any) -> None:
            if name := _kernel_of(event):
                heard.ends(name)

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def _kernel_of(event: Any) -> str:
    """The name of a kernel of this package; empty for kernels of other packages."""
    function = event.data["dispatcher"].py_func
    module = str(function.__module__)
    return f"{module}.{function.__name__}" if module.split(".")[0] == "sidelight" else ""


__all__ = ["SHARED", "Watcher", "listen", "watched"]
