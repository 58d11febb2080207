"""Companion answers in a likelihood: values by enumeration, gradients by differences, bounds, and rounds that fall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import batches, generators, labelings, law, members_of, plain_scores, random_mask, seeds, values_of
from drawing_second_order import plain_second_order_scores, second_order_batches, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from segmenting import members_of as segmentations_of
from segmenting import plain_segment_scores, segment_batches, value_of

import sidelight as sl
from sidelight import recipes
from sidelight.features import gradient as gradient_module
from sidelight.objective.companion_likelihood import TEMPERATURE, Answers
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.rules import gallery


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that even small batches have several blocks."""
    before = gradient_module.BLOCK_TOKENS
    gradient_module.BLOCK_TOKENS = 5
    yield
    gradient_module.BLOCK_TOKENS = before


def answers_of(rng, count):
    return Answers(rng.choice([-1.0, 1.0], count), rng.uniform(0.5, 3.0, count))


def random_inputs(batch, rng):
    """Gold, candidates and answers over the same inputs, the answers within candidates too."""
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    masks = random_mask(rng, (2, len(targets), batch.space.n_labels), 0.6)
    masks[:, np.arange(len(targets)), targets] = 1
    prices = rng.random((3, len(batch)))
    return [
        Labelled(batch, prices[0], targets=targets),
        Labelled(batch, prices[1], admitted=masks[0]),
        Labelled(batch.inside(masks[1]), prices[2], answers=answers_of(rng, len(batch))),
    ]


def listed_values(batch, space, i, full):
    """The scores of all outputs of an input."""
    first, last = int(batch.starts[i]), int(batch.starts[i + 1])
    if isinstance(batch.scorer, SegmentScorer):
        plain = plain_segment_scores(batch, full)
        return np.array([value_of(plain, first, pieces) for pieces in segmentations_of(space, i).values()])
    rows, layout = batch.scorer.rows, batch.scorer.layout
    paths = labelings(layout.n_labels, last - first)
    paths = paths[members_of(space, first, paths)]
    if layout.order == 2:
        return second_order_values(plain_second_order_scores(rows, layout, full), first, paths)
    return values_of(plain_scores(rows, layout, full), first, paths)


def enumerated(batch, space, answers, full):
    """log(1 + exp(−z (S / κ + b))) of every input, and S / κ + b."""
    decisions = []
    for i in range(len(batch)):
        values = listed_values(batch, space, i, full)
        soft = TEMPERATURE * np.log(np.mean(np.exp(values / TEMPERATURE)))
        decisions.append(soft / answers.sizes[i] + full[0])
    return np.log1p(np.exp(-answers.signs * np.array(decisions))), np.array(decisions)


def problem_and_terms(batch, rng, *, support="seen"):
    inputs = random_inputs(batch, rng)
    problem = likelihood_problem(inputs, support=support, l2=0.7)
    return problem, problem.terms, inputs


def every_structure(test):
    """A law for chains of either order, and for segments."""
    drawn = st.one_of(batches(longest=3), second_order_batches(), segment_batches(most=2, longest=3))
    return given(drawn, generators(), st.sampled_from(["seen", "all"]))(test)


@law(80)
@every_structure
def test_values_by_enumeration(batch, rng, support):
    problem, terms, inputs = problem_and_terms(batch, rng, support=support)
    weights = 0.5 * rng.normal(size=problem.size)
    full = problem.expand(weights)
    losses, decisions = enumerated(batch, inputs[-1].batch.space, inputs[-1].answers, full)
    np.testing.assert_allclose(terms[-1].decisions(weights), decisions, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(terms[-1].prices * terms[-1].losses(weights), inputs[-1].prices * losses, rtol=1e-9)
    found = problem.value_and_gradient(weights, np.empty(problem.size))
    rest = sum(float(part.prices @ part.losses(weights)) for part in terms[:-1])
    expected = 0.35 * weights @ weights + rest + inputs[-1].prices @ losses
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@law(60)
@every_structure
def test_gradient_by_differences(batch, rng, support):
    problem, *_ = problem_and_terms(batch, rng, support=support)
    weights = rng.normal(size=problem.size)
    gradient, spare, step = np.empty(problem.size), np.empty(problem.size), 1e-5
    problem.value_and_gradient(weights, gradient)
    threshold = np.eye(problem.size)[0]
    for direction in [
        threshold,
        *np.eye(problem.size)[rng.integers(0, problem.size, 4)],
        rng.normal(size=len(weights)),
    ]:
        ends = [problem.value_and_gradient(weights + sign * step * direction, spare) for sign in (1, -1)]
        np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / (2 * step), rtol=2e-6, atol=2e-6)


