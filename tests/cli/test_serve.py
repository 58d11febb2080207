"""`sidelight serve`: a real server on this machine, asked by a client, with good questions and bad ones."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sidelight.commands.serving.limits import Limits
from sidelight.corpus import references
from sidelight.estimators.taggers import Classifier, Tagger

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

LIMITS = Limits(max_bytes=20_000, max_tokens=200, max_seconds=60.0)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    made = references(30, seed=1)
    return Tagger(learner="crf", n_jobs=1).fit([list(r.tokens) for r in made], [list(r.labels) for r in made])


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    xs = [{"red": 1.0}, {"blue": 1.0}, {"red": 1.0, "round": 1.0}, {"blue": 1.0, "round": 1.0}]
    return Classifier(learner="crf", n_jobs=1).fit(xs, ["fire", "sea", "fire", "sea"])


class Client:
    """Asks a server on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8")
        finally:
            connection.close()

    def predict(self, **asked: object) -> tuple[int, dict]:
        status, text = self.ask("POST", "/predict", json.dumps(asked).encode())
        return status, json.loads(text)


def running(model: object, limits: Limits = LIMITS) -> Iterator[Client]:
    from sidelight.commands.serving.answers import ServedModel
    from sidelight.commands.serving.web_app import web_app

    app = web_app(ServedModel(name="tried.sidelight", model=model, jobs=1), limits)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield Client(listening.getsockname()[1])
    server.should_exit = True
    thread.join(timeout=20)
    listening.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def client(tagger: Tagger) -> Iterator[Client]:
    yield from running(tagger.model_)


def test_labels_are_those_of_the_model(client, tagger):
    xs = [list(one.tokens) for one in references(3, seed=9)]
    status, found = client.predict(inputs=[{"tokens": x} for x in xs])
    assert status == 200
    assert [one["labels"] for one in found["predictions"]] == [list(y) for y in tagger.predict(xs)]
    for one, x in zip(found["predictions"], xs):
        assert one["tokens"] == x
        assert " ".join(span["text"] for span in one["spans"]) == " ".join(x)  # fields cover a reference


def test_probabilities_and_margins(client, tagger):
    x = list(references(1, seed=9)[0].tokens)
    status, found = client.predict(inputs=[x], probabilities=True, margins=True, explain=True)
    (one,) = found["predictions"]
    assert status == 200 and one["margin"] >= 0.0 and one["runner_up"] != one["labels"]
    shares = tagger.predict_marginals([x])[0]
    for said, known in zip(one["probabilities"], shares):
        values = np.array([known[label] for label in said]) if isinstance(known, dict) else np.sort(known)
        told = np.array(list(said.values()))
        assert abs(told.sum() - 1.0) < 1e-4
        np.testing.assert_allclose(told if isinstance(known, dict) else np.sort(told), values, atol=1e-5)
    parts = sum(part["amount"] for part in one["explanation"]) + one["smaller"]["amount"]
    assert abs(parts - one["margin"]) < 1e-6


def test_text_is_cut_into_tokens(client):
    status, found = client.predict(text="A. Smith. On trees. 1994.\nB. Jones. On graphs.")
    assert status == 200 and len(found["predictions"]) == 2
    assert "Smith" in found["predictions"][0]["tokens"]


def test_classes(classifier):
    for client in running(classifier.model_):
        status, found = client.predict(inputs=[{"features": {"red": 1.0}}])
        if status != 200:  # another name for attributes: the message says which
            pytest.fail(str(found))
        assert found["predictions"][0]["label"] == "fire"


def test_the_model_tells_of_itself(client, tagger):
    status, text = client.ask("GET", "/model")
    about = json.loads(text)
    assert status == 200 and about["kind"] == "chain" and set(about["labels"]) == set(tagger.model_.labels.classes)
    assert about["limits"]["tokens"] == LIMITS.max_tokens
    assert json.loads(client.ask("GET", "/health")[1])["status"] == "ok"


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"{broken", 400, "not JSON"),
        (b"[" * 15_000, 400, "not JSON"),
        (b'{"text": NaN}', 400, "finite"),
        (b'{"text": "\xff"}', 400, "UTF-8"),
        (b'{"text": "\\ud800"}', 422, "surrogate"),
        (b"", 400, "not JSON"),
        (b"[]", 422, "object"),
        (b"{}", 422, "needed"),
        (b'{"text": "a", "inputs": ["a"]}', 422, "needed"),
        (b'{"text": 3}', 422, "text"),
        (b'{"text": "  \\n "}', 422, "empty"),
        (b'{"text": "a", "margins": 1}', 422, "true or false"),
        (b'{"text": "a", "colour": true}', 422, "unknown key"),
        (b'{"inputs": []}', 422, "inputs"),
        (b'{"inputs": [{"tokens": []}]}', 422, "line 1"),
        (b'{"inputs": [{"tokens": [1, {}]}]}', 422, "line 1"),
        (b'{"text": "' + b"a " * 300 + b'"}', 422, "tokens"),
        (b'{"text": "' + b"a" * 30_000 + b'"}', 413, "bytes"),
    ],
)
def test_bad_questions_get_one_line(client, body, status, word):
    found, text = client.ask("POST", "/predict", body)
    error = json.loads(text)["error"]
    assert found == status and word in error and "\n" not in error and "Traceback" not in error


def test_elsewhere_and_other_hosts(client):
    assert client.ask("GET", "/nothing")[0] == 404
    assert client.ask("GET", "/predict")[0] == 405
    assert client.ask("GET", "/health", headers={"Host": "evil.example"})[0] == 400  # rebinding of names


def test_the_page_escapes_what_was_pasted(client):
    pasted = "<script>alert(1)</script> & \"'"
    from urllib.parse import urlencode

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, page = client.ask("POST", "/", urlencode({"text": pasted}).encode(), form)
    assert status == 200 and "<script" not in page and "&lt;script" in page
    status, empty = client.ask("GET", "/")
    assert status == 200 and "<textarea" in empty and "http" not in empty.split("<style>")[0]


def test_what_takes_too_long_is_refused(tagger):
    for client in running(tagger.model_, Limits(max_seconds=0.0)):
        status, found = client.predict(text="A. Smith")
        assert status == 503 and "--max-seconds" in found["error"]


def test_many_ask_at_once(client, tagger):
    xs = [list(one.tokens) for one in references(8, seed=5)]
    expected = [list(y) for y in tagger.predict(xs)]
    answers: dict[int, list[str]] = {}

    def ask(i: int) -> None:
        answers[i] = client.predict(inputs=[xs[i]])[1]["predictions"][0]["labels"]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(xs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[i] for i in range(len(xs))] == expected


def test_from_the_shell_until_interrupted(tagger, tmp_path):
    path = tmp_path / "model.sidelight"
    tagger.save(path)
    program = [sys.executable, "-c", "from sidelight.cli import main; main()", "serve", str(path), "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        line = it.stdout.readline()
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
        assert Client(port).predict(text="A. Smith")[0] == 200
        it.send_signal(signal.SIGINT)
        out, _ = it.communicate(timeout=60)
    assert it.returncode == 0 and "stopped" in out


def test_a_port_in_use_and_a_missing_model(tmp_path, tagger):
    path: Path = tmp_path / "model.sidelight"
    tagger.save(path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, word in (([str(path), "--port", port], "--port"), ([str(tmp_path / "none")], "none")):
            program = [sys.executable, "-c", "from sidelight.cli import main; main()", "serve", *words]
            done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 2 and word in done.stderr and "Traceback" not in done.stderr
