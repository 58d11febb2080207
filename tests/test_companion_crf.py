"""CRFs that learn from companion answers beside labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.corpus import references
from sidelight.errors import DataError, ModelFileError
from sidelight.models.files import read_tensors, write_tensors
from sidelight.models.model_file import KIND, VERSION
from sidelight.rules import gallery

FOUND = references(60, seed=3)
XS, YS = [list(r.tokens) for r in FOUND], [list(r.labels) for r in FOUND]
LABELS = sorted({label for y in YS for label in y})


def evidence(good: int = 20) -> list[sl.evidence.Evidence]:
    raw = XS[10 : 10 + good]
    shuffled = sl.shuffled(raw, seed=1)
    return [*sl.gold(XS[:5], YS[:5]), *sl.companion(raw, +1), *sl.companion(shuffled, -1)]


def tagger(learner="partial_crf", **options):
    return sl.Tagger(learner=learner, labels=LABELS, **options)


def test_answers_are_learned_and_judged() -> None:
    fitted = tagger(prices={"companion": 1.0}).fit(evidence())
    new = XS[40:]
    good, bad = fitted.judge(new), fitted.judge(sl.shuffled(new, seed=5))
    assert np.mean(good > bad) > 0.8
    plain = tagger("crf").fit(XS[:5], YS[:5])
    assert not np.array_equal(plain.model_.weights, fitted.model_.weights)


def test_a_price_of_nothing_leaves_the_model_of_the_labels() -> None:
    plain = tagger("crf").fit(XS[:5], YS[:5]).predict_marginals(XS[40:45])
    with_answers = tagger(prices={"companion": 0.0}).fit(evidence()).predict_marginals(XS[40:45])
    for x, y in zip(plain, with_answers):
        for a, b in zip(x, y):
            assert a == pytest.approx(b, abs=1e-3)


def test_an_input_of_weight_two_counts_twice() -> None:
    twice = [*evidence(6), *evidence(6)[5:]]
    heavy = [sl.Companion(e.x, e.z, weight=2.0) if isinstance(e, sl.Companion) else e for e in evidence(6)]
    found = [tagger(tolerance=1e-6).fit(pieces).judge(XS[40:]) for pieces in (twice, heavy)]
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_files_keep_how_answers_are_judged(tmp_path: Path) -> None:
    fitted = tagger().fit(evidence())
    fitted.save(tmp_path / "m")
    assert np.array_equal(sl.Tagger.load(tmp_path / "m").judge(XS[40:]), fitted.judge(XS[40:]))
    assert len(fitted.judge([])) == 0
    spec, tensors = read_tensors(tmp_path / "m", kind=KIND, version=VERSION)
    for wrong in (-1.0, "warm", None, True):
        write_tensors(tmp_path / "n", tensors, kind=KIND, version=VERSION, spec={**spec, "temperature": wrong})
        with pytest.raises(ModelFileError, match="temperature"):
            sl.Tagger.load(tmp_path / "n")


def test_it_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def interrupt(record: sl.Round) -> None:
        if record.number == 4:
            raise Stop

    for number, learner in enumerate(("partial_crf", recipes.posterior_regularization(base="crf", iterations=4))):
        options = {"prices": {"companion": 0.5, "unlabeled": 1.0}, "rules": [gallery.appears_once(LABELS).soft(1.0)]}
        pieces = [*evidence(8), *sl.unlabeled(XS[50:54])]
        path = tmp_path / str(number)
        whole = tagger(learner, decrease=0.0, **options).fit(pieces)
        with pytest.raises(Stop):
            tagger(learner, decrease=0.0, checkpoint=path, callbacks=[interrupt], **options).fit(pieces)
        again = tagger(learner, decrease=0.0, checkpoint=path, **options).fit(pieces)
        assert np.array_equal(again.model_.weights, whole.model_.weights)


def test_warm_starts_and_validation() -> None:
    fitted = tagger(warm_start=True).fit(evidence())
    last = fitted.rounds_[-1].objective
    assert fitted.fit(evidence()).rounds_[0].objective <= last + 1e-6
    judged = tagger(patience=3).fit(evidence(), validation=(XS[40:], YS[40:]))
    assert judged.score(XS[40:], YS[40:]) == max(record.validation for record in judged.rounds_)


def test_order_two_candidates_and_classes() -> None:
    second = tagger(order=2, max_rounds=5).fit(evidence(3))
    assert len(second.judge(XS[40:42])) == 2
    within = [sl.Companion(x, z, candidates=[[LABELS[0], LABELS[1]]] * len(x)) for x, z in ((XS[20], 1), (XS[21], -1))]
    assert tagger(scheme=None).fit([*sl.gold(XS[:5], YS[:5]), *within]).rounds_[-1].last
    good, bad = [{"a": 1.0, "c": 1.0}] * 6, [{"d": 1.0}] * 6
    known = sl.gold([{"a": 1.0}, {"b": 1.0}, {"d": 1.0}], ["x", "y", "z"])
    pieces = [*known, *sl.companion(good, +1), *sl.companion(bad, -1)]
    classifier = sl.Classifier(learner="partial_crf", prices={"companion": 1.0}).fit(pieces)
    assert classifier.judge([{"a": 1.0}])[0] > classifier.judge([{"d": 1.0}])[0]


def test_threads_do_not_matter() -> None:
    found = [tagger(n_jobs=n_jobs).fit(evidence()).model_.weights for n_jobs in (1, 3)]
    assert np.array_equal(*found)


def test_stochastic_gradient_descent_comes_to_the_same_objective() -> None:
    least = tagger(tolerance=1e-4).fit(evidence()).rounds_[-1].objective
    fitted = tagger(recipes.partial_crf(solver="sgd"), tolerance=1e-3).fit(evidence())
    assert fitted.rounds_[-1].objective == pytest.approx(least, rel=0.01)
    assert fitted.model_.weights[0] != 0.0  # the threshold
    assert np.all(np.isfinite(fitted.judge(XS[40:42])))


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="learns from Gold only"):
        tagger("crf").fit(evidence())
    with pytest.raises(DataError, match="no input has any label"):
        tagger().fit(sl.companion(XS[:3], +1))


def test_answers_and_rules_mix_without_unlabelled_inputs() -> None:
    learner = recipes.posterior_regularization(base="crf")
    fitted = tagger(learner).fit(evidence())
    same = tagger().fit(evidence())
    assert np.array_equal(fitted.model_.weights, same.model_.weights)
    with pytest.raises(DataError, match="no Gold, or nothing else"):
        tagger(learner).fit(sl.gold(XS[:5], YS[:5]))


def test_answers_have_a_price_of_their_own_in_likelihoods() -> None:
    usual = tagger().fit(evidence(6)).model_.weights
    assert np.array_equal(usual, tagger(prices={"companion": 0.05}).fit(evidence(6)).model_.weights)
    assert not np.array_equal(usual, tagger(prices={"companion": 1.0}).fit(evidence(6)).model_.weights)


def test_hidden_states_and_sizes() -> None:
    assert len(tagger(states=2, max_rounds=5).fit(evidence(4)).judge(XS[:2])) == 2
    by_one = tagger(size="one", max_rounds=20).fit(evidence(6))
    by_function = tagger(size=lambda x: 1.0, max_rounds=20).fit(evidence(6))
    np.testing.assert_array_equal(by_one.judge(XS[:3]), by_function.judge(XS[:3]))
