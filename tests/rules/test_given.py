"""Rules where they are given: lists of rules, and nothing else."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.errors import DataError
from sidelight.rules import gallery
from sidelight.rules.rule import checked_rules

FEW = gallery.at_most(1, "N")
NO_RULES = [
    (FEW, r"rules is the rule at_most_1_N; give a list of rules: \[at_most_1_N\]"),
    ([lambda x, y: True], r"rules has <function .*; make a rule of a function with @"),
    ([FEW, FEW.says], r"rules has functools.partial.*; make a rule"),
    (len, r"rules is <built-in function len>; give a list of rules"),
    ("mine.py", r"rules is 'mine.py'; read a file of rules with sidelight.rules.read_rules"),
]


def test_a_list_of_rules_or_none() -> None:
    assert checked_rules(None) == checked_rules([]) == ()
    assert checked_rules(one for one in [FEW]) == checked_rules((FEW,)) == (FEW,)


@pytest.mark.parametrize(("given", "said"), NO_RULES)
def test_what_is_no_list_of_rules_is_refused_with_advice(given, said: str) -> None:
    with pytest.raises(DataError, match=said):
        checked_rules(given)


XS, YS = [["light", "on"], ["dogs", "off"]], [["N", "P"], ["N", "P"]]
TAKERS = {
    "Tagger.fit": lambda given, fitted, segments: sl.Tagger(rules=given, max_rounds=2).fit(XS, YS).predict(XS),
    "Tagger.predict": lambda given, fitted, segments: fitted.predict(XS, rules=given),
    "SegmentTagger.fit": lambda given, fitted, segments: sl.SegmentTagger(rules=given, max_rounds=2).fit(XS, YS),
    "SegmentTagger.predict": lambda given, fitted, segments: segments.predict(XS, rules=given),
    "SegmentTagger.predict_segments": lambda given, fitted, segments: segments.predict_segments(XS, rules=given),
    "unlabeled": lambda given, fitted, segments: sl.unlabeled(XS, rules=given),
    "Unlabeled": lambda given, fitted, segments: sl.Unlabeled(XS[0], rules=given),
}


@pytest.fixture(scope="module")
def fitted() -> sl.Tagger:
    return sl.Tagger(max_rounds=2).fit(XS, YS)


@pytest.fixture(scope="module")
def segments() -> sl.SegmentTagger:
    return sl.SegmentTagger(max_rounds=2).fit(XS, YS)


@pytest.mark.parametrize("taker", TAKERS)
def test_all_that_take_rules_refuse_the_same_things(taker: str, fitted: sl.Tagger, segments: sl.SegmentTagger) -> None:
    TAKERS[taker](None, fitted, segments)
    for given, said in NO_RULES:
        with pytest.raises(DataError, match=said):
            TAKERS[taker](given, fitted, segments)


def test_files_of_models_are_loaded_under_rules_of_any_iterable(tmp_path, fitted, segments) -> None:
    for estimator in (fitted, segments):
        estimator.save(tmp_path / "model")
        loaded = type(estimator).load(tmp_path / "model", rules=iter([gallery.at_most(0, "P")]))
        assert not any("P" in y for y in loaded.predict(XS))
        with pytest.raises(DataError, match="rules is the rule"):
            type(estimator).load(tmp_path / "model", rules=FEW)


def test_two_learned_penalties_of_one_name_are_refused() -> None:
    """They are kept by name: the one would be taken for the other."""
    once = [gallery.appears_once([label], name="once").soft() for label in "AC"]
    with pytest.raises(DataError, match=r"to be learned are called once; rename one of them: @rule\(name=…\)"):
        checked_rules(once)
    assert len(checked_rules([once[0], once[0], once[1].soft(2.0), once[1].strict()])) == 4
