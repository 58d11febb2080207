"""Unified EM for HMMs: T(θ; γ) = Σ_gold log P(x, y) + Σ max_q (E_q[log P(x, h)] + γ H(q)) + log prior (thesis Eq. 4.3).

An E-step (a `Completion`) finds q, an M-step the parameters of the largest E_q[log P] and prior; neither lets T fall.
Each input counts as often as its weight. Two ways to set labelled inputs against completed ones:

    counts    those of both are added
    β         θ = β θ_gold + (1 − β) θ_completed (thesis Algorithm 8); T is then watched, and need not rise. θ are the
              probabilities; or, as that algorithm has it for weights, their logarithms (`mix_logs`)

Inputs may be held shard by shard (`sharded`): counts are added along the fixed tree of the shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.errors import Intractable
from sidelight.generative.completion import Completion, StateBeliefs, point
from sidelight.generative.emissions import Emissions, grouped
from sidelight.generative.hmm import Hmm, HmmScores
from sidelight.generative.hmm_counts import HmmCounts, HmmSmoothing, estimate, log_likelihood, log_prior
from sidelight.parallel.place import Held, Place, pieces_of
from sidelight.spaces import Space


class EMStep(NamedTuple):
    """The result of an E-step."""

    counts: HmmCounts
    objective: float  # T of the parameters it was made with
    labels: Ids | None  # [T] of the completed inputs, where each has one labeling

    def plus(self, other: EMStep) -> EMStep:
        """The combined result of these inputs and the following ones."""
        labels = None if self.labels is None or other.labels is None else np.concatenate([self.labels, other.labels])
        return EMStep(self.counts.plus(other.counts), self.objective + other.objective, labels)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs to be completed: their emissions, and their admitted outputs."""

    symbols: Ids  # [T]
    space: Space
    weights: Floats  # [N]
    order: Ints  # [T] tokens by symbol
    bounds: Ints  # [S + 1]

    @classmethod
    def of(cls, symbols: Ids, space: Space, weights: Floats, *, size: int) -> Inputs:
        """Inputs with so many symbols in all."""
        return cls(symbols, space, weights, *grouped(symbols, size))

    def __len__(self) -> int:
        return len(self.weights)

    def counts(self, beliefs: StateBeliefs, *, n_jobs: int | None = None) -> HmmCounts:
        """The expected counts under beliefs that are weighted already."""
        return HmmCounts.of(beliefs, self.order, self.bounds, n_jobs=n_jobs)

    def completed(self, hmm: Hmm, completion: Completion, gamma: float, *, n_jobs: int | None = None) -> EMStep:
        """The result of an E-step on these inputs."""
        scores = HmmScores(hmm, self.symbols)
        beliefs = completion.complete(scores, self.space, gamma=gamma, weights=self.weights, n_jobs=n_jobs)
        return EMStep(self.counts(beliefs, n_jobs=n_jobs), float(self.weights @ beliefs.values), beliefs.labels)

    def part(self, lo: int, hi: int) -> Inputs:
        """The inputs lo..hi alone."""
        first, last = int(self.space.starts[lo]), int(self.space.starts[hi])
        symbols, size = np.array(self.symbols[first:last]), len(self.bounds) - 1
        return Inputs.of(symbols, self.space.part(lo, hi), self.weights[lo:hi], size=size)

    def counts_of_labels(self, labels: Ids) -> HmmCounts:
        """The counts of one labeling."""
        return self.counts(point(labels, np.zeros(len(self)), self.space, weights=self.weights))


