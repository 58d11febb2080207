"""One line that is written over and over: on a terminal by rich, in a notebook as an output that is updated."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Protocol, Self, TextIO

from sidelight.core.html import escape

WIDTH = 24  # of a bar, in characters
PAUSE = 0.1  # seconds at least between two updates of a notebook


class Live(Protocol):
    """A context in which a line can be shown."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, text: str, done: int | None, total: int | None) -> None:
        """Replace the line, with a bar where `total` is known."""
        ...

    def above(self, text: str) -> None:
        """Write a line that stays, above the live one."""
        ...


def live_line(stream: TextIO) -> Live | None:
    """The live line that suits the place; None where there can be none."""
    if (display := notebook_display()) is not None:
        return NotebookLine(display, stream)
    return TerminalLine(stream) if stream.isatty() else None


def notebook_display() -> Any:
    """IPython's module for display, if this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if all(kind.__name__ != "ZMQInteractiveShell" for kind in type(shell).__mro__):
        return None
    return importlib.import_module("IPython.display")


class TerminalLine:
    """By rich: a mark that turns, a bar where there is one, the text."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        self._bar = BarColumn(bar_width=WIDTH)
        self._columns = SpinnerColumn(), TextColumn("{task.description}")
        self._progress = Progress(*self._columns, console=Console(file=stream, force_terminal=True), transient=True)
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, text: str, done: int | None, total: int | None) -> None:
        from rich.markup import escape

        spinner, words = self._columns
        self._progress.columns = (spinner, words) if total is None else (spinner, self._bar, words)
        self._progress.update(self._task, description=escape(text), completed=done or 0, total=total)

    def above(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


class NotebookLine:
    """An output of the cell that is updated, and gone when the work is done."""

    def __init__(self, display: Any, stream: TextIO) -> None:
        self._display, self._stream = display, stream
        self._handle: Any = None
        self._shown = -PAUSE

    def __enter__(self) -> Self:
        self._handle = self._display.display(self._display.HTML(""), display_id=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.update(self._display.HTML(""))

    def show(self, text: str, done: int | None, total: int | None) -> None:
        now = time.perf_counter()
        if now - self._shown < PAUSE:
            return
        self._shown = now
        bar = "" if total is None else f'<progress value="{done or 0}" max="{total}"></progress> '
        self._handle.update(self._display.HTML(f"{bar}<code>{escape(text)}</code>"))

    def above(self, text: str) -> None:
        self._stream.write(f"{text}\n")
