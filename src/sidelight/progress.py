"""One live line on the standard error while a command works; nothing at all where that is not a terminal."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from sidelight.records import Round

OWN_PRECISION = ("cllp", "mms")  # learners that solve each problem to a precision of its own, at first a rough one


class Progress:
    """Shows what is being done; use it as a context, and `round` as a callback of training.

    >>> with Progress(quiet=True) as progress:
    ...     progress.say("reading")
    """

    def __init__(self, *, quiet: bool = False, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._status: Status | None = None
        self._shown = not quiet and self._console.is_terminal
        self._stack = ExitStack()
        self._prefix = ""

    def __enter__(self) -> Self:
        if self._shown:
            self._status = self._stack.enter_context(self._console.status(""))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._status = None

    def say(self, text: str) -> None:
        """Replace the line."""
        if self._status is not None:
            self._status.update(escape(text))

    def prefix(self, text: str) -> None:
        """What every line about a round begins with from now on."""
        self._prefix = text

    def round(self, record: Round) -> None:
        """Replace the line by what a round of training came to."""
        self.say(self._prefix + round_line(record))


def round_line(record: Round) -> str:
    """A round of training in one line.

    >>> round_line(Round(3, "perceptron", 0.25, mistakes=7))
    'round 3, 7 mistakes, 0.2 s'
    """
    parts = [f"round {record.number}"]
    if record.completion:
        parts.append(f"completion {record.completion}")
    if record.objective is not None:
        parts.append(f"objective {record.objective:.6g}")
    if (gap := relative_gap(record)) is not None:
        parts.append(f"gap {gap:.2%}")
    if record.mistakes is None:
        parts.append(f"working set {record.working_set:,}")
    else:
        parts.append(f"{record.mistakes:,} mistakes")
    return ", ".join([*parts, f"{record.seconds:.1f} s"])


def relative_gap(record: Round) -> float | None:
    """The duality gap as a share of the objective, which is what the tolerance is about; None where it means nothing.

    >>> relative_gap(Round(3, "jlis", 0.25, objective=50.0, gap=1.0))
    0.02
    """
    if record.gap is None or not record.objective or record.learner in OWN_PRECISION:
        return None
    return record.gap / abs(record.objective)
