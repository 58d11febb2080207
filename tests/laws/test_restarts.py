"""Of several learners from different seeds, the one with the lowest objective is kept."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from test_monotone_jlis import LABELS, WORDS, evidence_of

from sidelight import Tagger, features
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.completion import LatentProblem
from sidelight.rounds.restarts import Restarts
from sidelight.training import Training

COUNT = 6
OPTIONS = MarginOptions(seed=3, random_ties=True, tolerance=0.003, max_rounds=60)


def problem_of(order: int, *, dictionary: bool, counts=None) -> tuple[LatentProblem, int]:
    """J-LIS from companion answers; with a dictionary every word has two possible labels."""
    evidence = evidence_of(1, counts or {"good": 12, "bad": 18})
    settings = Tagger(
        learner="jlis", features=features.words(), labels=LABELS, order=order, prices={"companion": 3.0}, n_jobs=1
    )
    training = Training(settings._settings(), evidence)
    problem = training.learner.problem
    if dictionary:
        known = {word: [k % 3 != w % 3 for k in range(3)] for w, word in enumerate(WORDS)}

        def limited(batch, good):
            masks = [known[word] for one in evidence if getattr(one, "z", 0) == good for word in one.x]
            return replace(batch, space=batch.space.inside(np.array(masks, dtype=np.uint8)))

        problem = replace(
            problem,
            negative=replace(problem.negative, batch=limited(problem.negative.batch, -1)),
            positive=replace(problem.positive, batch=limited(problem.positive.batch, 1)),
        )
    return problem, training.structure.layout.size


def jlis_restarts(problem, options, *, size, count, n_jobs=None) -> Restarts:
    """J-LIS from so many random first completions."""

    def make(seed: int) -> MarginLearner:
        return MarginLearner.fresh(problem, replace(options, seed=seed), size=size)

    return Restarts(make, range(options.seed, options.seed + count), n_jobs=n_jobs)


def plain(rounds):
    return [replace(record, seconds=0.0) for record in rounds]


@pytest.mark.parametrize(("order", "dictionary"), [*itertools.product([1, 2], [False, True])])
def test_the_result_is_the_minimum_over_learners_run_alone(order, dictionary):
    problem, size = problem_of(order, dictionary=dictionary)
    alone, told = [], []
    for seed in range(OPTIONS.seed, OPTIONS.seed + COUNT):
        learner = MarginLearner.fresh(problem, replace(OPTIONS, seed=seed), size=size)
        told.append(list(learner.run()))
        alone.append(learner.finish())
    finals = [rounds[-1].objective for rounds in told]
    best = int(np.argmin(finals))
    assert len({round(value, 6) for value in finals}) > 1  # else there is nothing to choose
    restarts = jlis_restarts(problem, OPTIONS, size=size, count=COUNT, n_jobs=2)
    rounds = list(restarts.run())
    assert restarts.best == best
    assert restarts.ended.objective == min(finals)
    assert (rounds[-1].restart, rounds[-1].objective) == (best, min(finals))
    assert rounds[-1].stopped == told[best][-1].stopped is not None
    np.testing.assert_array_equal(restarts.finish(), alone[best])
    assert restarts.rounds == len(rounds) == sum(map(len, told))
    assert [record.number for record in rounds] == list(range(1, len(rounds) + 1))
    assert [record.last for record in rounds] == [False] * (len(rounds) - 1) + [True]
    for number, expected in enumerate(told):
        mine = [record for record in rounds if record.restart == number]
        kept = ("objective", "primal", "dual", "completion", "changed", "new_cuts", "learner")
        assert [[getattr(r, name) for name in kept] for r in mine] == [[getattr(r, n) for n in kept] for r in expected]
    assert problem.positive.batch.space.admits(problem.positive.batch.best(restarts.weights).labels).all()


@pytest.mark.parametrize("abreast", [1, 2, 4])
def test_threads_change_nothing(abreast):
    problem, size = problem_of(2, dictionary=True)
    found = []
    for n_jobs in (1, 2, 3):
        restarts = replace(jlis_restarts(problem, OPTIONS, size=size, count=COUNT), abreast=abreast, n_jobs=n_jobs)
        results = [(record, restarts.has_result(record)) for record in restarts.run()]
        rounds = plain(record for record, _ in results)
        found.append((rounds, [result for _, result in results], restarts.finish()))
    assert found[0][0][-1].restart == restarts.best
    assert found[0][1][-1]
    for rounds, results, weights in found[1:]:
        assert rounds == found[0][0]
        assert results == found[0][1]
        np.testing.assert_array_equal(weights, found[0][2])


def test_how_many_go_abreast_does_not_change_the_result():
    problem, size = problem_of(1, dictionary=True)
    found = []
    for abreast in (1, 3, COUNT):
        restarts = replace(jlis_restarts(problem, OPTIONS, size=size, count=COUNT), abreast=abreast)
        rounds = list(restarts.run())
        order = [record.restart for record in rounds]
        assert order[:abreast] == list(range(abreast))
        assert rounds[-1].restart == restarts.best and rounds[-1].objective == min(restarts.objectives.values())
        assert set(order) == set(range(COUNT))
        found.append((restarts.best, restarts.objectives, restarts.finish()))
    for best, objectives, weights in found[1:]:
        assert (best, objectives) == found[0][:2]
        np.testing.assert_array_equal(weights, found[0][2])


def test_it_goes_on_from_any_round():
    problem, size = problem_of(2, dictionary=True)
    options = replace(OPTIONS, max_rounds=8)

    def fresh() -> Restarts:
        return replace(jlis_restarts(problem, options, size=size, count=4, n_jobs=2), abreast=2)

    whole = fresh()
    rounds = plain(whole.run())
    states, interrupted = [], fresh()
    for _ in interrupted.run():
        values, arrays = interrupted.state()
        states.append((json.dumps(values), {name: array.copy() for name, array in arrays.items()}))
    assert len(states) == len(rounds)
    for place in range(0, len(rounds), 3):
        values, arrays = states[place]
        again = fresh()
        again.resume((json.loads(values), arrays))
        assert again.rounds == place + 1
        assert plain(again.run()) == rounds[place + 1 :]
        assert again.objectives == whole.objectives
        np.testing.assert_array_equal(again.finish(), whole.finish())


def test_the_weights_at_any_time_are_those_of_the_best_so_far():
    problem, size = problem_of(1, dictionary=False)
    restarts = jlis_restarts(problem, OPTIONS, size=size, count=3)
    assert restarts.weights.shape == (size,)
    for _ in restarts.run():
        best = restarts.best
        assert restarts.objectives[best] == min(restarts.objectives.values())
        owner = restarts.running[best].learner if best in restarts.running else restarts.ended
        np.testing.assert_array_equal(restarts.weights, owner.weights)


def test_what_is_refused():
    with pytest.raises(ValueError, match="no seeds"):
        Restarts(lambda seed: None, [])
    with pytest.raises(ValueError, match="abreast is 0"):
        Restarts(lambda seed: None, [1], abreast=0)
    gold = evidence_of(1, {"gold": 5})
    settings = Tagger(features=features.words(), learner="perceptron", n_jobs=1)
    restarts = Restarts(lambda seed: Training(replace(settings._settings(), seed=seed), gold).learner, [1, 2])
    with pytest.raises(ValueError, match="perceptron has no objective"):
        list(restarts.run())
