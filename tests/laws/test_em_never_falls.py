"""T(θ; γ) never falls from iteration to iteration: every γ, every kind of evidence, every smoothing by a prior."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st

from sidelight import Candidates, Gold, Partial, Tagger, Unlabeled, recipes

LABELS = ("A", "B", "C")
WORDS = ("a", "b", "c", "d", "e")


def random_evidence(rng: np.random.Generator, *, gold: bool) -> list:
    out = []
    for _ in range(8):
        length = int(rng.integers(1, 6))
        x = [WORDS[k] for k in rng.integers(0, len(WORDS), length)]
        y = [LABELS[k] for k in rng.integers(0, 3, length)]
        weight = float(rng.uniform(0.5, 2.0))
        sets = [sorted({label, LABELS[int(rng.integers(0, 3))]}) for label in y]
        partly = [label if rng.random() < 0.5 else None for label in y]
        kinds = [Candidates(x, sets, weight=weight), Partial(x, partly, weight=weight), Unlabeled(x, weight=weight)]
        out.append(Gold(x, y, weight=weight) if gold and rng.random() < 0.3 else kinds[int(rng.integers(0, 3))])
    return out


@law(60)
@given(
    generators(),
    st.sampled_from([-math.inf, 0.0, 0.3, 0.9, 1.0, 2.0, math.inf]),
    st.sampled_from(["none", "additive", "mass"]),
    st.booleans(),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.sampled_from([0.0, 0.2]),
)
def test_no_round_raises_the_objective(rng, gamma, smoothing, gold, order, ends, reserve):
    learner = recipes.unified_em(
        gamma=gamma,
        iterations=8,
        start="uniform",
        noise=0.5,
        emission=smoothing,
        emission_amount=0.3,
        transition=smoothing,
        transition_amount=0.2,
        rare=1,
        reserve=reserve,
        ends=ends,
    )
    seed = int(rng.integers(0, 1000))
    tagger = Tagger(learner=learner, labels=LABELS, order=order, decrease=0.0, n_jobs=1, seed=seed)
    tagger.fit(random_evidence(rng, gold=gold))
    found = np.array([record.objective for record in tagger.rounds_])
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) <= 1e-9 * np.abs(found[1:]) + 1e-9), found


@law(20)
@given(generators(), st.sampled_from(["linear", "geometric"]))
def test_after_annealing_the_objective_falls_again(rng, schedule):
    learner = recipes.unified_em(
        gamma=0.5, anneal_from=4.0, anneal_steps=3, schedule=schedule, iterations=9, start="uniform", noise=0.5
    )
    tagger = Tagger(learner=learner, labels=LABELS, decrease=0.0, n_jobs=1).fit(random_evidence(rng, gold=True))
    found = np.array([record.objective for record in tagger.rounds_[2:]])  # the third E-step has the last gamma
    assert len(found) == 7
    assert np.all(np.diff(found) <= 1e-9 * np.abs(found[1:]))


@law(20)
@given(generators())
def test_the_objective_of_em_is_the_likelihood_of_what_is_admitted(rng):
    """Without smoothing and with labels to begin with, −T is −log P of all admitted labelings, by enumeration."""
    from drawing_hmm import log_joint

    from sidelight.generative.emissions import Emissions
    from sidelight.generative.hmm import Hmm

    evidence = random_evidence(rng, gold=True)
    learner = recipes.em(iterations=3, start="uniform", emission="none", transition="none")
    tagger = Tagger(learner=learner, labels=LABELS, n_jobs=1).fit(evidence)
    model = tagger.model_
    rows = model.prepare([piece.x for piece in evidence])
    emissions, symbols = Emissions.of(rows)
    hmm = Hmm.of_weights(model.weights, model.layout, emissions, ends=False)
    total = 0.0
    for i, piece in enumerate(evidence):
        y = getattr(piece, "y", [None] * len(piece.x))
        sets = [LABELS if label is None else label if isinstance(label, list) else [label] for label in y]
        paths = np.array(list(product(*[[LABELS.index(label) for label in options] for options in sets])))
        logs = log_joint(hmm, symbols[rows.starts[i] : rows.starts[i + 1]], paths)
        total += piece.weight * np.logaddexp.reduce(logs)
    np.testing.assert_allclose(tagger.rounds_[-1].objective, -total, rtol=1e-8)
