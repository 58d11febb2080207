"""Outcomes of tasks in a file, so that an experiment that was killed goes on from the tasks that it had finished.

With each outcome stands what all of them had taken by then, so that the time of a run counts the parts that were
stopped.
The file is the experiment's own and for this machine alone: it holds pickled values, is read only by the same sources
with the same settings, and is removed when the experiment is finished.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

NAMELESS = " at 0x"  # in the text of a task: an address, which says nothing in another process


class Spent(NamedTuple):
    """What outcomes have taken."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0


NOTHING = Spent()


@dataclass
class KeptOutcomes:
    """Outcomes by task; `header` says what they belong to, and a file with another one is started again."""

    path: Path
    header: str
    clock: Callable[[], Spent] = Spent  # of this process
    known: dict[str, Any] = field(default_factory=dict)
    pools: int = 0
    before: Spent = NOTHING  # by the processes that were stopped

    def __post_init__(self) -> None:
        """Read what is there; the last outcome may have been cut off when the process was killed."""
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
                except Exception:  # whatever a file that ends in the middle makes pickle say
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
        """What a task is known by; None where its text does not say all of it."""
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
        """What the experiment has taken so far."""
        now = self.clock()
        return Spent(self.before.seconds + now.seconds, self.before.cpu_seconds + now.cpu_seconds)


@dataclass(frozen=True)
class Watch:
    """What follows the tasks of an experiment: hears which is next and how many are done, and keeps outcomes."""

    tell: Callable[[Any, int, int], None]  # task, done, of how many
    kept: KeptOutcomes | None = None
