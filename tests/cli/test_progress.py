"""One live line on a terminal or in a notebook; lines elsewhere, if they are asked for."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from sidelight.core.progress import Progress, present, relative_gap, round_line
from sidelight.core.records import Round

Run = Callable[..., Any]
ROUND = Round(7, "jlis", 1.26, completion=2, objective=50.0, gap=1.0, working_set=1234)
TOLD = "round 7, completion 2, objective 50, gap 2.00%, working set 1,234, 1.3 s"


class Terminal(io.StringIO):
    """A screen."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *, live: bool = True, lines: int = 0) -> str:
    with Progress(live=live, lines=lines, stream=stream) as progress:
        progress.say("reading [brackets].txt")
        progress.line("a fit begins")
        progress.line("a round", level=2)
        progress.prefix("1 of 3: ")
        progress.round(ROUND)
    return stream.getvalue()


def test_a_terminal_sees_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    found = shown(Terminal())
    assert f"1 of 3: {TOLD}" in found and "a fit begins" not in found
    assert shown(Terminal(), live=False) == ""
    assert "a fit begins\n" in shown(Terminal(), lines=1)


def test_elsewhere_there_are_the_lines_that_were_asked_for() -> None:
    assert shown(io.StringIO()) == ""
    assert shown(io.StringIO(), lines=1) == "a fit begins\n"
    assert shown(io.StringIO(), live=False, lines=2) == "a fit begins\na round\n"


def test_brackets_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    screen = Terminal()
    with Progress(stream=screen) as progress:
        progress.say("reading [brackets].txt", done=1, total=2)
    assert "reading [brackets].txt" in screen.getvalue() and "━" in screen.getvalue()


def test_a_notebook_has_an_output_that_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs: list[str] = []

    class Handle:
        def update(self, shown: str) -> None:
            outputs.append(shown)

    shell = type("Shell", (type("ZMQInteractiveShell", (), {}),), {})()
    notebook, display = ModuleType("IPython"), ModuleType("IPython.display")
    vars(notebook)["get_ipython"] = lambda: shell
    vars(display).update(HTML=str, display=lambda shown, display_id: Handle())
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    stream = io.StringIO()
    with Progress(lines=1, stream=stream) as progress:
        progress.say("<b>", done=1, total=4)
        progress.line("a fit ends")
    assert outputs == ['<progress value="1" max="4"></progress> <code>&lt;b&gt;</code>', ""]
    assert stream.getvalue() == "a fit ends\n"


def test_work_within_other_work_shows_itself_there() -> None:
    assert present() is None
    with Progress(live=False) as outer:
        assert present() is outer
    assert present() is None


def test_a_round_without_an_objective() -> None:
    assert round_line(ROUND) == TOLD
    assert round_line(Round(1, "perceptron", 0.04, mistakes=1200), 5) == "round 1 of 5, 1,200 mistakes, 0.0 s"
    assert relative_gap(Round(1, "perceptron", 0.04)) is None
    assert relative_gap(ROUND) == 0.02


def test_commands_tell_more_when_asked(run: Run, write: Any) -> None:
    train = "train", "--gold", write("small", "columns", 0, 6), "--out", "m", "--max-rounds", 3
    assert run(*train).err == ""
    fits = run(*train, "-v").err.splitlines()
    told = [line for line in fits if "compiling" not in line]
    assert told[0] == "Tagger: learning from 6 gold by auto"
    assert len(told) == 2 and told[-1].startswith("Tagger: crf, 3 rounds, objective ")
    assert "Tagger: round 2 of 3, objective" in run(*train, "-vv").err
    assert "--quiet and --verbose are both given" in run(*train, "-v", "--quiet", code=2).err
