"""Terms under rules: the worst output is the worst of those that obey, and cuts support their terms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from drawing import costs_of, generators, law
from hypothesis import assume, given
from segmenting import any_batches, outputs_of
from test_cut_inequality import check_cuts, negative_terms, stacked_terms, target_terms

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.ruled_inputs import RuledInputs
from sidelight.inference.ruled_space import RuledSpace
from sidelight.rules import Rule, Sentence, gallery


def some_rules(labels: int, rng: np.random.Generator) -> list[Rule]:
    """Hard and soft ones, local and over whole outputs."""
    first, other = (int(label) for label in rng.integers(0, labels, size=2))
    soft = float(rng.uniform(0.1, 2.0))
    known = [
        gallery.at_least(1, first, name="some"),
        gallery.at_most(1, other, name="few").soft(soft),
        gallery.starts_with(first, name="first").soft(2.0 * soft),
        gallery.at_most(2, first, name="two"),
    ]
    return [one for one in known if rng.random() < 0.6]


def under_rules(batch, rng):
    """The same batch under rules, and the rules."""
    lengths = np.diff(batch.starts)
    xs = [[f"{i}:{t}" for t in range(length)] for i, length in enumerate(lengths)]
    rules = some_rules(batch.space.n_labels, rng)
    inputs = RuledInputs.of(xs, list(range(batch.space.n_labels)), rules, None)
    penalties = tuple(np.inf if rule.penalty is None else rule.penalty for rule in inputs.rules)
    return batch.within(RuledSpace(batch.space, inputs, penalties)), rules, xs


def charge_of(rules, x, y) -> float:
    broken = [(rule, rule.violations(Sentence(x), y)) for rule in rules]
    return sum((np.inf if rule.hard else rule.penalty) * often for rule, often in broken if often)


@law(60)
@given(any_batches(longest=3), generators())
def test_the_worst_output_is_the_worst_that_obeys(batch, rng):
    ruled, rules, xs = under_rules(batch, rng)
    fits = ruled.space.feasible()
    weights = rng.normal(size=batch.scorer.size)
    targets, negatives = target_terms(batch, rng), negative_terms(batch, rng)
    for i, (a, b) in enumerate(pairwise(batch.starts)):
        paths = outputs_of(batch.space, i)
        charges = np.array([charge_of(rules, xs[i], path.tolist()) for path in paths])
        assert fits[i] == bool(np.any(charges < np.inf))
        alone = ruled.part(i, i + 1)
        if not fits[i]:
            with pytest.raises(Infeasible):
                alone.best(weights)
            continue
        own = batch.part(i, i + 1)
        values = np.array([own.score(weights, path.astype(np.int32))[0] for path in paths]) - charges
        cost = targets.cost.part(int(a), int(b))
        found = alone.best(weights, cost=cost)
        np.testing.assert_allclose(found.values[0], np.max(values + costs_of(cost, 0, paths)), rtol=1e-9, atol=1e-9)
        soft = charge_of([rule for rule in rules if not rule.hard], xs[i], cost.targets.tolist())
        np.testing.assert_allclose(found.targets[0], own.score(weights, cost.targets)[0] - soft, rtol=1e-9, atol=1e-9)
        assert alone.space.admits(found.labels)[0] == 1
        worst = type(negatives)(alone, negatives.sizes[i : i + 1], negatives.prices[i : i + 1]).worst(weights)
        expected = 1.0 + values.max() / negatives.sizes[i] + weights[0]
        np.testing.assert_allclose(worst.values[0], expected, rtol=1e-9, atol=1e-9)


@law(40)
@given(any_batches(longest=3), generators())
def test_cuts_support_terms_under_rules(batch, rng):
    ruled, _, _ = under_rules(batch, rng)
    assume(np.all(ruled.space.feasible()))
    plain = stacked_terms(batch, rng)
    terms = type(plain)([type(kind)(ruled, *_rest(kind)) if hasattr(kind, "batch") else kind for kind in plain.kinds])
    check_cuts(terms, np.flatnonzero(rng.random(len(terms)) < 0.7), batch.scorer.size, rng)


def _rest(terms):
    return (terms.cost, terms.prices) if hasattr(terms, "cost") else (terms.sizes, terms.prices)


@law(30)
@given(any_batches(longest=3, most=5), generators())
def test_parts_and_some_of_the_inputs_have_their_own_rules(batch, rng):
    ruled, _, _ = under_rules(batch, rng)
    assume(np.all(ruled.space.feasible()))
    weights = rng.normal(size=batch.scorer.size)
    whole = ruled.best(weights)
    which = rng.permutation(len(batch))[: max(1, len(batch) // 2)].astype(np.int64)
    np.testing.assert_allclose(ruled.take(which).best(weights).values, whole.values[which])
    np.testing.assert_allclose(ruled.part(0, 1).best(weights).values, whole.values[:1])


def test_what_rules_leave_no_way_for_is_named():
    ruled = RuledSpace(None, None, ())  # type: ignore[arg-type]
    for asked in (lambda: ruled.outside(None), lambda: ruled.random(None), lambda: ruled.best(None, rng=1)):
        with pytest.raises(Intractable, match="rules"):
            asked()
