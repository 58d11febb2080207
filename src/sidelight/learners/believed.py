"""Posterior regularisation of a CRF: beliefs that obey rules, and a model that follows them (Ganchev et al. 2010).

    min over w and q  ½ ‖w‖² + Σ_gold C (−log p_w(y | x)) + Σ_pool C' (−E_q[log p_w(y | x)] − γ H(q))

over distributions q that obey the rules in expectation; for γ = 1 the last term is KL(q, p_w). An E-step finds q (a
`Completion`), an M-step the weights, by L-BFGS from those of the moment; neither lets the objective rise. A round is
both. The first round learns from Gold alone. Ends when the objective falls by less than a share `decrease` of itself,
or after so many iterations.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sidelight.arrays import Floats
from sidelight.generative.completion import Completion
from sidelight.kernels import inner
from sidelight.learners.learner import State
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.learners.stopping import MAX_ROUNDS, NO_FALL
from sidelight.objective.believed import BelievedTerms
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms, WeightedFeatures
from sidelight.records import Round
from sidelight.spaces.chain import ChainSpace
from sidelight.spaces.chain_sums import log_sums
from sidelight.stored import array_of, flag_of, number_of, whole_of


@dataclass(frozen=True, slots=True)
class Pool:
    """Inputs whose labels are believed."""

    features: WeightedFeatures
    space: ChainSpace  # all labelings
    admitted: ChainSpace  # those that may be believed
    prices: Floats  # [N]


@dataclass(frozen=True, slots=True)
class BelievedOptions:
    """The temperature, when to stop, and how an M-step is solved."""

    gamma: float = 1.0
    iterations: int = 20
    decrease: float = 1e-5
    solving: LikelihoodOptions = field(default_factory=LikelihoodOptions)


@dataclass(slots=True)
class BelievedLearner:
    """E-steps under rules and M-steps of a CRF by turns."""

    gold: LikelihoodTerms
    pool: Pool
    completion: Completion
    options: BelievedOptions
    name: str = "posterior_regularization"
    n_jobs: int | None = None
    full: Floats = field(default_factory=lambda: np.zeros(0))
    objective: float = np.inf
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False

    @property
    def weights(self) -> Floats:
        """The present weights."""
        return self.full

    def finish(self) -> Floats:
        """The same, for keeps."""
        return self.full

    def run(self) -> Iterator[Round]:
        """One round an iteration, after one for Gold."""
        while not self.done:
            yield self.round()

    def round(self) -> Round:
        """Learn from Gold, or believe and learn."""
        began = time.perf_counter()
        if self.rounds == 0:
            self.full = self._minimised(LikelihoodProblem([self.gold], n_jobs=self.n_jobs), None)
        else:
            self.full = self._minimised(self._problem(), self.full)
        self.rounds += 1
        before, self.objective = self.objective, self._objective()
        fall = before - self.objective
        stopped = None
        if self.rounds > self.options.iterations:
            stopped = MAX_ROUNDS
        elif np.isfinite(before) and 0.0 <= fall < self.options.decrease * abs(self.objective):
            stopped = NO_FALL
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(
            self.rounds,
            self.name,
            self.seconds,
            completion=self.rounds - 1,
            objective=self.objective,
            last=self.done,
            stopped=stopped,
        )

    def _believed(self, weights: Floats) -> tuple[BelievedTerms, Floats]:
        pool = self.pool
        found = self.completion.complete(
            pool.features.scores(weights),  # type: ignore[arg-type]
            pool.admitted,
            gamma=self.options.gamma,
            weights=pool.prices,
            n_jobs=self.n_jobs,
        )
        beliefs = (found.tokens, found.start, found.end, found.transitions)
        return BelievedTerms(pool.features, pool.space, pool.prices, *beliefs), found.values

    def _problem(self) -> LikelihoodProblem:
        terms, _ = self._believed(self.pool.features.shorten(self.full))
        return LikelihoodProblem([self.gold, terms], n_jobs=self.n_jobs)

    def _objective(self) -> float:
        """With the best q for the present weights."""
        weights = self.pool.features.shorten(self.full)
        _, values = self._believed(weights)
        sums = log_sums(self.pool.space, self.pool.features.scores(weights), n_jobs=self.n_jobs)
        known = inner(self.gold.prices, self.gold.losses(weights, n_jobs=self.n_jobs))
        return 0.5 * inner(weights, weights) + known + inner(self.pool.prices, sums - values)

    def _minimised(self, problem: LikelihoodProblem, start: Floats | None) -> Floats:
        learner = LikelihoodLearner.fresh(problem, self.options.solving, start=start)
        for _ in learner.run():
            pass
        return learner.finish()

    def has_result(self, record: Round) -> bool:
        """Every round ends with weights that can be used."""
        return True

    def state(self) -> State:
        """Everything between two rounds."""
        values = {"name": self.name, "rounds": self.rounds, "seconds": self.seconds}
        return values | {"objective": self.objective, "done": self.done}, {"weights": self.full}

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same data and options."""
        values, arrays = state
        self.rounds, self.seconds = whole_of(values, "rounds", low=1), number_of(values, "seconds", low=0.0)
        self.objective, self.done = number_of(values, "objective", finite=False), flag_of(values, "done")
        self.full = array_of(arrays, "weights", np.float64, [self.pool.features.layout.size])
