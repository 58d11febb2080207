"""Learning by any solver: what rounds tell, going on after an interruption, and threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import law, random_rows
from drawing_margins import gold_terms
from hypothesis import given

from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.learners.online import OnlineLearner
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.models.files import load_checkpoint, save_checkpoint
from sidelight.objective.cuts import LOGISTIC, total_loss
from sidelight.objective.margin import TargetTerms
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.solvers.arow import ArowOptions
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.solvers.mira import MiraOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions
from sidelight.spaces import Cost

OPTIONS = {
    "one_slack": ConvexOptions("one_slack", tolerance=1e-6, max_rounds=12, one_slack=OneSlackOptions(idle=3)),
    "n_slack_qp": ConvexOptions("n_slack_qp", tolerance=1e-6, max_rounds=12),
    "n_slack_qp squared": ConvexOptions("n_slack_qp", power=2, tolerance=1e-6, max_rounds=12),
    "frank_wolfe": ConvexOptions("frank_wolfe", tolerance=1e-9, max_rounds=12, frank_wolfe=FrankWolfeOptions(every=5)),
    "frank_wolfe by gaps": ConvexOptions(
        "frank_wolfe",
        tolerance=1e-9,
        max_rounds=12,
        frank_wolfe=FrankWolfeOptions("gap", steps=0, average=True, every=4),
    ),
    "subgradient": ConvexOptions("subgradient", tolerance=0.0, max_rounds=12),
    "subgradient squared": ConvexOptions("subgradient", power=2, tolerance=0.0, max_rounds=12),
    "subgradient logistic": ConvexOptions("subgradient", power=LOGISTIC, tolerance=0.0, max_rounds=12),
    "subgradient, suffix": ConvexOptions(
        "subgradient", tolerance=0.0, max_rounds=12, subgradient=SubgradientOptions("suffix", project=True, every=3)
    ),
}
ONLINE = {
    "mira": MiraOptions(k=3),
    "passive_aggressive": MiraOptions(rule="PA-I", aggressiveness=0.1, outputs="prediction", margin="root"),
    "arow": ArowOptions(r=2.0),
}


def problem(count: int = 400, n_jobs: int | None = 1, seed: int = 0) -> TargetTerms:
    """Sequences with noisy labels, long enough for several shards."""
    rng = np.random.default_rng(seed)
    layout = Layout(4, 30, 3)
    starts = offsets_of(rng.integers(1, 20, count))
    rows = random_rows(rng, starts, 30, 3, valued=False)
    batch = chain_batch(rows, layout, n_jobs=n_jobs)
    targets = batch.best(rng.normal(size=layout.size)).labels
    noisy = np.where(rng.random(len(targets)) < 0.1, rng.integers(0, 4, len(targets)), targets).astype(np.int32)
    return TargetTerms(batch, Cost(noisy, 1.0 - np.eye(4)), rng.uniform(0.5, 1.5, count) * 0.1)


def learner_for(kind: str, terms: TargetTerms):
    if kind in ONLINE:
        assert isinstance(terms.cost, Cost)
        return OnlineLearner.fresh(terms.batch, terms.cost, terms.prices, ONLINE[kind], max_rounds=6, seed=3)
    return ConvexLearner.fresh(terms, OPTIONS[kind])


KINDS = [*OPTIONS, *ONLINE]


def told(record):
    return replace(record, seconds=0.0)


@pytest.mark.parametrize("kind", OPTIONS)
def test_rounds_tell_the_truth(kind):
    @law(15)
    @given(gold_terms(free=False))
    def check(terms):
        learner = learner_for(kind, terms)
        best = np.inf
        for number, record in enumerate(learner.run(), 1):
            assert record.number == learner.rounds == number
            assert learner.has_result(record) == (record.primal is not None)
            if record.objective is not None:
                assert record.objective <= best
                best = record.objective
                weights = learner.weights
                primal = 0.5 * weights @ weights
                primal += total_loss(terms.worst(weights).values, terms.prices, OPTIONS[kind].power)
                assert record.objective == pytest.approx(primal, rel=1e-9, abs=1e-12)
            if record.dual is None:
                assert kind == "subgradient, suffix"  # measures now and then
            elif record.gap is not None:
                assert record.gap == pytest.approx(record.objective - record.dual, abs=1e-12)
                assert record.gap >= -1e-9
            assert record.last == (number == 12 or learner.done)
        assert record.primal is not None
        np.testing.assert_array_equal(learner.finish(), learner.weights)

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_learning_goes_on_to_the_same_bits(kind, tmp_path):
    terms = problem(30)
    whole = learner_for(kind, terms)
    records = [told(record) for record in whole.run()]
    assert len(records) >= 4
    for point in (1, 2, len(records) - 1):
        path = tmp_path / f"{point}"
        first = learner_for(kind, terms)
        for record in first.run():
            if record.number == point:
                save_checkpoint(path, "mark", first.state())
                break
        second = learner_for(kind, terms)
        state = load_checkpoint(path, "mark")
        assert state is not None
        second.resume(state)
        assert [told(record) for record in second.run()] == records[point:]
        np.testing.assert_array_equal(second.finish(), whole.finish())


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_on_any_number_of_threads(kind):
    found = []
    for n_jobs in (1, 2, 3):
        learner = learner_for(kind, problem(n_jobs=n_jobs))
        limit = 3 if kind.startswith("n_slack") else 12
        records = [told(record) for _, record in zip(range(limit), learner.run())]
        found.append((records, learner.finish().copy()))
    for records, weights in found[1:]:
        assert records == found[0][0]
        np.testing.assert_array_equal(weights, found[0][1])


@pytest.mark.parametrize("kind", ONLINE)
def test_online_learners_fit_what_can_be_fitted(kind):
    terms = problem(60, seed=2)
    layout = terms.batch.scorer.layout
    targets = terms.batch.best(np.random.default_rng(5).normal(size=layout.size)).labels
    cost = Cost(targets, 1.0 - np.eye(layout.n_labels))
    bold = {"r": 0.1} if kind == "arow" else {"aggressiveness": 10.0, "k": 1}
    options = replace(ONLINE[kind], outputs="prediction", **bold)
    learner = OnlineLearner.fresh(terms.batch, cost, np.ones(len(terms)), options, max_rounds=200)
    mistakes = [record.mistakes for record in learner.run()]
    assert mistakes[-1] == 0 and len(mistakes) < 200
    np.testing.assert_array_equal(terms.batch.best(learner.solver.weights).labels, targets)


def test_going_on_from_given_weights():
    terms = problem(20)
    start = np.random.default_rng(0).normal(size=terms.batch.scorer.size)
    options = MiraOptions(aggressiveness=1e-9)
    learner = OnlineLearner.fresh(terms.batch, terms.cost, terms.prices, options, max_rounds=1, start=start)
    list(learner.run())
    np.testing.assert_allclose(learner.finish(), start, atol=1e-6)


def test_what_cannot_be_learned_is_refused():
    terms = problem(5)
    with pytest.raises(ValueError, match="solver is"):
        ConvexOptions("newton")
    with pytest.raises(ValueError, match="frank_wolfe minimises the hinge, and the loss is squared_hinge"):
        ConvexOptions("frank_wolfe", power=2)
    with pytest.raises(ValueError, match="max_rounds"):
        ConvexOptions(max_rounds=0)
    with pytest.raises(ValueError, match="max_rounds"):
        OnlineLearner.fresh(terms.batch, terms.cost, terms.prices, MiraOptions(), max_rounds=0)
    free = replace(terms, prices=np.zeros(len(terms)))
    with pytest.raises(ValueError, match="price"):
        ConvexLearner.fresh(free, ConvexOptions("subgradient"))
