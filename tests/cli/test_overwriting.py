"""What a command reads it never writes over, and what it writes is there in full or not at all."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.core import atomic_files as replacing
from sidelight.core.atomic_files import write_atomically
from sidelight.errors import DataError
from sidelight.models.model_file import load_model

Run = Callable[..., Any]
Write = Callable[..., Path]
READ = "this command reads it, and would write over it; name another file\n"
TWICE = "this command would write it twice; name different files\n"


@pytest.mark.parametrize("link", [None, "symbolic", "hard"])
@pytest.mark.parametrize("kind", ["gold", "good", "valid", "template", "rules"])
def test_training_does_not_write_over_its_inputs(run: Run, write: Write, kind: str, link: str | None) -> None:
    gold, good = write("gold", "columns", 0, 5), write("good", "columns", 5, 9, labels=False)
    Path("template").write_text("U00:%x[0,0]\nB\n")
    Path("rules.py").write_text("from sidelight.rules import gallery\nrule = gallery.changes_after_punctuation()\n")
    files = {"gold": gold, "good": good, "valid": gold, "template": Path("template"), "rules": Path("rules.py")}
    out = files[kind]
    before = out.read_bytes()
    if link == "symbolic":
        Path("link").symlink_to(os.path.relpath(out))
    elif link == "hard":
        Path("link").hardlink_to(out)
    named = [] if kind in ("gold", "good") else [f"--{kind}", out]
    out = Path("..", Path.cwd().name, "link") if link else out
    found = run("train", "--gold", gold, "--good", good, *named, "--out", out, code=2)
    assert found.err == f"error: {out}: {READ}"
    assert files[kind].read_bytes() == before


def test_a_model_a_checkpoint_and_a_history_are_three_files(run: Run, write: Write) -> None:
    train = "train", "--gold", write("gold", "columns", 0, 5)
    assert run(*train, "--out", "a", "--checkpoint", "a", code=2).err == f"error: a: {TWICE}"
    assert run(*train, "--out", "a", "--history", "./a", code=2).err == f"error: a: {TWICE}"
    assert not Path("a").exists()


def test_no_other_command_writes_over_what_it_reads(run: Run, write: Write, model: Path) -> None:
    test, bytes_of_model = write("test", "columns", 10, 14), model.read_bytes()
    gold = write("gold", "columns", 0, 5)
    Path("rules.py").write_text("from sidelight.rules import gallery\nrule = gallery.changes_after_punctuation()\n")
    (Path("x.en"), Path("x.fr"))[0].write_text("a b\n" * 9), Path("x.fr").write_text("c d\n" * 9)
    run("align", "train", "--source", "x.en", "--target", "x.fr", "--out", "pair", "--quiet")
    Path("links").write_text("0-0\n")
    Path("right").write_text("1 1 1 S\n")
    Path("functions.py").write_text("def a(x):\n    return ['A' for _ in x]\n")
    voting = ["votes", test, "--functions", "functions.py"]
    texts = ["--source", "x.en", "--target", "x.fr"]
    for command in (
        *(("predict", model, test, "--rules", "rules.py", "--out", out) for out in (model, test, "rules.py")),
        *(("evaluate", model, test, "--json", out) for out in (model, test)),
        *(("explain", model, test, "--json", out) for out in (model, test)),
        ("weights", model, "--json", model),
        *(
            (*voting, "--gold", gold, option, out)
            for option in ("--out", "--json")
            for out in (test, gold, "functions.py")
        ),
        *(
            ("worth", "--gold", gold, "--good", test, "--rules", "rules.py", "--json", out)
            for out in (gold, test, "rules.py")
        ),
        *(("align", "train", *texts, "--out", out) for out in ("x.en", "x.fr")),
        *(("align", "train", *texts, "--out", "new", "--links", out) for out in ("x.en", "x.fr")),
        *(("align", "apply", "pair", *texts, "--out", out) for out in ("pair", "x.en", "x.fr")),
        *(("align", "evaluate", "links", "right", "--json", out) for out in ("links", "right")),
    ):
        out = Path(str(command[-1]))
        before = out.read_bytes()
        assert run(*command, code=2).err == f"error: {out}: {READ}", command
        assert out.read_bytes() == before, command
    assert model.read_bytes() == bytes_of_model


def test_results_do_not_take_the_place_of_data(run: Run) -> None:
    Path("data").mkdir()
    Path("data/corpus").write_text("a b\n")
    found = run("reproduce", "jlis-pos", "--data", "data", "--json", "data/corpus", code=2)
    assert found.err == f"error: data/corpus: {READ}"
    assert Path("data/corpus").read_text() == "a b\n"


# Files in full or not at all --------------------------------------------------------------------------------------


@pytest.fixture(params=[True, False], ids=["nameless", "named"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(replacing, "_nameless", lambda folder: None)


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.usefixtures("_way")
def test_a_failed_write_leaves_the_old_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically("a", b"old")
    assert Path("a").stat().st_mode & 0o777 == 0o666 & ~os.umask(os.umask(0o022))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"a: cannot be written \(No space left on device\)"):
            write_atomically("a", b"new")
    assert Path("a").read_bytes() == b"old" and names() == ["a"]
    write_atomically("a", b"new")
    assert Path("a").read_bytes() == b"new" and names() == ["a"]


SLOW = """
import os, sys, time
from sidelight.core import atomic_files as replacing
if sys.argv[1] == "named":
    replacing._nameless = lambda folder: None
