"""`Aligner` goes on from a checkpoint to the same bits, and from nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import ModelFileError
from sidelight.models.files import KIND, VERSION, read_tensors, write_tensors
from sidelight.parallel.place import ThreadPlace
from translating import made_up

SOURCES, TARGETS, _ = made_up(120)
PAIRS = list(zip(SOURCES, TARGETS))
SHARDED = ThreadPlace(shard_tokens=150)


class Stop(Exception):
    pass


def stop_after(rounds):
    def callback(record):
        if record.number == rounds:
            raise Stop

    return callback


def aligner(**options):
    return sl.Aligner(**{"model1_iterations": 3, "hmm_iterations": 3, "n_jobs": 1, **options})


def numbers(learned):
    parameters = learned.model_.parameters
    jumps = [one.weights for one in (parameters.forward, parameters.backward) if one is not None]
    return [*parameters.lexicon, *jumps]


def told(record):
    return record.number, record.learner, record.objective, record.sweeps, record.disagreement, record.last


OPTIONS = [
    {},
    {"gamma": 0.0},
    {"agreement": False, "gamma": 1.0},
    {"smoothing": 0.1},
    {"model1_iterations": 0, "hmm_iterations": 4},
    {"hmm_iterations": 0},
]


@pytest.mark.parametrize("place", [None, SHARDED], ids=["whole", "sharded"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_goes_on_after_any_round_to_the_same_bits(options, place, tmp_path):
    whole = aligner(place=place, **options).fit(PAIRS)
    count = len(whole.rounds_)
    for point in range(1, count):
        path = tmp_path / f"after {point}"
        with pytest.raises(Stop):
            aligner(place=place, checkpoint=path, callbacks=[stop_after(point)], **options).fit(PAIRS)
        assert {one.name for one in tmp_path.iterdir()} == {path.name}
        gone_on = aligner(place=place, checkpoint=path, **options).fit(PAIRS)
        assert list(map(told, gone_on.rounds_)) == list(map(told, whole.rounds_[point:]))
        for a, b in zip(numbers(gone_on), numbers(whole), strict=True):
            np.testing.assert_array_equal(a, b)
        assert gone_on.model_.about == whole.model_.about
        path.unlink()


def test_stopped_again_and_again(tmp_path):
    path = tmp_path / "check"
    whole = aligner().fit(PAIRS)
    for point in range(1, 7):
        with pytest.raises(Stop):
            aligner(checkpoint=path, callbacks=[stop_after(point)]).fit(PAIRS)
    ended = aligner(checkpoint=path, decode="viterbi").fit(PAIRS)  # how it decodes is not part of learning
    assert list(map(told, ended.rounds_)) == [told(whole.rounds_[-1])]
    for a, b in zip(numbers(ended), numbers(whole), strict=True):
        np.testing.assert_array_equal(a, b)


OTHERS = [
    ({"gamma": 0.25}, PAIRS),
    ({"hmm_iterations": 4}, PAIRS),
    ({"model1_iterations": 2}, PAIRS),
    ({"agreement": False}, PAIRS),
    ({"null": 0.1}, PAIRS),
    ({"smoothing": 0.1}, PAIRS),
    ({"steps": 3}, PAIRS),
    ({"tolerance": 0.1}, PAIRS),
    ({"lowercase": False}, PAIRS),
    ({}, PAIRS[:-1]),
    ({}, [*PAIRS[1:], PAIRS[0]]),
    ({}, [([f"{word}s" for word in one], other) for one, other in PAIRS]),
]


def test_other_data_or_settings_are_refused(tmp_path):
    path = tmp_path / "check"
    with pytest.raises(Stop):
        aligner(checkpoint=path, callbacks=[stop_after(2)]).fit(PAIRS)
    before = path.read_bytes()
    for options, pairs in OTHERS:
        with pytest.raises(ModelFileError, match="of other data or settings"):
            aligner(checkpoint=path, **options).fit(pairs)
    tagger = sl.Tagger(learner="perceptron", checkpoint=path)
    with pytest.raises(ModelFileError, match="of other data or settings"):
        tagger.fit(SOURCES, SOURCES)
    assert path.read_bytes() == before
    assert len(aligner(checkpoint=path, callbacks=[]).fit(PAIRS).rounds_) == 4


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "check"
    with pytest.raises(Stop):
        aligner(checkpoint=path, callbacks=[stop_after(4)]).fit(PAIRS)
    whole = path.read_bytes()
    for damage in (whole[:-9], whole[: len(whole) // 2], whole[:-40] + bytes(40), b"", b"text"):
        path.write_bytes(damage)
        with pytest.raises(ModelFileError) as found:
            aligner(checkpoint=path).fit(PAIRS)
        assert str(path) in str(found.value) and "\n" not in str(found.value)
    path.write_bytes(whole)
    spec, arrays = read_tensors(path, kind=KIND, version=VERSION)
    assert set(arrays) >= {"learner.tilts", "learner.jumps.forward"}
    for name, array in arrays.items():
        for spoiled in (array[:-1], np.full_like(array, np.nan), array.astype(np.float16)):
            write_tensors(path, {**arrays, name: spoiled}, kind=KIND, version=VERSION, spec=spec)
            with pytest.raises(ModelFileError, match=name.removeprefix("learner.")):
                aligner(checkpoint=path).fit(PAIRS)
        write_tensors(path, {k: v for k, v in arrays.items() if k != name}, kind=KIND, version=VERSION, spec=spec)
        with pytest.raises(ModelFileError, match="is missing"):
            aligner(checkpoint=path).fit(PAIRS)
    for rounds in (0, -1, 7, "x"):
        wrong = {**spec, "values": {**spec["values"], "learner": {**spec["values"]["learner"], "rounds": rounds}}}
        write_tensors(path, arrays, kind=KIND, version=VERSION, spec=wrong)
        with pytest.raises(ModelFileError, match="rounds"):
            aligner(checkpoint=path).fit(PAIRS)


def test_the_name_must_be_one():
    with pytest.raises((ValueError, TypeError), match="checkpoint"):
        aligner(checkpoint=3).fit(PAIRS)
