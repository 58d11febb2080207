"""What a fit tells as it goes: records for `logging`, and what `verbose` asks to see.

The logger is "sidelight.fit": INFO as a fit begins and ends, DEBUG for every round; within another fit (co-training)
all is DEBUG. What `verbose` shows on the standard error is the same, but not where the log shows it there already.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Protocol, Self

from sidelight.core.checks import shown
from sidelight.core.compiling import LOG as KERNELS
from sidelight.core.compiling import SHARED, watched
from sidelight.core.progress import FITS, ROUNDS, Progress, compile_line, present, round_line
from sidelight.core.records import Round

LOG = logging.getLogger("sidelight.fit")


class _Last(Protocol):
    """A round of any kind."""

    @property
    def number(self) -> int: ...

    @property
    def objective(self) -> float | None: ...

    @property
    def stopped(self) -> str | None: ...


class FitLog:
    """One fit, as a context; `round` for each of its rounds.

    `name` is that of the estimator, `given` what it learns from in words, `seconds` about how long the kernels of the
    learner take to compile, `total` how many rounds there will be at most, where the user set that.
    """

    def __init__(
        self, name: str, *, learner: str, given: str, verbose: int, seconds: float = 10.0, total: int | None = None
    ) -> None:
        outer = present()
        self._progress = Progress(live=verbose == 1, lines=verbose) if outer is None else outer
        self._own = outer is None
        self._within = self._progress.fits > 0
        self._name, self._learner, self._given, self._total = name, learner, given, total
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
        self._tell(logging.INFO, f"learning from {self._given} by {self._learner}")
        self._progress.say(f"{self._name}: preparing")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._progress.fits -= 1
        if kind is None:
            self._tell(logging.INFO, self._summary())
        self._stack.close()

    def chose(self, learner: str, seconds: float, plan: str | None) -> None:
        """The learner was left to the evidence, and this is what it came to; `plan` where there were others."""
        self._learner, self._seconds = learner, seconds
        if plan is not None:
            self._tell(logging.INFO, f"chosen: {plan}")

    def round(self, record: Round) -> None:
        """A round has ended."""
        self._last = record
        self._progress.round(record, total=self._total)
        self._tell(logging.DEBUG, round_line(record, self._total))

    def other_round(self, record: Any, text: str) -> None:
        """The same for a round of another kind, told in words."""
        self._last = record
        self._progress.say(f"{self._name}: {text}", done=record.number, total=self._total)
        self._tell(logging.DEBUG, text)

    def compiling(self, kernel: str) -> None:
        """A kernel is compiled, as the disk has none: said once."""
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
    """How many pieces of evidence there are of each kind."""
    return dict(Counter(str(piece.kind) for piece in evidence))


def in_words(counts: dict[str, int]) -> str:
    """The same in words.

    >>> in_words({"gold": 5, "unlabeled": 1000})
    '5 gold, 1,000 unlabeled'
    """
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def check_verbose(verbose: Any) -> int:
    """Raises ValueError for what says nothing of how much is to be told."""
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