def wait(_):
    print("writing", flush=True)
    time.sleep(60)
os.fsync = wait
replacing.write_atomically("a", b"new")
"""


@pytest.mark.parametrize("way", ["nameless", "named"])
def test_what_a_killed_writer_leaves_is_removed(way: str) -> None:
    write_atomically("a", b"old")
    command = [sys.executable, "-c", SLOW, way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
        left = names()
        assert len(left) == (1 if way == "nameless" else 2)
        write_atomically("a", b"other")  # the writer lives, and keeps what it has
        assert names() == left
        writer.kill()
    assert names() == left and Path("a").read_bytes() == b"other"
    write_atomically("a", b"again")
    assert names() == ["a"]


def test_files_of_others_stay() -> None:
    for name in (".a.part", ".a.12345678.tmp", ".b.12345678.part", "a.12345678.part"):
        Path(name).write_text("mine")
    before = names()
    write_atomically("a", b"new")
    assert names() == sorted([*before, "a"])


def test_a_device_is_no_place_for_a_model(model: Path) -> None:
    with pytest.raises(DataError, match="not a regular file"):
        write_atomically("/dev/full", b"new")


# A full disk, and being told to end -------------------------------------------------------------------------------


def _limit_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def failing_train(write: Write, *more: str) -> subprocess.CompletedProcess[str]:
    """A training whose model is too large for the disk; its checkpoint, of few features, is not."""
    command = [sys.executable, "-m", "sidelight", "train", "--gold", str(write("gold", "columns", 0, 60))]
    command += ["--max-rounds", "2", "--learner", "perceptron", "--out", "model", *more]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=_limit_files)


def test_a_full_disk_at_the_end_loses_nothing_with_a_checkpoint(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = replacing._put

    def full(temporary: Path, target: Path, data: bytes) -> None:
        if target.name == "model":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(temporary, target, data)

    train = "train", "--gold", write("gold", "columns", 0, 9), "--max-rounds", 3, "--checkpoint", "check", "--out"
    with monkeypatch.context() as patch:
        patch.setattr(replacing, "_put", full)
        found = run(*train, "model", code=2)
    assert found.err.splitlines()[-1] == (
        "error: model: the model cannot be written (No space left on device); nothing is lost: check has the training; "
        "the same command with another --out ends it"
    )
    assert not Path("model").exists()
    run(*train, "other", "--history", "rounds")
    assert load_model("other").weights.any()
    assert len(Path("rounds").read_text().splitlines()) == 1  # its last round, once more


def test_a_full_disk_at_the_end_saves_the_model_elsewhere(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    found = failing_train(write)
    assert found.returncode == 2 and not Path("model").exists()
    line = found.stderr.splitlines()[-1]
    assert line.startswith("error: model: the model cannot be written (File too large); and not to ")
    assert list(folder.iterdir()) == []


def test_the_name_of_the_place_elsewhere(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    real = replacing._put

    def full(temporary: Path, target: Path, data: bytes) -> None:
        if target.name == "model":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(temporary, target, data)

    monkeypatch.setattr(replacing, "_put", full)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    found = run("train", "--gold", write("gold", "columns", 0, 9), "--max-rounds", 3, "--out", "model", code=2)
    (other,) = folder.iterdir()
    assert found.err.splitlines()[-1].endswith(f"it is in {other} instead: make room, and move it")
    assert load_model(other).weights.any()


def test_a_terminated_run_says_so_and_leaves_nothing(write: Write) -> None:
    train, good = write("train", "columns", 0, 10), write("good", "columns", 40, 60, labels=False)
    command = [sys.executable, "-m", "sidelight", "train", "--gold", str(train), "--good", str(good)]
    command += ["--shuffle-good", "1", "--tolerance", "1e-9", "--jobs", "1", "--max-rounds", "400"]
    command += ["--checkpoint", "check", "--out", "model"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        limit = time.monotonic() + 120
        while not Path("check").exists():
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err.splitlines()[-1] == "interrupted; no model was written; the same command continues from check"
    assert [name for name in names() if name.startswith(".") or name == "model"] == []
