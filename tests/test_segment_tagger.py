"""The segment tagger as an estimator."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from sidelight import (
    Candidates,
    Companion,
    DataError,
    Gold,
    Matrix,
    ModelFileError,
    NotFitted,
    Partial,
    Round,
    Tagger,
    Unlabeled,
    WithDense,
    features,
    gold,
    load_model,
)
from sidelight.corpus import references
from sidelight.errors import Infeasible
from sidelight.estimators.constrained import Constrained
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.models.files import read_tensors, write_tensors
from sidelight.models.model_file import KIND, SEGMENTS, VERSION
from sidelight.rules import Sentence, every, gallery, rule, some
from sidelight.structures.segments import labels_of, segments_of

LEARNERS = ("semi_crf", "semi_svm")
CORPUS = references(90, seed=3)
XS, YS = [list(r.tokens) for r in CORPUS], [list(r.labels) for r in CORPUS]
TRAIN, TEST = slice(0, 40), slice(40, 90)


def as_bio(y: list[str]) -> list[str]:
    """The labels of references as BIO, dates outside."""
    pieces = [(a, b, "O" if name == "date" else name) for a, b, name in segments_of(y)]
    return labels_of(pieces, scheme="BIO")


BIO = [as_bio(y) for y in YS]


def tagger(**settings) -> SegmentTagger:
    return SegmentTagger(**{"features": features.words(before=1), "max_length": 12, "n_jobs": 1, **settings})


def commonest(ys, tests) -> float:
    label = Counter(label for y in ys for label in y).most_common(1)[0][0]
    return sum(y.count(label) for y in tests) / sum(map(len, tests))


def accuracy(found, ys) -> float:
    return sum(a == b for x, y in zip(found, ys) for a, b in zip(x, y)) / sum(map(len, ys))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("scheme", [None, "BIO"])
def test_learns_to_segment_references(learner, scheme):
    ys = BIO if scheme else YS
    fitted = tagger(learner=learner, scheme=scheme, max_length=None, max_rounds=40).fit(XS[TRAIN], ys[TRAIN])
    found = fitted.predict(XS[TEST])
    assert [len(y) for y in found] == [len(x) for x in XS[TEST]]
    assert accuracy(found, ys[TEST]) > commonest(ys[TRAIN], ys[TEST]) + 0.2
    assert fitted.score(XS[TEST], ys[TEST]) == pytest.approx(accuracy(found, ys[TEST]))
    assert fitted.score(gold(XS[TEST], ys[TEST])) == fitted.score(XS[TEST], ys[TEST])
    assert fitted.score(XS[TRAIN], ys[TRAIN]) > 0.95
    pieces = fitted.predict_segments(XS[TEST])
    assert [labels_of(one, scheme=scheme) for one in pieces] == found
    if scheme is None:
        assert all(a[2] != b[2] for one in pieces for a, b in pairwise(one))
        longest = max(b - a + 1 for y in YS[TRAIN] for a, b, _ in segments_of(y))
        assert fitted.model_.structure.max_length == longest
    else:
        assert all(a == b for one in pieces for a, b, name in one if name == "O")
    shares = fitted.marginals(XS[TEST][:5])
    for share, x in zip(shares, XS[TEST]):
        assert share.shape == (len(x), len(fitted.classes_))
        np.testing.assert_allclose(share.sum(1), 1.0, atol=1e-9)
        assert share.min() >= 0.0


@pytest.mark.parametrize("learner", LEARNERS)
def test_rounds_tell_the_truth(learner):
    seen: list[Round] = []
    rough = tagger(learner=learner, max_length=4, tolerance=0.05, callbacks=[seen.append]).fit(XS[:12], YS[:12])
    assert seen == rough.rounds_
    assert [r.last for r in seen] == [False] * (len(seen) - 1) + [True]
    assert all(r.learner == learner for r in seen)
    objectives = [r.objective for r in seen]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(objectives))
    assert seen[-1].gap <= 0.05 * seen[-1].objective
    least = tagger(learner=learner, max_length=4, tolerance=1e-3, max_rounds=300).fit(XS[:12], YS[:12]).rounds_[-1]
    for record in seen:
        assert record.dual <= least.objective * (1 + 1e-9)
    assert least.objective <= objectives[-1]
    assert len(tagger(learner=learner, max_rounds=3, tolerance=0.0).fit(XS[:5], YS[:5]).rounds_) == 3


@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_do_not_change_bits(learner):
    evidence = [
        *gold(XS[:25], BIO[:25]),
        *(Partial(x, [y[0], *[None] * (len(y) - 1)]) for x, y in zip(XS[25:40], BIO[25:40])),
    ]
    found = []
    for n_jobs in (1, 2, 3):
        fitted = tagger(learner=learner, scheme="BIO", max_length=40, n_jobs=n_jobs, max_rounds=6).fit(evidence)
        found.append((fitted.model_.weights, fitted.predict(XS), fitted.marginals(XS[:20])))
    assert np.count_nonzero(found[0][0]) > 100
    for weights, outputs, shares in found[1:]:
        np.testing.assert_array_equal(weights, found[0][0])
        assert outputs == found[0][1]
        for one, other in zip(shares, found[0][2]):
            np.testing.assert_array_equal(one, other)


def test_segments_of_one_token_are_the_chain_of_a_tagger():
    """Without segment features and with max_length 1 the model is a first-order chain."""
    bare = SegmentFeatures(families=())
    settings = {"tolerance": 1e-3, "prices": {"gold": 0.01}}
    one = tagger(learner="semi_svm", segment_features=bare, max_length=1, **settings).fit(XS[:8], YS[:8])
    assert one.model_.layout.n_attributes == 0
    other = Tagger(learner="jlis", features=features.words(before=1), n_jobs=1, **settings).fit(XS[:8], YS[:8])
    check_same_optimum(one, other)
    assert accuracy(one.predict(XS[TEST]), other.predict(XS[TEST])) > 0.95


def check_same_optimum(one, other) -> None:
    """Two taggers solved the same strongly convex problem: their gaps bound how far apart they are."""
    last = one.rounds_[-1], other.rounds_[-1]
    assert last[0].dual <= last[1].objective * (1 + 1e-9)
    assert last[1].dual <= last[0].objective * (1 + 1e-9)
    apart = np.linalg.norm(one.model_.weights - other.model_.weights)
    assert apart <= sum(np.sqrt(2 * record.gap) for record in last) * (1 + 1e-6)
    assert apart < 0.3 * np.linalg.norm(one.model_.weights)


@pytest.mark.parametrize("learner", LEARNERS)
def test_token_masks_that_leave_one_output_are_gold(learner):
    """Partial with every label, and Candidates of one each, teach what Gold teaches."""
    ys = BIO[:10]
    settings = {"learner": learner, "scheme": "BIO", "tolerance": 1e-3, "max_length": 30, "max_rounds": 200}
    settings["segment_features"] = SegmentFeatures(counted="all", families=("length", "first"), min_count=3)
    known = tagger(**settings).fit(XS[:10], ys)
    for evidence in (
        [Partial(x, y) for x, y in zip(XS, ys)],
        [Candidates(x, [{label} for label in y]) for x, y in zip(XS, ys)],
    ):
        other = tagger(**settings).fit(evidence)
        check_same_optimum(known, other)


@pytest.mark.parametrize("learner", LEARNERS)
def test_partial_labels_help(learner):
    """Gold of few and half the labels of many is better than the few alone; the joint objective never rises."""
    few = gold(XS[:4], YS[:4])
    rng = np.random.default_rng(0)
    more = [Partial(x, [y if rng.random() < 0.5 else None for y in ys]) for x, ys in zip(XS[4:40], YS[4:40])]
    labels = sorted({label for y in YS for label in y})
    alone = tagger(learner=learner, labels=labels, max_rounds=200, max_length=6).fit(few)
    both = tagger(learner=learner, labels=labels, max_rounds=200, max_length=6).fit([*few, *more])
    assert both.score(XS[TEST], YS[TEST]) > alone.score(XS[TEST], YS[TEST]) + 0.03
    joint = [r.objective for r in both.rounds_ if r.completion > 0 or learner == "semi_crf"]
    assert len(joint) > 3
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(joint))


def test_weights_of_evidence_multiply_prices():
    settings = {"tolerance": 1e-8, "max_length": 6, "max_rounds": 400}
    twice = tagger(**settings).fit([*gold(XS[:4], YS[:4]), *gold(XS[1:2], YS[1:2])])
    heavy = tagger(**settings, segment_features=twice.model_.structure.segments.features).fit(
        XS[:4], YS[:4], sample_weight=[1, 2, 1, 1]
    )
    kept = {name: k for k, name in enumerate(heavy.model_.structure.segments.names)}
    assert set(kept) <= set(twice.model_.structure.segments.names)
    bare = {"segment_features": SegmentFeatures(families=("length",), min_count=1), **settings}
    twice = tagger(**bare).fit([*gold(XS[:4], YS[:4]), *gold(XS[1:2], YS[1:2])])
    heavy = tagger(**bare).fit(XS[:4], YS[:4], sample_weight=[1, 2, 1, 1])
    np.testing.assert_allclose(twice.model_.weights, heavy.model_.weights, atol=1e-3)
    even = tagger(**bare).fit(XS[:4], YS[:4])
    assert np.abs(even.model_.weights - heavy.model_.weights).max() > 0.01


def test_parameters_clone_and_repr():
    one = tagger(prices={"gold": 2.0}, learner="semi_svm", segment_features=SegmentFeatures(min_count=3))
    other = clone(one)
    assert other is not one
    assert other.get_params() == one.get_params()
    assert repr(other) == repr(one)
    assert "learner='semi_svm'" in repr(one)
    assert "tolerance" not in repr(one)
    assert repr(SegmentTagger()) == "SegmentTagger()"
    assert other.set_params(max_length=3, prices__partial=0.5) is other
    assert (other.max_length, other.prices) == (3, {"gold": 2.0, "partial": 0.5})
    assert one.prices == {"gold": 2.0}
    with pytest.raises(ValueError, match="unknown parameter 'length'"):
        one.set_params(length=3)
    one.set_params(max_rounds=2).fit(XS[:4], YS[:4])
    assert not hasattr(clone(one), "model_")
    assert cross_val_score(tagger(max_rounds=5), XS[:20], YS[:20], cv=2).min() > 0.3


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"learner": "hmm"}, "hmm needs a generative model, which segments do not have"),
        ({"learner": "naive_bayes"}, "naive_bayes needs labels of single tokens"),
        ({"learner": "auto"}, "learner is 'auto'"),
        ({"loss": "log"}, "loss is 'log'"),
        ({"scheme": "IOBES"}, "scheme is 'IOBES'"),
        ({"prices": {"answers": 1.0}}, "prices has 'answers'"),
        ({"prices": {"gold": -1.0}}, "the price of gold is -1.0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"max_length": 0}, "max_length is 0"),
        ({"max_rounds": 0}, "max_rounds is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"labels": ["author"]}, "unknown label"),
        ({"scheme": "BIO"}, "is not a BIO label"),
    ],
)
def test_parameters_are_checked_when_fit_begins(settings, problem):
    estimator = tagger(**settings)
    with pytest.raises(ValueError, match=problem):
        estimator.fit(XS[:3], YS[:3])
    assert not hasattr(estimator, "model_")


X = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("evidence", "settings", "problem"),
    [
        ([Unlabeled(X)], {}, "names no label"),
        ([Gold(X, ["p"] * 3), Companion(X, 1)], {"learner": "crf"}, r"evidence 1 \(Companion\): the learner crf"),
        ([], {}, "no evidence"),
        ([Partial(X, [None] * 3)], {}, "names no label"),
        ([Partial(X, ["p", None, None])], {"max_length": None}, "how long segments may be"),
        (
            [Partial(X, ["p", None, None])],
            {"segment_features": SegmentFeatures()},
            "no Gold to take segment features from",
        ),
        ([Gold(X, ["B-p", "O", "I-p"])], {"scheme": "BIO"}, r"evidence 0 \(Gold\), token 2: I-p goes on with"),
        ([Gold(X, ["B-p", "I-p", "I-p"])], {"scheme": "BIO", "max_length": 2}, "token 2: a segment of more than 2"),
        (
            [Gold(X, ["B-p", "I-p", "O"]), Partial(X, ["O", "I-p", None])],
            {"scheme": "BIO"},
            r"evidence 1 \(Partial\): no segmentation has labels that all tokens admit",
        ),
        ([Gold(X, ["p", "q"])], {}, "3 tokens but an output for 2"),
        ([Gold([], [])], {}, "no tokens"),
    ],
)
def test_evidence_that_cannot_be_used(evidence, settings, problem):
    with pytest.raises(DataError, match=problem):
        tagger(**settings).fit(evidence)


@pytest.mark.parametrize("setting", [{"order": 2}, {"states": 2}, {"allowed": [("p", "q")]}, {"random_ties": True}])
def test_what_only_a_tagger_has_is_refused(setting):
    name = next(iter(setting))
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        SegmentTagger(**setting)
    with pytest.raises(ValueError, match=f"unknown parameter '{name}'; there are features, segment_features"):
        SegmentTagger().set_params(**setting)


def test_not_fitted_and_nothing_to_do():
    for act in ("predict", "predict_segments", "marginals"):
        with pytest.raises(NotFitted, match="call fit first"):
            getattr(tagger(), act)([["on"]])
    with pytest.raises(NotFitted):
        tagger().classes_  # noqa: B018
    fitted = tagger(max_rounds=2).fit(XS[:3], YS[:3])
    assert fitted.predict([]) == fitted.predict_segments([]) == fitted.marginals([]) == []
    with pytest.raises(DataError, match="input 1 has no tokens"):
        fitted.predict([["a"], []])
    with pytest.raises(DataError, match="nothing to score"):
        fitted.score([Unlabeled(["on"])])
    with pytest.raises(ValueError, match="evidence has its own weights"):
        tagger().fit(gold(XS[:2], YS[:2]), sample_weight=[1, 2])


def test_other_kinds_of_inputs():
    rng = np.random.default_rng(0)
    lengths = [len(x) for x in XS[:12]]
    dicts = [[{"word": word, "n": len(word) / 10} for word in x] for x in XS[:12]]
    dense = [WithDense(x, rng.normal(size=(len(x), 3))) for x in XS[:12]]
    matrix = Matrix(csr_matrix(np.eye(sum(lengths))), lengths=lengths)
    for xs in (dicts, dense, matrix):
        for learner in LEARNERS:
            fitted = SegmentTagger(max_length=5, max_rounds=50, n_jobs=1, learner=learner).fit(xs, YS[:12])
            assert fitted.score(xs, YS[:12]) > commonest(YS[:12], YS[:12]) + 0.3


def word_count(x, first, last):
    return [f"digits={sum(word.isdigit() for word in x[first : last + 1])}"]


@pytest.mark.parametrize("kind", ["plain", "BIO", "hash", "function", "dense"])
def test_save_and_load(kind, tmp_path):
    xs, settings = XS[:12], {"max_rounds": 4}
    if kind == "hash":
        settings |= {"segment_features": SegmentFeatures(hash_bits=10), "features": features.words(hash_bits=10)}
    elif kind == "function":
        settings |= {"segment_features": SegmentFeatures(function=word_count, lexicons={"years": ["1994"]})}
    elif kind == "dense":
        xs = [WithDense(x, np.full((len(x), 2), 0.5)) for x in xs]
    elif kind == "BIO":
        settings |= {"scheme": "BIO", "max_length": None, "learner": "semi_svm"}
    fitted = tagger(**settings).fit(xs, (BIO if kind == "BIO" else YS)[:12])
    path = tmp_path / "m.sl"
    fitted.save(path)
    function = word_count if kind == "function" else None
    loaded = SegmentTagger.load(path, function=function)
    np.testing.assert_array_equal(loaded.model_.weights, fitted.model_.weights)
    assert loaded.classes_ == fitted.classes_
    assert loaded.predict(xs) == fitted.predict(xs)
    assert loaded.predict_segments(xs) == fitted.predict_segments(xs)
    for one, other in zip(loaded.marginals(xs), fitted.marginals(xs)):
        np.testing.assert_array_equal(one, other)
    loaded.save(tmp_path / "again.sl")
    assert (tmp_path / "again.sl").read_bytes() == path.read_bytes()
    if function:
        with pytest.raises(DataError, match="use a function"):
            SegmentTagger.load(path)


def test_damaged_and_foreign_files(tmp_path):
    path = tmp_path / "m.sl"
    tagger(max_rounds=2).fit(XS[:3], YS[:3]).save(path)
    data = path.read_bytes()
    for spoiled in (data[:100], data[:-1], data[:-1] + bytes([data[-1] ^ 1])):
        (tmp_path / "bad.sl").write_bytes(spoiled)
        with pytest.raises(ModelFileError):
            SegmentTagger.load(tmp_path / "bad.sl")
    with pytest.raises(ModelFileError, match=r"not the model of a Tagger; use SegmentTagger\.load"):
        Tagger.load(path)
    assert load_model(path).predict_segments(XS[:1]) == SegmentTagger.load(path).predict_segments(XS[:1])
    Tagger(max_rounds=2, n_jobs=1).fit(XS[:3], YS[:3]).save(tmp_path / "chain.sl")
    with pytest.raises(ModelFileError, match=r"not the model of a SegmentTagger; use Tagger\.load"):
        SegmentTagger.load(tmp_path / "chain.sl")
    spec, tensors = read_tensors(path, kind=KIND, version=VERSION)
    write_tensors(tmp_path / "new.sl", tensors, kind=KIND, version=VERSION + 1, spec=spec)
    with pytest.raises(ModelFileError, match="newer version"):
        SegmentTagger.load(tmp_path / "new.sl")
    spec.pop("size_by")  # as files of segments were before they were those of all models
    write_tensors(tmp_path / "old.sl", tensors, kind=SEGMENTS, version=1, spec=spec)
    assert SegmentTagger.load(tmp_path / "old.sl").predict(XS[:3]) == SegmentTagger.load(path).predict(XS[:3])
    odd = tagger(max_rounds=1).fit([["a", "b"]], [[("x", 1), ("y", 2)]])
    with pytest.raises(ModelFileError, match="neither text nor a number"):
        odd.save(tmp_path / "odd.sl")


METHODS = ("auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian")
SHORT = [["ed", "holt", "1994"], ["al", "1995"], ["ed", "1994", "al"]]
FIELDS = [["name", "name", "year"], ["name", "year"], ["name", "year", "name"]]
ONCE = gallery.appears_once(["name", "year"])


@rule
def not_all_alike(x, y):
    return every(some(y[t] != y[s] for t in x.positions) for s in x.positions)


def test_rules_about_token_labels() -> None:
    tagger = SegmentTagger(max_rounds=20).fit(SHORT, FIELDS)
    plain = tagger.predict(SHORT)
    assert plain == FIELDS
    ruled = tagger.predict(SHORT, rules=[ONCE])
    assert all(ONCE.violations(Sentence(x), y) == 0 for x, y in zip(SHORT, ruled)) and ruled[:2] == plain[:2]
    assert tagger.predict_segments(SHORT, rules=[ONCE]) == [segments_of(y) for y in ruled]
    assert tagger.predict(SHORT, rules=[ONCE.soft(1e-6)]) == plain
    with pytest.raises(Infeasible, match="at_least_9_year"):
        tagger.predict(SHORT, rules=[gallery.at_least(9, "year")])
    with pytest.raises(DataError, match="there is no label 'month'"):
        tagger.predict(SHORT, rules=[gallery.at_least(1, "month")])
    with pytest.raises(DataError, match="has not been learned"):
        tagger.predict(SHORT, rules=[ONCE.soft()])


@pytest.mark.parametrize("scheme", [None, "BIO"])
def test_all_methods_find_the_best_segmentation_under_rules(scheme: str | None) -> None:
    ys = [labels_of(segments_of(y), scheme=scheme) for y in FIELDS]
    name = "B-name" if scheme else "name"
    rules = [gallery.at_most(1, name).soft(0.5), gallery.starts_with(name), gallery.few_changes(3), not_all_alike]
    fitted = SegmentTagger(scheme=scheme, max_rounds=20, max_length=3).fit(SHORT, ys)
    xs = [["1994", "al", "ed", "1995", "holt", "ed"], ["ed", "al", "1994", "1995", "1994"], ["1995"] * 4]
    best = Constrained(fitted, rules).solutions(xs)
    assert any(solution.method == "dynamic programming" for solution in best)
    for method in METHODS:
        for solution, right in zip(Constrained(fitted, rules, method=method).solutions(xs), best):
            assert right.exact and solution.value <= right.value + 1e-6 <= solution.bound + 2e-6
            if method in ("auto", "dynamic", "a_star", "ilp") or solution.exact:
                assert solution.value == pytest.approx(right.value, abs=1e-5)


def test_a_tagger_with_rules_of_its_own(tmp_path) -> None:
    rules = [ONCE.soft(), gallery.starts_with("year").soft(50.0)]
    fitted = SegmentTagger(max_rounds=20, rules=rules).fit(SHORT, FIELDS)
    assert fitted.penalties_ == [pytest.approx(np.log(4)), 50.0]  # one violation in 8 tokens, smoothed: 1 in 5
    assert all(y[0] == "year" for y in fitted.predict(SHORT))
    assert fitted.predict(SHORT, rules=()) == FIELDS
    assert all(pieces[0][2] == "year" for pieces in fitted.predict_segments(SHORT))
    shown = str(fitted.explain_rules(SHORT[2]))
    assert "start" in shown and "ed (0): name → year" in shown
    fitted.save(tmp_path / "ruled.sl")
    again = SegmentTagger.load(tmp_path / "ruled.sl")
    assert again.predict(SHORT) == FIELDS
    assert again.predict(SHORT, rules=rules) == fitted.predict(SHORT)
    with pytest.raises(ValueError, match="make a rule of a function"):
        SegmentTagger(rules=[len]).fit(SHORT, FIELDS)
    with pytest.raises(DataError, match="no inference method 'magic'"):
        SegmentTagger(inference="magic").fit(SHORT, FIELDS)
    with pytest.raises(DataError, match="learned from Gold, and there is none"):
        SegmentTagger(
            rules=rules, labels=["name", "year"], max_length=2, segment_features=SegmentFeatures(counted="all")
        ).fit([Partial(["ed"], ["name"])])


def test_clamped_labels_hold() -> None:
    fitted = SegmentTagger(max_rounds=20).fit(SHORT, FIELDS)
    clamp = [[None, "year", None], [None, None], ["year", None, None]]
    found = fitted.predict(SHORT, clamp=clamp)
    assert found[0][1] == "year" and found[1] == FIELDS[1] and found[2][0] == "year"
    assert fitted.predict_segments(SHORT, clamp=clamp) == [segments_of(y) for y in found]
    with pytest.raises(DataError, match="unknown label 'month'"):
        fitted.predict(SHORT[:1], clamp=[["month", None, None]])
