"""Data that stays in files, in a place: workers open shards themselves, and change no bit."""

from __future__ import annotations

import shutil
from operator import attrgetter

import numpy as np
import pytest

import placed_fits
import sidelight as sl
from sidelight import recipes
from sidelight.data import stored, write_columns
from sidelight.errors import DataError, ModelFileError
from sidelight.prepared import preparation
from sidelight.prepared.shard import ShardFile

KINDS = {
    "crf": ("gold",),
    "partial_crf": ("gold", "partial"),
    "em": ("gold", "unlabeled"),
    "hard_em": ("gold", "partial", "unlabeled"),
    "unified_em": ("gold", "unlabeled"),
    "perceptron": ("gold",),
}
TOKENS = attrgetter("rows.n_tokens")
LEARNERS = {"perceptron": recipes.perceptron(shards=3)}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files of each kind, whose shards are small."""
    monkeypatch.setattr(preparation, "SHARD_TOKENS", 100)
    monkeypatch.setattr("sidelight.data.text_pieces.SIZE", 300)
    xs, ys = placed_fits.XS, placed_fits.YS
    some = [[label if k % 2 else "_" for k, label in enumerate(y)] for y in ys]
    for name, labels in (("gold", ys), ("partial", some), ("unlabeled", None)):
        text = write_columns(xs, labels) if labels else "".join("\n".join(x) + "\n\n" for x in xs)
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def fitted(files, learner, place, folder="prepared", **others):
    data = stored(**{kind: files / f"{kind}.txt" for kind in KINDS[learner]}, folder=files / folder)
    options = {"learner": LEARNERS.get(learner, learner), "n_jobs": 1, "max_rounds": 3, **others}
    return sl.Tagger(place=place, **options).fit(data)


@pytest.mark.parametrize("learner", KINDS)
def test_workers_read_their_shards_and_change_no_bit(learner, files, workers, chaos):
    here = fitted(files, learner, None)
    with chaos(seed=len(learner), most=1, share=0.7).loose() as loose:
        there = fitted(files, learner, workers)
    assert loose.kills and np.array_equal(here.model_.weights, there.model_.weights)
    figures = there.rounds_[-1].place
    assert figures.shards >= 3 and figures.bytes and figures.inference > 0


def test_one_worker_does_what_threads_do(files, workers):
    expected = fitted(files, "partial_crf", None).model_.weights
    assert np.array_equal(fitted(files, "partial_crf", sl.RayPlace(workers=1)).model_.weights, expected)


@pytest.mark.parametrize("learner", ["crf", "partial_crf", "em", "unified_em"])
def test_blocks_change_at_most_last_bits(learner, files, monkeypatch):
    blocks = fitted(files, learner, None)
    monkeypatch.setattr(preparation, "SHARD_TOKENS", 1 << 17)
    whole = fitted(files, learner, None, folder="whole")
    np.testing.assert_allclose(blocks.model_.weights, whole.model_.weights, rtol=1e-6, atol=1e-9)


def test_a_checkpoint_goes_on_elsewhere(files, workers, tmp_path):
    expected = fitted(files, "crf", None).model_.weights
    fitted(files, "crf", workers, checkpoint=tmp_path / "c", max_rounds=1)
    assert np.array_equal(fitted(files, "crf", None, checkpoint=tmp_path / "c").model_.weights, expected)


def test_a_folder_that_a_worker_does_not_see_is_named(files, workers):
    fitted(files, "crf", None)
    (folder,) = (files / "prepared").glob("[!.]*")
    pieces = [ShardFile(folder, number) for number in range(2)]
    assert workers.hold(pieces).each(TOKENS) == [piece.load().rows.n_tokens for piece in pieces]
    (folder / "shard-00001.sidelight").unlink()
    with pytest.raises(ModelFileError, match=r"shard-00001\.sidelight: no such file"):
        workers.hold(pieces).each(TOKENS)
    shutil.rmtree(folder)
    with pytest.raises(DataError, match=r"has no folder to read shard \d from; prepare the data in a folder"):
        workers.hold(pieces).each(TOKENS)
