"""Slots that the evidence leaves open, as latent variables: the objective by its definition, over all outputs."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import law, seeds
from hypothesis import given

import sidelight as sl
from sidelight import recipes
from sidelight.core.records import NO_CHANGE
from sidelight.testing.outputs import listed
from sidelight.training import Training

WORDS, LABELS = ("a", "b", "c", "d"), ("A", "B", "C")
LATENT = recipes.latent_svm(open_slots="latent")


def open_sentences(rng: np.random.Generator, count: int) -> list[sl.Partial]:
    found = []
    for _ in range(count):
        size = int(rng.integers(1, 5))
        y = [str(rng.choice(LABELS)) if rng.random() < 0.5 else None for _ in range(size)]
        found.append(sl.Partial([str(word) for word in rng.choice(WORDS, size)], y))
    return found


def open_decisions(rng: np.random.Generator, count: int) -> list[sl.Partial]:
    found = []
    for _ in range(count):
        x = [str(word) for word in rng.choice(WORDS, 3)]
        known = {"who": {0: str(rng.choice(["p", "q"]))}, "link": {(0, 1): str(rng.choice(["no", "yes"]))}}
        found.append(sl.Partial(x, known if rng.random() < 0.5 else {"link": known["link"]}))
    return found


def tagger() -> sl.Tagger:
    return sl.Tagger(labels=LABELS, features=sl.features.words(), learner=LATENT, tolerance=1e-6, n_jobs=1)


def joint() -> sl.Joint:
    return sl.Joint(
        {"who": ["p", "q"], "link": ["no", "yes"]},
        variables=lambda x: {"who": [0, 1], "link": [(0, 1)]},
        features=lambda x, kind, key: {"word": x[key] if kind == "who" else x[2]},
        pairs=lambda x: [("from", ("link", (0, 1)), ("who", 0)), ("to", ("link", (0, 1)), ("who", 1))],
        learner=LATENT,
        tolerance=1e-6,
        n_jobs=1,
    )


def by_definition(training: Training, weights: np.ndarray) -> float:
    """½‖w‖² + Σ (max [s(y) + wrong labels of known slots] − max of admitted s(y))², by lists of all outputs."""
    everything = training.data.batch(np.arange(len(training.data.rows)))
    admitted = training.data.encoded.admitted
    assert admitted is not None
    total = 0.5 * float(weights @ weights)
    for one in listed(everything, weights):
        here = admitted[one.slots] != 0
        inside = np.array([here[np.arange(len(here)), y].all() for y in one.outputs])
        known = here.sum(axis=1) == 1
        wrong = np.array([np.sum(~here[np.arange(len(here)), y] & known) for y in one.outputs])
        total += (np.max(one.scores + wrong) - np.max(one.scores[inside])) ** 2
    return total


@pytest.mark.parametrize(("estimator", "evidence"), [(tagger, open_sentences), (joint, open_decisions)])
@law(25)
@given(seed=seeds)
def test_the_objective_charges_known_slots_alone(estimator, evidence, seed):
    pieces = evidence(np.random.default_rng(seed), 6)
    training = Training(estimator()._settings(), pieces)
    rounds = list(training.rounds())
    weights = training.learner.finish()
    found = by_definition(training, weights)
    assert rounds[-1].objective >= found - 1e-6 * max(found, 1.0)
    if rounds[-1].stopped == NO_CHANGE:
        assert rounds[-1].objective == pytest.approx(found, rel=1e-4, abs=1e-6)
