"""The transductive structural SVM: monotone at a fixed price, which may rise from small to full."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from drawing import law, seeds
from hypothesis import given
from hypothesis import strategies as st
from test_monotone_jlis import check_completion, evidence_of, joint_objective, trained

from sidelight import Companion, DataError, Tagger, features, recipes
from sidelight.training import Training

MIXED = {"gold": 4, "unlabeled": 8, "partial": 3, "candidates": 3}


def tagger(anneal: int = 0, **settings) -> Tagger:
    return Tagger(
        learner=recipes.transductive_svm(anneal=anneal), **{"features": features.words(), "n_jobs": 1, **settings}
    )


@law(25)
@given(seeds, st.integers(0, 4), st.sampled_from(["squared_hinge", "hinge"]), st.booleans())
def test_the_objective_never_rises_at_a_fixed_price(seed, anneal, loss, random_ties):
    evidence = evidence_of(seed, MIXED)
    training, rounds = trained(tagger(anneal, loss=loss, random_ties=random_ties), evidence)
    for one, other in itertools.pairwise(rounds):
        steps = [min(record.completion, anneal + 1) for record in (one, other)]  # each has its price
        if steps[0] == steps[1] > 0:
            assert other.objective <= one.objective * (1 + 1e-9)
    for record in rounds:
        assert record.primal >= record.dual - 1e-9
    assert rounds[-1].completion > anneal
    assert rounds[-1].stopped in ("the objective no longer improves", "a completion changes nothing")
    assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-6)
    check_completion(training, evidence)


def test_the_price_doubles_until_it_is_full():
    evidence = evidence_of(2, {"gold": 4, "unlabeled": 12})
    training = Training(tagger(3, prices={"unlabeled": 0.8})._settings(), evidence)
    learner, seen = training.learner, {}
    for _ in training.rounds():
        prices = learner._problem().prices[learner.problem.first_latent :]
        seen[learner.completions] = prices.sum() / learner.problem.latent.terms.prices.sum()
    assert [seen[k] for k in range(6) if k in seen][:5] == [0.0, 0.125, 0.25, 0.5, 1.0]
    assert all(share == 1.0 for completion, share in seen.items() if completion >= 4)


def test_without_annealing_it_is_margin_learning_with_completion():
    evidence = evidence_of(7, MIXED)
    one = tagger().fit(evidence)
    other = Tagger(learner="jlis", features=features.words(), n_jobs=1).fit(evidence)
    np.testing.assert_array_equal(one.model_.weights, other.model_.weights)
    assert {record.learner for record in one.rounds_} == {"transductive_svm"}
    slow = tagger(4).fit(evidence)
    assert np.any(slow.model_.weights != one.model_.weights)


def test_why_it_stops():
    evidence = evidence_of(3, {"gold": 4, "unlabeled": 20})
    assert tagger(max_completions=1).fit(evidence).rounds_[-1].stopped == "max_completions"
    assert tagger(max_rounds=2).fit(evidence).rounds_[-1].stopped == "max_rounds"
    assert tagger(decrease=1.0, tolerance=0.03).fit(evidence).rounds_[-1].stopped == "the objective no longer improves"
    few = evidence_of(3, {"gold": 6})
    assert tagger().fit(few).rounds_[-1].stopped == "the duality gap is small enough"
    assert tagger().fit(evidence).rounds_[-1].stopped == "a completion changes nothing"


@pytest.mark.parametrize("anneal", [0, 3])
def test_it_goes_on_from_any_round_to_the_same_bits(anneal):
    evidence = evidence_of(5, MIXED)
    estimator = tagger(anneal, random_ties=True, tolerance=1e-3)
    whole = Training(estimator._settings(), evidence)
    rounds, states = [], []
    for record in whole.rounds():
        values, arrays = whole.learner.state()
        rounds.append(replace(record, seconds=0.0))
        states.append((json.dumps(values), {name: array.copy() for name, array in arrays.items()}))
    for place in range(0, len(rounds), 2):
        again = Training(estimator._settings(), evidence)
        again.learner.resume((json.loads(states[place][0]), states[place][1]))
        assert [replace(record, seconds=0.0) for record in again.rounds()] == rounds[place + 1 :]
        np.testing.assert_array_equal(again.learner.finish(), whole.learner.finish())


def test_order_two_learns_as_well():
    evidence = evidence_of(9, MIXED)
    found = tagger(2, order=2).fit(evidence)
    assert found.rounds_[-1].stopped is not None
    assert found.model_.layout.order == 2


def test_what_is_refused():
    evidence = evidence_of(1, {"gold": 3, "unlabeled": 3})
    with pytest.raises(DataError, match="the learner transductive_svm learns from"):
        tagger().fit([*evidence, Companion(["on"], -1)])
    with pytest.raises(ValueError, match="the full price comes too late"):
        tagger(5, max_completions=5).fit(evidence)
    with pytest.raises(ValueError, match="anneal is -1"):
        recipes.transductive_svm(anneal=-1)
