"""Votes: their probability by enumeration, gradients by differences, an objective that never rises."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import batches, generators, labelings, law, members_of, plain_scores, random_outputs, values_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import sidelight as sl
from sidelight.features import gradient as gradient_module
from sidelight.features.gradient import FullFeatures
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.objective.trust import Trust, TrustOptions, counts_of, estimated, log_likelihood, log_odds, penalty
from sidelight.structures import LabelSet
from sidelight.structures.labels.encoding import encode_votes

LABELS = ("A", "B", "C")


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that even small batches have several blocks."""
    before = gradient_module.BLOCK_TOKENS
    gradient_module.BLOCK_TOKENS = 5
    yield
    gradient_module.BLOCK_TOKENS = before


@law(60)
@given(batches(masked=False), generators())
def test_a_bonus_is_in_the_sum_of_the_admitted_alone(batch, rng):
    features = FullFeatures.of(batch.scorer.rows, batch.scorer.layout, n_jobs=batch.n_jobs)
    bonus = rng.normal(size=(batch.scorer.rows.n_tokens, batch.scorer.layout.n_labels))
    weights = rng.normal(size=features.size)
    terms = LikelihoodTerms(features, batch.space, np.ones(len(batch.scorer.rows)), bonus=bonus)
    found = terms.losses(weights, n_jobs=batch.n_jobs)
    plain = plain_scores(batch.scorer.rows, batch.scorer.layout, weights)
    for i, loss in enumerate(found):
        first, last = batch.scorer.rows.starts[i : i + 2]
        paths = labelings(batch.scorer.layout.n_labels, last - first)
        paths = paths[members_of(batch.space, first, paths)]
        values = values_of(plain, first, paths)
        more = bonus[np.arange(first, last), paths].sum(axis=1)
        np.testing.assert_allclose(loss, logsumexp(values) - logsumexp(values + more), rtol=1e-9, atol=1e-9)


@law(40)
@given(batches(masked=False), generators())
def test_the_gradient_of_terms_with_a_bonus(batch, rng):
    features = FullFeatures.of(batch.scorer.rows, batch.scorer.layout, n_jobs=batch.n_jobs)
    bonus = rng.normal(size=(batch.scorer.rows.n_tokens, batch.scorer.layout.n_labels))
    prices = rng.uniform(0.1, 2.0, size=len(batch.scorer.rows))
    soft = LikelihoodTerms(features, batch.space, prices, bonus=bonus)
    gold = LikelihoodTerms(features, batch.space, prices, targets=random_outputs(rng, batch))
    problem = LikelihoodProblem([soft, gold], n_jobs=batch.n_jobs)
    weights, gradient = rng.normal(size=problem.size), np.empty(problem.size)
    value = problem.value_and_gradient(weights, gradient)
    np.testing.assert_allclose(value, problem.value(weights), rtol=1e-9)
    direction = rng.normal(size=problem.size)
    step = 1e-5
    ahead, behind = problem.value(weights + step * direction), problem.value(weights - step * direction)
    np.testing.assert_allclose(gradient @ direction, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-5)


@st.composite
def voted(draw):
    """Inputs that functions vote on, and how many functions there are."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    functions = [f"f{k}" for k in range(draw(st.integers(1, 4)))]
    xs = [[str(rng.choice(list("abcdef"))) for _ in range(rng.integers(1, 6))] for _ in range(draw(st.integers(2, 8)))]

    def vote():
        kind = rng.random()
        if kind < 0.4:
            return None
        labels = [str(label) for label in rng.permutation(LABELS)]
        return labels[0] if kind < 0.85 else frozenset(labels[:2])

    return [sl.Voted(x, {name: [vote() for _ in x] if rng.random() < 0.9 else None for name in functions}) for x in xs]


def encoded(pieces):
    starts = np.cumsum([0] + [len(piece.x) for piece in pieces])
    return encode_votes(pieces, LabelSet(LABELS), starts, lambda *at: AssertionError(at)), starts


@law(60)
@given(voted(), generators())
def test_odds_are_products_over_votes(pieces, rng):
    votes, starts = encoded(pieces)
    trust = Trust(rng.uniform(0.05, 0.95, len(votes.symbols)), rng.uniform(0.05, 0.95, len(votes.functions)))
    found = log_odds(votes, trust)
    symbol = {(votes.functions[f], named): s for s, (f, named) in enumerate(zip(votes.function_of, votes.symbols))}
    for i, piece in enumerate(pieces):
        for t in range(len(piece.x)):
            expected = np.zeros(3)
            for name, given_votes in piece.votes.items():
                vote = None if given_votes is None else given_votes[t]
                if vote is not None:
                    named = tuple(
                        label for label in LABELS if label == vote or (isinstance(vote, frozenset) and label in vote)
                    )
                    rho = trust.symbols[symbol[name, named]]
                    expected += [
                        np.log(rho / len(named) if label in named else (1 - rho) / (3 - len(named))) for label in LABELS
                    ]
            np.testing.assert_allclose(found[starts[i] + t], expected, rtol=1e-12)
            np.testing.assert_array_less(found, 1e-12)


@law(60)
@given(voted(), generators())
def test_counts_are_those_of_beliefs(pieces, rng):
    votes, starts = encoded(pieces)
    tokens = rng.dirichlet(np.ones(3), size=starts[-1])
    found = counts_of(votes, tokens)
    np.testing.assert_allclose(found.sum(), len(votes.votes))
    right = np.zeros(len(votes.symbols))
    for t in range(starts[-1]):
        for s in votes.votes[votes.starts[t] : votes.starts[t + 1]]:
            right[s] += tokens[t] @ votes.admits[s]
    np.testing.assert_allclose(found[:, 0], right)


@law(60)
@given(voted(), generators(), st.floats(0.1, 50.0), st.floats(0.05, 0.95))
def test_an_m_step_is_the_best_trust_for_its_counts(pieces, rng, strength, right):
    votes, _ = encoded(pieces)
    options = TrustOptions(right, strength)
    counts = rng.gamma(1.0, 5.0, size=(len(votes.symbols), 2))

    def cost(trust):
        return penalty(trust, votes.function_of, options) - log_likelihood(trust, counts)

    trust = Trust.beforehand(votes.function_of, len(votes.functions), options)
    costs = [cost(trust)]
    for _ in range(30):
        trust = estimated(trust, counts, votes.function_of, options)
        costs.append(cost(trust))
    assert np.all(np.diff(costs) <= 1e-9 * np.abs(costs[0]))
    for _ in range(10):
        other = Trust(*(np.clip(part + rng.normal(scale=0.01, size=part.shape), 1e-6, 1 - 1e-6)
                        for part in (trust.symbols, trust.functions)))  # fmt: skip
        assert cost(other) >= costs[-1] - 1e-7 * (1 + abs(costs[-1]))


@law(25)
@given(voted(), generators(), st.booleans(), st.booleans())
def test_the_objective_never_rises(pieces, rng, labelled, more):
    evidence = list(pieces)
    if labelled:
        xs = [pieces[0].x, ["a", "z", "b"]]  # the first is voted on as well
        evidence += sl.gold(xs, [[str(rng.choice(LABELS)) for _ in x] for x in xs])
    if more:
        evidence.append(sl.Candidates(["c", "d"], [{"A", "B"}, None]))
    tagger = sl.Tagger(learner="partial_crf", features=sl.features.words(), labels=LABELS, n_jobs=1, decrease=1e-9)
    values = [record.objective for record in tagger.fit(evidence).rounds_]
    assert np.all(np.diff(values) <= 1e-7 * np.abs(values[:-1]) + 1e-9)
