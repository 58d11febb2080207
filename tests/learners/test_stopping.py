"""The last round says why training ended, and no other does."""

from __future__ import annotations

import pytest
from test_monotone_jlis import evidence_of

from sidelight import Tagger, features, recipes


def stopped(evidence, **settings) -> str:
    rounds = Tagger(**{"learner": "jlis", "features": features.words(), "n_jobs": 1, **settings}).fit(evidence).rounds_
    assert all(record.stopped is None and not record.last for record in rounds[:-1])
    assert rounds[-1].last
    return rounds[-1].stopped


def test_margins():
    gold, mixed = evidence_of(1, {"gold": 20}), evidence_of(2, {"gold": 4, "good": 12, "bad": 12})
    assert stopped(gold) == "the duality gap is small enough"
    assert stopped(gold, max_rounds=1, tolerance=1e-9) == "max_rounds"
    assert stopped(mixed, max_completions=1) == "max_completions"
    assert stopped(mixed, decrease=1.0, tolerance=0.03) == "the objective no longer improves"
    assert stopped(mixed) in ("the objective no longer improves", "a completion changes nothing")


def test_perceptron():
    gold = evidence_of(1, {"gold": 20})
    assert stopped(gold, learner="perceptron", max_rounds=2) == "max_rounds"
    assert stopped(gold[:1], learner="perceptron", max_rounds=50) == "no mistakes"


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
def test_candidates(solver):
    evidence = evidence_of(3, {"gold": 4, "candidates": 12})
    few = recipes.cllp(solver=solver, max_completions=1)
    assert stopped(evidence, learner=few) == "max_completions"
    assert stopped(evidence, learner=recipes.cllp(solver=solver), max_rounds=2) == "max_rounds"
    assert stopped(evidence, learner=recipes.cllp(solver=solver)) in (
        "the objective no longer improves",
        "a completion changes nothing",
    )
    assert stopped(evidence_of(3, {"gold": 8}), learner=recipes.cllp(solver=solver)) == "a completion changes nothing"
