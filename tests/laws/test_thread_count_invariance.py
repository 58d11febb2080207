"""The same bits on one thread and on many."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sidelight import Tagger, companion, features, gold, shuffled
from sidelight.features import extractor_of
from sidelight.parallel import shards
from sidelight.training import Training

THREADS = (1, 2, 3)


def corpus(count: int):
    rng = np.random.default_rng(0)
    words = [f"w{i}{'ing' if i % 3 else 'ed'}" for i in range(200)]
    xs = [[words[i] for i in rng.integers(0, 200, rng.integers(3, 14))] for _ in range(count)]
    ys = [["XYZ"[(int(word[1:-3].strip("i") or 0) + int(rng.random() < 0.1)) % 3] for word in x] for x in xs]
    return xs, ys


XS, YS = corpus(1200)


def test_the_corpus_is_cut_into_many_shards():
    starts = np.append(0, np.cumsum([len(x) for x in XS]))
    assert len(shards(starts)) >= 4
    for tokens in (1, 7, 2048):
        cut = shards(starts, tokens=tokens)
        assert cut[0][0] == 0
        assert cut[-1][1] == len(XS)
        assert all(a[1] == b[0] for a, b in itertools.pairwise(cut))


@pytest.mark.parametrize("bits", [None, 16])
def test_features(bits):
    found = []
    for n_jobs in THREADS:
        extractor = extractor_of(features.spelling(hash_bits=bits, min_count=2))
        grown = extractor.grow(XS, n_jobs=n_jobs)
        again = extractor.rows(XS[::-1], n_jobs=n_jobs)
        found.append((grown.indices, grown.indptr, again.indices, again.indptr, extractor.name(5)))
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_array_equal(a, b)


def evidence_for(learner: str):
    if learner != "jlis":
        return gold(XS, YS)
    return [*gold(XS[:400], YS[:400]), *companion(XS[400:800], 1), *companion(shuffled(XS[400:800], seed=1), -1)]


@pytest.mark.parametrize(("learner", "rounds"), [("structural_svm", 6), ("jlis", 25), ("perceptron", 3)])
def test_learning_and_predicting(learner, rounds):
    found = []
    for n_jobs in THREADS:
        tagger = Tagger(
            learner=learner, features=features.spelling(), max_rounds=rounds, random_ties=True, n_jobs=n_jobs
        )
        training = Training(tagger._settings(), evidence_for(learner))
        records = [(r.objective, r.dual, r.mistakes, r.completion) for r in training.rounds()]
        model = training.model()
        found.append((model.weights.copy(), records, model.predict(XS, n_jobs=n_jobs), model.judge(XS, n_jobs=n_jobs)))
    assert np.count_nonzero(found[0][0]) > 100
    if learner == "jlis":
        assert found[0][1][-1][3] >= 1
    for weights, records, outputs, decisions in found[1:]:
        np.testing.assert_array_equal(found[0][0], weights)
        assert found[0][1] == records
        assert found[0][2] == outputs
        np.testing.assert_array_equal(found[0][3], decisions)
