"""Sums over the outputs of a space, if its structure has them: chains by kernels, others by their own methods.

For a space without the method, these raise `Intractable` with its name; `no_sums` of a space has the reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import Intractable
from sidelight.spaces.chains import chain_k_best, chain_sums
from sidelight.spaces.chains.chain import ChainSpace, GivenScores
from sidelight.spaces.second_order import second_order_k_best, second_order_sums
from sidelight.spaces.second_order.second_order import SecondOrderSpace
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.spaces.space import Space

Chain = ChainSpace | SecondOrderSpace


def log_sums(space: Space, scores: Any, *, n_jobs: int | None = None) -> Floats:
    """log Σ exp(score) of every sequence. # [N]"""
    if isinstance(space, ChainSpace):
        return chain_sums.log_sums(space, scores, n_jobs=n_jobs)
    if isinstance(space, SecondOrderSpace):
        return second_order_sums.log_sums(space, scores, n_jobs=n_jobs)
    values: Floats = _method(space, "log_sums", "sums over outputs")(scores, n_jobs=n_jobs)
    return values


def log_counts(space: Space, *, n_jobs: int | None = None) -> Floats:
    """The logarithm of the number of labelings of every sequence. # [N]

    >>> np.exp(log_counts(ChainSpace(np.array([0, 3]), 2))).round(9)
    array([8.])
    """
    if not isinstance(space, Chain):
        return log_sums(space, _method(space, "zero_scores", "scores that prefer nothing")(), n_jobs=n_jobs)
    chain = space if isinstance(space, ChainSpace) else space.labelings
    return chain_sums.log_sums(chain, chain.zero_scores(), n_jobs=n_jobs)


def token_marginals(space: Space, scores: Any, *, n_jobs: int | None = None) -> Floats:
    """p(y_t = l). # [T, L]"""
    if isinstance(space, ChainSpace):
        return chain_sums.beliefs(space, scores, n_jobs=n_jobs).tokens
    if isinstance(space, SecondOrderSpace):
        return second_order_sums.beliefs(space, scores, n_jobs=n_jobs).tokens
    shares: Floats = _method(space, "marginals", "marginals of choices")(scores, n_jobs=n_jobs)
    return shares


def sample(space: Space, scores: Any, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
    """A labeling of every sequence, drawn exactly from p. # [T]"""
    if isinstance(space, ChainSpace):
        return chain_sums.sample(space, scores, rng, n_jobs=n_jobs)
    if isinstance(space, SecondOrderSpace):
        return second_order_sums.sample(space, scores, rng, n_jobs=n_jobs)
    outputs: Ids = _method(space, "sample", "samples")(scores, rng, n_jobs=n_jobs)
    return outputs


def k_best(space: Space, scores: Any, k: int, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
    """The k best labelings [k, T] and their scores [k, N]; labels -1 and score -inf if there are fewer."""
    if isinstance(space, ChainSpace):
        return chain_k_best.k_best(space, scores, k=k, n_jobs=n_jobs)
    if not isinstance(space, SecondOrderSpace):
        outputs: tuple[Ids, Floats] = _method(space, "k_best", "k best outputs")(scores, k, n_jobs=n_jobs)
        return outputs
    labels, values = second_order_k_best.k_best(space, scores, k, n_jobs=n_jobs)
    return labels, np.ascontiguousarray(values.T)


def raised(space: Space, scores: Any, bonus: Floats) -> tuple[Space, Any]:
    """A space and scores under which every choice of a slot has a bonus [T, K]."""
    if isinstance(space, SegmentSpace):
        return space.raised(bonus), scores
    if isinstance(space, Chain):
        return space, chain_sums.RaisedScores(scores, bonus)
    return space, _method(scores, "raised", "bonuses of choices")(bonus)


def beliefs(space: Space, scores: Any, *, prices: Floats | None = None, n_jobs: int | None = None) -> Any:
    """Log-sums and what is expected of the parts of outputs, times the price of each input, in the structure's form."""
    if isinstance(space, ChainSpace):
        return chain_sums.beliefs(space, scores, prices=prices, n_jobs=n_jobs)
    if isinstance(space, SecondOrderSpace):
        return second_order_sums.beliefs(space, scores, prices=prices, n_jobs=n_jobs)
    return _method(space, "beliefs", "beliefs about parts")(scores, prices=prices, n_jobs=n_jobs)


def parts(space: Space, scores: Any, labels: Ids, prices: Floats, *, n_jobs: int | None = None) -> Any:
    """The parts of given outputs [T], times the price of each input, in the form of `beliefs`.

    They are what is believed where nothing but these outputs is admitted.
    """
    only = np.zeros((len(labels), space.n_labels), dtype=np.uint8)
    only[np.arange(len(labels)), labels] = 1
    return beliefs(space.inside(only), scores, prices=prices, n_jobs=n_jobs)


def posterior_decode(space: Space, scores: Any, *, n_jobs: int | None = None) -> Ids:
    """The labeling of the space with the largest expected number of right tokens. # [T]"""
    return best_by_tokens(space, token_marginals(space, scores, n_jobs=n_jobs), n_jobs=n_jobs)


def best_by_tokens(space: Space, tokens: Floats, *, n_jobs: int | None = None) -> Ids:
    """The labeling of the space with the largest sum of token scores [T, L]. # [T]"""
    if not isinstance(space, Chain):
        zero_scores = _method(space, "zero_scores", "scores that prefer nothing")()
        higher, scores = raised(space, zero_scores, tokens)
        return higher.best(scores, n_jobs=n_jobs).labels
    chain = space if isinstance(space, ChainSpace) else space.labelings
    zero = chain.zero_scores()
    return chain.best(GivenScores(tokens, zero.transition, zero.start, zero.end), n_jobs=n_jobs).labels


def _method(thing: Any, name: str, what: str) -> Any:
    """A method that only some structures have; raises `Intractable` if it is not there."""
    method = getattr(thing, name, None)
    if method is None:
        problem = f"{type(thing).__name__} has no {what}"
        if (why := getattr(thing, "no_sums", None)) is not None:
            raise Intractable(
                f"{problem}: {why}; use a learner that needs only best outputs, such as jlis or perceptron"
            )
        raise Intractable(f"{problem} (a method {name}); add it, or use a learner that needs only best outputs")
    return method
