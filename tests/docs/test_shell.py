"""Commands in pages name commands and options that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from sidelight.cli import COMMANDS
from sidelight.commands.shared.program import loaded

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:sh)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(sidelight [a-z][^`]*)`")
KNOWN = {entry.name: loaded(entry) for entry in COMMANDS}


def calls(text: str) -> list[str]:
    """Every call of `sidelight` in a page, of blocks and of running text."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    called = [part for line in lines for part in re.findall(r"(?:^|\| )(sidelight [^|#]*)", line)]
    return [*called, *INLINE.findall(text)]


def options(command: Any) -> set[str]:
    """What a command may be given; of a group, what any of its commands may."""
    if hasattr(command, "commands"):
        return {"--help"}.union(*map(options, command.commands.values()))
    return {"--help"}.union(*((*param.opts, *param.secondary_opts) for param in command.params))


def unknown(call: str) -> list[str]:
    """What a call has that there is not."""
    name, *words = shlex.split(call.replace("…", " "))[1:]
    if name not in KNOWN:
        return [] if name.isupper() or name.startswith("-") else [name]
    given = [word.split("=")[0].strip("[]") for word in words if re.match(r"\[?--?\w", word)]
    return [word for word in given if word not in options(KNOWN[name])]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_a_page(path: Path) -> None:
    for call in calls(path.read_text(encoding="utf-8")):
        assert unknown(call) == [], call


def test_a_wrong_option_is_found() -> None:
    assert unknown("sidelight train --gold a.txt --templates b.txt --out c") == ["--templates"]
    assert unknown("sidelight tarin --gold a.txt") == ["tarin"]