@dataclass(frozen=True, slots=True)
class InputBlocks:
    """Inputs to be completed that lie in blocks, opened when they are needed."""

    blocks: OneAtATime[Inputs]
    starts: Ints  # [N + 1]
    held: Held | None = None  # the same in a place, where there are several

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True)
class EmProblem:
    """Labelled inputs as counts, inputs to be completed, and how parameters are made of both."""

    emissions: Emissions
    gold: HmmCounts | None
    all_inputs: Inputs | InputBlocks
    smoothing: HmmSmoothing
    beta: float | None = None
    n_jobs: int | None = None
    mix_logs: bool = False

    @property
    def inputs(self) -> Inputs:
        """The inputs to be completed; raises `Intractable` if they are in several blocks."""
        if isinstance(self.all_inputs, InputBlocks):
            raise Intractable("this way to begin needs all inputs in memory; begin with gold, uniform or em")
        return self.all_inputs

    @property
    def blocks(self) -> Sequence[Inputs]:
        """The inputs to be completed, block by block."""
        return self.all_inputs.blocks if isinstance(self.all_inputs, InputBlocks) else (self.all_inputs,)

    @property
    def starts(self) -> Ints:
        """The first token of each input to be completed. # [N + 1]"""
        return self.all_inputs.starts if isinstance(self.all_inputs, InputBlocks) else self.all_inputs.space.starts

    def within(self, space: Space) -> EmProblem:
        """The same with another space for the inputs."""
        return replace(self, all_inputs=replace(self.inputs, space=space))

    def counts(self, believed: Callable[[Inputs], StateBeliefs]) -> HmmCounts:
        """The expected counts of all inputs under what is believed of each block."""
        counts: HmmCounts | None = None
        for inputs in self.blocks:
            here = inputs.counts(believed(inputs), n_jobs=self.n_jobs)
            counts = here if counts is None else counts.plus(here)
        if counts is None:
            raise ValueError("nothing is to be completed; give inputs without labels")
        return counts

    def expect(self, hmm: Hmm, completion: Completion, gamma: float) -> EMStep:
        """The E-step."""
        steps = (inputs.completed(hmm, completion, gamma, n_jobs=self.n_jobs) for inputs in self.blocks)
        return self._with_known(reduce(EMStep.plus, steps), hmm)

    def _with_known(self, step: EMStep, hmm: Hmm) -> EMStep:
        return step._replace(objective=step.objective + self.known(hmm))

    def began(self, completion: Completion) -> Floats | None:
        """The completion's memory of all inputs at the start of the last E-step; None if it has none."""
        return completion.began if isinstance(completion, Divisible) else None

    def begin_at(self, completion: Completion, memory: Floats) -> None:
        """Let the next E-step begin with that."""
        assert isinstance(completion, Divisible)
        completion.at(completion.prices, memory)

    def known(self, hmm: Hmm) -> float:
        """The part of T that needs no completion: the labelled inputs and the prior."""
        likelihood = 0.0 if self.gold is None else log_likelihood(self.gold, hmm)
        return likelihood + log_prior(hmm, self.smoothing, n_words=self.emissions.n_words)

    def estimate(self, completed: HmmCounts | None) -> Hmm:
        """The M-step; with nothing completed, the supervised model."""
        n_words = self.emissions.n_words
        if completed is None or self.gold is None:
            counts = self.gold if completed is None else completed
            if counts is None:
                raise ValueError("nothing was counted; give labelled or completed inputs")
            return estimate(counts, self.smoothing, n_words=n_words)
        if self.beta is None:
            return estimate(self.gold.plus(completed), self.smoothing, n_words=n_words)
        labelled, other = (estimate(part, self.smoothing, n_words=n_words) for part in (self.gold, completed))
        return labelled.mixed_logs(other, self.beta) if self.mix_logs else labelled.mixed(other, self.beta)


def iterations(
    problem: EmProblem, hmm: Hmm, completion: Completion, *, gamma: Callable[[int], float], first: int = 0
) -> Iterator[tuple[Hmm, EMStep, EMStep]]:
    """Parameters, the E-step that they were made from and the one made with them, without end.

    `gamma` is a function of the number of the E-step, which begins at `first`.
    """
    before = problem.expect(hmm, completion, gamma(first))
    for number in count(first + 1):
        hmm = problem.estimate(before.counts)
        after = problem.expect(hmm, completion, gamma(number))
        yield hmm, before, after
        before = after


