"""The web application around a model: JSON for programs, a page for people."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

import sidelight
from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.demo_page import demo_page, failed_page
from sidelight.commands.serving.limits import BUSY, FAILED, MALFORMED, TOO_LARGE, Limits, RequestError
from sidelight.commands.serving.questions import question_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

Result = TypeVar("Result")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")
HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
PAGE_HEADERS = {
    **HEADERS,  # the page loads nothing and runs nothing; its form is sent to the same server
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def web_app(served: ServedModel, limits: Limits, *, local: bool = True) -> Starlette:
    """The application; with `local`, it answers only under local host names."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Route

    worker = QueueWorker(limits)
    description = served.description(limits)

    async def health(request: Request) -> Response:
        return _json({"status": "ok", "model": served.name, "version": sidelight.__version__})

    async def model(request: Request) -> Response:
        return _json(description)

    async def predict(request: Request) -> Response:
        try:
            body = await _body(request, limits)
            question = question_of(body, served.model, served.entry, limits)
            return _json(await worker.answer(_guarded(lambda: served.answer(question))))
        except RequestError as error:
            return _refusal(error)

    async def page(request: Request) -> Response:
        text = request.query_params.get("text", "")
        try:
            if request.method == "POST":
                text = _form_text(await _body(request, limits))
            status, shown = await worker.answer(_guarded(lambda: demo_page(served, limits, text)))
        except RequestError as error:
            echo = text if len(text) <= limits.max_bytes else ""
            status, shown = error.status, failed_page(served, limits, echo, error)
        return _page(shown, status)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    routes = [
        Route("/", page, methods=["GET", "POST"]),
        Route("/health", health, methods=["GET"]),
        Route("/model", model, methods=["GET"]),
        Route("/predict", predict, methods=["POST"]),
    ]
    hosts = [Middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK))] if local else []
    return Starlette(
        routes=routes, middleware=hosts, lifespan=life, exception_handlers={404: _elsewhere, 405: _elsewhere}
    )


async def _body(request: Request, limits: Limits) -> bytes:
    """The body of a request, read only up to the allowed size."""
    declared = request.headers.get("content-length", "")
    body = bytearray()
    if not (declared.isdigit() and int(declared) > limits.max_bytes):
        async for chunk in request.stream():
            body += chunk
            if len(body) > limits.max_bytes:
                break
        else:
            return bytes(body)
    remedy = "send less at a time, or start the server with more --max-bytes"
    raise RequestError(TOO_LARGE, f"more than {limits.max_bytes:,} bytes; {remedy}")


def _form_text(body: bytes) -> str:
    try:
        fields = parse_qs(body.decode("ascii"), encoding="utf-8", errors="strict", max_num_fields=10)
    except ValueError:
        raise RequestError(MALFORMED, "the form is not UTF-8; encode it as UTF-8") from None
    return fields.get("text", [""])[0]


def _guarded(work: Callable[[], Result]) -> Callable[[], Result]:
    """Work whose internal errors give a one-line answer, and a traceback in the server's log."""

    def run() -> Result:
        try:
            return work()
        except RequestError:
            raise
        except Exception as error:
            import logging

            logging.getLogger("uvicorn.error").exception("a request failed")
            raise RequestError(FAILED, f"unexpected {type(error).__name__}; the log of the server has more") from error

    return run


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    from starlette.responses import Response

    body = json.dumps(value, allow_nan=False).encode("ascii") + b"\n"
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")


def _page(text: str, status: int) -> Response:
    from starlette.responses import Response

    return Response(text.encode("utf-8"), status, PAGE_HEADERS, "text/html; charset=utf-8")


def _refusal(error: RequestError) -> Response:
    more = {"Retry-After": "1"} if error.status == 503 else {}
    if error.status == TOO_LARGE:
        more["Connection"] = "close"  # the rest of the body is not read
    return _json({"error": str(error)}, error.status, more)


async def _elsewhere(request: Request, error: Any) -> Response:
    there = "GET /, GET /health, GET /model, POST /predict"
    problem = f"{request.method} {request.url.path} does not exist"
    return _json({"error": f"{problem}; there are {there}"}, error.status_code)


_Work = tuple[Future[Any], Callable[[], Any]]


class QueueWorker:
    """Processes a queue in a daemon thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._waiting = 0  # changed only in the thread of the event loop
        self._thread = threading.Thread(target=self._run, name="sidelight-serve", daemon=True)
        self._thread.start()

    async def answer(self, work: Callable[[], Result]) -> Result:
        """The result or the exception of `work`; raises `RequestError` if too many requests wait, or if time runs out.

        Work that has not begun by then is dropped; a running kernel continues, and other requests wait for it.
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
        except TimeoutError:  # of the wait: `web_app` turns errors of the work itself into `RequestError`
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
    """Call a function in the thread of the loop, unless the server has ended."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
