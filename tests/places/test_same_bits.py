"""A place changes no bit of what is learned, whoever works there, and whoever dies."""

from __future__ import annotations

import numpy as np
import pytest

import placed_fits
import sidelight as sl
from sidelight.parallel.place import ThreadPlace
from sidelight.parallel.ray_place import RayPlace

HERE = ThreadPlace(shard_tokens=placed_fits.TOKENS)


@pytest.mark.parametrize("family", placed_fits.FAMILIES)
def test_workers_that_die_change_nothing(family, workers, chaos):
    fit = placed_fits.FAMILIES[family]
    expected = fit(HERE)
    with chaos(seed=len(family), most=1, share=0.7).loose() as loose:
        found = fit(workers)
    assert loose.kills
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(expected, found, strict=True))


@pytest.mark.parametrize("family", ["crf", "structural_svm", "jlis", "em", "cllp", "alignment"])
def test_shards_change_at_most_last_bits(family):
    fit = placed_fits.FAMILIES[family]
    for whole, sharded in zip(fit(None), fit(HERE), strict=True):
        np.testing.assert_allclose(sharded, whole, rtol=1e-6, atol=1e-9)


def test_one_worker_does_what_two_do(workers):
    evidence, options = placed_fits.FITS["crf"]
    two = sl.Tagger(place=workers, n_jobs=1, **options).fit(evidence)
    one = sl.Tagger(place=RayPlace(workers=1, shard_tokens=placed_fits.TOKENS), n_jobs=1, **options).fit(evidence)
    assert np.array_equal(one.model_.weights, two.model_.weights)
    assert [r.place.workers for r in (one.rounds_[-1], two.rounds_[-1])] == [1, 2]
    figures = two.rounds_[-1].as_dict()["place"]
    assert figures["shards"] > 2 and figures["bytes"] > 0 and figures["inference"] > 0 and figures["transit"] > 0


def test_the_choice_of_a_learner_is_the_same(workers):
    evidence = placed_fits.GOLD[:30] + placed_fits.CANDIDATES[30:60] + placed_fits.UNLABELED[:20]
    here, there = (sl.Tagger(place=place, n_jobs=1, max_rounds=2).fit(evidence) for place in (HERE, workers))
    assert here.choice_.candidates and str(here.choice_.chosen) == str(there.choice_.chosen)
    assert [one.fits for one in (here.choice_, there.choice_)] == [here.choice_.fits] * 2
    assert np.array_equal(here.model_.weights, there.model_.weights)


def test_predictions_come_in_order(workers, chaos, monkeypatch):
    monkeypatch.setattr("sidelight.parallel.place.LOT", 16)
    tagger = sl.Tagger(learner="perceptron", n_jobs=1).fit(placed_fits.GOLD)
    expected = tagger.predict(placed_fits.XS), tagger.predict(placed_fits.XS, rules=placed_fits.HARD)
    tagger.set_params(place=workers)
    with chaos(seed=1, most=1, share=1.0).loose() as loose:
        assert tagger.predict(placed_fits.XS) == expected[0]
    assert loose.kills and tagger.predict(placed_fits.XS, rules=placed_fits.HARD) == expected[1]


class Stop(Exception):
    """A process that ends."""


def stopping_at(number):
    def stop(told):
        if told.number == number:
            raise Stop

    return stop


stopping = stopping_at(2)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_an_alignment_goes_on_elsewhere(gamma, workers, tmp_path):
    def fit(place, **more):
        told = {"model1_iterations": 3, "hmm_iterations": 3, "gamma": gamma, "n_jobs": 1, "place": place, **more}
        return sl.Aligner(**told).fit(placed_fits.PAIRS)

    expected = fit(HERE)
    for first, second in [(workers, HERE), (HERE, workers)]:
        path = tmp_path / "check"
        for point in range(1, 6):
            with pytest.raises(Stop):
                fit(first, checkpoint=path, callbacks=[stopping_at(point)])
            if point not in (2, 4):
                continue  # the next one goes on from there
            kept = path.read_bytes()
            gone_on = fit(second, checkpoint=path)
            assert [one.number for one in gone_on.rounds_] == list(range(point + 1, 7))
            for a, b in zip(gone_on.model_.parameters.lexicon, expected.model_.parameters.lexicon):
                np.testing.assert_array_equal(a, b)
            assert [one.objective for one in gone_on.rounds_] == [one.objective for one in expected.rounds_[point:]]
            path.write_bytes(kept)
        path.unlink()


@pytest.mark.parametrize("family", ["crf", "votes", "posterior_regularization", "unified_em", "jlis"])
def test_a_checkpoint_goes_on_elsewhere(family, workers, tmp_path):
    evidence, options = placed_fits.FITS[family]
    expected = sl.Tagger(place=HERE, n_jobs=1, **options).fit(evidence)
    for number, (first, second) in enumerate([(workers, HERE), (HERE, workers)]):
        told = {**options, "checkpoint": tmp_path / str(number), "n_jobs": 1}
        with pytest.raises(Stop):
            sl.Tagger(place=first, callbacks=[stopping], **told).fit(evidence)
        gone_on = sl.Tagger(place=second, **told).fit(evidence)
        assert 0 < len(gone_on.rounds_) < len(expected.rounds_)
        assert np.array_equal(gone_on.model_.weights, expected.model_.weights)
