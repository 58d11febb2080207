"""MIRA and passive–aggressive learning, an epoch at a time (`solvers.mira`)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sidelight.arrays import Floats
from sidelight.learners.learner import State
from sidelight.learners.stopping import MAX_ROUNDS, NO_STEPS
from sidelight.objective.entries import Examples, examples_of
from sidelight.objective.margin import ChainBatch
from sidelight.objective.online_mira import mira_epoch
from sidelight.records import Round
from sidelight.solvers.mira import Mira, MiraOptions
from sidelight.spaces import Cost


@dataclass(slots=True)
class OnlineLearner:
    """MIRA or passive–aggressive learning over chains and classes."""

    data: Examples
    batch: ChainBatch
    importance: Floats
    mira: Mira
    rng: np.random.Generator
    max_rounds: int
    name: str = "mira"
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False

    @classmethod
    def fresh(
        cls,
        batch: ChainBatch,
        cost: Cost,
        importance: Floats,
        options: MiraOptions,
        *,
        max_rounds: int = 10,
        seed: int = 0,
        start: Floats | None = None,
    ) -> OnlineLearner:
        """A learner before its first epoch, at zero or at the weights `start`.

        Raises `ValueError` for other spaces than chains of order 1.
        """
        if max_rounds < 1:
            raise ValueError(f"max_rounds is {max_rounds}; give 1 or more")
        mira = Mira.fresh(batch.layout.size, options)
        if start is not None:
            mira.weights[:] = start
        name = "mira" if options.rule == "MIRA" else "passive_aggressive"
        rng = np.random.default_rng(seed)
        return cls(examples_of(batch, cost), batch, importance, mira, rng, max_rounds, name)

    @property
    def weights(self) -> Floats:
        """The average of all weights so far."""
        return self.mira.average()

    def finish(self) -> Floats:
        """The same, for keeps."""
        return self.mira.average()

    def run(self) -> Iterator[Round]:
        """Epochs until training ends."""
        while not self.done and self.rounds < self.max_rounds:
            yield self.round()

    def round(self) -> Round:
        """One epoch."""
        began = time.perf_counter()
        options = self.mira.options
        limits = options.caps(self.importance), options.eases(self.importance)
        epoch = partial(mira_epoch, self.data, self.batch.layout, *limits)
        moved = self.mira.epoch(epoch, len(self.batch), self.rng)
        self.rounds += 1
        stopped = NO_STEPS if moved == 0 else MAX_ROUNDS if self.rounds >= self.max_rounds else None
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, self.name, self.seconds, mistakes=moved, last=self.done, stopped=stopped)

    def has_result(self, record: Round) -> bool:
        """Every epoch ends with weights that can be used."""
        return True

    def state(self) -> State:
        """Everything needed to go on."""
        values = {
            "name": self.name,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "done": self.done and self.rounds < self.max_rounds,
            "clock": self.mira.clock,
            "rng": self.rng.bit_generator.state,
        }
        return values, {"weights": self.mira.weights, "totals": self.mira.totals}

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same data and options."""
        values, arrays = state
        options = self.mira.options
        self.mira = Mira(arrays["weights"].copy(), arrays["totals"].copy(), options, values["clock"])
        self.rng.bit_generator.state = values["rng"]
        self.rounds, self.seconds, self.done = values["rounds"], values["seconds"], values["done"]
