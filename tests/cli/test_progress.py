"""One live line on a terminal, nothing elsewhere."""

from __future__ import annotations

import io

from rich.console import Console

from sidelight.progress import Progress, relative_gap, round_line
from sidelight.records import Round

ROUND = Round(7, "jlis", 1.26, completion=2, objective=50.0, gap=1.0, working_set=1234)


def shown(*, terminal: bool, quiet: bool = False) -> str:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=120, color_system=None)
    with Progress(quiet=quiet, console=console) as progress:
        progress.say("reading [brackets].txt")
        console.print("" if progress._status is None else progress._status.renderable, end="")
        progress.prefix("1 of 3: ")
        progress.round(ROUND)
        console.print("" if progress._status is None else progress._status.renderable, end="")
    return screen.getvalue()


def test_a_terminal_sees_one_line() -> None:
    found = shown(terminal=True)
    assert "reading [brackets].txt" in found
    assert "1 of 3: round 7, completion 2, objective 50, gap 2.00%, working set 1,234, 1.3 s" in found


def test_nothing_is_shown_elsewhere() -> None:
    assert shown(terminal=False) == ""
    assert shown(terminal=True, quiet=True) == ""


def test_a_round_without_an_objective() -> None:
    assert round_line(Round(1, "perceptron", 0.04, mistakes=1200)) == "round 1, 1,200 mistakes, 0.0 s"
    assert relative_gap(Round(1, "perceptron", 0.04)) is None
    assert relative_gap(ROUND) == 0.02
