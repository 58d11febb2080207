"""Small models of several kinds, and servers of them on free ports of this machine."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import sidelight as sl
from sidelight.commands.serve import listening_socket
from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.limits import Limits

SENTENCES = [["Ann", "lives", "in", "Oslo"], ["Bob", "met", "Eve", "Holt"], ["it", "is", "in", "Rome"]]
CHUNKS = [["B-PER", "O", "O", "B-LOC"], ["B-PER", "O", "B-PER", "I-PER"], ["O", "O", "O", "B-LOC"]]


class Reply:
    """A status, headers and a body."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.text = status, headers, body.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """Asks a server."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __call__(self, path: str, body: bytes | None = None, **headers: str) -> Reply:
        request = urllib.request.Request(self.address + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as found:
                return Reply(found.status, found.headers, found.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read())

    def predict(self, **asked: Any) -> Reply:
        return self("/predict", json.dumps(asked).encode())


@contextmanager
def serving(served: ServedModel, limits: Limits, *, local: bool = True) -> Iterator[Client]:
    """A real server in a thread."""
    import uvicorn

    from sidelight.commands.serving.web_app import web_app

    listening = listening_socket("127.0.0.1", 0)
    config = uvicorn.Config(web_app(served, limits, local=local), log_level="critical", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        yield Client(f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def tagger() -> sl.Tagger:
    return sl.Tagger(learner="crf").fit(SENTENCES, CHUNKS)


@pytest.fixture(scope="session")
def chain(tagger: sl.Tagger) -> ServedModel:
    return ServedModel(name="<b>names", model=tagger.model_, jobs=1)


@pytest.fixture(scope="module")
def ask(chain: ServedModel) -> Iterator[Client]:
    with serving(chain, Limits(max_bytes=2000, max_tokens=50, max_seconds=600.0)) as client:
        yield client


@pytest.fixture
def serve() -> Callable[..., Any]:
    return serving


@pytest.fixture
def sentences() -> tuple[list[list[str]], list[list[str]]]:
    return SENTENCES, CHUNKS


@pytest.fixture(autouse=True, scope="session")
def _extra() -> None:
    for name in ("starlette", "uvicorn"):
        pytest.importorskip(name, reason="servers need the extra serve: pip install -e '.[serve]'")
