"""Outcomes of tasks in a file, so that an experiment that was killed resumes after its finished tasks.

Each outcome is stored with the total time so far, so that the time of a run includes earlier interrupted parts.
The file is only for this experiment and this machine: it holds pickled values, is read only by the same sources with
the same settings, and is removed when the experiment is finished.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

NAMELESS = " at 0x"  # in the text of a task: an address, which is meaningless in another process


class Spent(NamedTuple):
    """The time and CPU time of outcomes."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0


NOTHING = Spent()


@dataclass
class KeptOutcomes:
    """Outcomes by task; `header` identifies the run, and a file with another header is started again."""

    path: Path
    header: str
    clock: Callable[[], Spent] = Spent  # of this process
    known: dict[str, Any] = field(default_factory=dict)
    pools: int = 0
    before: Spent = NOTHING  # by the processes that were stopped

    def __post_init__(self) -> None:
        """Read the existing outcomes; the last one may have been cut off when the process was killed."""
        good = 0
        if self.path.exists():
            with self.path.open("rb") as stream:
                try:
                    if pickle.load(stream) == self.header:
                        good = stream.tell()
                        while True:
                            key, outcome, spent = pickle.load(stream)
                            self.known[key], self.before = outcome, Spent(*spent)
                            good = stream.tell()
                except Exception:  # any error of pickle for a truncated file
                    pass
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("r+b" if good else "wb") as stream:
            stream.truncate(good)
            stream.seek(good)
            if not good:
                pickle.dump(self.header, stream)

    def next_pool(self) -> int:
        """The number of a pool of tasks; an experiment has them in the same order every time."""
        self.pools += 1
        return self.pools

    def key(self, pool: int, task: Any) -> str | None:
        """The key of a task; None if its text does not describe it completely."""
        text = repr(task)
        return None if NAMELESS in text else f"{pool} {text}"

    def add(self, key: str | None, outcome: Any) -> None:
        """Keep one more."""
        if key is None:
            return
        self.known[key] = outcome
        with self.path.open("ab") as stream:
            pickle.dump((key, outcome, tuple(self.spent())), stream)

    def spent(self) -> Spent:
        """The time of the experiment so far."""
        now = self.clock()
        return Spent(self.before.seconds + now.seconds, self.before.cpu_seconds + now.cpu_seconds)


@dataclass(frozen=True)
class Watch:
    """Follows the tasks of an experiment: reports the next task and the number of finished ones; stores outcomes."""

    tell: Callable[[Any, int, int], None]  # task, done, of how many
    kept: KeptOutcomes | None = None
