"""The program as a whole: its help, its version, and how it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sidelight
from sidelight.cli import COMMANDS as ENTRIES
from sidelight.cli import app
from sidelight.commands import train
from sidelight.commands.shared.program import Entry, loaded

COMMANDS = tuple(entry.name for entry in ENTRIES)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("SIDELIGHT_DATA", "SIDELIGHT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)


def test_version() -> None:
    found = CliRunner().invoke(app, ["--version"])
    assert (found.exit_code, found.stdout) == (0, f"sidelight {sidelight.__version__}\n")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments: list[str]) -> None:
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0
    for name in COMMANDS:
        assert f" {name} " in found.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(command: str) -> None:
    found = CliRunner().invoke(app, [command, "--help"])
    assert found.exit_code == 0
    assert f"Example: sidelight {command} " in found.stdout


@pytest.mark.parametrize("entry", ENTRIES, ids=COMMANDS)
def test_the_list_says_of_a_command_what_it_says_itself(entry: Entry) -> None:
    assert " ".join((loaded(entry).help or "").split()).startswith(entry.line)


def test_listing_commands_loads_none_of_them() -> None:
    script = "import sys, sidelight.cli; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nonsense"], "error: No such command 'nonsense'; see sidelight --help\n"),
        (["--nonsense"], "error: No such option: --nonsense; see sidelight --help\n"),
        (["train"], "error: Missing option '--out'; see sidelight train --help\n"),
        (["predict"], "error: Missing argument 'MODEL'; see sidelight predict --help\n"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], line: str) -> None:
    found = CliRunner().invoke(app, arguments, prog_name="sidelight")
    assert (found.exit_code, found.stdout, found.stderr) == (2, "", line)


def test_a_traceback_is_shown_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["train", "--gold", "nowhere.txt", "--out", "m"]
    line = "error: nowhere.txt: there is no such file; check the name\n"
    assert CliRunner().invoke(app, arguments).stderr == line
    for found in (
        CliRunner().invoke(app, ["--traceback", *arguments]),
        CliRunner().invoke(app, arguments, env={"SIDELIGHT_TRACEBACK": "1"}),
    ):
        assert found.exit_code == 2
        assert found.stderr.startswith("Traceback") and found.stderr.endswith(line)


def test_a_defect_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("two\nlines")

    monkeypatch.setattr(train, "check_writable", broken)
    found = CliRunner().invoke(app, ["train", "--out", "m"])
    assert found.exit_code == 1
    assert found.stderr.startswith("error: unexpected KeyError: ") and found.stderr.count("\n") == 1


def test_full_disks_and_the_like_are_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "m"))

    monkeypatch.setattr(train, "check_writable", full)
    found = CliRunner().invoke(app, ["train", "--out", "m"])
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {tmp_path / 'm'}: No space left on device; check")
