"""HMMs by counting, and by EM at any temperature; the result is a linear model like any other.

The problem is in `generative.em`: γ = 1 is EM, γ ≤ 0 hard EM, any other value up to ∞ tempered EM. The completion sets
further constraints on the beliefs. γ may fall or rise to its last value over the first iterations (deterministic
annealing, Rose 1998; thesis 4.2.1). A round is one iteration; its objective is −T(θ; γ) of its last parameters. At a
fixed γ, the objective never rises if smoothing is a prior and β is not used. Training ends when the objective falls by
less than a share `decrease`, when a hard completion repeats the previous one, or after the maximum number of
iterations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids
from sidelight.core.file_contents import array_of
from sidelight.core.records import CLOSED_FORM, NO_CHANGE, NO_FALL
from sidelight.features.layout import Layout
from sidelight.generative.completion import Completion, Free
from sidelight.generative.em import EmProblem, EMStep, iterations
from sidelight.generative.hmm import Hmm
from sidelight.inference.ruled_inputs import Ruled, RuledInputs
from sidelight.rounds.learner import RoundByRound, State, Step

Schedule = Literal["linear", "geometric"]


class Annealing(NamedTuple):
    """γ moves from `first` to its last value over a number of E-steps."""

    first: float
    steps: int
    schedule: Schedule = "linear"


@dataclass(frozen=True, slots=True)
class EmOptions:
    """The temperature, and when to stop; with no iterations, learning is supervised."""

    gamma: float = 1.0
    iterations: int = 50
    decrease: float = 1e-5
    annealing: Annealing | None = None

    def gamma_at(self, number: int) -> float:
        """γ of an E-step; the first E-step has number 0.

        >>> options = EmOptions(1.0, annealing=Annealing(4.0, 2, "geometric"))
        >>> [options.gamma_at(number) for number in range(4)]
        [4.0, 2.0, 1.0, 1.0]
        """
        if self.annealing is None or number >= self.annealing.steps:
            return self.gamma
        first, steps, schedule = self.annealing
        last, share = max(self.gamma, 0.0), number / steps
        if schedule == "geometric":
            return first * math.exp(share * math.log(last / first))
        return first + share * (last - first)


@dataclass(slots=True)
class HmmLearner(RoundByRound):
    """EM from given parameters, or the supervised model if there is nothing to iterate."""

    problem: EmProblem
    layout: Layout
    options: EmOptions
    hmm: Hmm
    name: str
    completion: Completion = field(default_factory=Free)
    _iterations: Iterator[tuple[Hmm, EMStep, EMStep]] | None = None

    @property
    def weights(self) -> Floats:
        """The current parameters as log-probabilities."""
        return self.hmm.weights(self.layout, self.problem.emissions)

    @property
    def in_closed_form(self) -> bool:
        """Whether there is nothing to iterate."""
        return not self.options.iterations or not len(self.problem.all_inputs)

    def learned_penalties(self) -> tuple[RuledInputs | None, list[float]]:
        under = self.completion
        return (under.inputs, under.of_weights) if isinstance(under, Ruled) else (None, [])

    def limit(self) -> int:
        return 1 if self.in_closed_form else self.options.iterations

    def step(self) -> Step:
        """The model of Gold, or one iteration."""
        if self.in_closed_form:
            self.hmm = self.problem.estimate(None)
            return CLOSED_FORM, {"objective": -self.problem.known(self.hmm)}
        if self._iterations is None:
            gamma, done_before = self.options.gamma_at, self.rounds - 1
            self._iterations = iterations(self.problem, self.hmm, self.completion, gamma=gamma, first=done_before)
        self.hmm, before, after = next(self._iterations)
        changed = self._changed(before.labels, after.labels)
        figures = {"completion": self.rounds, "changed": changed, "objective": -after.objective}
        return self._stopped(before, after, changed), figures

    def more_state(self) -> State:
        """The parameters; on resuming, the last E-step is repeated."""
        hmm = self.hmm
        arrays = {"start": hmm.start, "transition": hmm.transition, "emission": hmm.emission}
        arrays |= {} if hmm.stop is None else {"stop": hmm.stop}
        arrays |= {} if hmm.second is None else {"second": hmm.second}
        if isinstance(self.completion, Ruled):
            arrays["penalties"] = np.array(self.completion.used)
            if (began := self.problem.began(self.completion)) is not None:
                arrays["multipliers"] = began
        return {}, arrays

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        if isinstance(self.completion, Ruled):
            count = len(self.completion.first)
            self.completion.penalties = array_of(
                arrays, "penalties", np.float64, [count], low=0.0, finite=False
            ).tolist()
            if "multipliers" in arrays:
                rows = self.completion.rows()
                self.problem.begin_at(self.completion, array_of(arrays, "multipliers", np.float64, [rows]))
        names = ("start", "transition", "emission", "stop", "second")
        fresh = {name: getattr(self.hmm, name) for name in names}
        self.hmm = Hmm(
            *(
                None if now is None else array_of(arrays, name, np.float64, now.shape, low=0.0, high=1.0 + 1e-9)
                for name, now in fresh.items()
            )  # type: ignore[arg-type]
        )

    def _stopped(self, before: EMStep, after: EMStep, changed: int) -> str | None:
        """Why training ends, if it does."""
        if self.rounds >= self.options.iterations:
            return None
        if self.options.annealing is not None and self.rounds <= self.options.annealing.steps:
            return None
        if after.labels is not None and not changed and self.problem.beta is None:
            return NO_CHANGE
        rise = after.objective - before.objective
        return NO_FALL if 0.0 <= rise < self.options.decrease * abs(after.objective) else None

    def _changed(self, before: Ids | None, after: Ids | None) -> int:
        """The number of outputs changed by an E-step, if completions are hard."""
        if before is None or after is None:
            return 0
        return int(np.count_nonzero(np.add.reduceat(before != after, self.problem.starts[:-1], dtype=np.int64)))
