"""One thread that answers, one question after another: each has all cores to itself, and models no two readers."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sidelight.commands.serving.limits import BUSY, Limits, RequestError

Result = TypeVar("Result")
_Work = tuple[Future[Any], Callable[[], Any]]


class QueueWorker:
    """Works off a queue in a thread that does not keep the program from ending."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._waiting = 0  # changed in the thread of the event loop alone
        self._thread = threading.Thread(target=self._run, name="sidelight-serve", daemon=True)
        self._thread.start()

    async def answer(self, work: Callable[[], Result]) -> Result:
        """What `work` returns or raises; raises `RequestError` where too many wait, or time runs out.

        Work that has not begun by then never does; a kernel in its middle goes on, and others wait for it.
        """
        if self._waiting >= self.limits.max_waiting:
            raise RequestError(BUSY, f"{self._waiting} requests are waiting; ask again later")
        future: Future[Result] = Future()
        self._waiting += 1
        self._queue.put((future, work))
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _soon(loop, self._done))
        seconds = self.limits.max_seconds
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError:  # of the wait: what `web_app` asks for turns errors of its own into `RequestError`
            remedy = "send less at a time, or start the server with more --max-seconds"
            raise RequestError(BUSY, f"no answer within {seconds:g} seconds; {remedy}") from None

    def close(self) -> None:
        """Let the thread end once its work is done."""
        self._queue.put(None)

    def _done(self) -> None:
        self._waiting -= 1

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            future, work = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call it in the thread of the loop, unless the server has ended meanwhile."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