@law(40)
@given(batches(longest=3), generators())
def test_weights_of_zero_say_nothing(batch, rng):
    *_, terms = problem_and_terms(batch, rng)[1]
    np.testing.assert_allclose(terms.decisions(np.zeros(terms.features.size)), 0.0, atol=1e-12)


@law(40)
@given(batches(longest=3), generators())
def test_tangents_bound_good_inputs_from_above_and_bad_ones_are_convex(batch, rng):
    """Decisions are convex, so their tangent (from differences) is below them: the concave–convex bound of z = +1."""
    *_, terms = problem_and_terms(batch, rng)[1]
    here, there = rng.normal(size=(2, terms.features.size))
    step = 1e-6
    ends = [terms.decisions(here + sign * step * (there - here)) for sign in (1, -1)]
    tangent = terms.decisions(here) + (ends[0] - ends[1]) / (2 * step)
    assert np.all(tangent <= terms.decisions(there) + 1e-6)
    bound = np.logaddexp(0.0, -tangent)  # of answers +1, with the tangent instead of S
    assert np.all(bound >= np.logaddexp(0.0, -terms.decisions(there)) - 1e-6)
    bad = replace(terms, answers=Answers(-np.ones(len(terms)), terms.answers.sizes))
    middle = bad.losses((here + there) / 2)
    assert np.all(middle <= (bad.losses(here) + bad.losses(there)) / 2 + 1e-9)


LABELS = ["A", "B", "C"]


def mixture(seed):
    """Gold, partial labels, candidates, answers and unlabelled inputs."""
    rng = np.random.default_rng(seed)

    def inputs(count):
        return [list(rng.choice(list("abcdef"), rng.integers(2, 6))) for _ in range(count)]

    def labels(xs):
        return [[str(rng.choice(LABELS)) for _ in x] for x in xs]

    known, some, open_, raw, free = (inputs(3) for _ in range(5))
    partial = [[y if rng.random() < 0.5 else None for y in ys] for ys in labels(some)]
    candidates = [[sorted({*rng.choice(LABELS, 2)}) for _ in x] for x in open_]
    return [
        *sl.gold(known, labels(known)),
        *sl.partial(some, partial),
        *sl.candidates(open_, candidates),
        *sl.companion(raw, +1),
        *sl.companion(sl.shuffled(raw, seed=seed), -1),
        *sl.unlabeled(free),
    ]


@pytest.mark.parametrize("rules", [False, True])
@law(15)
@given(seeds, st.sampled_from([0.1, 1.0, 10.0]), st.sampled_from([0.0, 0.1]))
def test_rounds_never_rise_whatever_the_evidence(rules, seed, price, l1):
    base = recipes.partial_crf(l1=l1)
    learner = recipes.posterior_regularization(base=base, iterations=5) if rules else base
    prices = {"companion": price, "unlabeled": 1.0}
    tagger = sl.Tagger(
        learner=learner,
        labels=LABELS,
        prices=prices,
        decrease=0.0,
        rules=[gallery.at_most(1, "A").soft(1.5)] if rules else [],
    ).fit(mixture(seed))
    found = np.array([record.objective for record in tagger.rounds_])
    assert len(found) > 1 and np.all(np.diff(found) <= 1e-6 * np.maximum(1.0, np.abs(found[1:])))
