"""Small files in every format, and a way to run commands on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sidelight.cli import app
from sidelight.corpus import Reference, references


class Result:
    """What a command left behind."""

    def __init__(self, found: Any) -> None:
        self.code: int = found.exit_code
        self.out: str = found.stdout
        self.err: str = found.stderr


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("SIDELIGHT_DATA", "SIDELIGHT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run() -> Run:
    """Runs a command and returns its exit code, output and errors; asks for success unless told otherwise."""

    def run(*arguments: object, code: int = 0, input: str | bytes | None = None) -> Result:
        result = Result(
            CliRunner().invoke(app, [str(argument) for argument in arguments], input=input, prog_name="sidelight")
        )
        assert result.code == code, (result.code, result.out, result.err)
        return result

    return run


@pytest.fixture(scope="session")
def corpus() -> list[Reference]:
    return references(90, seed=7)


def as_columns(part: Sequence[Reference], *, labels: bool = True) -> str:
    return "".join(
        "".join(f"{token} {label}\n" if labels else f"{token}\n" for token, label in zip(one.tokens, one.labels)) + "\n"
        for one in part
    )


def as_jsonl(part: Sequence[Reference], *, labels: bool = True) -> str:
    return "".join(
        json.dumps({"tokens": one.tokens, **({"labels": one.labels} if labels else {})}) + "\n" for one in part
    )


def as_attributes(part: Sequence[Reference], *, labels: bool = True) -> str:
    def line(token: str, label: str) -> str:
        name = token.replace("\\", "\\\\").replace(":", "\\:")
        return f"{label if labels else ''}\tw={name}\tlength:{len(token) / 10}\n"

    return "".join("".join(map(line, one.tokens, one.labels)) + "\n" for one in part)


WRITERS = {"columns": (as_columns, "txt"), "jsonl": (as_jsonl, "jsonl"), "attributes": (as_attributes, "crfsuite")}


@pytest.fixture
def write(tmp_path: Path, corpus: list[Reference]) -> Callable[..., Path]:
    """Writes references from one place to another of the corpus; returns the file."""

    def write(name: str, format: str, first: int, last: int, *, labels: bool = True) -> Path:
        writer, ending = WRITERS[format]
        path = tmp_path / f"{name}.{ending}"
        path.write_text(writer(corpus[first:last], labels=labels), encoding="utf-8")
        return path

    return write


@pytest.fixture
def model(run: Run, write: Callable[..., Path], tmp_path: Path) -> Path:
    """A small tagger."""
    path = tmp_path / "tagger.sidelight"
    run("train", "--gold", write("small", "columns", 0, 10), "--out", path, "--max-rounds", 5)
    return path
