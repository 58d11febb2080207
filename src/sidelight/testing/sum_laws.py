"""Laws of optional operations: k best outputs, sums, samples and likelihoods, against a list of all outputs.

A structure without one of these raises `Intractable` and names what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats
from sidelight.errors import Infeasible, Intractable
from sidelight.objective.batch import Batch
from sidelight.objective.companion_likelihood import Answers
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, LikelihoodTerms, likelihood_problem
from sidelight.spaces import sums
from sidelight.testing.outputs import BrokenLaw, ListedOutputs, differs
from sidelight.testing.space_laws import admitted_at_random, close, name_of, outputs_at_random, refuses

STEP = 1e-5  # of finite differences


def has(what: str, ask: Callable[[], Any]) -> bool:
    """Whether a structure supports an operation; raises `BrokenLaw` if it neither does nor raises `Intractable`."""
    try:
        ask()
    except Intractable as error:
        if not str(error):
            raise BrokenLaw(f"{what}: Intractable was raised without a word about what is missing") from error
        return False
    except Infeasible:
        return True
    except (AttributeError, AssertionError, NotImplementedError, TypeError) as error:
        wrong = f"{what}: {type(error).__name__} was raised ({error})"
        raise BrokenLaw(f"{wrong}; what a structure cannot do must raise Intractable") from error
    return True


def check_k_best(batch: Batch, weights: Floats, lists: list[ListedOutputs], k: int) -> bool:
    """The k best outputs in order, without repetition, and no more than there are; False if k best is not supported."""
    scores = batch.scores(weights)
    if any(not len(one.outputs) for one in lists):
        return True  # spaces differ here: -inf, or Infeasible
    if not has("k best", lambda: sums.k_best(batch.space, scores, k)):
        return False
    labels, values = sums.k_best(batch.space, scores, k)
    for one in lists:
        best = np.sort(one.scores)[::-1][:k]
        seen = set()
        for rank in range(k):
            value = float(values[rank, one.number])
            if rank >= len(best):
                if value > -np.inf or np.any(labels[rank, one.slots] != -1):
                    raise BrokenLaw(f"k best: input {one.number} has {len(best)} outputs, and is given {rank + 1}")
                continue
            output = labels[rank, one.slots]
            place = one.place(output)
            if place is None or tuple(output.tolist()) in seen:
                raise BrokenLaw(
                    f"k best: input {one.number}: number {rank + 1}, {name_of(output)}, is no output, or there twice"
                )
            seen.add(tuple(output.tolist()))
            if not (close(value, best[rank]) and close(one.scores[place], value)):
                raise differs("k best", one.number, f"the score of number {rank + 1}", value, best[rank])
    return True


def check_sums(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> bool:
    """Log-sums, probabilities of choices and samples, also with a bonus. False if sums are not supported."""
    space, scores = batch.space, batch.scores(weights)
    if not has("log-sums", lambda: sums.log_sums(space, scores)):
        return False
    if refuses("log-sums", lists, lambda: sums.log_sums(space, scores)):
        return True
    bonus = rng.normal(size=(int(batch.starts[-1]), space.n_labels))
    totals = sums.log_sums(space, scores)
    raised = sums.log_sums(*sums.raised(space, scores, bonus))
    counts, shares = sums.log_counts(space), sums.token_marginals(space, scores)
    for one in lists:
        total = np.logaddexp.reduce(one.scores)
        for what, value, right in (
            ("log-sums", totals, total),
            ("log-sums with a bonus", raised, np.logaddexp.reduce(one.scores + one.sums(bonus[one.slots]))),
            ("log-counts", counts, np.log(len(one.outputs))),
        ):
            if not close(value[one.number], right):
                raise BrokenLaw(f"{what}: input {one.number} is given {value[one.number]:.9g}, and has {right:.9g}")
        expected = np.zeros((one.outputs.shape[1], space.n_labels))
        for y, chance in zip(one.outputs, np.exp(one.scores - total)):
            expected[np.arange(len(y)), y] += chance
        if not np.allclose(shares[one.slots], expected, atol=1e-8):
            slot, choice = np.unravel_index(np.abs(shares[one.slots] - expected).argmax(), expected.shape)
            value, right = shares[one.slots][slot, choice], expected[slot, choice]
            raise BrokenLaw(
                f"marginals: input {one.number}, slot {slot}: choice {choice} is given {value:.9g}, and has {right:.9g}"
            )
    _check_samples(batch, scores, lists, rng)
    return True


def _check_samples(batch: Batch, scores: Any, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**32))
    if not has("samples", lambda: sums.sample(batch.space, scores, np.random.default_rng(seed))):
        return
    drawn = sums.sample(batch.space, scores, np.random.default_rng(seed))
    for one in lists:
        if one.place(drawn[one.slots]) is None:
            raise BrokenLaw(f"samples: input {one.number}: {name_of(drawn[one.slots])} is not an output of the space")
    if not np.array_equal(drawn, sums.sample(batch.space, scores, np.random.default_rng(seed))):
        raise BrokenLaw("samples: the same seed gives other outputs")


def check_likelihood(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> bool:
    """The likelihood of Gold, of candidates with a bonus and of companion answers; False if it is not supported."""
    if any(not len(one.outputs) for one in lists):
        return True
    prices, targets = rng.random(len(batch)) + 0.1, outputs_at_random(lists, rng)
    mask, bonus = admitted_at_random(lists, batch.space.n_labels, rng), rng.normal(size=(len(targets), 1))
    bonus = bonus * rng.random((1, batch.space.n_labels))
    kinds = [Labelled(batch, prices, targets=targets), Labelled(batch, prices, admitted=mask)]
    gradient = np.empty(batch.scorer.size)

    def problem_of(admitted: Bytes) -> LikelihoodProblem:
        gold, some = likelihood_problem([kinds[0], replace(kinds[1], admitted=admitted)], support="all").terms
        assert isinstance(some, LikelihoodTerms)
        return LikelihoodProblem([gold, replace(some, bonus=bonus)])

    if not has("likelihood", lambda: problem_of(mask).value_and_gradient(weights, gradient)):
        return False
    expected = 0.5 * float(weights @ weights)
    for one, price in zip(lists, prices):
        total, more = np.logaddexp.reduce(one.scores), one.sums(bonus[one.slots])
        stays = np.all(mask[one.slots][np.arange(one.outputs.shape[1]), one.outputs], axis=1)
        place = one.place(targets[one.slots])
        expected += price * (2 * total - one.scores[place] - np.logaddexp.reduce((one.scores + more)[stays]))
    problem = problem_of(mask)
    value = problem.value_and_gradient(weights, gradient)
    if not (close(value, expected) and close(problem.value(weights), expected)):
        raise BrokenLaw(f"likelihood: the objective is given as {value:.9g}, and is {expected:.9g}")
    check_gradient("likelihood", problem.value, weights, gradient, rng)
    nothing = [one.only(np.zeros(0, np.int64)) for one in lists]
    refuses("likelihood", nothing, lambda: problem_of(np.zeros_like(mask)).value(weights))
    answers = Answers(np.where(rng.random(len(batch)) < 0.5, 1.0, -1.0), rng.random(len(batch)) + 0.5)
    companions = [Labelled(batch, prices, answers=answers)]
    if not has("likelihood of companions", lambda: likelihood_problem(companions, support="all")):
        return True
    problem = likelihood_problem(companions, support="all")
    value = problem.value_and_gradient(weights, gradient)
    if not close(value, problem.value(weights)):
        raise BrokenLaw("likelihood of companions: the objective differs from that which comes with a gradient")
    check_gradient("likelihood of companions", problem.value, weights, gradient, rng)
    return True


def check_gradient(
    law: str, value: Callable[[Floats], float], weights: Floats, gradient: Floats, rng: np.random.Generator
) -> None:
    """A gradient against finite differences along a random direction, and along some weights."""
    along = [rng.normal(size=len(weights)), *np.eye(len(weights))[rng.integers(0, len(weights), 3)]]
    for direction in along:
        slope = (value(weights + STEP * direction) - value(weights - STEP * direction)) / (2 * STEP)
        predicted = float(gradient @ direction)
        if abs(slope - predicted) > 1e-4 * max(1.0, abs(slope)):
            where = f"weight {int(direction.argmax())}" if np.count_nonzero(direction) == 1 else "a random direction"
            raise BrokenLaw(f"{law}: along {where} the gradient says {predicted:.9g}, and values differ by {slope:.9g}")
