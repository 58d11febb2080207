"""Runs of the real program: killed, interrupted, or left without a reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.models.model_file import load_model

Run = Callable[..., Any]
Write = Callable[..., Path]
PROGRAM = (sys.executable, "-m", "sidelight")


@pytest.fixture
def long_run(write: Write) -> list[str]:
    """A training of many rounds; the place of its model is taken by an older one."""
    train, good = write("train", "columns", 0, 10), write("good", "columns", 40, 60, labels=False)
    Path("model.sidelight").write_text("the old model")
    options = ["--shuffle-good", "1", "--tolerance", "1e-9", "--jobs", "1", "--max-rounds", "400"]
    return [*PROGRAM, "train", "--gold", str(train), "--good", str(good), *options]


def _heed_interrupts() -> None:
    """Jobs in the background of a shell begin with interrupts ignored, and so would the run."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stopped(command: list[str], number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """The outcome of a run that gets a signal after some of its rounds."""
    arguments = [*command, "--checkpoint", "check", "--out", "model.sidelight"]
    pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, preexec_fn=_heed_interrupts, **pipes) as process:
        limit = time.monotonic() + 120
        seen: set[int] = set()
        while len(seen) < 4:
            assert process.poll() is None and time.monotonic() < limit
            if Path("check").exists():
                seen.add(Path("check").stat().st_mtime_ns)
            time.sleep(0.005)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def test_a_killed_run_leaves_the_old_model_and_goes_on_to_the_same_bits(long_run: list[str]) -> None:
    found = stopped(long_run, signal.SIGKILL)
    assert found.returncode == -signal.SIGKILL
    assert Path("model.sidelight").read_text() == "the old model"
    subprocess.run([*long_run, "--out", "whole.sidelight"], check=True, capture_output=True)
    arguments = [*long_run, "--checkpoint", "check", "--out", "model.sidelight", "--history", "rounds.jsonl"]
    subprocess.run(arguments, check=True, capture_output=True)
    assert '"number": 1,' not in Path("rounds.jsonl").read_text()  # it went on, and did not begin again
    model, whole = load_model("model.sidelight"), load_model("whole.sidelight")
    assert model.weights.tobytes() == whole.weights.tobytes()
    assert (model.labels, model.layout, model.about) == (whole.labels, whole.layout, whole.about)


def test_an_interrupted_run_says_so_in_one_line(long_run: list[str]) -> None:
    found = stopped(long_run, signal.SIGINT)
    assert found.returncode == 130
    assert found.stdout == ""
    assert found.stderr == "interrupted; model.sidelight is unchanged; the same command continues from check\n"
    assert Path("model.sidelight").read_text() == "the old model"


def test_an_interrupted_run_says_that_there_is_no_model(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sidelight.commands.shared.trials.PriceTrials.fit", interrupt)
    train = "train", "--gold", write("train", "columns", 0, 3), "--out"
    assert run(*train, "new", code=130).err == "interrupted; nothing was written\n"
    assert run(*train, "new", "--checkpoint", "check", code=130).err == "interrupted; nothing was written\n"
    Path("check").write_text("of an earlier run")
    found = run(*train, "new", "--checkpoint", "check", code=130).err
    assert found == "interrupted; no model was written; the same command continues from check\n"
    Path("old").write_text("the old model")
    assert run(*train, "old", code=130).err == "interrupted; old is unchanged\n"
    assert not Path("new").exists()


def test_nobody_reads_the_output(model: Path, write: Write) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*PROGRAM, "predict", str(model), str(write("test", "columns", 0, 90, labels=False))]
    made = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (made.returncode, made.stderr) == (1, b"")


def test_output_is_utf8_in_any_locale(model: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    text = "Müller\n—\n".encode()
    made = subprocess.run(
        [*PROGRAM, "predict", str(model), "-"], input=text, capture_output=True, env=environment, check=True
    )
    assert [line.split("\t")[0] for line in made.stdout.decode("utf-8").splitlines()] == ["Müller", "—", ""]


def test_the_exit_code_of_the_program(tmp_path: Path) -> None:
    made = subprocess.run([*PROGRAM, "train", "--gold", "nowhere", "--out", "m"], capture_output=True, text=True)
    assert (made.returncode, made.stdout) == (2, "")
    assert made.stderr == "error: nowhere: there is no such file; check the name\n"
