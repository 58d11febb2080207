"""`Aligner`: what it learns, keeps, refuses, and tells."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.links import GoldLinks
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.models.alignment_model import LEAST
from translating import made_up

SOURCES, TARGETS, LINKS = made_up(300)
PAIRS = list(zip(SOURCES, TARGETS))
NEW = made_up(40, seed=9)


@pytest.fixture(scope="module")
def aligner():
    return sl.Aligner().fit(PAIRS)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("agreement", [False, True])
def test_it_finds_the_links(gamma, agreement):
    learned = sl.Aligner(gamma=gamma, agreement=agreement).fit(SOURCES, TARGETS)
    assert learned.score(PAIRS, LINKS) > 0.93
    assert learned.score(list(zip(*NEW[:2])), NEW[2]) > 0.93


def test_model_1_alone_and_the_hmm_alone():
    for options in ({"hmm_iterations": 0}, {"model1_iterations": 0, "hmm_iterations": 8}):
        learned = sl.Aligner(**options).fit(PAIRS)
        assert learned.score(PAIRS, LINKS) > 0.7, options


@pytest.mark.parametrize("decode", ["posterior", "viterbi", "agreed"])
@pytest.mark.parametrize("combine", ["forward", "intersection", "union", "grow-diag-final-and", "product"])
def test_every_way_to_decode(aligner, decode, combine):
    other = sl.Aligner(decode=decode, combine=combine)
    other.model_ = aligner.model_
    assert other.score(PAIRS, LINKS) > 0.9


def test_agreement_brings_the_directions_together():
    free, tied = (sl.Aligner(gamma=1.0, agreement=agreement, steps=30).fit(PAIRS) for agreement in (False, True))
    assert tied.rounds_[-1].disagreement < 0.02 < free.rounds_[-1].disagreement
    few = sl.Aligner(gamma=1.0, steps=2).fit(PAIRS)
    assert few.rounds_[0].disagreement > tied.rounds_[0].disagreement


def test_records():
    seen = []
    learned = sl.Aligner(gamma=1.0, agreement=False, callbacks=[seen.append]).fit(PAIRS)
    assert seen == learned.rounds_
    assert [record.number for record in seen] == list(range(1, 11))
    assert [record.learner for record in seen] == ["model1"] * 5 + ["hmm"] * 5
    assert [record.last for record in seen] == [False] * 9 + [True]
    objectives = [record.objective for record in seen]
    assert np.all(np.diff(objectives[:5]) <= 1e-6) and np.all(np.diff(objectives[5:]) <= 1e-3)


@pytest.mark.parametrize("options", [{}, {"gamma": 0.0}, {"smoothing": 0.1}])
def test_threads_do_not_change_a_bit(options):
    one, two, three = (sl.Aligner(n_jobs=n, **options).fit(PAIRS) for n in (1, 2, 3))
    for other in (two, three):
        for a, b in zip(one.model_.parameters.lexicon, other.model_.parameters.lexicon):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one.model_.parameters.forward.weights, other.model_.parameters.forward.weights)
        assert [r.objective for r in one.rounds_] == [r.objective for r in other.rounds_]


@pytest.mark.parametrize("options", [{}, {"hmm_iterations": 0, "combine": "union", "threshold": 0.3}])
def test_a_saved_model_gives_the_same_links(tmp_path, options):
    learned = sl.Aligner(**options).fit(PAIRS)
    learned.save(tmp_path / "model")
    again = sl.Aligner.load(tmp_path / "model")
    assert again.get_params() == learned.get_params()
    text = [model.bitext(*NEW[:2]) for model in (learned.model_, again.model_)]
    for a, b in zip(*text):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(learned.model_.parameters.lexicon, again.model_.parameters.lexicon):
        np.testing.assert_array_equal(a, b)
    assert again.align(*NEW[:2]) == learned.align(*NEW[:2])


def test_files_of_other_kinds_are_refused(tmp_path, aligner):
    sl.Tagger(max_rounds=2).fit([["a", "b"]], [["X", "Y"]]).save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="a sidelight model, not a sidelight alignment model"):
        sl.Aligner.load(tmp_path / "tagger")
    aligner.save(tmp_path / "model")
    with pytest.raises(ModelFileError):
        sl.load_model(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    (tmp_path / "model").write_bytes(data[:-7])
    with pytest.raises(ModelFileError, match="damaged"):
        sl.Aligner.load(tmp_path / "model")


def test_unlikely_pairs_are_left_out_of_the_model(aligner):
    words = aligner.model_.parameters.lexicon
    kept = np.maximum(words.forward[:-2], words.backward[:-2])
    assert kept.min() >= LEAST
    assert len(kept) < len({(a, b) for x, y in PAIRS for a in x for b in y})


def test_unknown_words_are_aligned_too(aligner):
    source, target = ["s1", "Zebra", "s2"], ["T1", "zèbre", "T2"]
    assert aligner.align([(source, target)]) == [[(0, 0), (1, 1), (2, 2)]]
    assert len(aligner.align([(["new"], ["neu"] * 90), (["old"] * 120, ["alt"])])) == 2


def test_case_is_ignored_unless_kept(aligner):
    shouted = [([word.upper() for word in x], y) for x, y in PAIRS[:5]]
    assert aligner.align(shouted) == aligner.align(PAIRS[:5])
    sharp = sl.Aligner(lowercase=False, hmm_iterations=0).fit(PAIRS)
    assert "T1" in sharp.model_.targets and "t1" not in sharp.model_.targets


def test_without_null_words_every_word_is_somewhere():
    learned = sl.Aligner(null=0.0, decode="viterbi", combine="forward", agreement=False).fit(PAIRS)
    for (_, target), links in zip(PAIRS, learned.align(PAIRS)):
        assert sorted(j for _, j in links) == list(range(len(target)))


def test_translations(aligner):
    best = aligner.translations("S3", 2)
    assert best[0][0] == "t3" and best[0][1] > 0.8 and len(best) == 2
    assert aligner.translations("nowhere") == []


def test_scores_take_sure_and_possible_links(aligner):
    gold = [GoldLinks(links, links | {(0, 0)}) for links in LINKS]
    assert aligner.score(PAIRS, gold) >= aligner.score(PAIRS, LINKS)


@pytest.mark.parametrize(
    ("pairs", "targets", "problem"),
    [
        ([], None, "no sentence pairs"),
        ([(["a"], [])], None, "the target sentence of pair 0 is empty"),
        ([(["a"], ["b"]), ([], ["b"])], None, "the source sentence of pair 1 is empty"),
        ([("a b", ["b"])], None, "the source sentence of pair 0 is one string"),
        (["ab"], None, "item 0 is not a pair"),
        ([["a"]], [["b"], ["c"]], "1 source sentences but 2 target sentences"),
    ],
)
def test_pairs_that_cannot_be_used(aligner, pairs, targets, problem):
    with pytest.raises(DataError, match=problem):
        sl.Aligner().fit(pairs, targets)
    if pairs:
        with pytest.raises(DataError, match=problem):
            aligner.align(pairs, targets)


def test_nothing_to_align(aligner):
    assert aligner.align([]) == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"gamma": -1.0}, "gamma is -1.0"),
        ({"model1_gamma": float("nan")}, "model1_gamma is nan"),
        ({"null": 1.0}, "null is 1.0"),
        ({"smoothing": -0.1}, "smoothing is -0.1"),
        ({"model1_iterations": 0, "hmm_iterations": 0}, "nothing to learn with"),
        ({"steps": 0}, "steps is 0"),
        ({"threshold": 0.0}, "threshold is 0.0"),
        ({"combine": "magic"}, "combine is 'magic'; there are forward"),
        ({"decode": "magic"}, "decode is 'magic'; there are posterior"),
    ],
)
def test_options_that_cannot_be_used(options, problem):
    with pytest.raises(ValueError, match=problem):
        sl.Aligner(**options).fit(PAIRS[:3])


def test_not_fitted():
    with pytest.raises(NotFitted, match="call fit first"):
        sl.Aligner().align(PAIRS)


def test_parameters_as_scikit_learn_asks_for_them():
    from sklearn.base import clone

    first = sl.Aligner(gamma=0.3, combine="union")
    assert clone(first).get_params() == first.get_params()
    assert first.set_params(gamma=1.0).gamma == 1.0
    assert repr(sl.Aligner(gamma=0.3)) == "Aligner(gamma=0.3)"
