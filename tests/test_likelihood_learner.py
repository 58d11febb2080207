"""Likelihood learners: rounds, results, and going on to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of, scores
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.spaces import ChainSpace, Cost

LABELS, WORDS = 3, 30


def corpus(count: int, seed: int) -> tuple[Rows, np.ndarray]:
    """Words whose label depends on the word, and now and then on the label before."""
    rng = np.random.default_rng(seed)
    starts = offsets_of(rng.integers(1, 9, count))
    tokens = int(starts[-1])
    words = rng.integers(0, WORDS, tokens)
    targets = words % LABELS
    for t in range(1, tokens):
        if t not in starts and rng.random() < 0.1:
            targets[t] = (targets[t - 1] + 1) % LABELS
    before = np.where(np.isin(np.arange(tokens), starts), WORDS, np.roll(words, 1))
    indices = np.stack([words, WORDS + before], axis=1).ravel().astype(np.int32)
    rows = Rows(starts, offsets_of([2] * tokens), indices, np.empty(0), np.empty((tokens, 0), dtype=np.float32))
    return rows, targets.astype(np.int32)


LAYOUT = Layout(LABELS, 2 * WORDS + 1)


def problem_of(kind: str, n_jobs: int | None = None):
    rows, targets = corpus(80, 0)
    batch = chain_batch(rows, LAYOUT)
    inputs = [Labelled(batch, np.ones(len(rows)), targets=targets)]
    if "candidates" in kind:
        mask = np.eye(LABELS, dtype=np.uint8)[targets]
        mask[np.arange(len(targets)), (targets + 1) % LABELS] = 1
        inputs.append(Labelled(batch, np.full(len(rows), 0.5), admitted=mask))
    support = "all" if "all" in kind else "seen"
    return likelihood_problem(inputs, support=support, l2=0.0 if kind == "l1" else 0.8, n_jobs=n_jobs)


def options_for(kind: str, rounds: int) -> LikelihoodOptions:
    solver = kind.split()[0] if kind.split()[0] in ("sgd", "eg") else "lbfgs"
    return LikelihoodOptions(rounds, LbfgsOptions(l1=0.3 if kind == "l1" else 0.0), solver, tolerance=1e-4, seed=3)


def learner_for(kind: str, rounds: int = 60, n_jobs: int | None = None) -> LikelihoodLearner:
    return LikelihoodLearner.fresh(problem_of(kind, n_jobs), options_for(kind, rounds))


KINDS = ["seen", "all", "l1", "candidates", "sgd", "sgd all", "sgd candidates", "eg", "eg all"]


@pytest.mark.parametrize("kind", KINDS)
def test_learns(kind):
    learner = learner_for(kind)
    records = list(learner.run())
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert [record.last for record in records] == [False] * (len(records) - 1) + [True]
    objectives = [record.objective for record in records]
    assert objectives == sorted(objectives, reverse=True)
    assert len(records) < 60 or "sgd" in kind
    weights = learner.finish()
    assert len(weights) == LAYOUT.size
    rows, targets = corpus(40, 1)
    found = ChainSpace(rows.starts, LABELS).best(scores(rows, LAYOUT, weights)).labels
    assert np.mean(found == targets) > 0.85
    if kind == "l1":
        assert np.count_nonzero(weights) < 0.7 * len(weights)


@pytest.mark.parametrize("kind", KINDS)
def test_going_on_gives_the_same_bits(kind):
    whole = learner_for(kind, 12)
    records = list(whole.run())
    for point in (1, 2, 5, 11):
        first = learner_for(kind, 12)
        for record in first.run():
            if record.number == point:
                break
        second = learner_for(kind, 12)
        second.resume(first.state())
        rest = list(second.run())
        assert [r.objective for r in rest] == [r.objective for r in records[point:]]
        np.testing.assert_array_equal(second.weights, whole.weights)


def test_more_rounds_go_on_where_few_ended():
    few = learner_for("seen", 5)
    list(few.run())
    more = learner_for("seen", 9)
    more.resume(few.state())
    assert [record.number for record in more.run()] == [6, 7, 8, 9]
    whole = learner_for("seen", 9)
    list(whole.run())
    np.testing.assert_array_equal(more.weights, whole.weights)


def test_starts_from_other_weights():
    learner = learner_for("seen")
    reached = list(learner.run())[-1].objective
    again = LikelihoodLearner.fresh(problem_of("seen"), options_for("seen", 20), start=learner.weights)
    assert next(again.run()).objective <= reached * (1 + 1e-12)
    online = LikelihoodLearner.fresh(problem_of("sgd"), options_for("sgd", 20), start=learner.weights)
    fresh = LikelihoodLearner.fresh(problem_of("sgd"), options_for("sgd", 20))
    assert next(online.run()).objective < next(fresh.run()).objective


def test_all_solvers_come_to_the_same_minimum():
    found = {}
    for kind in ("all", "eg all", "sgd all"):
        learner = learner_for(kind, 400)
        records = list(learner.run())
        found[kind] = records[-1].objective
        if kind == "eg all":
            gaps = [record.gap for record in records]
            assert all(record.dual <= found["all"] * (1 + 1e-6) for record in records)
            assert gaps[-1] <= 1e-4 * records[-1].objective
            assert gaps[-1] == records[-1].objective - records[-1].dual
    assert found["all"] * (1 - 1e-5) <= found["eg all"] <= found["all"] * (1 + 1e-3)
    assert found["all"] * (1 - 1e-5) <= found["sgd all"] <= found["all"] * (1 + 1e-4)


def test_exponentiated_gradient_learns_margins():
    costs = 1.0 - np.eye(LABELS)
    learner = LikelihoodLearner.fresh(problem_of("eg"), options_for("eg", 300), costs=costs, name="max_margin")
    records = list(learner.run())
    assert records[-1].gap <= 0.05 * records[-1].objective
    rows, targets = corpus(80, 0)
    space = ChainSpace(rows.starts, LABELS)
    paths = space.best(scores(rows, LAYOUT, learner.weights), cost=Cost(targets, costs))
    loss = np.sum(paths.values - paths.targets)
    np.testing.assert_allclose(records[-1].objective, 0.4 * learner.weights @ learner.weights + loss, rtol=1e-9)


def test_what_a_solver_cannot_do_is_said():
    with pytest.raises(ValueError, match="there are lbfgs, sgd, eg"):
        LikelihoodOptions(solver="newton")
    with pytest.raises(ValueError, match="no L1 norm"):
        LikelihoodOptions(solver="sgd", lbfgs=LbfgsOptions(l1=1.0))
    with pytest.raises(ValueError, match="Gold only"):
        LikelihoodLearner.fresh(problem_of("eg candidates"), options_for("eg", 3))
    with pytest.raises(ValueError, match="L2 norm"):
        LikelihoodLearner.fresh(problem_of("l1"), options_for("sgd", 3))
    with pytest.raises(ValueError, match="no costs"):
        LikelihoodLearner.fresh(problem_of("sgd"), options_for("sgd", 3), costs=1.0 - np.eye(LABELS))
    with pytest.raises(ValueError, match="no first weights"):
        LikelihoodLearner.fresh(problem_of("eg"), options_for("eg", 3), start=np.zeros(LAYOUT.size))


@pytest.mark.parametrize("kind", ["seen", "candidates", "sgd", "eg"])
def test_threads_do_not_matter(kind):
    found = []
    for n_jobs in (1, 2, 3):
        learner = learner_for(kind, 8, n_jobs)
        list(learner.run())
        found.append(learner.weights)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
