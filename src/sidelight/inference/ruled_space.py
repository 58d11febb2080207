"""The outputs of a space under rules: hard rules exclude outputs, and soft rules charge for violations.

So a learner that searches the best output, with or without a cost, gets the best one under the rules, in training as in
prediction: inference-based training (Punyakanok, Roth, Yih and Zimak 2005), and J-LIS with constrained inference (Chang
et al. 2010). The score of an output is then  w·Φ(x, y) − Σ_k ρ_k · (how often y breaks soft rule k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.inference.batches import batch_scores
from sidelight.inference.methods.choose import Method
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.spaces import AnyCost, Paths, Space, sums


@dataclass(frozen=True, slots=True)
class RuledSpace:
    """Outputs of a space, with the rules of each input."""

    space: Space
    inputs: AnyRuled  # the same inputs, in the same order
    penalties: tuple[float, ...]  # of the rules, infinite for hard ones
    method: Method = "auto"

    @property
    def starts(self) -> Ints:
        return self.space.starts

    @property
    def n_labels(self) -> int:
        return self.space.n_labels

    def inside(self, admitted: Bytes) -> RuledSpace:
        """The outputs within per-slot candidate sets."""
        return replace(self, space=self.space.inside(admitted))

    def outside(self, admitted: Bytes) -> Space:
        raise Intractable("outputs outside candidate sets are not looked for under rules; give rules_in='prediction'")

    def part(self, lo: int, hi: int) -> RuledSpace:
        """The space of the inputs lo..hi alone."""
        return replace(self, space=self.space.part(lo, hi), inputs=self.inputs.take(np.arange(lo, hi)))

    def take(self, which: Ints) -> RuledSpace:
        """The space of some of the inputs."""
        return replace(self, space=self.space.take(which), inputs=self.inputs.take(which))

    def best(
        self,
        scores: Any,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best output of each input under its rules; raises `Infeasible` if hard rules leave none."""
        if rng is not None:
            raise Intractable("ties are not broken at random under rules; leave random_ties and restarts out")
        space, raised = self.space, scores
        targets = np.zeros(0)
        if cost is not None:
            bonus = np.zeros((int(self.starts[-1]), self.n_labels))
            cost.add_to(bonus, 0)
            space, raised = sums.raised(space, scores, bonus)
            targets = self.score(scores, cost.targets, n_jobs=n_jobs)
        solutions = self.inputs.solutions(batch_scores(raised, space), self.penalties, method=self.method)
        labels = np.array([label for one in solutions for label in one.labels], dtype=np.int32)
        return Paths(labels, np.array([one.value for one in solutions]), targets)

    def score(self, scores: Any, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of a given output of each input, minus the penalties of soft rules. # [N]"""
        return self.space.score(scores, labels, n_jobs=n_jobs) - self.charges(labels)

    def charges(self, labels: Ids) -> Floats:
        """The penalties of each output for broken soft rules. # [N]"""
        out = np.zeros(len(self.inputs))
        prices = [0.0 if price == np.inf else price for price in self.penalties]
        for i, degrees in self.inputs.degrees(labels, self.starts, [price > 0.0 for price in prices]):
            out[i] = sum(prices[k] * often for k, often in degrees.items())
        return out

    def admits(self, labels: Ids) -> Bytes:
        """Whether each output is in the space, and breaks no hard rule. # [N] of 0 and 1"""
        fits = self.space.admits(labels)
        for i, degrees in self.inputs.degrees(labels, self.starts, [price == np.inf for price in self.penalties]):
            fits[i] &= not any(degrees.values())
        return fits

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether each input has an output under masks and hard rules. # [N]"""
        fits = self.space.feasible(n_jobs=n_jobs)
        return np.array([bool(fits[i]) and self._has_output(i) for i in range(len(fits))], dtype=bool)

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        raise Intractable("outputs are not drawn at random under rules; give rules_in='prediction'")

    def zero_scores(self) -> Any:
        """Scores under which all outputs are equal."""
        zero: Any = self.space
        return zero.zero_scores()

    def _has_output(self, i: int) -> bool:
        alone = self.part(i, i + 1)
        hard = tuple(price if price == np.inf else 0.0 for price in self.penalties)
        try:
            replace(alone, penalties=hard).best(alone.zero_scores())
        except Infeasible:
            return False
        return True
