"""The experiment on word alignment: its corpora, what is chosen on development pairs, and its rows."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sidelight.data.links import GoldLinks
from sidelight.experiments.uem import word_alignment as alignment
from sidelight.experiments.uem.word_alignment import Bitexts, judged, learned
from translating import made_up


@pytest.fixture(scope="module")
def data() -> Path:
    if "SIDELIGHT_DATA" not in os.environ:
        pytest.skip("SIDELIGHT_DATA does not name the folder of the corpora")
    return Path(os.environ["SIDELIGHT_DATA"])


def small(pairs=60):
    sources, targets, links = made_up(pairs)
    gold = [GoldLinks(one, one) for one in links]
    return Bitexts("made up", ("S", "T"), list(zip(sources, targets)), gold[:10], gold[10:40])


def test_hansards(data):
    corpus = alignment.hansards(data, 100)
    assert len(corpus.pairs) == 37 + 447 + 100
    assert [len(gold) for gold in (corpus.dev, corpus.test)] == [37, 447]
    for gold, sure, possible in ((corpus.dev, 338, 1446), (corpus.test, 4038, 13_400)):
        assert sum(len(one.sure) for one in gold) == sure
        assert sum(len(one.possible - one.sure) for one in gold) == possible


def test_epps(data):
    corpus = alignment.epps(data)
    assert len(corpus.pairs) == 200 + 5388
    assert sum(len(one.sure) for one in corpus.dev + corpus.test) == 5920  # of 5,921 lines one is there twice
    assert len(corpus.dev) == len(corpus.test) == 100


def test_the_threshold_is_the_best_of_the_development_pairs():
    corpus = small()
    aligner = learned(corpus, 0.5, agreement=True, n_jobs=1)
    threshold, aer, scores = judged(corpus, aligner, "mean")
    for other in alignment.THRESHOLDS:
        aligner.set_params(threshold=other)
        assert 1.0 - aligner.score(corpus.pairs[:10], corpus.dev) >= aer - 1e-12
    aligner.set_params(threshold=threshold)
    assert 1.0 - aligner.score(corpus.pairs[:10], corpus.dev) == pytest.approx(aer)
    assert 1.0 - aligner.score(corpus.pairs[10:40], corpus.test) == pytest.approx(scores.aer)


def test_rows_and_published_figures(monkeypatch):
    monkeypatch.setattr(
        alignment, "hansards", lambda data, size: replace(small(), name="hansards", languages=("En", "Fr"))
    )
    monkeypatch.setattr(alignment, "epps", lambda data: small())
    monkeypatch.setattr(alignment, "GAMMAS", (0.0, 0.3, 1.0))
    monkeypatch.setattr(alignment, "LARGE_GAMMAS", (1.0,))
    saved, told = [], []
    found, notes = alignment.rows(
        Path(), quick=False, n_jobs=1, report=told.append, save=lambda r: saved.append(len(r))
    )
    assert saved == sorted(saved) and saved[-1] == len(found) and notes
    by_place = {(one["setting"], one["method"]): one for one in found if one["metric"] == "AER"}
    assert by_place["hansards 10,000 En-Fr", "γ = 0.3"]["paper"] == 11.02
    assert by_place["hansards 10,000 Fr-En", "LP-EM (γ = 0)"]["paper"] == 15.70
    assert by_place["hansards 10,000 En-Fr", "EM"]["paper"] is None
    assert by_place["hansards 25,000 both", "PR (γ = 1)"]["paper"] is None
    assert all(0.0 <= one["value"] <= 100.0 for one in found)
    assert len(told) == 1 + 4 + 2 + 4
