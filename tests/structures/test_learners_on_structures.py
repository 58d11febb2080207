"""Every learner on trees, alignments, letters and graphs: it fits, or names what is missing; models are saved."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.trees import DependencyTree

SENTENCES = [
    [("the", "DET"), ("light", "NOUN"), ("falls", "VERB")],
    [("rain", "NOUN"), ("falls", "VERB"), ("on", "ADP"), ("the", "DET"), ("roof", "NOUN")],
]
TREES = [[2, 3, 0], [2, 0, 5, 5, 2]]
ONE = Graph((("the", "D"), ("light", "N"), ("falls", "V")), ((1, 0, "det"), (2, 1, "subj")))
TWO = Graph((("light", "N"), ("falls", "V"), ("here", "R")), ((1, 0, "subj"), (1, 2, "adv")))
SPANS = [
    [((0, 2), (0, 1)), ((2, 3), (1, 2)), ((3, 4), (2, 3))],
    [((0, 1), (0, 1)), ((1, 2), (1, 2)), ((2, 4), (2, 3))],
]
CASES = {
    "projective trees": (DependencyTree(bits=10), SENTENCES, TREES),
    "any trees": (DependencyTree(bits=10, projective=False), SENTENCES, TREES),
    "segments": (SegmentAlignment(bits=10), [("ship", "SIp"), ("fish", "fIS")], SPANS),
    "letters": (CharacterAlignment(bits=10), [("ab", "xy"), ("ba", "yx")], [[0, 1], [0, 1]]),
    "matching": (CharacterAlignment(bits=10, crossing=True), [("ab", "xy"), ("ba", "xy")], [[0, 1], [1, 0]]),
    "graphs": (GraphAlignment(bits=10), [(ONE, TWO), (TWO, ONE)], [{1: 0, 2: 1}, {0: 1, 1: 2}]),
}
BEST = [
    "jlis",
    "structural_svm",
    "latent_svm",
    "transductive_svm",
    "self_training",
    "mira",
    "passive_aggressive",
    "arow",
    "perceptron",
    "cllp_as_printed",
    "naive",
]
SUMS = ["crf", "partial_crf", "cllp", "mms"]
NO_SUMS = ("matching", "graphs")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("learner", [*BEST, *SUMS])
def test_learner(name, learner):
    structure, xs, ys = CASES[name]
    model = sl.Predictor(structure, learner=learner, n_jobs=1)
    if learner in SUMS and name in NO_SUMS:
        with pytest.raises(
            sl.Intractable,
            match=r"has no beliefs about parts: sums over .* not tractable; use .*, such as jlis",
        ):
            model.fit(xs, ys)
        return
    assert model.fit(xs, ys).predict(xs) == ys


@pytest.mark.parametrize("name", CASES)
def test_a_model_is_saved_and_loaded(name, tmp_path):
    structure, xs, ys = CASES[name]
    model = sl.Predictor(structure, n_jobs=1).fit(xs, ys)
    model.save(tmp_path / "model")
    other = sl.Predictor(structure).load(tmp_path / "model")
    assert other.predict(xs) == ys
    assert np.array_equal(other.model_.weights, model.model_.weights)
