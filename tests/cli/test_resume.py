"""Predicting for large files: piece by piece, to the same bytes, also where the run is killed at any moment."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.core import atomic_files
from sidelight.core.journal import Position
from sidelight.core.resumable_file import ResumableFile
from sidelight.data import text_pieces
from sidelight.errors import DataError
from sidelight.evaluate.tally import Tally

Run = Callable[..., Any]
Write = Callable[..., Path]
SMALL = "import sys; from sidelight.data import text_pieces; text_pieces.SIZE = 300; from sidelight.cli import main"
PROGRAM = (sys.executable, "-c", f"{SMALL}; sys.argv[0] = 'sidelight'; main()")


@pytest.mark.parametrize("format", ["columns", "jsonl", "attributes"])
def test_pieces_have_the_bytes_of_the_whole(
    format: str, run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("input", format, 20, 60)
    run("train", "--gold", write("train", format, 0, 20), "--out", "model", "--max-rounds", 3)
    told = ["predict", "model", file, *(["--labelled"] if format != "jsonl" else [])]
    whole = run(*told).out
    monkeypatch.setattr(text_pieces, "SIZE", 300)
    assert run(*told).out == whole
    run(*told, "--out", "a.txt")
    run(*told, "--out", "b.txt", "--resume")
    assert Path("a.txt").read_text() == Path("b.txt").read_text() == whole
    run(*told, "--out", "c.gz")
    run(*told, "--out", "d.gz", "--resume")
    assert text_pieces.gzip.decompress(Path("c.gz").read_bytes()).decode() == whole
    assert Path("d.gz").read_bytes() == Path("c.gz").read_bytes()


def test_runs_killed_at_any_moment_lose_and_repeat_nothing(run: Run, write: Write, model: Path) -> None:
    file = write("input", "columns", 10, 90)
    file.write_text(file.read_text() * 4)
    whole = run("predict", model, file, "--labelled").out
    command = [*PROGRAM, "predict", str(model), str(file), "--labelled", "--jobs", "1", "--out", "out.txt", "--resume"]
    rng, kills = random.Random(3), 0
    for _ in range(3):
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            before = _written()
            limit = time.monotonic() + 120
            while process.poll() is None and _written() == before and time.monotonic() < limit:
                time.sleep(0.001)
            time.sleep(rng.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
    assert kills
    subprocess.run(command, check=True, capture_output=True)
    assert Path("out.txt").read_text() == whole
    assert not list(Path().glob("out.txt.*"))


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process for a while")
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_one_run_at_a_time_has_an_output(command: str, run: Run, write: Write, model: Path) -> None:
    file = write("input", "columns", 10, 90)
    file.write_text(file.read_text() * 8)
    told = ["predict", model, file, "--labelled"] if command == "predict" else ["evaluate", model, file]
    flag, out = ("--out", "o") if command == "predict" else ("--json", "o")
    run(*told, flag, "whole")
    first = [*PROGRAM, *map(str, told), "--jobs", "1", flag, out, "--resume"]
    with subprocess.Popen(first, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 120
        while not Path("o.journal").exists():
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        kept = {path.name: path.read_bytes() for path in Path().glob("*o.*")}
        second = run(*told, flag, out, "--resume", code=2)
        assert second.err == "error: o is being written by another run; wait until it has ended\n"
        assert {path.name: path.read_bytes() for path in Path().glob("*o.*")} == kept and not Path("o").exists()
        run(*told, flag, "other", "--resume")  # its own files are nobody else's affair
        process.send_signal(signal.SIGKILL)
    run(*told, flag, out, "--resume")  # the lock ended with the process
    assert Path(out).read_bytes() == Path("other").read_bytes() == Path("whole").read_bytes()
    assert {path.name for path in Path().glob("*o.*")} <= {"o"} and not list(Path().glob(".*.lock"))


def test_a_lock_that_is_removed_meanwhile_is_none(tmp_path: Path) -> None:
    """Whoever opened a lock just before its holder removed it must not take it for the one of now."""
    path, flock, taken = tmp_path / "lock", atomic_files.fcntl.flock, []

    def slow(handle: int, how: int) -> None:
        flock(handle, how)
        taken.append(handle)
        if len(taken) == 1:
            path.unlink()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(atomic_files.fcntl, "flock", slow)
        with atomic_files.locked(path, held="it is held"):
            assert len(taken) == 2 and path.exists()
            patched.undo()
            with pytest.raises(DataError, match="it is held; wait"), atomic_files.locked(path, held="it is held"):
                pass
    assert not path.exists()


def _written() -> int:
    part = Path("out.txt.part")
    return part.stat().st_size if part.exists() else 0


class Killed(BaseException):
    """Ends a run as a signal does, between two things that it does."""


def test_a_file_killed_between_any_two_steps_is_whole_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every point at which a run touches the disk is one at which it may end."""
    from sidelight.core import journal, resumable_file

    pieces = [f"piece {k}\n".encode() * (k + 1) for k in range(4)]

    def written(out: Path, survives: int) -> None:
        steps = 0

        def step(done: Callable[..., Any]) -> Callable[..., Any]:
            def stepped(*told: Any, **named: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps > survives:
                    raise Killed
                return done(*told, **named)

            return stepped

        with monkeypatch.context() as patched:
            patched.setattr(journal, "write_atomically", step(journal.write_atomically))
            patched.setattr(resumable_file.os, "fsync", step(lambda handle: None))
            patched.setattr(resumable_file.os, "replace", step(resumable_file.os.replace))
            file = ResumableFile(out, "mark")
            place = file.begin()
            if place is None:
                return
            with file.writing():
                for k in range(place.lines, len(pieces)):
                    place = Position(0, k + 1)
                    file.add(pieces[k], place)
            file.end(place)

    for first in range(1, 16):
        for second in (1, 2, 3, 99):
            out = tmp_path / f"{first}-{second}"
            for survives in (first, second, 99):
                try:
                    written(out, survives)
                except Killed:
                    continue
            assert out.read_bytes() == b"".join(pieces)
            assert not list(tmp_path.glob(f"{first}-{second}.*"))


def test_scores_go_on_where_a_run_was_killed(
    run: Run, write: Write, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_pieces, "SIZE", 300)
    for format in ("columns", "jsonl"):
        file = write("input", format, 10, 90)
        run("evaluate", model, file, "--json", "whole.json")
        told = ["evaluate", model, file, "--resume", "--json", "scores.json"]
        plus, counted = Tally.plus, []

        def killed(tally: Tally, *piece: Any, counted: list[Any] = counted, plus: Any = plus) -> Tally:
            counted.append(piece[0])
            if len(counted) in (3, 4, 8):
                raise Killed
            return plus(tally, *piece)

        monkeypatch.setattr(Tally, "plus", killed)
        for _ in range(3):
            with pytest.raises(Killed):
                run(*told)
            assert not Path("scores.json").exists()
        assert "going on after line " in run(*told).err
        monkeypatch.setattr(Tally, "plus", plus)
        assert len(counted) > 8 and Path("scores.json").read_text() == Path("whole.json").read_text()
        assert not Path("scores.json.journal").exists()
        Path("scores.json").unlink()


def test_what_another_evaluation_left_is_refused(run: Run, write: Write, model: Path) -> None:
    file = write("input", "columns", 20, 30)
    told = ["evaluate", model, file, "--json", "s.json", "--resume"]
    for text, problem in (
        (json.dumps({"mark": "x", "begin": 0, "lines": 0}), "s.json.journal: it is of another input, model or options"),
        ("{", "its contents are invalid"),
    ):
        Path("s.json.journal").write_text(text)
        assert problem in run(*told, code=2).err
    Path("s.json.journal").unlink()
    run(*told)
    for wrong in ([], ["--json", "t.json", "--against", model]):
        assert "--resume goes from a file to the --json" in run("evaluate", model, file, *wrong, "--resume", code=2).err


def test_what_another_run_left_is_refused(run: Run, write: Write, model: Path) -> None:
    file = write("input", "columns", 20, 30)
    told = ["predict", model, file, "--labelled", "--out", "out.txt", "--resume"]
    said = {"mark": "x", "begin": 0, "lines": 0, "size": 0, "done": False}
    for text, problem in (
        (json.dumps(said), "out.txt.journal: it is of another input, model or options; delete it to start over"),
        ("{", "its contents are invalid"),
        ("[]", "there are no values"),
        (json.dumps({**said, "size": -1}), "another input"),
    ):
        Path("out.txt.journal").write_text(text)
        assert problem in run(*told, code=2).err
    Path("out.txt.journal").unlink()
    run(*told)
    Path("empty.txt").write_text("")
    assert "empty.txt: no tokens" in run("predict", model, "empty.txt", "--out", "e.txt", "--resume", code=2).err
    assert not list(Path().glob("e.txt*"))
    for wrong in (["predict", model, "-", "--resume", "--out", "b"], ["predict", model, file, "--resume"]):
        assert "--resume goes from a file to a file" in run(*wrong, code=2).err


def test_an_error_further_down_leaves_no_file(
    run: Run, write: Write, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_pieces, "SIZE", 100)
    file = write("input", "columns", 20, 30)
    lines = file.read_text().count("\n")
    file.write_text(file.read_text() + "a b c d\n")
    assert f"input.txt:{lines + 1}: " in run("predict", model, file, "--labelled", "--out", "out.txt", code=2).err
    assert not Path("out.txt").exists() and not list(Path().glob(".out*"))


def test_training_from_files_larger_than_memory(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, raw = write("gold", "columns", 0, 30), write("raw", "columns", 30, 60, labels=False)
    told = ["--max-rounds", 3, "--jobs", 1, "--out"]
    for options in (["--learner", "crf"], ["--learner", "perceptron", "--min-count", 2]):
        run("train", "--gold", gold, "--out-of-core", "prepared", *options, *told, "a")
        run("train", "--gold", gold, *options, *told, "b")
        assert run("predict", "a", gold).out == run("predict", "b", gold).out
    found = run("train", "--gold", gold, "--unlabeled", raw, "--out-of-core", "p", "--learner", "em", *told, "a").out
    assert "30 gold, 30 unlabeled" in found
    refused = {
        "auto": (["--learner", "auto"], "does not choose a learner; name one with --learner: crf"),
        "good": (["--good", raw, "--learner", "crf"], "--good needs all evidence in memory"),
        "valid": (["--valid", gold, "--learner", "crf"], "--valid needs all evidence in memory"),
        "jlis": (["--learner", "jlis"], "jlis needs all data in memory; use crf"),
    }
    for options, problem in refused.values():
        assert problem in run("train", "--gold", gold, "--out-of-core", "p", *options, *told, "a", code=2).err
