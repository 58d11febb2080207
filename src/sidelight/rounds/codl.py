"""Constraint-driven learning for any learner that makes weights from labelled inputs (Chang 2011, Algorithm 8).

    w_0, ρ_0 = learn(L)
    repeat N times:
        ŷ = argmax_y w·Φ(x, y) − Σ_k ρ_k d_k(x, y)  for every unlabelled x, within what is admitted;  T = {(x, ŷ)}
        (w, ρ) = β (w_0, ρ_0) + (1 − β) learn(T)

With β none, w = learn(L and T) instead, where T counts by its price. Without rules this is hard EM for a discriminative
model. A round is one cycle; the first is learn(L). Ends after N cycles, or when a completion repeats the one before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of, number_of, whole_of
from sidelight.core.records import Round
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.rounds.learner import State
from sidelight.rounds.stopping import MAX_COMPLETIONS, NO_CHANGE
from sidelight.rules.lowering.penalties import mixed

Learn = Callable[[Ids | None], Floats]  # the labels of the unlabelled inputs [T], or None for Gold alone, to weights
Complete = Callable[[Floats, Sequence[float]], Ids]  # weights and penalties to the labels of the unlabelled inputs
Count = Callable[[Ids | None], list[float]]  # labels as above to penalties


@dataclass(slots=True)
class DrivenLearner:
    """Completion under rules and learning by turns."""

    learn: Learn
    complete: Complete
    count: Count
    inputs: AnyRuled  # the unlabelled inputs with their rules
    starts: Ints  # [N + 1] of the unlabelled inputs
    cycles: int
    beta: float | None
    size: int  # of the weights
    name: str = "codl"
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    first: Floats = field(default_factory=lambda: np.zeros(0))  # w_0
    penalties: list[float] = field(default_factory=list)
    first_penalties: list[float] = field(default_factory=list)  # ρ_0
    labels: Ids | None = None
    rounds: int = 0
    seconds: float = 0.0

    def run(self) -> Iterator[Round]:
        """One round a cycle, after one for the labelled inputs."""
        while self.rounds <= self.cycles and not (self.rounds and len(self.starts) == 1):
            record = self.round()
            yield record
            if record.last:
                return

    def round(self) -> Round:
        """Learn from Gold, or complete and learn."""
        began = time.perf_counter()
        changed, stopped = 0, None
        if self.rounds == 0:
            self.first = self.weights = self.learn(None)
            self.first_penalties = self.penalties = self.count(None)
            if len(self.starts) == 1:
                stopped = MAX_COMPLETIONS
        else:
            labels = self.complete(self.weights, self.penalties)
            changed = self._changed(labels)
            self.labels = labels
            if changed == 0 and self.rounds > 1:
                stopped = NO_CHANGE
            else:
                self._learn(labels)
        self.rounds += 1
        if stopped is None and self.rounds > self.cycles:
            stopped = MAX_COMPLETIONS
        self.seconds += time.perf_counter() - began
        return Round(
            self.rounds,
            self.name,
            self.seconds,
            completion=self.rounds - 1,
            changed=changed,
            last=stopped is not None,
            stopped=stopped,
        )

    def _learn(self, labels: Ids) -> None:
        new_weights = self.learn(labels)
        if self.beta is None:
            self.weights, self.penalties = new_weights, self.count(labels)
            return
        self.weights = self.beta * self.first + (1.0 - self.beta) * new_weights
        self.penalties = mixed(self.first_penalties, self.count(labels), self.beta)

    def _changed(self, labels: Ids) -> int:
        if self.labels is None:
            return len(self.starts) - 1
        return int(np.count_nonzero(np.add.reduceat(labels != self.labels, self.starts[:-1], dtype=np.int64)))

    def has_result(self, record: Round) -> bool:
        """Every round ends with weights that can be used."""
        return True

    def finish(self) -> Floats:
        """The weights, for keeps."""
        return self.weights

    def state(self) -> State:
        """Everything between two cycles."""
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights, "first": self.first}
        arrays |= {"penalties": np.array(self.penalties), "first_penalties": np.array(self.first_penalties)}
        arrays |= {} if self.labels is None else {"labels": self.labels}
        return {"name": self.name, "rounds": self.rounds, "seconds": self.seconds}, arrays

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same data and options."""
        values, arrays = state
        self.rounds, self.seconds = whole_of(values, "rounds", low=1), number_of(values, "seconds", low=0.0)
        self.weights, self.first = (array_of(arrays, name, np.float64, [self.size]) for name in ("weights", "first"))
        self.penalties, self.first_penalties = (
            array_of(arrays, name, np.float64, [len(self.inputs.rules)], low=0.0, finite=False).tolist()
            for name in ("penalties", "first_penalties")
        )
        tokens = int(self.starts[-1])
        self.labels = array_of(arrays, "labels", np.int32, [tokens], low=0) if "labels" in arrays else None
