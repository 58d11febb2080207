"""EM whose inputs are held shard by shard: counts are added along the fixed tree of the shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.generative.completion import Completion
from sidelight.generative.em import EmProblem, EMStep, InputBlocks, Inputs
from sidelight.generative.hmm import Hmm, HmmScores
from sidelight.parallel.place import Held, Place, pieces_of


@runtime_checkable
class Divisible(Completion, Protocol):
    """A completion of inputs that can be completed in parts, elsewhere."""

    def part(self, lo: int, hi: int) -> Divisible:
        """That of the inputs lo..hi."""
        ...

    @property
    def prices(self) -> Sequence[float]:
        """What it knows besides the inputs: as they are for the next E-step."""
        ...

    @property
    def memory(self) -> Floats | None:
        """What it keeps of its last E-step, for a quicker next one."""
        ...

    def at(self, prices: Sequence[float], memory: Floats | None) -> None:
        """Take up what another one knew."""
        ...

    def completed(self, labels: Ids | None, starts: Ints) -> None:
        """An E-step was made with the prices of now, and came to these outputs, where each input has one."""
        ...


@dataclass(frozen=True, slots=True)
class ShardedEm(EmProblem):
    """A problem whose E-steps are made where the inputs are."""

    held: Held | None = None  # of inputs with their completions

    def expect(self, hmm: Hmm, completion: Completion, gamma: float) -> EMStep:
        """The E-step."""
        assert self.held is not None and isinstance(completion, Divisible)
        found = self.held.advance(_expect, hmm, gamma, list(completion.prices), self.held.n_jobs)
        completion.completed(found.labels, self.starts)
        return EMStep(found.counts, found.objective + self.known(hmm), found.labels)


def sharded(problem: EmProblem, completion: Completion, place: Place) -> EmProblem:
    """The problem in a place, where it makes several shards and its completion can be divided."""
    if not isinstance(completion, Divisible):
        return problem
    if isinstance(problem.all_inputs, InputBlocks):
        if problem.all_inputs.held is None:
            return problem
        held = problem.all_inputs.held.made(_beside, completion)  # `Free`: rules need all inputs in memory
    else:
        inputs = problem.inputs
        lots = pieces_of(inputs.space.starts, place.shard_tokens)
        if len(lots) <= 1:
            return problem
        held = place.hold([(_part(inputs, lo, hi), completion.part(lo, hi)) for lo, hi in lots])
    own = {name: getattr(problem, name) for name in EmProblem.__slots__}
    return ShardedEm(**own, held=held)


def _beside(inputs: Inputs, completion: Divisible) -> tuple[Inputs, Divisible]:
    return inputs, completion


def _part(inputs: Inputs, lo: int, hi: int) -> Inputs:
    first, last = int(inputs.space.starts[lo]), int(inputs.space.starts[hi])
    size = len(inputs.bounds) - 1
    return Inputs.of(np.array(inputs.symbols[first:last]), inputs.space.part(lo, hi), inputs.weights[lo:hi], size=size)


def _expect(piece: Any, memory: Any, hmm: Hmm, gamma: float, prices: list[float], n_jobs: int | None) -> Any:
    inputs: Inputs
    inputs, completion = piece
    completion.at(prices, memory)
    scores = HmmScores(hmm, inputs.symbols)
    found = completion.complete(scores, inputs.space, gamma=gamma, weights=inputs.weights, n_jobs=n_jobs)
    step = EMStep(inputs.counts(found, n_jobs=n_jobs), float(inputs.weights @ found.values), found.labels)
    return completion.memory, step
