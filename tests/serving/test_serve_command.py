"""`sidelight serve` as a program: where it listens, what it warns of, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from sidelight.cli import app

PROGRAM = (sys.executable, "-m", "sidelight", "serve")


def _heed_interrupts() -> None:
    """Jobs in the background of a shell begin with interrupts ignored, and so would the server."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(*options: str):
    pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*PROGRAM, *options], preexec_fn=_heed_interrupts, **pipes) as process:
        try:
            line = process.stdout.readline()
            yield process, re.search(r"http://\S+/", line)[0]
        finally:
            process.kill()


@pytest.fixture
def model(tagger, tmp_path) -> str:
    tagger.save(tmp_path / "names.sidelight")
    return str(tmp_path / "names.sidelight")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_in_order(model, number):
    with started(model, "--port", "0", "--jobs", "1") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address + "health", timeout=60) as found:
            assert found.status == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_other_hosts_are_warned_of(model):
    with started(model, "--port", "0", "--host", "0.0.0.0", "--jobs", "1") as (process, _):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert err.startswith("note: anyone who reaches 0.0.0.0 can use this model") and "Traceback" not in err


def refused(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["serve", *arguments], prog_name="sidelight")
    assert found.exit_code == 2 and found.stderr.startswith("error: ") and found.stderr.count("\n") == 1
    return found.stderr


def test_what_it_refuses(model, tmp_path, monkeypatch):
    assert "no such file" in refused(str(tmp_path / "nowhere"))
    assert "--max-tokens is 0" in refused(model, "--max-tokens", "0")
    assert "--port is 70000" in refused(model, "--port", "70000")
    assert "--inference" in refused(model, "--inference", "ilp")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "give another --port" in refused(model, "--port", str(taken.getsockname()[1]))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'pip install "sidelight[serve]"' in refused(model)
