"""Several learners that differ in their seeds; the one with the lowest objective is selected.

With companion answers alone, J-LIS ends in a local optimum that depends on how ties of the first completion were
broken. Chang's thesis (2011, section 6.5.4) runs it fifty times with random ties and selects the run with the lowest
objective, which needs no labels.

Learners run in parallel: a wave makes one round of each running learner, on the given threads, and rounds are reported
in the order of restarts. When a learner ends, its weights are stored if they are the best so far, and the next one
begins. The last round of the best restart is reported only when a better one has ended, or at the very end. So the last
of all rounds belongs to the selected restart. This depends on rounds, never on time, so any number of threads gives the
same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_of, flag_of, list_of, mapping_of, number_of, part_of, whole_of
from sidelight.core.records import Round
from sidelight.parallel.threads import thread_count
from sidelight.rounds.learner import Learner, State


class Ended(NamedTuple):
    """The best of the restarts that have ended."""

    restart: int
    objective: float
    weights: Floats


class Running(NamedTuple):
    """A restart that has not ended."""

    learner: Learner
    rounds: Iterator[Round]


@dataclass(slots=True)
class Restarts:
    """A learner made of one learner per seed, numbered from 0; with equal objectives the first wins.

    A restart's objective is that of its last round; raises ValueError for learners that have none. `make` is called on
    any thread.
    """

    make: Callable[[int], Learner]
    seeds: Sequence[int]
    abreast: int = 8  # number of learners in memory at once
    n_jobs: int | None = None  # threads, each for one learner; a learner may use more of its own
    rounds: int = 0  # reported so far, of all restarts
    seconds: float = 0.0
    begun: int = 0  # number of restarts that have begun
    objectives: dict[int, float] = field(default_factory=dict)  # by restart, of its last round so far
    running: dict[int, Running] = field(default_factory=dict)
    ended: Ended | None = None
    _unreported: list[tuple[Round, bool]] = field(default_factory=list)  # rounds made, and whether they have a result
    _held: tuple[Round, bool] | None = None  # the last round of the best restart that has ended
    _has_result: bool = False  # the round told last

    def __post_init__(self) -> None:
        if len(self.seeds) == 0:
            raise ValueError("there are no seeds; give one or more")
        if self.abreast < 1:
            raise ValueError(f"abreast is {self.abreast}; give 1 or more")

    @property
    def best(self) -> int:
        """The restart with the lowest objective so far."""
        return min(self.objectives, key=lambda number: (self.objectives[number], number), default=0)

    @property
    def weights(self) -> Floats:
        """The weights of the best restart so far."""
        if self.ended is not None and self.ended.restart == self.best:
            return self.ended.weights
        if self.best in self.running:
            return self.running[self.best].learner.weights
        return self.make(self.seeds[0]).weights

    def finish(self) -> Floats:
        """The final weights."""
        return self.weights

    def run(self) -> Iterator[Round]:
        """Rounds of all restarts until every one has ended, with the last round of the selected one at the end; their
        numbers count all rounds.
        """
        while self._unreported or self.running or self.begun < len(self.seeds):
            if not self._unreported:
                self._wave()
                continue
            record, self._has_result = self._unreported.pop(0)
            self.rounds = record.number
            yield record

    def has_result(self, record: Round) -> bool:
        """Whether the best restart so far reached a result with this round, the last reported one."""
        return self._has_result and record.number == self.rounds

    def _wave(self) -> None:
        """One round of every restart that is running or begins now in a free slot."""
        clock = time.perf_counter()
        fresh = min(len(self.seeds) - self.begun, self.abreast - len(self.running))
        numbers = [*sorted(self.running), *range(self.begun, self.begun + fresh)]
        self.begun += fresh
        count = min(thread_count(self.n_jobs), len(numbers))
        if count <= 1:
            results = [self._advance(number) for number in numbers]
        else:
            with ThreadPoolExecutor(count) as pool:  # a separate pool, since learners may wait for the shared one
                results = list(pool.map(self._advance, numbers))
        self.seconds += time.perf_counter() - clock
        records: list[tuple[Round, bool]] = []
        for number, (running, record) in zip(numbers, results):
            self.running[number] = running
            self.objectives[number] = _objective(record)
            made_now = replace(record, restart=number), running.learner.has_result(record)
            if record.last and self._end(number):
                records += [] if self._held is None else [self._held]
                self._held = made_now
            else:
                records.append(made_now)
        over = not self.running and self.begun == len(self.seeds)
        if over and self._held is not None:
            records.append(self._held)
            self._held = None
        for place, (record, result) in enumerate(records, 1):
            last = over and place == len(records)
            shown = replace(record, number=self.rounds + place, seconds=self.seconds, last=last)
            self._unreported.append((shown, result and record.restart == self.best))

    def _advance(self, number: int) -> tuple[Running, Round]:
        running = self.running.get(number)
        if running is None:
            learner = self.make(self.seeds[number])
            running = Running(learner, learner.run())
        return running, next(running.rounds)

    def _end(self, number: int) -> bool:
        """Store the weights of an ended restart if no earlier one is as good; returns whether they were stored."""
        learner, objective = self.running.pop(number).learner, self.objectives[number]
        if self.ended is not None and (objective, number) >= (self.ended.objective, self.ended.restart):
            return False
        self.ended = Ended(number, objective, learner.finish())
        return True

    def state(self) -> State:
        """Everything needed to go on."""
        states = {number: running.learner.state() for number, running in self.running.items()}
        values: dict[str, Any] = {
            "name": "restarts",
            "rounds": self.rounds,
            "seconds": self.seconds,
            "begun": self.begun,
            "objectives": sorted(self.objectives.items()),
            "running": [[number, state[0]] for number, state in states.items()],
            "ended": None if self.ended is None else self.ended[:2],
            "untold": [[record.as_dict(), result] for record, result in self._unreported],
            "held": None if self._held is None else [self._held[0].as_dict(), self._held[1]],
            "result": self._has_result,
        }
        arrays: dict[str, NDArray[Any]] = {
            f"{number}.{name}": array for number, state in states.items() for name, array in state[1].items()
        }
        if self.ended is not None:
            arrays["ended"] = self.ended.weights
        return values, arrays

    def resume(self, state: State) -> None:
        """Resume from the state of an earlier run with the same seeds and learners; ended restarts stay ended."""
        values, arrays = state
        self.rounds, self.seconds = whole_of(values, "rounds"), number_of(values, "seconds", low=0.0)
        self.begun = whole_of(values, "begun", high=len(self.seeds))
        self.objectives = dict(self._number(pair, "objectives") for pair in list_of(values, "objectives"))
        self.running = {}
        for pair in list_of(values, "running"):
            number, own = list_of({"running": pair}, "running", count=2)
            place = whole_of({"running": number}, "running", high=self.begun - 1)
            learner = self.make(self.seeds[place])
            learner.resume((mapping_of({"running": own}, "running"), part_of(arrays, f"{place}.")))
            self.running[place] = Running(learner, learner.run())
        self.ended = None
        if values.get("ended") is not None:
            size = len(self.make(self.seeds[0]).weights)
            self.ended = Ended(*self._number(values["ended"], "ended"), array_of(arrays, "ended", np.float64, [size]))
        self._unreported = [_stored_pair(pair) for pair in list_of(values, "untold")]
        self._held = None if values.get("held") is None else _stored_pair(values["held"])
        self._has_result = "result" in values and flag_of(values, "result")  # older checkpoints have none

    def _number(self, pair: Any, name: str) -> tuple[int, float]:
        """The number and the objective of a begun restart in a checkpoint."""
        number, objective = list_of({name: pair}, name, count=2)
        return whole_of({name: number}, name, high=self.begun - 1), number_of({name: objective}, name)


def _stored_pair(pair: Any) -> tuple[Round, bool]:
    record, result = list_of({"a round": pair}, "a round", count=2)
    return Round.stored(mapping_of({"a round": record}, "a round")), flag_of({"a round": result}, "a round")


def _objective(record: Round) -> float:
    if record.objective is None:
        raise ValueError(f"the learner {record.learner} has no objective to choose a restart by; use a margin learner")
    return record.objective
