"""Progress of long work on standard error: a live line with a bar, or plain lines.

A live line is for terminals and notebooks. Plain lines are for everything else, and on request. Only one display is
used at a time: nested work (a fit within a command, or within co-training) uses the display of the outer work.

A fit reports through `logging`, and as set by `verbose`. The logger is "sidelight.fit": INFO at the begin and end of a
fit, DEBUG for every round; within another fit (co-training) everything is DEBUG. `verbose` shows the same on standard
error, unless the log already does.
"""

from __future__ import annotations

import importlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar, Token
from typing import Any, Protocol, Self, TextIO

from sidelight.core.checks import shown
from sidelight.core.compiling import LOG as KERNELS
from sidelight.core.compiling import SHARED, watched
from sidelight.core.html import escape
from sidelight.core.records import PlaceFigures, Round

LOG = logging.getLogger("sidelight.fit")
FITS, ROUNDS = 1, 2  # levels of lines: begin and end of fits, and their rounds


class Progress:
    """Shows progress; use it as a context manager, and `round` as a callback of training.

    `live`: one line that is overwritten, if possible. `lines`: 0 for none, 1 for begin and end of fits, 2 for their
    rounds too.

    >>> with Progress(live=False) as progress:
    ...     progress.say("reading")
    """

    def __init__(self, *, live: bool = True, lines: int = 0, stream: TextIO | None = None) -> None:
        self.fits = 0  # running fits, one within another
        self._stream = stream
        self._wanted, self._lines = live, lines
        self._live: TerminalLine | NotebookLine | None = None
        self._prefix = ""
        self._stack = ExitStack()
        self._token: Token[Progress | None] | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(watched(self))
        if self._wanted and (live := live_line(self._stream or sys.stderr)) is not None:
            self._live = live
            self._stack.enter_context(live)
        self._token = _present.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _present.reset(self._token)
        self._stack.close()
        self._live = None

    def say(self, text: str, *, done: int | None = None, total: int | None = None) -> None:
        """Replace the live line; with a bar if the total is known."""
        if self._live is not None:
            self._live.show(text, done, total)

    def line(self, text: str, *, level: int = FITS) -> None:
        """Write a permanent line, if lines of this level are enabled."""
        if level > self._lines:
            return
        if self._live is not None:
            self._live.above(text)
        else:
            stream = self._stream or sys.stderr
            stream.write(f"{text}\n")
            stream.flush()

    def prefix(self, text: str) -> None:
        """Set the text with which every live line about a round begins."""
        self._prefix = text

    def round(self, record: Round, *, total: int | None = None) -> None:
        """Replace the live line by the results of a round."""
        self.say(self._prefix + round_line(record, total), done=record.number, total=total)

    def compiling(self, kernel: str) -> None:
        """Show that a kernel is being compiled; a fit reports this itself."""
        if not self.fits:
            self.say(compile_line(None))

    def compiled(self, kernel: str, seconds: float) -> None:
        """The kernel is ready; the line stays until the next update."""


_present: ContextVar[Progress | None] = ContextVar("sidelight.core.progress", default=None)


def present() -> Progress | None:
    """The progress display of the current work, if there is one."""
    return _present.get()


def compile_line(seconds: float | None) -> str:
    """A line saying that kernels are compiled, and about how long it takes.

    >>> compile_line(12.3)
    'compiling, once, about 12 s'
    """
    return "compiling, once" + ("" if seconds is None else f", about {seconds:.0f} s")


def round_line(record: Round, total: int | None = None) -> str:
    """A round of training in one line.

    >>> round_line(Round(3, "perceptron", 0.25, mistakes=7))
    'round 3, 7 mistakes, 0.2 s'
    >>> round_line(Round(6, "hmm", 2.5, objective=1.5e6, disagreement=0.08), 10)
    'round 6 of 10, objective 1.5e+06, disagreement 0.080 a word, 2.5 s'
    """
    parts = [f"round {record.number}" + ("" if total is None else f" of {total}")]
    if record.completion:
        parts.append(f"completion {record.completion}")
    if record.objective is not None:
        parts.append(f"objective {record.objective:.6g}")
    if (gap := relative_gap(record)) is not None:
        parts.append(f"gap {gap:.2%}")
    if record.validation is not None:
        parts.append(f"validation {record.validation:.2%}")
    if record.disagreement is not None:
        parts.append(f"disagreement {record.disagreement:.3f} a word")
    elif record.mistakes is not None:
        parts.append(f"{record.mistakes:,} mistakes")
    elif record.working_set:
        parts.append(f"working set {record.working_set:,}")
    parts.append(f"{record.seconds:.1f} s")
    return ", ".join(parts + ([] if record.place is None else [place_line(record.place)]))


def place_line(place: PlaceFigures) -> str:
    """The figures of workers in a round, in one line.

    >>> place_line(PlaceFigures(2, 8, 48_000_000, 1.25, 0.125, 0.25))
    '2 workers with 8 shards: 48.0 MB, 1.2 s inference, 0.1 s transit, 0.2 s solving'
    """
    seconds = f"{place.inference:.1f} s inference, {place.transit:.1f} s transit, {place.solving:.1f} s solving"
    again = f", {place.restarts} restarted" if place.restarts else ""
    return f"{place.workers} workers with {place.shards} shards: {place.bytes / 1e6:.1f} MB, {seconds}{again}"


