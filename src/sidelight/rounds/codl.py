"""Constraint-driven learning for any learner that makes weights from labelled inputs (Chang 2011, Algorithm 8).

    w_0, ρ_0 = learn(L)
    repeat N times:
        ŷ = argmax_y w·Φ(x, y) − Σ_k ρ_k d_k(x, y)  for every unlabelled x, within what is admitted;  T = {(x, ŷ)}
        (w, ρ) = β (w_0, ρ_0) + (1 − β) learn(T)

With β none, w = learn(L and T) instead, where T counts by its price. Without rules this is hard EM for a discriminative
model. A round is one cycle; the first is learn(L). Ends after N cycles, or when a completion repeats the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of, whole_of
from sidelight.core.records import MAX_COMPLETIONS, NO_CHANGE
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rules.lowering.penalties import mixed

Learn = Callable[[Ids | None], Floats]  # the labels of the unlabelled inputs [T], or None for Gold alone, to weights
Complete = Callable[[Floats, Sequence[float]], Ids]  # weights and penalties to the labels of the unlabelled inputs
Count = Callable[[Ids | None], list[float]]  # labels as above to penalties


@dataclass(slots=True)
class DrivenLearner(RoundByRound):
    """Completion under rules and learning by turns: one round for the labelled inputs, then one a cycle."""

    LIMIT = MAX_COMPLETIONS

    learn: Learn
    complete: Complete
    count: Count
    inputs: AnyRuled  # the unlabelled inputs with their rules
    starts: Ints  # [N + 1] of the unlabelled inputs
    cycles: int
    beta: float | None
    size: int  # of the weights
    name: str = "codl"
    now: Floats = field(default_factory=lambda: np.zeros(0))
    first: Floats = field(default_factory=lambda: np.zeros(0))  # w_0
    penalties: list[float] = field(default_factory=list)
    first_penalties: list[float] = field(default_factory=list)  # ρ_0
    labels: Ids | None = None

    @property
    def weights(self) -> Floats:
        """Those of the last cycle."""
        return self.now

    def limit(self) -> int:
        """No cycle has anything to complete where all inputs are labelled."""
        return 1 + self.cycles if len(self.starts) > 1 else 1

    def step(self) -> Step:
        """Learn from Gold, or complete and learn."""
        if self.rounds == 1:
            self.first = self.now = self.learn(None)
            self.first_penalties = self.penalties = self.count(None)
            return None, {}
        labels = self.complete(self.now, self.penalties)
        changed = self._changed(labels)
        self.labels = labels
        same = changed == 0 and self.rounds > 2
        if not same:
            self._learn(labels)
        return NO_CHANGE if same else None, {"completion": self.rounds - 1, "changed": changed}

    def _learn(self, labels: Ids) -> None:
        new_weights = self.learn(labels)
        if self.beta is None:
            self.now, self.penalties = new_weights, self.count(labels)
            return
        self.now = self.beta * self.first + (1.0 - self.beta) * new_weights
        self.penalties = mixed(self.first_penalties, self.count(labels), self.beta)

    def _changed(self, labels: Ids) -> int:
        if self.labels is None:
            return len(self.starts) - 1
        return int(np.count_nonzero(np.add.reduceat(labels != self.labels, self.starts[:-1], dtype=np.int64)))

    def more_state(self) -> State:
        arrays: dict[str, NDArray[Any]] = {"weights": self.now, "first": self.first}
        arrays |= {"penalties": np.array(self.penalties), "first_penalties": np.array(self.first_penalties)}
        return {}, arrays | ({} if self.labels is None else {"labels": self.labels})

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        values.setdefault("done", False)  # earlier files do not say
        whole_of(values, "rounds", low=1)
        self.now, self.first = (array_of(arrays, name, np.float64, [self.size]) for name in ("weights", "first"))
        self.penalties, self.first_penalties = (
            array_of(arrays, name, np.float64, [len(self.inputs.rules)], low=0.0, finite=False).tolist()
            for name in ("penalties", "first_penalties")
        )
        tokens = int(self.starts[-1])
        self.labels = array_of(arrays, "labels", np.int32, [tokens], low=0) if "labels" in arrays else None
