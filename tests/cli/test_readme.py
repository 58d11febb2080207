"""The examples of the README from the shell run as they stand there, on data that the package makes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.commands.registry import LABELS, NAMES

Run = Callable[..., Any]
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> list[str]:
    """The examples of the section about structures, each with its lines."""
    section = README.split("\n## Structures\n")[1].split("\n## ")[0]
    return SHELL.findall(section)[0].split("\n\n")


def test_every_structure_has_an_example() -> None:
    text = "\n".join(examples())
    assert all(f"--structure {name} " in text for name in (*LABELS, *NAMES))


@pytest.mark.parametrize("lines", examples(), ids=lambda lines: lines.split()[2])
def test_it_runs(run: Run, lines: str) -> None:
    for line in lines.strip().splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "sidelight"
        fewer = ("--count", "30") if arguments[0] == "generate" else ()
        assert run(*arguments, *fewer).out
