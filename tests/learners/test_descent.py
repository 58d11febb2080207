"""Margins and likelihoods by gradients: the network of docs/add_a_scorer.md, and linear scorers of every structure."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import generators, law, seeds
from drawing_structures import CASES
from hypothesis import assume, given

from sidelight.errors import Intractable
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.batch import Batch
from sidelight.objective.companion_likelihood import Answers
from sidelight.objective.completion import latent_problem
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import TargetTerms
from sidelight.objective.margin_descent import MarginDescent
from sidelight.rounds.descent import DescentLearner, DescentOptions
from sidelight.solvers.adagrad import AdaGrad
from sidelight.spaces import ChainSpace, Cost, LeavingCost
from sidelight.testing import BrokenLaw, check_solver, check_structure

PAGE = Path(__file__).parent.parent.parent / "docs" / "add_a_scorer.md"


def network_of_the_page() -> Any:
    names: dict[str, Any] = {"__name__": "page"}
    exec(
        compile(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0], "page", "exec", 0, True),
        names,
    )
    return names["Network"]


Network = network_of_the_page()


def batch_at_random(rng: np.random.Generator) -> Batch:
    lengths = rng.integers(1, 4, 3)
    starts = np.append(0, np.cumsum(lengths))
    words, labels = rng.integers(0, 4, int(starts[-1])), int(rng.integers(2, 4))
    return Batch(Network(words, starts, vocabulary=4, labels=labels), ChainSpace(starts, labels))


@law(25)
@given(generators(), seeds)
def test_a_network_keeps_the_laws(rng, seed):
    batch = batch_at_random(rng)
    checked = check_structure(batch, seed=seed, weights=rng.normal(size=batch.scorer.size))
    assert checked.gradients and checked.likelihood and checked.sums and checked.k_best


def test_a_wrong_adjoint_is_found():
    class Wrong(Network):
        def add_gradient(self, weights, parts, gradient):
            super().add_gradient(weights, replace(parts, transitions=parts.transitions.T), gradient)

    batch = batch_at_random(np.random.default_rng(0))
    given = batch.scorer
    wrong = replace(batch, scorer=Wrong(given.words, given.starts, given.vocabulary, given.labels))
    with pytest.raises(BrokenLaw, match=r"gradient of scores: along .* the gradient says"):
        for seed in range(20):
            check_structure(wrong, seed=seed)


def terms_of(batch: Batch, rng: np.random.Generator) -> TargetTerms:
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    return TargetTerms(batch, Cost(targets, 1.0 - np.eye(batch.space.n_labels)), np.ones(len(batch)))


def test_what_needs_linear_scores_says_so():
    rng = np.random.default_rng(0)
    batch = batch_at_random(rng)
    terms = terms_of(batch, rng)
    learner = MarginLearner.fresh  # by cuts
    with pytest.raises(Intractable, match="Network is not linear in its weights, so it has no cuts"):
        learner(latent_problem(terms), MarginOptions(), size=batch.scorer.size).round()
    answers = Answers(np.ones(len(batch)), np.ones(len(batch)))
    with pytest.raises(Intractable, match="companion answers need scores that are linear"):
        likelihood_problem([Labelled(batch, np.ones(len(batch)), answers=answers)])
    with pytest.raises(Intractable, match="a cost against a target"):
        MarginDescent(replace(terms, cost=LeavingCost(terms.cost.targets, np.ones((1, 1), np.uint8))))
    with pytest.raises(ValueError, match="step is 0"):
        AdaGrad.fresh(np.zeros(3), step=0.0)


@pytest.mark.parametrize("name", CASES)
def test_gradients_come_near_the_optimum_of_every_structure(name):
    """By hinge; and a run that was stopped and taken up again ends with the same bits."""

    @law(2)
    @given(CASES[name](), generators())
    def check(case, rng):
        assume(case.batch.space.feasible().all() and len(case.batch))
        options = DescentOptions(max_rounds=150, step=0.5, inputs=2, seed=1)

        def make(terms):
            return DescentLearner.fresh(MarginDescent(terms, power=1), np.zeros(terms.batch.scorer.size), options)

        check_solver(make, tolerance=0.15, terms=terms_of(case.batch, rng))

    check()
