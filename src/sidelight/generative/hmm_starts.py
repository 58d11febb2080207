"""Initial parameters of EM, by name. The objective has many local optima, so the start is important.

gold            the supervised model
uniform         all admitted labelings are equally probable, with a little random noise on the parameters
labels          the initial labels of candidates (`Candidates(initial=…)`); uniform if there are none
emission        a word's tokens are divided among the labels of its dictionary entry; a word without entry
                follows the number of words that a label has in the dictionary (after Garrette and Baldridge 2012)
em              the result of EM from uniform; with one hard iteration after it, "auto-supervised" training
emission_em     the result of EM from emission
min_greedy      a supervised HMM on labels that EM gives, in turn with few pairs of labels and the whole dictionary, and
                with all pairs and few labels of each word: those of the turn before, until there are about as many
                pairs as before (Ravi and Knight 2009). The first pairs are those of greedy model minimisation, whose
                paths are also what the first EM begins with; the others begin with emission (Garrette and Baldridge
                2012, with their extensions) or, without a dictionary, with uniform
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.generative.completion import Free, StateBeliefs, spread
from sidelight.generative.em import EmProblem, fitted
from sidelight.generative.hmm import Hmm, HmmScores
from sidelight.generative.min_greedy import min_greedy
from sidelight.spaces import ChainSpace, GivenSecondOrderScores, Space, Transitions
from sidelight.spaces.second_order.second_order import SecondOrderSpace

STARTS = ("gold", "uniform", "labels", "emission", "em", "emission_em", "min_greedy")
ROUNDS = 40  # of EM for em, emission_em and min_greedy
TURNS = 5  # of min_greedy at most
ENOUGH = 0.05  # a share of the pairs: turns end when their number changes by less


@dataclass(frozen=True, slots=True)
class Start:
    """All that a start can be made from."""

    problem: EmProblem
    initial: Ids  # [T] of the inputs, -1 if there is none
    noise: float
    rng: np.random.Generator

    def named(self, name: str) -> Hmm:
        """The initial parameters; raises `DataError` if the evidence lacks what they need."""
        makers: dict[str, Callable[[], Hmm]] = {
            "gold": self._gold,
            "uniform": self._uniform,
            "labels": self._labels,
            "emission": lambda: self._estimate(self._emission()),
            "em": lambda: self._em(self._uniform()),
            "emission_em": lambda: self._em(self._estimate(self._emission())),
            "min_greedy": self._min_greedy,
        }
        return makers[name]()

    def _gold(self) -> Hmm:
        if self.problem.gold is None:
            raise DataError("EM starts from Gold, and there is none", remedy="give some, or start='uniform'")
        return self.problem.estimate(None)

    def _uniform(self) -> Hmm:
        jobs = self.problem.n_jobs
        counts = self.problem.counts(lambda inputs: spread(inputs.space, weights=inputs.weights, n_jobs=jobs))
        return stirred(self.problem.estimate(counts), self.noise, self.rng)

    def _labels(self) -> Hmm:
        if not np.any(self.initial >= 0):
            raise DataError("no input has labels to begin with", remedy="give Candidates(…, initial=…)")
        inputs = self.problem.inputs
        masks = admitted_of(inputs.space).copy()
        known = np.flatnonzero(self.initial >= 0)
        masks[known] = 0
        masks[known, self.initial[known]] = 1
        return self._estimate(spread(inputs.space.inside(masks), weights=inputs.weights, n_jobs=self.problem.n_jobs))

    def _emission(self) -> StateBeliefs:
        inputs = self.problem.inputs
        shares = dictionary_shares(self._dictionary(), np.diff(inputs.bounds) > 0)
        if shares is None:
            raise DataError("no word has a dictionary entry", remedy="give Candidates, or start='uniform'")
        with np.errstate(divide="ignore"):
            tokens = np.log(shares)[inputs.symbols]
        size = inputs.space.n_labels
        second = np.zeros((size,) * 3) if isinstance(inputs.space, SecondOrderSpace) else np.zeros((0, 0, 0))
        scores = GivenSecondOrderScores(tokens, np.zeros((size, size)), np.zeros(size), np.zeros(size), second)
        return Free().complete(scores, inputs.space, gamma=1.0, weights=inputs.weights, n_jobs=self.problem.n_jobs)

    def _em(self, hmm: Hmm, problem: EmProblem | None = None) -> Hmm:
        return fitted(self.problem if problem is None else problem, hmm, Free(), gamma=1.0, most=ROUNDS)

    def _min_greedy(self) -> Hmm:
        inputs = self.problem.inputs
        space, masks = inputs.space, admitted_of(inputs.space)
        has_dictionary = bool(np.any(masks == 0))
        scores = HmmScores(self._estimate(self._emission()) if has_dictionary else self._uniform(), inputs.symbols)
        labels = min_greedy(space.starts, inputs.symbols, masks, scores, allowed=_labelings(space).allowed)
        begun: Hmm | None = self.problem.estimate(inputs.counts_of_labels(labels))
        pairs = pairs_of(labels, space.starts, masks.shape[1])
        for _ in range(TURNS):
            labels = self._labels_within(_with_pairs(space, pairs), has_dictionary, begun)
            begun = None
            entries = np.zeros((len(inputs.bounds) - 1, masks.shape[1]), dtype=np.uint8)
            entries[inputs.symbols, labels] = 1
            labels = self._labels_within(space.inside(masks & entries[inputs.symbols]), has_dictionary)
            before, pairs = pairs, pairs_of(labels, space.starts, masks.shape[1])
            less, more = sorted(int(each.between.sum()) for each in (before, pairs))
            if more - less <= ENOUGH * more:
                break
        return self.problem.estimate(inputs.counts_of_labels(labels))

    def _labels_within(self, space: Space, has_dictionary: bool, begun: Hmm | None = None) -> Ids:
        """The best labels of an HMM that EM finds in a narrower space: from one, from emission, or from uniform."""
        problem = self.problem.within(space)
        if begun is None:
            narrow = replace(self, problem=problem)
            begun = narrow._estimate(narrow._emission()) if has_dictionary else narrow._uniform()
        return cast(Ids, problem.expect(self._em(begun, problem), Free(), 0.0).labels)

    def _dictionary(self) -> Bytes:
        """The labels that any token with each symbol may have. # [S, L]"""
        inputs = self.problem.inputs
        masks = admitted_of(inputs.space)
        masks_of_words = np.zeros((len(inputs.bounds) - 1, masks.shape[1]), dtype=np.uint8)
        seen = np.flatnonzero(np.diff(inputs.bounds))
        masks_of_words[seen] = np.maximum.reduceat(masks[inputs.order], inputs.bounds[seen], axis=0)
        return masks_of_words

    def _estimate(self, beliefs: StateBeliefs) -> Hmm:
        return self.problem.estimate(self.problem.inputs.counts(beliefs))


