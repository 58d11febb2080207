"""Stochastic gradient descent on the likelihood of outputs of any structure, one input after another.

The steps are those of `online_likelihood`, whose kernels first-order chains have. Here a step costs as much as there
are weights, whatever the features of its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner
from sidelight.features.gradient import FullFeatures
from sidelight.objective.batch import FullWeights
from sidelight.objective.expected_features import ShortFeatures, Weighted
from sidelight.objective.likelihood import LikelihoodTerms


@dataclass(frozen=True, slots=True)
class PlainLikelihood:
    """Inputs with gold outputs, or with what is admitted, as `solvers.sgd` takes them; v has the weights' form."""

    inputs: tuple[LikelihoodTerms, ...]  # of one input each; prices are relative to their mean
    size: int

    @classmethod
    def of_terms(cls, terms: Sequence[LikelihoodTerms]) -> PlainLikelihood:
        """All inputs of some terms that have the same weights."""
        mean = float(np.mean(np.concatenate([part.prices for part in terms]))) or 1.0
        inputs = [_input(part, i, mean) for part in terms for i in range(len(part))]
        return cls(tuple(inputs), terms[0].features.size)

    def __len__(self) -> int:
        return len(self.inputs)

    def order(self, rng: np.random.Generator) -> Ints:
        """All inputs in random order."""
        return rng.permutation(len(self))

    def weights(self, v: Floats, scale: float) -> Floats:
        """w."""
        return scale * v

    def vector(self, weights: Floats) -> Floats:
        """v of some weights, at scale 1."""
        return weights.copy()

    def epoch(
        self, order: Ints, v: Floats, *, scale: float, clock: float, decay: float, move: bool = True
    ) -> tuple[float, float]:
        """Descend on the inputs in this order, with step 1 / (decay · clock) and one tick per input.

        Returns Σ price · loss, each loss before its step, and the scale. With `move` false the weights stay.
        """
        weights, loss = scale * v, 0.0
        for i in order:
            gradient, gold = np.zeros(self.size), np.zeros(self.size)
            loss += self.inputs[i].add_beliefs(weights, gradient, n_jobs=1)
            self.inputs[i].add_gold(gold, n_jobs=1)
            loss -= inner(gold, weights)
            if move:
                weights *= 1.0 - 1.0 / clock
                weights -= (gradient - gold) / (decay * clock)
                clock += 1.0
        if not move:
            return loss, scale
        v[:] = weights
        return loss, 1.0


def _input(terms: LikelihoodTerms, i: int, mean: float) -> LikelihoodTerms:
    """One of the inputs by itself."""
    here = slice(int(terms.space.starts[i]), int(terms.space.starts[i + 1]))
    return LikelihoodTerms(
        _features(terms.features, i),
        terms.space.part(i, i + 1),
        terms.prices[i : i + 1] / mean,
        None if terms.targets is None else terms.targets[here],
        None if terms.admitted is None else terms.admitted[here],
        None if terms.bonus is None else terms.bonus[here],
    )


def _features(features: Weighted, i: int) -> Weighted:
    """The features of one input, under the same weights."""
    if isinstance(features, ShortFeatures):
        full = _features(features.full, i)
        assert isinstance(full, FullFeatures)
        return replace(features, full=full)
    if isinstance(features, FullWeights):
        return features.part(i, i + 1)
    assert isinstance(features, FullFeatures)
    return FullFeatures.of(features.rows.part(i, i + 1), features.layout, n_jobs=1)
