"""Kernels that are compiled because the disk has none yet: who wants to know hears of it, and the log does.

Numba tells of a compilation when its cache had nothing for a kernel, so what is heard here is waiting that will not
come again. Kernels are compiled one at a time, whichever thread asks (numba has a lock), and those that a kernel calls
within its own time.

Meanwhile Python does not look for cycles (`collection`): a compiler makes millions of objects that live until it has
done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from sidelight.core.collection import pause_collection, resume_collection

LOG = logging.getLogger("sidelight.core.kernels")

SHARED = 1.5  # seconds of CPU that kernels of features and of decoding take to compile (benchmarks/compile_times.py)


class Watcher(Protocol):
    """Is told of each kernel that is compiled, on the thread that compiles it."""

    def compiling(self, kernel: str) -> None:
        """A kernel was not on the disk; it is being compiled."""
        ...

    def compiled(self, kernel: str, seconds: float) -> None:
        """It is ready."""
        ...


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within it, the watcher is informed, whichever thread compiles."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


_watchers: list[Watcher] = []


class _Heard:
    """Numba's events; kernels that are compiled within another one are part of it."""

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
    """Hear of what numba compiles from now on; called once, where kernels are made."""
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


def _kernel_of(told: Any) -> str:
    """The name of a kernel of this package; empty for those of others."""
    function = told.data["dispatcher"].py_func
    module = str(function.__module__)
    return f"{module}.{function.__name__}" if module.split(".")[0] == "sidelight" else ""


__all__ = ["SHARED", "Watcher", "listen", "watched"]