def dictionary_shares(dictionary: Bytes, seen: np.ndarray) -> Floats | None:
    """How the tokens of each symbol are shared out over labels [S, L]; None if no symbol has an entry.

    >>> dictionary_shares(np.array([[1, 0], [1, 1]], dtype=np.uint8), np.array([True, True])).tolist()
    [[1.0, 0.0], [0.6666666666666666, 0.3333333333333333]]
    """
    labels = dictionary.sum(axis=1)
    known = seen & (labels < dictionary.shape[1])
    if not np.any(known):
        return None
    openness = dictionary[known].sum(axis=0) + 1.0  # one more, so that no label is impossible
    shares = np.where(known[:, None], dictionary / np.maximum(labels, 1)[:, None], openness / openness.sum())
    return np.asarray(shares)


def pairs_of(labels: Ids, starts: Ints, size: int) -> Transitions:
    """The labels that sequences begin and end with, and the pairs of neighbouring ones, that occur.

    >>> pairs_of(np.array([0, 1, 1], dtype=np.int32), np.array([0, 2, 3]), 2).between.tolist()
    [[0, 1], [0, 0]]
    """
    follows = np.ones(len(labels), dtype=bool)
    follows[starts[:-1]] = False
    after = np.flatnonzero(follows)
    between, first, last = np.zeros((size, size), np.uint8), np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    between[labels[after - 1], labels[after]] = 1
    first[labels[starts[:-1]]] = 1
    last[labels[starts[1:] - 1]] = 1
    return Transitions(between, first, last)


def stirred(hmm: Hmm, noise: float, rng: np.random.Generator) -> Hmm:
    """The parameters times exp(noise · normal), made to sum to one again."""
    if noise == 0.0:
        return hmm

    def stir(part: Floats, axis: int) -> Floats:
        moved = part * np.exp(noise * rng.normal(size=part.shape))
        return np.asarray(moved / moved.sum(axis=axis, keepdims=True))

    second = None if hmm.second is None else stir(hmm.second, 2)
    return Hmm(stir(hmm.start, 0), stir(hmm.transition, 1), stir(hmm.emission, 0), hmm.stop, second)


def admitted_of(space: Space) -> Bytes:
    """The labels that each token may have. # [T, L]"""
    chain = _labelings(space)
    if chain.admitted is not None:
        return chain.admitted
    return np.ones((int(chain.starts[-1]), chain.n_labels), dtype=np.uint8)


def _with_pairs(space: Space, pairs: Transitions) -> Space:
    chain = _labelings(space)
    narrow = replace(chain, allowed=pairs)
    return SecondOrderSpace(narrow) if isinstance(space, SecondOrderSpace) else narrow


def _labelings(space: Space) -> ChainSpace:
    """The labelings of chains of either order."""
    chain = space.labelings if isinstance(space, SecondOrderSpace) else space
    assert isinstance(chain, ChainSpace)
    return chain
