"""EM for an HMM with 45 states on 24,000 tokens: seconds per iteration against hmmlearn's `scaling` implementation.

Both begin with the same parameters and see the same words, which are drawn: 1,000 sequences of 24 tokens, 5,000 words
as frequent as words are (Zipf). After the iterations both must have the same log-likelihood. An iteration of ours is an
E-step and an M-step without smoothing, as hmmlearn's.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple

import numpy as np

from benchmarks.measure import Row
from sidelight.core.arrays import Floats, Ids
from sidelight.generative.completion import Free
from sidelight.generative.em import EmProblem, Inputs, iterations
from sidelight.generative.emissions import Emissions
from sidelight.generative.hmm import Hmm
from sidelight.generative.hmm_counts import HmmSmoothing
from sidelight.generative.smoothing import Smoothing
from sidelight.parallel import thread_count
from sidelight.spaces import ChainSpace

STATES, WORDS, LENGTH, SEQUENCES = 45, 5000, 24, 1000
ITERATIONS, QUICK_ITERATIONS = 10, 2
TARGET = 8.0


class Problem(NamedTuple):
    """Words, and parameters to begin with."""

    words: Ids  # [T]
    start: Hmm


def run(*, quick: bool = False) -> list[Row]:
    problem = _problem()
    count = QUICK_ITERATIONS if quick else ITERATIONS
    rows = []
    peer, likelihood = _peer(problem, count) if find_spec("hmmlearn") is not None else (None, None)
    for jobs in dict.fromkeys((1, thread_count(-1))):
        ours, value = _ours(problem, count, jobs)
        if likelihood is not None and abs(value - likelihood) > 1e-6 * abs(likelihood):
            raise AssertionError(f"log-likelihoods differ: {value} here, {likelihood} there")
        ratio = None if peer is None else peer / ours
        told = ratio is not None and jobs > 1
        rows.append(
            Row(
                "hmm",
                f"EM, {STATES} states, {len(problem.words):,} tokens, {jobs} thread{'s' * (jobs > 1)}",
                ours,
                "s per iteration",
                peer,
                "hmmlearn (scaling)",
                ratio,
                f"hmmlearn's time at least {TARGET:g} times ours" if told else "",
                ratio >= TARGET if told and ratio is not None else None,
                "" if peer is not None else "hmmlearn is not installed; the extra bench has it",
            )
        )
    return rows


def _problem() -> Problem:
    rng = np.random.default_rng(0)
    weights = 1.0 / np.arange(1, WORDS + 1)
    words = rng.choice(WORDS, size=SEQUENCES * LENGTH, p=weights / weights.sum())
    words[:WORDS] = rng.permutation(WORDS)  # hmmlearn wants every word to occur

    def rows(*shape: int) -> Floats:
        found = rng.uniform(0.5, 1.5, shape)
        return np.asarray(found / found.sum(axis=-1, keepdims=True))

    emission = np.ascontiguousarray(rows(STATES, WORDS).T)
    return Problem(words.astype(np.int32), Hmm(rows(STATES), rows(STATES, STATES), emission))


def _ours(problem: Problem, count: int, jobs: int) -> tuple[float, float]:
    """Seconds per iteration, and the log-likelihood after them."""
    nothing = np.zeros(0, dtype=np.int64)
    emissions = Emissions(0, nothing, nothing, nothing, np.array([-1]), WORDS)
    space = ChainSpace(np.arange(SEQUENCES + 1, dtype=np.int64) * LENGTH, STATES)
    inputs = Inputs.of(problem.words, space, np.ones(SEQUENCES), size=emissions.size)
    smoothing = HmmSmoothing(Smoothing(), Smoothing())
    em = EmProblem(emissions, None, inputs, smoothing, n_jobs=jobs)
    hmm = replace(problem.start, emission=np.vstack([problem.start.emission, np.zeros(STATES)]))  # and an unknown word
    em.estimate(em.expect(hmm, Free(), 1.0).counts)  # compiles
    began = time.perf_counter()
    *_, (_, _, last) = islice(iterations(em, hmm, Free(), gamma=lambda _: 1.0), count)
    return (time.perf_counter() - began) / (count + 1), last.objective  # one more E-step than iterations


def _peer(problem: Problem, count: int) -> tuple[float, float]:
    from hmmlearn.hmm import CategoricalHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it warns that this data is too little for its parameters
    model = CategoricalHMM(
        STATES, n_iter=count, tol=-np.inf, implementation="scaling", init_params="", params="ste", n_features=WORDS
    )
    model.startprob_, model.transmat_ = problem.start.start, problem.start.transition
    model.emissionprob_ = np.ascontiguousarray(problem.start.emission.T)
    words, lengths = problem.words[:, None].astype(np.int64), [LENGTH] * SEQUENCES
    began = time.perf_counter()
    model.fit(words, lengths)
    taken = (time.perf_counter() - began) / count
    return taken, float(model.score(words, lengths))