def fitted(problem: EmProblem, hmm: Hmm, completion: Completion, *, gamma: float, most: int, rise: float = 1e-4) -> Hmm:
    """Parameters after so many iterations, or once T rises by less than a share `rise` of itself."""
    for number, (parameters, before, after) in enumerate(
        iterations(problem, hmm, completion, gamma=lambda _: gamma), 1
    ):
        hmm = parameters
        if number >= most or after.objective - before.objective <= rise * abs(after.objective):
            break
    return hmm


@runtime_checkable
class Divisible(Completion, Protocol):
    """A completion of inputs that can be completed in parts, elsewhere."""

    def part(self, lo: int, hi: int) -> Divisible:
        """The completion of the inputs lo..hi."""
        ...

    @property
    def prices(self) -> Sequence[float]:
        """The penalties for the next E-step."""
        ...

    @property
    def memory(self) -> Floats | None:
        """Its memory of the last E-step, which makes the next one faster."""
        ...

    @property
    def began(self) -> Floats | None:
        """Its memory at the start of that E-step."""
        ...

    def rows(self) -> int:
        """The number of values in its memory."""
        ...

    def at(self, prices: Sequence[float], memory: Floats | None) -> None:
        """Set the penalties and the memory, taken from another completion."""
        ...

    def completed(self, labels: Ids | None, starts: Ints) -> None:
        """After an E-step with the current penalties: receives its outputs, if each input has one."""
        ...


@dataclass(frozen=True, slots=True)
class ShardedEm(EmProblem):
    """A problem whose E-steps are made where the inputs are."""

    held: Held | None = None  # of inputs with their completions

    def expect(self, hmm: Hmm, completion: Completion, gamma: float) -> EMStep:
        """The E-step."""
        assert self.held is not None and isinstance(completion, Divisible)
        step = self.held.advance(_expect, hmm, gamma, list(completion.prices), self.held.n_jobs)
        completion.completed(step.labels, self.starts)
        return self._with_known(step, hmm)

    def began(self, completion: Completion) -> Floats | None:
        assert self.held is not None
        memories = self.held.remembered(before=True)
        return None if any(one is None for one in memories) else np.concatenate(memories)

    def begin_at(self, completion: Completion, memory: Floats) -> None:
        assert self.held is not None
        self.held.remember(np.split(memory, np.cumsum(self.held.each(_rows))[:-1]))


def sharded(problem: EmProblem, completion: Completion, place: Place) -> EmProblem:
    """The problem in a place, where it makes several shards and its completion can be divided."""
    if not isinstance(completion, Divisible):
        return problem
    if isinstance(problem.all_inputs, InputBlocks):
        if problem.all_inputs.held is None:
            return problem
        held = problem.all_inputs.held.derive(_beside, completion)  # `Free`: rules need all inputs in memory
    else:
        inputs = problem.inputs
        lots = pieces_of(inputs.space.starts, place.shard_tokens)
        if len(lots) <= 1:
            return problem
        held = place.hold([(inputs.part(lo, hi), completion.part(lo, hi)) for lo, hi in lots])
    own = {name: getattr(problem, name) for name in EmProblem.__slots__}
    return ShardedEm(**own, held=held)


def _beside(inputs: Inputs, completion: Divisible) -> tuple[Inputs, Divisible]:
    return inputs, completion


def _rows(piece: tuple[Inputs, Divisible]) -> int:
    return piece[1].rows()


def _expect(piece: Any, memory: Any, hmm: Hmm, gamma: float, prices: list[float], n_jobs: int | None) -> Any:
    inputs: Inputs
    inputs, completion = piece
    completion.at(prices, memory)
    step = inputs.completed(hmm, completion, gamma, n_jobs=n_jobs)
    return completion.memory, step
