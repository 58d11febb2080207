"""Folds of Gold alone: what is learned from, what is held out, and scikit-learn's searches over mixed evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.corpus import references


def evidence_of(kinds):
    return [sl.Gold(["a"], ["A"]) if gold else sl.Unlabeled(["a"]) for gold in kinds]


@given(st.lists(st.booleans(), min_size=4, max_size=25), st.integers(2, 4), st.integers(1, 3), st.integers(0, 5))
def test_each_piece_of_gold_is_held_out_once_a_repeat(kinds, n_splits, repeats, seed):
    evidence = evidence_of([*kinds, *[True] * n_splits])
    gold = {i for i, piece in enumerate(evidence) if piece.kind == "gold"}
    folds = sl.GoldFolds(n_splits, seed=seed, repeats=repeats)
    found = list(folds.split(evidence))
    assert len(found) == folds.get_n_splits() == n_splits * repeats
    for begin in range(0, len(found), n_splits):
        held = [test.tolist() for _, test in found[begin : begin + n_splits]]
        assert sorted(i for test in held for i in test) == sorted(gold)
        assert max(map(len, held)) - min(map(len, held)) <= 1
    for train, test in found:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(evidence)))
    again = list(sl.GoldFolds(n_splits, seed=seed, repeats=repeats).split(evidence))
    assert all(np.array_equal(a, b) for one, other in zip(found, again) for a, b in zip(one, other))


def test_seeds_and_repeats_deal_anew():
    evidence = evidence_of([True] * 20)
    first, second = (list(sl.GoldFolds(2, seed=seed, repeats=2).split(evidence)) for seed in (0, 1))
    tests = [test.tolist() for _, test in (*first, *second)]
    assert len({tuple(test) for test in tests}) == len(tests)


def test_inputs_with_outputs_are_all_gold():
    found = list(sl.GoldFolds(2).split([["a"], ["b"]], [["A"], ["B"]]))
    assert sorted(test.tolist() for _, test in found) == [[0], [1]]


@pytest.mark.parametrize("options", [{"n_splits": 1}, {"repeats": 0}, {"seed": -1}, {"n_splits": 2.5}, {"seed": None}])
def test_options_are_checked(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is .*; give a whole number from"):
        sl.GoldFolds(**options)


def test_too_little_gold_and_no_evidence():
    with pytest.raises(sl.DataError, match="1 pieces of Gold for 5 folds; give 5 pieces of Gold or more, or fewer"):
        list(sl.GoldFolds().split(evidence_of([True, False, False])))
    with pytest.raises(sl.DataError, match="list instead of evidence 0"):
        list(sl.GoldFolds(2).split([["a"], ["b"]]))


def test_grid_search_over_mixed_evidence():
    selection = pytest.importorskip("sklearn.model_selection")
    few, raw = references(9, seed=3), references(12, seed=4)
    good = [r.tokens for r in raw]
    evidence = [
        *sl.companion(good, +1),
        *sl.gold([r.tokens for r in few], [r.labels for r in few]),
        *sl.companion(sl.shuffled(good, seed=0), -1),
    ]
    folds = sl.GoldFolds(3, seed=1)
    tagger = sl.Tagger(learner="jlis", features=sl.features.words(), max_rounds=5, n_jobs=1)
    tagger.set_params(prices={"gold": 1.0})
    search = selection.GridSearchCV(tagger, {"prices__companion": [0.01, 1.0]}, cv=folds, error_score="raise")
    search.fit(evidence)
    assert search.best_params_["prices__companion"] in (0.01, 1.0)
    assert len(search.predict([["a", "b"]])[0]) == 2
    by_hand = []
    for train, test in folds.split(evidence):
        fitted = sl.Tagger(**tagger.get_params()).set_params(prices__companion=0.01).fit([evidence[i] for i in train])
        by_hand.append(fitted.score([evidence[i] for i in test]))
    for fold, score in enumerate(by_hand):
        assert search.cv_results_[f"split{fold}_test_score"][0] == score
    tagger.set_params(prices__companion=0.01)
    assert selection.cross_val_score(tagger, evidence, cv=folds, error_score="raise").tolist() == by_hand


def test_a_search_by_span_f1():
    selection = pytest.importorskip("sklearn.model_selection")
    evidence = [*sl.gold([["a", "b", "c"]] * 6, [["B-X", "I-X", "O"]] * 6), *sl.unlabeled([["a", "b"]])]

    def f1(tagger, held):
        return sl.evaluate([piece.y for piece in held], tagger.predict([piece.x for piece in held])).f1

    found = selection.cross_val_score(
        sl.Tagger(learner="jlis", max_rounds=5), evidence, cv=sl.GoldFolds(3), scoring=f1, error_score="raise"
    )
    assert found.tolist() == [100.0] * 3
