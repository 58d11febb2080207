"""Inputs of one kind of evidence, for any structure: a scorer and a space of outputs.

An output is one choice for each slot of an input: the label of a token, or of the one slot that a class has. So outputs
of a batch are one array of numbers [T], beside the offsets of inputs. The scorer knows the features of a structure; the
space knows which choices are allowed together, and how the best are found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import taken
from sidelight.spaces import AnyCost, Charging, Paths, Space


class Scorer(Protocol):
    """Maps weights to the scores of a batch, which is all that inference needs.

    Learning needs the reverse direction: `LinearScorer` (cuts, online learners, likelihoods) or, if scores are any
    smooth function of the weights, `SmoothScorer` (gradients of likelihoods and margins).
    """

    @property
    def size(self) -> int:
        """The number of weights; the first is the threshold of companion decisions."""
        ...

    def part(self, lo: int, hi: int) -> Self:
        """The features of the inputs lo..hi alone."""
        ...

    def take(self, which: Ints) -> Self:
        """The features of some of the inputs."""
        ...

    def scores(self, weights: Floats) -> Any:
        """The scores of all parts, in the form for the structure's space."""
        ...


@runtime_checkable
class SmoothScorer(Scorer, Protocol):
    """A scorer that maps gradients of scores to gradients of weights."""

    def add_gradient(self, weights: Floats, parts: Any, gradient: Floats) -> None:
        """gradient += Σ_parts slope · ∂ score(part) / ∂ weights, at these weights.

        The slopes have the form of the structure's beliefs, as returned by `spaces.sums.beliefs` and
        `spaces.sums.parts`.
        """
        ...


@runtime_checkable
class LinearScorer(Scorer, Protocol):
    """A scorer whose scores are weights times features: from outputs to counts of features, the adjoint."""

    @property
    def is_binary(self) -> bool:
        """Every feature has value 1."""
        ...

    @property
    def null_label(self) -> bool:
        """The first of two labels has no features, so that its score is 0."""
        ...

    def differences(
        self,
        which: Ints,
        plus: Ids,
        minus: Ids | None,
        *,
        scales: Floats,
        thresholds: Floats | None = None,
        n_jobs: int | None = None,
    ) -> SparseRows:
        """scale · (Φ(x, plus) − Φ(x, minus)) and the threshold feature, for some of the inputs; outputs are [T]."""
        ...

    def summed(self, plus: Ids, minus: Ids, scales: Floats) -> Floats:
        """Σ_i scale_i · (Φ(x_i, plus_i) − Φ(x_i, minus_i)), of all inputs. # [size]"""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs of one kind of evidence: their features, and the outputs they may have."""

    scorer: Scorer
    space: Space
    n_jobs: int | None = None

    def __len__(self) -> int:
        return len(self.space.starts) - 1

    @property
    def starts(self) -> Ints:
        """The first slot of each input. # [N + 1]"""
        return self.space.starts

    @property
    def lengths(self) -> Ints:
        """The number of slots of each input. # [N]"""
        return np.diff(self.space.starts)

    @property
    def linear(self) -> LinearScorer:
        """The features; raises `Intractable` if scores are not linear in the weights."""
        if not isinstance(self.scorer, LinearScorer):
            name = type(self.scorer).__name__
            raise Intractable(f"{name} is not linear in its weights, so it has no cuts; learn it by gradients")
        return self.scorer

    def slots_of(self, which: Ints) -> Ints:
        """The slots of some of the inputs, in order."""
        return taken(self.space.starts, which)[1]

    def here(self) -> Batch:
        """The same inputs, for use in this process."""
        return self

    def part(self, lo: int, hi: int) -> Batch:
        """The inputs lo..hi alone."""
        return replace(self, scorer=self.scorer.part(lo, hi), space=self.space.part(lo, hi))

    def take(self, which: Ints) -> Batch:
        """Some of the inputs."""
        return replace(self, scorer=self.scorer.take(which), space=self.space.take(which))

    def within(self, space: Space) -> Batch:
        """The same inputs with other outputs."""
        return replace(self, space=space)

    def inside(self, admitted: Bytes | None) -> Batch:
        """The same inputs with the outputs whose choices are admitted [T, K]; None admits all."""
        return self if admitted is None else replace(self, space=self.space.inside(admitted))

    def scores(self, weights: Floats) -> Any:
        """The scores of all parts under the weights."""
        return self.scorer.scores(weights)

    def best(self, weights: Floats, *, cost: AnyCost | None = None, rng: np.random.Generator | None = None) -> Paths:
        """The best output of each input, with its cost added where one is given."""
        return self.space.best(self.scorer.scores(weights), cost=cost, rng=rng, n_jobs=self.n_jobs)

    def score(self, weights: Floats, labels: Ids) -> Floats:
        """The score of a given output of each input. # [N]"""
        return self.space.score(self.scorer.scores(weights), labels, n_jobs=self.n_jobs)

    def charges(self, labels: Ids) -> Floats:
        """The penalties of given outputs under soft rules, in addition to their scores; 0 without rules. # [N]"""
        return self.space.charges(labels) if isinstance(self.space, Charging) else np.zeros(len(self))

    def differences(
        self, which: Ints, plus: Ids, minus: Ids | None, *, scales: Floats, thresholds: Floats | None = None
    ) -> SparseRows:
        """scale · (Φ(x, plus) − Φ(x, minus)) and the threshold feature, for some of the inputs."""
        return self.linear.differences(which, plus, minus, scales=scales, thresholds=thresholds, n_jobs=self.n_jobs)


class FullWeights:
    """Scores under all weights that a structure has."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """How many weights there are."""
        raise NotImplementedError

    def take(self, which: Ints) -> Self:
        """The features of some of the inputs."""
        raise NotImplementedError

    def part(self, lo: int, hi: int) -> Self:
        return self.take(np.arange(lo, hi))

    def curvature(self, prices: Floats, lengths: Ints, share: float) -> Floats:
        """No estimate: zeros. # [size]"""
        return np.zeros(self.size)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout: unchanged."""
        return weights

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout: all of them."""
        return full


class LinearFeatures(FullWeights):
    """Derives a `LinearScorer` from `size`, `is_binary`, `take`, `scores` and `counts`."""

    __slots__ = ()

    @property
    def null_label(self) -> bool:
        return False

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        """The features of outputs, as `differences`."""
        raise NotImplementedError

    def differences(
        self,
        which: Ints,
        plus: Ids,
        minus: Ids | None,
        *,
        scales: Floats,
        thresholds: Floats | None = None,
        n_jobs: int | None = None,
    ) -> SparseRows:
        return self.counts(Differences.of(which, plus, minus, scales=scales, thresholds=thresholds), n_jobs)

    def summed(self, plus: Ids, minus: Ids, scales: Floats) -> Floats:
        rows = self.differences(np.arange(len(scales)), plus, minus, scales=scales)
        return np.bincount(rows.indices, rows.values, minlength=self.size).astype(np.float64)
