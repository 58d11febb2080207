"""The corpora as published, where they are at hand: set SIDELIGHT_DATA to the folder that holds them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sidelight.experiments import draws
from sidelight.experiments.draws import tokens_of
from sidelight.experiments.grid import JLIS, SSVM, GridPrices, Setting, run_setting, runner
from sidelight.experiments.jlis import ads, citations, negatives, newsgroups, pos
from sidelight.experiments.table import rows_of


@pytest.fixture(scope="module")
def data() -> Path:
    if "SIDELIGHT_DATA" not in os.environ:
        pytest.skip("SIDELIGHT_DATA does not name the folder of the corpora")
    return Path(os.environ["SIDELIGHT_DATA"])


def size(xs):
    return len(xs), tokens_of(xs)


def test_citations(data):
    corpus = citations.load(data)
    assert [size(part.xs) for part in (corpus.train, corpus.dev, corpus.test)] == [
        (300, 10_803),
        (100, 3_651),
        (100, 3_502),
    ]
    assert size(corpus.good) == (1_000, 34_767)
    assert len(corpus.labels) == 13
    everything = corpus.gold(citations.SETTINGS[-1], 0)
    assert len(everything) == 300
    evidence = corpus.companion(citations.SETTINGS[0], 3)
    assert [piece.z for piece in evidence] == [1] * 1_000 + [-1] * 1_000
    assert sorted(evidence[0].x) == sorted(evidence[1_000].x)


def test_draws_are_nested_and_reach_their_size(data):
    corpus = citations.load(data)
    small, large = (corpus.gold(Setting("", n, 1), 4) for n in (100, 400))
    assert large[: len(small)] == small
    assert tokens_of([p.x for p in small]) >= 100 > tokens_of([p.x for p in small[:-1]])


def test_ads(data):
    folder = draws.folder_of(data, "ads")
    assert size(ads.read_posts(folder / "bft_posts.bio.txt").xs) == (1_125, 9_861)
    corpus = ads.load(data)
    assert corpus.labels == ["O", "hotelname", "localarea", "starrating"]
    assert [len(xs) for xs in (corpus.test.xs, corpus.dev.xs, corpus.good, corpus.train.xs)] == [200, 100, 500, 325]


def test_part_of_speech(data):
    corpus = pos.load(data)
    parts = [corpus.train.xs, corpus.test.xs, corpus.dev.xs, corpus.good]
    assert np.sum([size(part) for part in parts], axis=0).tolist() == [3_914, 94_084]
    assert len(corpus.labels) == 45
    assert 25_600 <= tokens_of(corpus.train.xs) < 25_800


def test_newsgroups(data):
    folder = draws.folder_of(data, "newsgroups20")
    assert len(newsgroups.read_documents(folder / "test.tsv.gz")[0]) == 7_532
    corpus = newsgroups.load(data)
    assert len(corpus.labels) == 10
    assert len(corpus.good) + len(corpus.bad) == 11_314 // 2
    assert set(corpus.test.ys) == set(corpus.labels)
    used = [row.index for part in (corpus.train.xs, corpus.dev.xs, corpus.good, corpus.bad) for row in part]
    assert len(used) == len(set(used))


def test_bad_references_are_nested(data):
    few, many = (negatives.plans(data)[0].study.companion(Setting("", n, 1), 0) for n in (250, 2_000))
    assert len(few) == 1_250 and len(many) == 3_000
    assert few[1_000].x == many[1_000].x


def test_citations_runs(data):
    study = citations.load(data)
    grids = {SSVM: (GridPrices(1.0),), JLIS: (GridPrices(1.0, 1.0),)}
    with runner(study, n_jobs=1, report=lambda line: None) as run:
        rows = rows_of(run_setting(Setting("100 tokens", 100, 1), run, grids=grids))
    accuracies = [row["value"] for row in rows if row["metric"] == "accuracy"]
    assert len(accuracies) == 2 and all(40.0 < value < 80.0 for value in accuracies)
