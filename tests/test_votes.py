"""Learning from votes: what a stranger expects of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sidelight as sl
from sidelight.corpus import references
from sidelight.recipes import LEARNERS, partial_crf

MADE = references(90, seed=2)
XS, YS = [list(one.tokens) for one in MADE], [list(one.labels) for one in MADE]
LABELS = sorted({label for y in YS for label in y})


def told(share, seed):
    """A function that is right so often, and else at random; the same for a sentence always."""
    right = {tuple(x): y for x, y in zip(XS, YS)}

    def function(words):
        rng = np.random.default_rng([seed, len(words), sum(map(len, words))])
        spoken = rng.random(len(words)) < 0.7
        truth = rng.random(len(words)) < share
        drawn = rng.choice(LABELS, size=len(words))
        known = right[tuple(words)]
        return [(y if t else str(d)) if s else None for y, s, t, d in zip(known, spoken, truth, drawn)]

    return function


FUNCTIONS = {"good": told(0.95, 1), "fair": told(0.7, 2), **{f"bad{k}": told(0.05, 3 + k) for k in range(3)}}
GOLD, RAW, TEST = slice(0, 10), slice(10, 50), slice(50, 90)


def tagger(**options):
    return sl.Tagger(learner=partial_crf(**options), features=sl.features.spelling(), labels=LABELS, n_jobs=1)


def trusted(fitted, name):
    """How often a function is believed right."""
    own = [one for one in fitted.reliabilities_ if one.function == name]
    return sum(one.right for one in own) / sum(one.votes for one in own)


@pytest.mark.parametrize("labelled", [False, True])
def test_good_functions_are_told_from_bad_ones_and_the_majority_is_beaten(labelled):
    gold = sl.gold(XS[GOLD], YS[GOLD]) if labelled else []
    votes = sl.votes(XS[RAW], FUNCTIONS, gold=gold)
    fitted = tagger().fit([*gold, *votes])
    found = {name: trusted(fitted, name) for name in FUNCTIONS}
    assert found["good"] > 0.85 > found["fair"] > 0.5 > 0.3 > max(found["bad0"], found["bad1"], found["bad2"])
    by_majority = tagger().fit([*gold, *votes.majority()])
    assert fitted.score(XS[TEST], YS[TEST]) > by_majority.score(XS[TEST], YS[TEST])


def test_votes_on_gold_inputs_show_what_functions_are_worth():
    """A function alone can hardly be told from a good one, but for Gold."""
    bad, gold = {"bad": told(0.05, 9)}, sl.gold(XS[:20], YS[:20])
    blind = tagger().fit([*gold, *sl.votes(XS[20:35], bad)])
    seeing = tagger().fit([*gold, *sl.votes(XS[20:35], bad, gold=gold)])
    assert trusted(seeing, "bad") < 0.3 and trusted(seeing, "bad") < trusted(blind, "bad")


def test_functions_without_votes_change_nothing():
    gold = sl.gold(XS[GOLD], YS[GOLD])
    silent = sl.votes(XS[RAW], {"silent": lambda words: None})
    assert tagger().fit([*gold, *silent]).reliabilities_ == []


def test_the_same_bits_for_any_number_of_threads():
    evidence = [*sl.gold(XS[GOLD], YS[GOLD]), *sl.votes(XS[RAW], FUNCTIONS)]
    one, two = (tagger().set_params(n_jobs=jobs).fit(evidence) for jobs in (1, 2))
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)


def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path):
    evidence = [*sl.gold(XS[GOLD], YS[GOLD]), *sl.votes(XS[20:40], FUNCTIONS)]
    whole = tagger().fit(evidence)
    path = tmp_path / "c.checkpoint"

    class Stop(Exception):
        pass

    def stop(record):
        if record.number == 2:
            raise Stop

    with pytest.raises(Stop):
        tagger().set_params(checkpoint=path, callbacks=[stop]).fit(evidence)
    gone_on = tagger().set_params(checkpoint=path).fit(evidence)
    np.testing.assert_array_equal(whole.model_.weights, gone_on.model_.weights)
    assert whole.reliabilities_ == gone_on.reliabilities_


def test_classes_are_voted_on_as_well():
    words = {"spam": ["win", "cash"], "ham": ["hi", "mum"]}
    rng = np.random.default_rng(0)
    ys = [str(y) for y in rng.choice(["spam", "ham"], 60)]
    xs = [{f"w={rng.choice(words[y])}": 1.0, f"x={rng.integers(5)}": 1.0} for y in ys]
    functions = {
        "win": lambda x: "spam" if "w=win" in x else None,
        "hi": lambda x: "ham" if "w=hi" in x or "w=mum" in x else None,
        "either": lambda x: {"spam", "ham"},
        "cash": lambda x: ["spam"] if "w=cash" in x else [None],
    }
    fitted = sl.Classifier(learner="partial_crf").fit(sl.votes(xs, functions))
    assert fitted.score(xs, ys) == 1.0


@pytest.mark.parametrize(
    "name", [name for name, one in LEARNERS.items() if "votes" not in one.takes and "gold" in one.takes]
)
def test_learners_that_take_no_votes_say_what_does(name):
    made = sl.SegmentTagger if name.startswith("semi") else sl.Tagger
    evidence = [*sl.gold([["a", "b"]], [["X", "Y"]]), *sl.votes([["a"]], {"f": lambda words: "X"})]
    with pytest.raises(sl.DataError, match=r"Voted.*majority\(\) or candidates\(\)"):
        made(learner=name).fit(evidence)


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"right": 1.0}, "right is 1.0"), ({"strength": 0.0}, "strength is 0.0"), ({"gold": -1.0}, "gold is -1.0")],
)
def test_options_that_cannot_be(options, problem):
    with pytest.raises(ValueError, match=problem):
        partial_crf(**options)


def test_chains_of_second_order_learn_from_votes_and_the_objective_never_rises():
    votes = sl.votes([["a", "b"], ["b", "a"], ["a", "a"]], {"f": lambda words: [LABELS[word == "b"] for word in words]})
    fitted = tagger().set_params(order=2).fit(votes)
    assert fitted.predict([["a", "b"]]) == [[LABELS[0], LABELS[1]]]
    told = [record.objective for record in fitted.rounds_ if record.objective is not None]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(told))


def test_description_counts_votes():
    votes = sl.votes([["a", "b"], ["c", "d"]], {"f": lambda words: ["X", None], "g": lambda words: None})
    kind = sl.describe(votes).kinds[0]
    assert (kind.kind, kind.examples, kind.tokens) == ("votes", 2, 4)
    assert (kind.votes.functions, kind.votes.votes, kind.votes.covered) == (2, 2, 2)
    assert "2 votes of 2 functions on 50.0% of the tokens" in str(sl.describe(votes))


@pytest.mark.parametrize(
    ("votes", "problem"),
    [
        ({"f": ["X"]}, "2 tokens but 1 votes of 'f'"),
        ({"f": "XY"}, "the votes of 'f' are a str"),
        ({1: ["X", "Y"]}, "a function is called 1"),
        ({"f": ["X", set()]}, "'f' votes set()"),
        ({"f": ["X", ["Y"]]}, "'f' votes ['Y']"),
        ({"f": ["X", {None}]}, "None is not a label"),
        ({"f": ["X", float("nan")]}, "nan is not a label"),
        ({"f": ["X", "Z"]}, "unknown label 'Z'"),
        (["X", "Y"], "the votes are a list"),
    ],
)
def test_votes_that_cannot_be_used_are_named(votes, problem):
    fitting = sl.Tagger(learner="partial_crf", labels=["X", "Y"])
    with pytest.raises(sl.DataError, match=r"evidence 0 \(Voted\)") as caught:
        fitting.fit([sl.Voted(["a", "b"], votes)])
    assert problem in str(caught.value)
