"""Every bad request has its status and one line; the server goes on."""

from __future__ import annotations

import json
import socket
import threading

import pytest

import sidelight as sl
from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.limits import Limits

BODIES = [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"[" * 1900, 400, "not JSON"),
    (b'{"text": NaN}', 400, "finite"),
    (b'{"text": "\xff\xfe"}', 400, "0xff, is not UTF-8"),
    (b'{"text": "\\ud800"}', 422, "surrogate"),
    (b"[]", 422, "a JSON list instead of an object"),
    (b"null", 422, "null"),
    (b"{}", 422, '"text" and "inputs"'),
    (b'{"text": "a", "inputs": [["a"]]}', 422, '"text" and "inputs"'),
    (b'{"text": 3}', 422, '"text" is number'),
    (b'{"text": ""}', 422, "empty"),
    (b'{"text": " \\n\\t "}', 422, "empty"),
    (b'{"text": "a", "explain": "yes"}', 422, "true or false"),
    (b'{"text": "a", "probabilites": true}', 422, "unknown key 'probabilites'"),
    (b'{"inputs": "a"}', 422, "not a list"),
    (b'{"inputs": []}', 422, "not a list"),
    (b'{"inputs": [[]]}', 422, "empty"),
    (b'{"inputs": [["a"], 3]}', 422, "input line 2"),
    (b'{"inputs": [["a"], [1, 2]]}', 422, "input line 2"),
    (b'{"inputs": [["a"], [["a", "b"]]]}', 422, "columns"),
    (b'{"inputs": [{"features": {"a": 1}}]}', 422, "tags sequences"),
    (b'{"inputs": [[{"a": 1}]]}', 422, "looks at words"),
    (json.dumps({"text": "a " * 51}).encode(), 422, "51 tokens, and 50 are allowed"),
    (json.dumps({"text": "a" * 2000}).encode(), 413, "more than 2,000 bytes"),
]


@pytest.mark.parametrize(("body", "status", "said"), BODIES)
def test_bad_bodies(ask, body, status, said):
    found = ask("/predict", body)
    assert found.status == status and list(found.json) == ["error"]
    assert said in found.json["error"] and "\n" not in found.json["error"] and "/tmp" not in found.json["error"]
    assert ask.predict(text="Ann").status == 200


def test_a_body_without_a_length_is_cut_off(ask):
    host, port = ask.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as line:
        line.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        line.sendall(b"7d1\r\n" + b"a" * 2001 + b"\r\n")  # and no end
        assert line.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_forms_are_checked_too(ask):
    assert ask("/", b"text=%ff%fe").status == 400
    assert ask("/", b"text=" + b"a" * 2000).status == 413
    assert ask("/", b"text=+").status == 422 and "empty" in ask("/", b"text=+").text
    assert ask("/", b"").status == 200


def test_places_that_there_are_not(ask):
    assert ask("/nowhere").status == 404 and "POST /predict" in ask("/nowhere").json["error"]
    assert ask("/predict").status == 405


def test_other_names_of_this_machine_are_refused(ask, chain, serve):
    assert ask("/health", Host="evil.example").status == 400
    with serve(chain, Limits(max_seconds=600.0), local=False) as anybody:
        assert anybody("/health", Host="lab.example").status == 200


def test_a_model_of_attributes_has_no_text(serve):
    tagger = sl.Tagger(learner="perceptron", max_rounds=2).fit([[{"a": 1.0}, {"b": 1.0}]], [["A", "B"]])
    with serve(ServedModel(name="a", model=tagger.model_), Limits(max_seconds=600.0)) as ask:
        assert 'as "inputs"' in ask.predict(text="a").json["error"]
        assert ask("/?text=a").status == 422
        assert ask.predict(inputs=[[{"a": 1}, {"b": 1}]]).json["predictions"][0]["labels"] == ["A", "B"]


def test_what_takes_too_long_and_what_is_too_many(serve, chain, monkeypatch):
    entered, held = threading.Event(), threading.Event()

    def slow(self, question):
        entered.set()
        held.wait(30)
        return {"predictions": []}

    monkeypatch.setattr(ServedModel, "answer", slow)
    with serve(chain, Limits(max_seconds=0.2, max_waiting=1)) as ask:
        late = ask.predict(text="Ann")
        assert late.status == 503 and late.headers["Retry-After"] == "1" and "--max-seconds" in late.json["error"]
        assert entered.is_set()
        assert "1 requests are waiting" in ask.predict(text="Ann").json["error"]  # the first is still in work
        assert ask("/health").status == 200
        held.set()
        for _ in range(100):
            if ask.predict(text="Ann").status == 200:
                break
        else:
            raise AssertionError("the server did not recover")


def test_a_defect_is_one_line(serve, chain, monkeypatch):
    def broken(self, question):
        raise KeyError("secret")

    monkeypatch.setattr(ServedModel, "answer", broken)
    with serve(chain, Limits(max_seconds=600.0)) as ask:
        found = ask.predict(text="Ann")
        assert found.status == 500 and "KeyError" in found.json["error"] and "secret" not in found.text
        assert ask("/?text=Ann").status == 500
