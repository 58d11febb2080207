"""Under rules, too, T(θ; γ) never falls from iteration to iteration: HMM and CRF, every γ, hard rules and soft ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st

from sidelight import Candidates, Gold, Partial, Tagger, Unlabeled, gold, recipes, unlabeled
from sidelight.corpus import references
from sidelight.rules import Rule, count, every, gallery, implies, rule

LABELS = ("A", "B", "C")
WORDS = ("a", "b", "c", "d", "e")
GAMMAS = [-math.inf, 0.0, 0.3, 1.0, 2.5, math.inf]


@rule
def b_only_after_a(x, y):
    """Every B follows an A."""
    return every(implies(y[t] == "B", y[t - 1] == "A") for t in x.positions if t)


@rule
def more_a_than_c(x, y):
    """At least as many A as C."""
    return count(y[t] == "A" for t in x.positions) >= count(y[t] == "C" for t in x.positions)


@rule
def two_b_ask_for_c(x, y):
    """Where B is there twice, so is C: without a linear reading, so that it needs counters."""
    b, c = (count(y[t] == label for t in x.positions) for label in "BC")
    return implies(b >= 2, c >= 1)


POSSIBLE = (  # any of these together are obeyed by AA…A
    b_only_after_a,
    more_a_than_c,
    two_b_ask_for_c,
    gallery.at_most(1, "C"),
    gallery.at_least(1, "A"),
    gallery.few_changes(2),
    gallery.words_are(["a", "b"], "A", name="lexicon"),
    gallery.starts_with("A"),
)


def drawn_rules(rng: np.random.Generator) -> list[Rule]:
    """Up to three, each hard or at a price."""
    some = rng.choice(len(POSSIBLE), int(rng.integers(1, 4)), replace=False)
    return [POSSIBLE[k] if rng.random() < 0.5 else POSSIBLE[k].soft(float(rng.exponential(2.0))) for k in some]


def drawn_evidence(rng: np.random.Generator) -> list:
    out = []
    for i in range(9):
        length = int(rng.integers(1, 6))
        x = [WORDS[k] for k in rng.integers(0, len(WORDS), length)]
        y = [LABELS[k] for k in rng.integers(0, 3, length)]
        weight = float(rng.uniform(0.5, 2.0))
        if i < 3:
            out.append(Gold(x, y, weight=weight))
        elif i < 5:  # what is admitted never stands against the rules
            sets = [sorted({"A", label}) for label in y]
            some = ["A" if rng.random() < 0.3 else None for _ in y]
            out.append(Candidates(x, sets, weight=weight) if i == 3 else Partial(x, some, weight=weight))
        else:
            out.append(Unlabeled(x, weight=weight))
    return out


def falls(tagger: Tagger) -> np.ndarray:
    found = np.array([record.objective for record in tagger.rounds_])
    assert np.all(np.isfinite(found))
    return np.diff(found) - 1e-6 * np.maximum(1.0, np.abs(found[1:]))


@pytest.mark.parametrize("gamma", GAMMAS)
@law(15)
@given(generators(), st.sampled_from(["additive", "mass"]))
def test_of_an_hmm(gamma, rng, smoothing):
    base = recipes.hmm(emission=smoothing, emission_amount=0.3, transition=smoothing, transition_amount=0.2)
    learner = recipes.posterior_regularization(base=base, gamma=gamma, iterations=6)
    tagger = Tagger(learner=learner, labels=LABELS, rules=drawn_rules(rng), decrease=0.0, n_jobs=1)
    assert np.all(falls(tagger.fit(drawn_evidence(rng))) <= 0.0), [r.objective for r in tagger.rounds_]


@pytest.mark.parametrize("gamma", GAMMAS)
@law(10)
@given(generators(), st.sampled_from([0.2, 1.0]))
def test_of_a_crf(gamma, rng, price):
    learner = recipes.posterior_regularization(base="crf", gamma=gamma, iterations=5)
    prices = {"unlabeled": price, "partial": price, "candidates": price}
    tagger = Tagger(learner=learner, labels=LABELS, rules=drawn_rules(rng), prices=prices, decrease=0.0, n_jobs=1)
    assert np.all(falls(tagger.fit(drawn_evidence(rng))) <= 0.0), [r.objective for r in tagger.rounds_]


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_of_references(gamma):
    """Longer inputs, more labels, and rules about whole fields."""
    found = references(30, seed=4)
    xs, ys = [r.tokens for r in found], [r.labels for r in found]
    labels = sorted({label for y in ys for label in y})
    rules = [gallery.appears_once(labels).soft(2.0), gallery.changes_after_punctuation().soft(1.0)]
    learner = recipes.posterior_regularization(gamma=gamma, iterations=4)
    tagger = Tagger(learner=learner, rules=rules, labels=labels, decrease=0.0)
    tagger.fit([*gold(xs[:5], ys[:5]), *unlabeled(xs[5:15])])
    assert len(tagger.rounds_) > 1 and np.all(falls(tagger) <= 0.0)
