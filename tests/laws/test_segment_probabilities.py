"""What a segment tagger believes, with and without clamped labels, against enumeration of all labelings of tokens."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import groupby, product

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import chisquare
from segmenting import plain_segment_scores, value_of

from sidelight import DataError, Infeasible, SegmentTagger, features

WORDS = ["a", "b", "c"]
LABELS = {None: ["A", "B", "C"], "BIO": ["B-X", "I-X", "B-Y", "I-Y", "O"]}
KINDS = [(scheme, max_length) for scheme in (None, "BIO") for max_length in (1, 2, 3)]


@cache
def fitted(scheme, max_length):
    """A tagger whose vocabulary is small; its weights are drawn anew for every law."""
    xs = [list(words) for words in product(WORDS, repeat=2)]
    ys = [["A", "C"] if scheme is None else ["B-X", "O"] for _ in xs]
    settings = {"features": features.words(before=1), "scheme": scheme, "max_length": max_length}
    return SegmentTagger(**settings, labels=LABELS[scheme], max_rounds=1, n_jobs=1).fit(xs, ys)


def drawn_tagger(rng, kind):
    tagger = fitted(*kind)
    tagger.model_ = replace(tagger.model_, weights=rng.normal(size=len(tagger.model_.weights)))
    return tagger


def pieces(y, scheme, max_length):
    """The segments (first, last, name) that token labels stand for, by the definition; None if they are none."""
    found = []
    if scheme is None:
        for name, run in groupby(enumerate(y), key=lambda pair: pair[1]):
            places = [t for t, _ in run]
            cuts = [places[i : i + max_length] for i in range(0, len(places), max_length)]
            found += [(cut[0], cut[-1], name) for cut in cuts]
        return found
    for t, label in enumerate(y):
        if label == "O":
            found.append((t, t, "O"))
        elif label[0] == "B":
            found.append((t, t, label[2:]))
        elif found and found[-1][2] == label[2:]:
            found[-1] = (found[-1][0], t, label[2:])
        else:
            return None
    return found if all(b - a < max_length for a, b, _ in found) else None


def listed(tagger, x, clamp):
    """All token labels that are segmentations and as clamped, and their scores."""
    model = tagger.model_
    names = list(model.structure.scheme.segments.names)
    scores = plain_segment_scores(model.batch([x]), model.weights)
    outputs, values = [], []
    for y in map(list, product(tagger.classes_, repeat=len(x))):
        found = pieces(y, tagger.scheme, tagger.max_length)
        if found is not None and all(fixed in (None, label) for fixed, label in zip(clamp, y)):
            outputs.append(y)
            values.append(value_of(scores, 0, tuple((a, b, names.index(name)) for a, b, name in found)))
    return outputs, np.array(values)


def drawn_clamp(rng, tagger, x, share):
    return [str(rng.choice(tagger.classes_)) if rng.random() < share else None for _ in x]


problems = given(generators(), st.sampled_from(KINDS), st.integers(1, 4), st.sampled_from([0.0, 0.3]))


@law(60)
@problems
def test_partition_marginals_and_probabilities(rng, kind, length, share):
    tagger = drawn_tagger(rng, kind)
    x = rng.choice(WORDS, length).tolist()
    clamp = drawn_clamp(rng, tagger, x, share)
    outputs, values = listed(tagger, x, clamp)
    other = rng.choice(WORDS, 2).tolist()  # an input that is not clamped, before it
    xs, clamps = [other, x], [None, clamp]
    if not outputs:
        for ask in (
            tagger.predict_marginals,
            tagger.log_partition,
            tagger.sample,
            lambda *a, **k: tagger.k_best(*a, 2, **k),
        ):
            with pytest.raises(Infeasible, match="example 1: no output has the clamped labels"):
                ask(xs, clamp=clamps)
        return
    total = logsumexp(values)
    free = logsumexp(listed(tagger, other, [None, None])[1])
    np.testing.assert_allclose(tagger.log_partition(xs, clamp=clamps), [free, total], rtol=1e-9, atol=1e-9)
    rows = tagger.predict_marginals(xs, clamp=clamps)[1]
    assert len(rows) == length
    for t, row in enumerate(rows):
        for label in tagger.classes_:
            chance = sum(np.exp(value - total) for y, value in zip(outputs, values) if y[t] == label)
            assert row[label] == pytest.approx(chance, abs=1e-9)
    arrays = tagger.marginals(xs, clamp=clamps)[1]
    assert arrays.tolist() == [[row[label] for label in tagger.classes_] for row in rows]
    every = list(map(list, product(tagger.classes_, repeat=length)))
    found = tagger.log_probability([x] * len(every), every, clamp=[clamp] * len(every))
    expected = dict(zip(map(tuple, outputs), values - total))
    wanted = [expected.get(tuple(y), -np.inf) for y in every]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@law(40)
@problems
def test_k_best_and_samples(rng, kind, length, share):
    tagger = drawn_tagger(rng, kind)
    x = rng.choice(WORDS, length).tolist()
    clamp = drawn_clamp(rng, tagger, x, share)
    outputs, values = listed(tagger, x, clamp)
    if not outputs:
        return
    k = int(rng.integers(1, 8))
    found = tagger.k_best([x], k, clamp=[clamp])[0]
    best = np.sort(values)[::-1][:k]
    np.testing.assert_allclose([score for _, score in found], best, rtol=1e-9, atol=1e-9)
    assert len({tuple(y) for y, _ in found}) == len(found) == min(k, len(outputs))
    for y, score in found:
        assert values[outputs.index(y)] == pytest.approx(score, abs=1e-9)
    if share == 0.0:
        assert found[0][0] == tagger.predict([x])[0]
    drawn = tagger.sample([x] * 5, seed=3, clamp=[clamp] * 5)
    assert all(y in outputs for y in drawn)


@pytest.mark.parametrize("kind", [(None, 2), ("BIO", 2)], ids=str)
@pytest.mark.parametrize("fixed", [False, True])
def test_samples_follow_the_distribution(kind, fixed):
    rng = np.random.default_rng(4)
    tagger = drawn_tagger(rng, kind)
    tagger.model_ = replace(tagger.model_, weights=0.3 * tagger.model_.weights)
    x, copies = ["a", "b", "a"], 4000
    clamp = [None, tagger.classes_[0] if fixed else None, None]
    outputs, values = listed(tagger, x, clamp)
    drawn = tagger.sample([x] * copies, seed=1, clamp=[clamp] * copies)
    assert drawn == tagger.sample([x] * copies, seed=np.random.default_rng(1), clamp=[clamp] * copies)
    counts = Counter(map(tuple, drawn))
    expected = copies * np.exp(values - logsumexp(values))
    seen = np.array([counts[tuple(y)] for y in outputs])
    assert seen.sum() == copies
    rare = expected <= 5  # are counted as one
    pairs = [[*counted[~rare], counted[rare].sum()] if rare.any() else counted for counted in (seen, expected)]
    assert chisquare(*pairs).pvalue > 0.001


def test_bad_requests():
    tagger = drawn_tagger(np.random.default_rng(0), ("BIO", 2))
    xs = [["a", "b"], ["c"]]
    asks = (tagger.predict, tagger.predict_segments, tagger.predict_marginals, tagger.marginals, tagger.sample)
    shapes = ["O", 3, [None], [None, ["O", "O"]], ["OO", None], [[None, {"O"}], None], [["O", "B-Z"], None]]
    for ask in (*asks, tagger.log_partition, lambda xs, clamp: tagger.k_best(xs, 2, clamp=clamp)):
        for clamp in shapes:
            with pytest.raises(DataError, match="clamp"):
                ask(xs, clamp=clamp)
    for k in (0, 2.5, True, None):
        with pytest.raises(ValueError, match=f"k is {k!r}; give a whole number"):
            tagger.k_best(xs, k)
    with pytest.raises(DataError, match="unknown label 'Z'"):
        tagger.log_probability(xs, [["O", "O"], ["Z"]])
    with pytest.raises(DataError, match="the outputs do not fit"):
        tagger.log_probability(xs, [["O", "O"]])
    assert tagger.predict_marginals([]) == tagger.marginals([]) == tagger.sample([]) == tagger.k_best([], 2) == []
    assert tagger.log_probability([], []).shape == tagger.log_partition([]).shape == (0,)
