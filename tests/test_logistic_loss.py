"""Margin learners with the logistic loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.corpus import references

FOUND = references(40, seed=2)
XS, YS = [list(r.tokens) for r in FOUND], [list(r.labels) for r in FOUND]
LABELS = sorted({label for y in YS for label in y})


def tagger(learner="jlis", **options):
    return sl.Tagger(learner=learner, labels=LABELS, loss="logistic", **options)


def mixed():
    raw = XS[8:16]
    return [
        *sl.gold(XS[:5], YS[:5]),
        *sl.partial(XS[5:8], [[y if t % 2 else None for t, y in enumerate(ys)] for ys in YS[5:8]]),
        *sl.companion(raw, +1),
        *sl.companion(sl.shuffled(raw, seed=1), -1),
    ]


LEARNERS = ["structural_svm", "latent_svm", "transductive_svm", "self_training", "one_against_rest", "naive"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_minimise_it(learner: str) -> None:
    fitted = tagger(learner).fit(XS[:8], YS[:8])
    hinge = sl.Tagger(learner=learner, labels=LABELS, loss="hinge").fit(XS[:8], YS[:8])
    assert fitted.score(XS[:8], YS[:8]) > 0.95
    assert not np.array_equal(fitted.model_.weights, hinge.model_.weights)
    assert fitted.rounds_[-1].objective > 8 * np.log(2.0)  # what is right by far costs log 2


def test_segments_have_it_too() -> None:
    fitted = sl.SegmentTagger(learner="semi_svm", loss="logistic", max_length=8, tolerance=0.05).fit(XS[:6], YS[:6])
    assert fitted.score(XS[:6], YS[:6]) > 0.9


def test_it_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def interrupt(record: sl.Round) -> None:
        if record.number == 9:
            raise Stop

    whole = tagger().fit(mixed())
    with pytest.raises(Stop):
        tagger(checkpoint=tmp_path / "c", callbacks=[interrupt]).fit(mixed())
    again = tagger(checkpoint=tmp_path / "c").fit(mixed())
    assert np.array_equal(again.model_.weights, whole.model_.weights)


def test_a_fit_goes_on_near_the_weights_it_had() -> None:
    fitted = tagger().fit(XS[:5], YS[:5])
    before = fitted.model_.weights.copy()
    fitted.partial_fit(XS[5:6], YS[5:6])
    assert 0.0 < np.linalg.norm(fitted.model_.weights[: len(before)] - before) < np.linalg.norm(before)


@pytest.mark.parametrize("price", [1e-9, 1e-3, 1e6, 1e12])
@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_prices_and_features_of_any_size_leave_bounds_that_hold(price: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    xs = scale * rng.normal(size=(30, 4))
    ys = np.where(xs @ [1.0, -1.0, 0.5, 0.0] + 0.3 * scale * rng.normal(size=30) > 0, "a", "b")
    fitted = sl.Classifier(loss="logistic", prices={"gold": price}, max_rounds=15).fit(xs, ys)
    assert np.all(np.isfinite(fitted.model_.weights))
    for record in fitted.rounds_:
        assert record.dual <= record.primal * (1 + 1e-9)


def test_solvers_that_do_not_have_it_say_so() -> None:
    for solver in ("frank_wolfe", "one_slack", "n_slack_qp", "exponentiated_gradient"):
        with pytest.raises(ValueError, match=r"the loss is logistic; give loss='hinge' .*, or use dual_coordinate"):
            tagger(recipes.structural_svm(solver=solver)).fit(XS[:5], YS[:5])
