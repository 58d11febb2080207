"""The hidden Markov model: parameters, scores of a batch, and the equivalent linear weights.

    P(x, y) = P(y_1) Π_t P(y_t | y_{t-1}) Π_t P(x_t | y_t)          first order (thesis 2.2.2)

In second order P(y_t | y_{t-2}, y_{t-1}) replaces P(y_t | y_{t-1}) from the third token on. Where ends are
modelled, a label ends a sequence with probability P(stop | l), and every transition has a factor 1 − P(stop | y_{t-1}).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.features.layout import Layout
from sidelight.generative.emissions import NEVER, Emissions

LEAST = 1e-30  # a transition to the second token that was never seen, in second order, where the third may need it


@dataclass(frozen=True, slots=True)
class Hmm:
    """Probabilities of first or second order."""

    start: Floats  # [L] P(y_1 = l)
    transition: Floats  # [L, L] P(l | k); in second order of the second token alone
    emission: Floats  # [S, L] P(symbol | l)
    stop: Floats | None = None  # [L] P(stop | l)
    second: Floats | None = None  # [L, L, L] P(l | j, k), j before k

    @property
    def n_labels(self) -> int:
        return len(self.start)

    @property
    def order(self) -> int:
        return 1 if self.second is None else 2

    def logs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Scores of transitions [L, L], starts [L], ends [L], and of three labels in a row (empty in first order)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.log(self.start)
            going = 0.0 if self.stop is None else np.log1p(-self.stop)[:, None]
            end = np.zeros(self.n_labels) if self.stop is None else np.log(self.stop)
            if self.second is None:
                return np.log(self.transition) + going, start, end, np.zeros((0, 0, 0))
            first = np.log(np.maximum(self.transition, LEAST))
            return first + going, start, end, np.log(self.second) - first

    def mixed(self, other: Hmm, share: float) -> Hmm:
        """share · these probabilities + (1 − share) · the other ones (β of thesis Algorithm 8)."""

        def mix(a: Floats, b: Floats) -> Floats:
            return np.asarray(share * a + (1.0 - share) * b)

        return Hmm(
            mix(self.start, other.start),
            mix(self.transition, other.transition),
            mix(self.emission, other.emission),
            None if self.stop is None or other.stop is None else mix(self.stop, other.stop),
            None if self.second is None or other.second is None else mix(self.second, other.second),
        )

    def mixed_logs(self, other: Hmm, share: float) -> Hmm:
        """share · these logarithms + (1 − share) · the other ones: the mixture of weights in Algorithm 8.

        Their exponentials do not sum to one; an event with probability 0 in either model has probability 0.
        """

        def mix(a: Floats, b: Floats) -> Floats:
            return np.asarray(a**share * b ** (1.0 - share))

        stop, going = None, np.ones(self.n_labels)
        if self.stop is not None and other.stop is not None:
            stop = mix(self.stop, other.stop)
            going = mix(1.0 - self.stop, 1.0 - other.stop) / np.maximum(1.0 - stop, LEAST)
        return Hmm(
            mix(self.start, other.start),
            mix(self.transition, other.transition) * going[:, None],
            mix(self.emission, other.emission),
            stop,
            None if self.second is None or other.second is None else mix(self.second, other.second) * going[:, None],
        )

    def weights(self, layout: Layout, emissions: Emissions) -> Floats:
        """The weights of the layout under which a labeling scores log P(x, y); what never happens has `NEVER`."""
        out = layout.zeros()
        transition, start, end, second = (np.maximum(part, NEVER) for part in self.logs())
        out[layout.start_at : layout.end_at] = start
        out[layout.end_at : layout.transition_at] = end
        out[layout.transition_at : layout.second_at] = transition.ravel()
        out[layout.second_at : layout.dense_at] = second.ravel()
        attributes = layout.attribute_weights(out)
        constant, classes, words = emissions.weights(self.emission)
        attributes[emissions.constant] = constant
        if emissions.classes[0] >= 0:
            attributes[emissions.classes] = classes
        attributes[emissions.words] = words
        return out

    @classmethod
    def of_weights(cls, weights: Floats, layout: Layout, emissions: Emissions, *, ends: bool) -> Hmm:
        """The model whose weights these are; other weights are made to sum to one where probabilities must."""
        attributes = layout.attribute_weights(weights)
        classes = attributes[emissions.classes] if emissions.classes[0] >= 0 else np.zeros((1, layout.columns))
        emission = emissions.probabilities(attributes[emissions.constant], classes, attributes[emissions.words])
        transition, second = layout.transition(weights), layout.second(weights)
        end = layout.end(weights)
        stop = np.exp(np.minimum(end, 0.0)) if np.any(end != 0.0) else np.full(len(end), 0.5)  # of a model without ends
        return cls(
            _normal(layout.start(weights)),
            _normal(transition),
            emission,
            stop if ends else None,
            _normal(second + transition) if layout.order == 2 else None,
        )


def _normal(scores: Floats) -> Floats:
    """Probabilities in proportion to exp(score), along the last axis."""
    scores = scores - scores.max(axis=-1, keepdims=True)
    shares = np.where(scores > NEVER / 2, np.exp(scores), 0.0)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class HmmScores:
    """log P(x, y) of a batch, part by part; a class without slots, because tables are computed on first use."""

    hmm: Hmm
    symbols: Ids  # [T] what each token emits

    @property
    def transition(self) -> Floats:
        return self._logs[0]

    @property
    def start(self) -> Floats:
        return self._logs[1]

    @property
    def end(self) -> Floats:
        return self._logs[2]

    @property
    def second(self) -> Floats:
        return self._logs[3]

    def block(self, first: int, last: int) -> Floats:
        """log P(x_t | l) of some tokens."""
        return np.asarray(self._emission[self.symbols[first:last]])

    @cached_property
    def _logs(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.hmm.logs()

    @cached_property
    def _emission(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.hmm.emission))
