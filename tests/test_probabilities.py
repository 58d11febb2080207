"""Probabilities through the estimators: they sum to one, agree with the decoded path, and obey clamped labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import DataError, Infeasible

RNG = np.random.default_rng(0)


def valid(length):
    """Random BIO labels."""
    y: list[str] = []
    for _ in range(length):
        y.append(str(RNG.choice(["B-X", "O"] if not y or y[-1] == "O" else ["B-X", "I-X", "O"])))
    return y


YS = [valid(RNG.integers(2, 6)) for _ in range(60)]
XS = [[f"{label[0]}{RNG.integers(4)}" if RNG.random() < 0.8 else "w" for label in y] for y in YS]


def allowed(y):
    return all(label != "I-X" or (t > 0 and y[t - 1] != "O") for t, label in enumerate(y))


@pytest.fixture(scope="module", params=[("crf", 1), ("jlis", 1), ("jlis", 2)], ids=str)
def tagger(request):
    learner, order = request.param
    return sl.Tagger(
        learner=learner, order=order, features=sl.features.words(), scheme="BIO", prices={"gold": 0.3}, n_jobs=1
    ).fit(XS, YS)


def everything(tagger, x):
    """All allowed outputs and their probabilities."""
    outputs = [y for y in map(list, product(tagger.classes_, repeat=len(x))) if allowed(y)]
    return outputs, np.exp(tagger.log_probability([x] * len(outputs), outputs))


def test_probabilities_sum_to_one_and_the_path_is_the_likeliest(tagger):
    for x in XS[:8]:
        outputs, chances = everything(tagger, x)
        assert chances.sum() == pytest.approx(1.0)
        assert tagger.predict([x])[0] == outputs[int(np.argmax(chances))]


def test_marginals_are_sums_of_probabilities(tagger):
    for x, rows in zip(XS[:8], tagger.predict_marginals(XS[:8])):
        outputs, chances = everything(tagger, x)
        for t, row in enumerate(rows):
            for label, chance in row.items():
                expected = sum(p for y, p in zip(outputs, chances) if y[t] == label)
                assert chance == pytest.approx(expected, abs=1e-9)


def test_decoding_by_marginals_has_the_most_tokens_right_in_expectation(tagger):
    for x in XS[:8]:
        outputs, chances = everything(tagger, x)
        gains = [sum(p * sum(a == b for a, b in zip(y, z)) for z, p in zip(outputs, chances)) for y in outputs]
        found = tagger.predict([x], by="marginals")[0]
        assert allowed(found)
        assert gains[outputs.index(found)] == pytest.approx(max(gains))


def test_clamped_labels_hold_for_the_path_and_the_sums(tagger):
    for x in (x for x in XS if len(x) >= 3):
        clamp = [None, "O", *[None] * (len(x) - 2)]
        outputs, chances = everything(tagger, x)
        kept = [(y, p) for y, p in zip(outputs, chances) if y[1] == "O"]
        total = sum(p for _, p in kept)
        path = max(kept, key=lambda pair: pair[1])
        assert tagger.predict([x], clamp=[clamp])[0] == path[0]
        found = tagger.log_probability([x], [path[0]], clamp=[clamp])[0]
        assert np.exp(found) == pytest.approx(path[1] / total)
        rows = tagger.predict_marginals([x], clamp=[clamp])[0]
        assert rows[1]["O"] == pytest.approx(1.0)
        assert rows[0]["B-X"] == pytest.approx(sum(p for y, p in kept if y[0] == "B-X") / total)
        other = ["O", "B-X", *["O"] * (len(x) - 2)]
        assert tagger.log_probability([x], [other], clamp=[clamp])[0] == -np.inf
        break


def test_samples_follow_the_marginals(tagger):
    x = next(x for x in XS if len(x) == 3)
    drawn = tagger.sample([x] * 4000, seed=1)
    assert drawn == tagger.sample([x] * 4000, seed=1)
    assert all(allowed(y) for y in drawn)
    for t, row in enumerate(tagger.predict_marginals([x])[0]):
        for label, chance in row.items():
            assert abs(np.mean([y[t] == label for y in drawn]) - chance) < 0.05


def test_clamped_samples_are_drawn_from_what_is_left(tagger):
    x = next(x for x in XS if len(x) == 3)
    clamp = [None, "O", None]
    drawn = tagger.sample([x] * 2000, seed=1, clamp=[clamp] * 2000)
    assert all(allowed(y) and y[1] == "O" for y in drawn)
    assert not all(y[1] == "O" for y in tagger.sample([x] * 2000, seed=1))
    for t, row in enumerate(tagger.predict_marginals([x], clamp=[clamp])[0]):
        for label, chance in row.items():
            assert abs(np.mean([y[t] == label for y in drawn]) - chance) < 0.05


def test_the_partition_sums_scores_and_clamping_takes_its_share(tagger):
    x = next(x for x in XS if len(x) == 3)
    scores = {tuple(y): score for y, score in tagger.k_best([x], 100)[0]}
    assert len(scores) > 5
    found = tagger.log_partition([x, x], clamp=[None, [None, "O", None]])
    assert found[0] == pytest.approx(np.log(sum(map(np.exp, scores.values()))))
    assert found[1] == pytest.approx(np.log(sum(np.exp(score) for y, score in scores.items() if y[1] == "O")))
    np.testing.assert_array_equal(tagger.log_partition([x]), found[:1])
    assert tagger.log_partition([]).shape == (0,)


def test_classes_are_clamped_with_or_without_a_list():
    xs, ys = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}] * 5, ["xx", "yy", "zz"] * 5
    fitted = sl.Classifier(learner="crf", n_jobs=1).fit(xs, ys)
    for clamp in (["yy", None], [["yy"], [None]], [("yy",), None], np.array(["yy", None], dtype=object)):
        assert fitted.predict(xs[:2], clamp=clamp) == ["yy", "yy"]
        assert fitted.predict_marginals(xs[:1], clamp=clamp[:1])[0]["yy"] == pytest.approx(1.0)
        assert fitted.sample(xs[:1] * 50, clamp=[clamp[0]] * 50) == ["yy"] * 50
    assert fitted.predict([{"a": 1.0}], clamp=[None]) == ["xx"]
    total = np.exp(fitted.decision_function(xs[:1])).sum()
    assert np.exp(fitted.log_partition(xs[:1]))[0] == pytest.approx(total)
    with pytest.raises(DataError, match="clamp names the unknown label 'spam'"):
        fitted.predict(xs[:1], clamp=["spam"])


def test_classes_have_probabilities_too():
    xs, ys = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}] * 5, ["x", "y", "z"] * 5
    for labels in (["x", "y", "z"], ["x", "y"]):
        keep = [k for k, y in enumerate(ys) if y in labels]
        fitted = sl.Classifier(learner="crf", n_jobs=1).fit([xs[k] for k in keep], [ys[k] for k in keep])
        rows = fitted.predict_marginals([{"a": 1.0}])
        assert sum(rows[0].values()) == pytest.approx(1.0) and max(rows[0], key=rows[0].get) == "x"
        assert np.exp(fitted.log_probability([{"a": 1.0}], ["x"]))[0] == pytest.approx(rows[0]["x"])


def test_a_partial_crf_learns_from_what_is_known():
    hidden = [[label if t % 2 else None for t, label in enumerate(y)] for y in YS]
    fitted = sl.Tagger(learner="partial_crf", features=sl.features.words(), n_jobs=1).fit(
        [*sl.partial(XS, hidden), *sl.unlabeled(XS[:3])]
    )
    whole = sl.Tagger(learner="crf", features=sl.features.words(), n_jobs=1).fit(XS, YS)
    assert fitted.score(XS, YS) > 0.8 * whole.score(XS, YS)
    same = sl.Tagger(learner="partial_crf", features=sl.features.words(), n_jobs=1).fit(XS, YS)
    np.testing.assert_array_equal(same.model_.weights, whole.model_.weights)


def test_l1_makes_most_weights_zero():
    plain = sl.Tagger(learner="crf", features=sl.features.words(), n_jobs=1).fit(XS, YS)
    sparse = sl.Tagger(learner=sl.recipes.crf(l1=2.0), features=sl.features.words(), n_jobs=1).fit(XS, YS)
    assert np.count_nonzero(sparse.model_.weights) < 0.7 * np.count_nonzero(plain.model_.weights)


def test_bad_requests(tagger):
    with pytest.raises(DataError, match="clamp does not fit"):
        tagger.predict([["w", "w"]], clamp=[["O"]])
    with pytest.raises(DataError, match="clamp names the unknown label 'Z'"):
        tagger.predict([["w"]], clamp=[["Z"]])
    with pytest.raises(DataError, match="the outputs do not fit"):
        tagger.log_probability([["w"]], [None])
    with pytest.raises(Infeasible):
        tagger.predict_marginals([["w", "w"]], clamp=[["O", "I-X"]])
    with pytest.raises(DataError, match="unknown label 'Z'"):
        tagger.log_probability([["w"]], [["Z"]])
    with pytest.raises(ValueError, match="by is 'magic'"):
        tagger.predict([["w"]], by="magic")
    assert tagger.predict_marginals([]) == [] and tagger.sample([]) == []


@pytest.mark.parametrize(
    ("clamp", "problem"),
    [
        ("O", "clamp is of type str"),
        (3, "clamp is of type int"),
        ({0: "O"}, "clamp is of type dict"),
        ([None], "clamp does not fit the inputs: it has 1 entries for 2 inputs"),
        ([None, ["O", "O"]], "clamp does not fit the inputs: input 1 has 1 token, its clamp 2"),
        (["OO", None], "clamp does not fit the inputs: that of input 0 is 'OO'"),
        ([{"O": 1, "B-X": 1}, None], "clamp does not fit the inputs: that of input 0 is {"),
        ([[None, {"O"}], None], r"clamp has the set {'O'} for token 1 of input 0, which is not a label"),
        ([[None, ["O", "B-X"]], None], "clamp has the list .* for token 1 of input 0"),
    ],
)
def test_clamps_of_another_shape_are_named(tagger, clamp, problem):
    xs = [["w", "w"], ["w"]]
    asks = tagger.predict, tagger.predict_marginals, tagger.sample, tagger.log_partition
    for ask in asks:
        with pytest.raises(DataError, match=problem):
            ask(xs, clamp=clamp)
    with pytest.raises(DataError, match=problem):
        tagger.predict(xs, clamp=clamp, rules=[sl.rules.gallery.at_most(1, "O")])


def test_an_input_without_known_labels_is_clamped_by_none(tagger):
    xs = [["w", "w"], ["w"]]
    assert tagger.predict(xs, clamp=[None, None]) == tagger.predict(xs)
    assert tagger.predict(xs, clamp=[None, ["B-X"]]) == [tagger.predict(xs)[0], ["B-X"]]


@pytest.mark.parametrize("k", [0, -1, 2.5, "2", True, None])
def test_k_is_a_whole_number(tagger, k):
    with pytest.raises(ValueError, match=f"k is {k!r}; give a whole number from 1 on"):
        tagger.k_best([["w"]], k)
    with pytest.raises(ValueError, match="k is"):
        tagger.k_best([], k)


def test_crf_refuses_what_it_cannot_use():
    with pytest.raises(DataError, match="the learner crf learns from Gold only"):
        sl.Tagger(learner="crf").fit([sl.Unlabeled(["a"]), *sl.gold(XS, YS)])
    with pytest.raises(ValueError, match="support is 'some'"):
        sl.recipes.crf(support="some")
    with pytest.raises(ValueError, match="l1 is -1"):
        sl.recipes.crf(l1=-1.0)


def test_the_k_best_are_the_likeliest(tagger):
    for x in XS[:6]:
        outputs, chances = everything(tagger, x)
        order = np.argsort(-chances)
        found = tagger.k_best([x], 4)[0]
        np.testing.assert_allclose(
            np.exp(tagger.log_probability([x] * len(found), [y for y, _ in found])), chances[order[: len(found)]]
        )
        assert len({tuple(y) for y, _ in found}) == len(found) == min(4, len(outputs))
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert all(y[0] == "O" for y, _ in tagger.k_best([["w", "w"]], 9, clamp=[["O", None]])[0])


@pytest.mark.parametrize("solver", ["sgd", "eg"])
def test_other_solvers_of_the_crf_come_to_the_same(solver):
    settings = {"features": sl.features.words(), "n_jobs": 1, "tolerance": 1e-3}
    best = sl.Tagger(learner="crf", **settings).fit(XS, YS).rounds_[-1].objective
    other = sl.Tagger(learner=sl.recipes.crf(solver=solver), **settings).fit(XS, YS).rounds_[-1].objective
    assert other == pytest.approx(best, rel=0.02)


def test_contrastive_estimation_learns_from_a_dictionary():
    """Words mostly tell their label; a dictionary leaves two labels, and order tells which."""
    rng = np.random.default_rng(0)
    ys = [["D", "N", "V"] * int(rng.integers(1, 3)) for _ in range(80)]
    xs = [
        [f"{label.lower()}{rng.integers(3)}" if label != "N" or rng.random() < 0.5 else "v0" for label in y] for y in ys
    ]
    tags = {"v0": ["N", "V"]}
    sets = [[tags.get(word, [word[0].upper()]) for word in x] for x in xs]
    for neighbours in ("swaps", "transpose", "shuffle"):
        recipe = sl.recipes.contrastive(neighbours=neighbours)
        fitted = sl.Tagger(learner=recipe, features=sl.features.words(), n_jobs=1).fit(sl.candidates(xs, sets))
        clamp = [[None if len(options) > 1 else options[0] for options in s] for s in sets]
        found = fitted.predict(xs, clamp=clamp)
        asked = [(a, b) for y, z, s in zip(ys, found, sets) for a, b, o in zip(y, z, s) if len(o) > 1]
        assert np.mean([a == b for a, b in asked]) > 0.9
    both = sl.Tagger(learner="contrastive", features=sl.features.words(), n_jobs=1)
    assert both.fit([*sl.unlabeled(xs), *sl.gold(xs[:5], ys[:5])]).score(xs, ys) > 0.6
    with pytest.raises(DataError, match="use crf"):
        both.fit(sl.gold(xs, ys))
    with pytest.raises(ValueError, match="neighbours is 'all'"):
        sl.recipes.contrastive(neighbours="all")


def test_more_outputs_than_there_are_or_than_fit():
    tagger = sl.Tagger(learner="crf").fit([["a", "b"], ["b"]], [["X", "Y"], ["Y"]])
    found = tagger.k_best([["a", "b"], ["b"]], 10**9)
    assert [len(one) for one in found] == [4, 2]
    assert found == tagger.k_best([["a", "b"], ["b"]], 4)
    with pytest.raises(sl.Intractable, match=r"the 1,000,000,000 best outputs of 100 tokens .* GB; ask for fewer"):
        tagger.k_best([["a"] * 100], 10**9)
    segments = sl.SegmentTagger(max_rounds=5).fit([["a", "b"], ["b"]], [["X", "Y"], ["Y"]])
    assert [len(one) for one in segments.k_best([["a", "b"]], 10**9)] == [4]
    with pytest.raises(sl.Intractable, match="best outputs of 100 tokens"):
        segments.k_best([["a"] * 100], 10**9)