def relative_gap(record: Round) -> float | None:
    """The duality gap relative to the objective, as compared with the tolerance; None if it is meaningless.

    >>> relative_gap(Round(3, "jlis", 0.25, objective=50.0, gap=1.0))
    0.02
    """
    if record.gap is None or not record.objective or record.own_precision:
        return None
    return record.gap / abs(record.objective)


class _Last(Protocol):
    """A round of any kind."""

    @property
    def number(self) -> int: ...

    @property
    def objective(self) -> float | None: ...

    @property
    def stopped(self) -> str | None: ...


class FitLog:
    """One fit, as a context manager; call `round` for each of its rounds.

    `name` is the name of the estimator, `source` a description of the evidence, `seconds` the approximate compilation
    time of the learner's kernels, and `total` the maximum number of rounds, if set by the user.
    """

    def __init__(
        self, name: str, *, learner: str, source: str, verbose: int, seconds: float = 10.0, total: int | None = None
    ) -> None:
        outer = present()
        self._progress = Progress(live=verbose == 1, lines=verbose) if outer is None else outer
        self._own = outer is None
        self._within = self._progress.fits > 0
        self._name, self._learner, self._source, self._total = name, learner, source, total
        self._seconds = seconds
        self._last: _Last | None = None
        self._compiled = 0.0  # seconds
        self._compile_line: str | None = None  # once it was said
        self._stack = ExitStack()
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        if self._own:
            self._stack.enter_context(self._progress)
        self._stack.enter_context(watched(self))
        self._progress.fits += 1
        self._tell(logging.INFO, f"learning from {self._source} by {self._learner}")
        self._progress.say(f"{self._name}: preparing")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._progress.fits -= 1
        if kind is None:
            self._tell(logging.INFO, self._summary())
        self._stack.close()

    def chose(self, learner: str, seconds: float, plan: str | None) -> None:
        """Report the learner chosen by "auto"; with `plan` if there were several."""
        self._learner, self._seconds = learner, seconds
        if plan is not None:
            self._tell(logging.INFO, f"chosen: {plan}")

    def round(self, record: Round) -> None:
        """Report the end of a round."""
        self._last = record
        self._progress.round(record, total=self._total)
        self._tell(logging.DEBUG, round_line(record, self._total))

    def other_round(self, record: Any, text: str) -> None:
        """The same for a round of another kind, described by a text."""
        self._last = record
        self._progress.say(f"{self._name}: {text}", done=record.number, total=self._total)
        self._tell(logging.DEBUG, text)

    def compiling(self, kernel: str) -> None:
        """Report, once, that kernels are compiled because the cache does not have them."""
        if self._compile_line is None:
            self._compile_line = compile_line(self._seconds + SHARED * kernel.startswith("sidelight.features."))
            self._tell(logging.INFO, self._compile_line, log=KERNELS)
        self._progress.say(f"{self._name}: {self._compile_line}")

    def compiled(self, kernel: str, seconds: float) -> None:
        """It is ready."""
        self._compiled += seconds

    def _tell(self, level: int, text: str, *, log: logging.Logger = LOG) -> None:
        line = f"{self._name}: {text}"
        log.log(logging.DEBUG if self._within else level, "%s", line)
        if not self._within and not _shown_by(log, level):
            self._progress.line(line, level=FITS if level == logging.INFO else ROUNDS)

    def _summary(self) -> str:
        parts = [self._learner]
        last = self._last
        if last is not None:
            parts.append(f"{last.number:,} round{'s' * (last.number != 1)}")
            if last.objective is not None:
                parts.append(f"objective {last.objective:.6g}")
            if last.stopped is not None:
                parts.append(f"stopped: {last.stopped}")
        compiled = f", {self._compiled:.1f} s of them compiling" if self._compiled else ""
        return ", ".join(parts) + f", {time.perf_counter() - self._began:.1f} s{compiled}"


def counted(evidence: Iterable[Any]) -> dict[str, int]:
    """The number of pieces of evidence of each kind."""
    return dict(Counter(str(piece.kind) for piece in evidence))


def in_words(counts: dict[str, int]) -> str:
    """The same in words.

    >>> in_words({"gold": 5, "unlabeled": 1000})
    '5 gold, 1,000 unlabeled'
    """
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def check_verbose(verbose: Any) -> int:
    """Raises ValueError for an invalid `verbose`."""
    if not isinstance(verbose, int) or verbose not in (0, 1, 2):
        raise ValueError(f"verbose is {shown(verbose)}; give 0 (silent), 1 (progress) or 2 (every round)")
    return int(verbose)


def _shown_by(log: logging.Logger, level: int) -> bool:
    """Whether the user's logging already shows records of this level."""
    if not log.isEnabledFor(level):
        return False
    logger: logging.Logger | None = log
    while logger is not None:
        if any(own.level <= level and not isinstance(own, logging.NullHandler) for own in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False


__all__ = ["FitLog", "check_verbose", "counted", "in_words"]


WIDTH = 24  # of a bar, in characters
PAUSE = 0.1  # minimum seconds between two updates of a notebook


def live_line(stream: TextIO) -> TerminalLine | NotebookLine | None:
    """A live line for a terminal or a notebook; None if neither is available."""
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
    """Drawn by rich: a spinner, a bar if the total is known, and the text."""

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
    """An output of the cell that is updated, and removed at the end."""

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
