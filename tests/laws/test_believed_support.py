"""Posterior regularisation of a CRF has the weights that its base has."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight import recipes
from sidelight.rules import rule

LABELS = ["A", "B", "C"]


@rule
def anything(x, y):
    """Whatever it is."""
    return True


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Labelled and unlabelled inputs of few words, some of which both have."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    xs = [[draw(st.sampled_from("abcde")) for _ in range(length)] for length in lengths]
    ys = [[draw(st.sampled_from(LABELS)) for _ in range(length)] for length in lengths]
    pool = draw(st.lists(st.lists(st.sampled_from("cdefg"), min_size=1, max_size=3), min_size=1, max_size=3))
    return xs, ys, pool


def marginals(learner: object, evidence: list[sl.Evidence], inputs: list[list[str]], price: float) -> np.ndarray:
    tagger = sl.Tagger(
        learner=learner,  # type: ignore[arg-type]
        labels=LABELS,
        rules=[anything] if "posterior" in str(learner) else [],
        prices={"unlabeled": price},
        tolerance=1e-6,
        decrease=1e-9,
    ).fit(evidence)
    return np.array([[token[label] for label in LABELS] for x in tagger.predict_marginals(inputs) for token in x])


@pytest.mark.parametrize("support", ["seen", "all"])
@law(20)
@given(corpora())
def test_without_rules_and_price_it_is_the_crf_of_the_same_support(support, corpus):
    xs, ys, pool = corpus
    base = recipes.crf(support=support)
    driven = recipes.posterior_regularization(base=base, iterations=2)
    found = marginals(driven, [*sl.gold(xs, ys), *sl.unlabeled(pool)], xs + pool, 0.0)
    assert found == pytest.approx(marginals(base, sl.gold(xs, ys), xs + pool, 0.0), abs=1e-3)


@pytest.mark.parametrize("support", ["seen", "all"])
@law(20)
@given(corpora(), st.sampled_from([0.3, 1.0]))
def test_unlabelled_inputs_show_every_label_as_partial_ones_do(support, corpus, price):
    """Without rules the beliefs are the model's own, so what is left of unlabelled inputs is the weights they show."""
    xs, ys, pool = corpus
    driven = recipes.posterior_regularization(base=recipes.crf(support=support), iterations=2)
    found = marginals(driven, [*sl.gold(xs, ys), *sl.unlabeled(pool)], xs + pool, price)
    open_ = [sl.Partial(x, [None] * len(x)) for x in pool]
    alike = marginals(recipes.partial_crf(support=support), [*sl.gold(xs, ys), *open_], xs + pool, price)
    assert found == pytest.approx(alike, abs=1e-3)


def test_the_supports_differ():
    """So that the laws above can tell them apart."""
    xs, ys, pool = [["a", "b"], ["c", "a"]], [["A", "B"], ["C", "A"]], [["c", "d"]]
    evidence = [*sl.gold(xs, ys), *sl.unlabeled(pool)]
    found = [
        marginals(recipes.posterior_regularization(base=recipes.crf(support=support)), evidence, xs, 0.0)
        for support in ("seen", "all")
    ]
    assert np.abs(found[0] - found[1]).max() > 0.01
