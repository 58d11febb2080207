"""Companion answers that Gold contradicts: swapped ones are named and left out, sound ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.choice.contradictions import believable_evidence
from sidelight.choice.likeness import Likeness, likeness
from sidelight.corpus import references

FORMS = {
    "words": lambda x: x,
    "columns": lambda x: [(word, str(len(word))) for word in x],
    "dicts": lambda x: [{"word": word, "length": float(len(word))} for word in x],
    "attributes": lambda x: [[f"w={word}", f"n={len(word)}", *["capital"] * word.istitle()] for word in x],
}


def inputs(count, seed):
    return [list(one.tokens) for one in references(count, seed=seed)]


def labelled(count, seed):
    made = references(count, seed=seed)
    return sl.gold([list(one.tokens) for one in made], [list(one.labels) for one in made])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_swapped_answers_are_seen_and_sound_ones_are_not(form, seed):
    known, raw = inputs(20, 10 + seed), inputs(60, 20 + seed)
    bad = sl.shuffled(raw, seed=seed)
    known, raw, bad = ([FORMS[form](x) for x in xs] for xs in (known, raw, bad))
    assert not likeness(known, raw, bad, sequences=True).contradicted
    swapped = likeness(known, bad, raw, sequences=True)
    assert swapped.contradicted
    assert swapped.like_bad > 15 <= swapped.judged <= 20


def test_fewer_of_one_kind_than_of_the_other_say_the_same():
    known, raw = inputs(20, 1), inputs(200, 2)
    bad = sl.shuffled(raw, seed=0)
    for good, spoiled in ((raw, bad[:20]), (raw[:20], bad)):
        assert not likeness(known, good, spoiled, sequences=True).contradicted
        assert likeness(known, spoiled, good, sequences=True).contradicted


def test_answers_that_have_nothing_to_do_with_order_are_seldom_contradicted():
    said = [
        likeness(inputs(30, seed), inputs(40, 100 + seed), inputs(40, 200 + seed), sequences=True) for seed in range(20)
    ]
    assert sum(one.contradicted for one in said) <= 3  # 1 in 20 would be chance, were there no second condition


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_the_order_of_the_evidence_and_the_words_themselves_do_not_count(seed):
    known, raw = inputs(12, 3), inputs(30, 4)
    bad = sl.shuffled(raw, seed=1)
    names = {word: f"w{k}" for k, word in enumerate(sorted({w for x in [*known, *raw] for w in x}))}
    renamed = [[[(names[w],) for w in x] for x in xs] for xs in (known, raw, bad)]
    rng = np.random.default_rng(seed)
    mixed = [raw[i] for i in rng.permutation(len(raw))]
    for good, spoiled in ((raw, bad), (bad, raw), (mixed, bad), (bad, mixed)):
        expected = good is bad
        assert likeness(known, good, spoiled, sequences=True).contradicted == expected
    assert likeness(renamed[0], renamed[2], renamed[1], sequences=True).contradicted


@pytest.mark.parametrize("form", ["dicts", "lists"])
def test_inputs_that_are_no_sequences_are_judged_by_their_features(form):
    rng = np.random.default_rng(0)

    def some(count, words):
        drawn = [[f"f{k}" for k in rng.integers(*words, size=6)] for _ in range(count)]
        return drawn if form == "lists" else [dict.fromkeys(x, 1.0) for x in drawn]

    known, good, bad = some(20, (0, 30)), some(60, (0, 30)), some(60, (20, 50))
    assert not likeness(known, good, bad, sequences=False).contradicted
    assert likeness(known, bad, good, sequences=False).contradicted


@pytest.mark.parametrize("case", [([], [["a"]], [["b"]]), ([["a"]], [], [["b"]]), ([["a"]], [["a"]], [])])
def test_nothing_is_judged_without_all_three(case):
    assert likeness(*case, sequences=True) == Likeness()


def test_numbers_are_not_judged():
    rows = list(np.random.default_rng(0).normal(size=(30, 4)))
    assert likeness(rows, rows, rows, sequences=False) == Likeness()
    assert likeness([rows[:3]], [rows[:3]], [rows[3:6]], sequences=True) == Likeness()


def test_auto_names_swapped_answers_and_leaves_them_out():
    known, raw = labelled(20, 1), inputs(60, 2)
    swapped = [*sl.companion(raw, -1), *sl.companion(sl.shuffled(raw, seed=0), +1)]
    fitted = sl.Tagger(max_rounds=5, n_jobs=1).fit([*known, *swapped])
    assert fitted.choice_.wrong_companions
    assert fitted.choice_.left_out == ("companion",)
    assert fitted.choice_.as_dict()["wrong_companions"] is True
    assert "labelled inputs look like the bad ones, by the order of their tokens: left out" in str(fitted.choice_)
    alone = sl.Tagger(max_rounds=5, n_jobs=1).fit(known)
    np.testing.assert_array_equal(fitted.model_.weights, alone.model_.weights)


def test_answers_about_labelled_inputs_are_taken_at_their_word():
    known = inputs(6, 1)
    assert likeness(known, [], known, sequences=True) == Likeness(6, 6, contradicted=True)
    assert not likeness(known, known, sl.shuffled(known, seed=0), sequences=True).contradicted
    assert likeness(known, known[:1], known, sequences=True) == Likeness(5, 5, contradicted=True)


def test_sound_answers_are_kept():
    known, raw = labelled(20, 1), inputs(60, 2)
    evidence = [*known, *sl.companion(raw, +1), *sl.companion(sl.shuffled(raw, seed=0), -1)]
    kept = believable_evidence(evidence)
    assert (kept.evidence, kept.notes, kept.wrong_companions) == (evidence, (), False)


def test_warm_start_leaves_them_out_again():
    known, raw = labelled(8, 1), inputs(20, 2)
    swapped = [*sl.companion(raw, -1), *sl.companion(sl.shuffled(raw, seed=0), +1)]
    fitted = sl.Tagger(max_rounds=3, n_jobs=1, warm_start=True).fit([*known, *swapped])
    assert fitted.choice_.wrong_companions
    assert fitted.fit([*known, *swapped]).choice_.wrong_companions


def test_worth_says_what_gold_contradicts():
    known, raw = labelled(8, 1), inputs(30, 2)
    swapped = [*sl.companion(raw, -1), *sl.companion(sl.shuffled(raw, seed=0), +1)]
    with pytest.raises(sl.DataError, match="companion answers: 8 of 8 labelled inputs look like the bad ones"):
        sl.worth([*known, *swapped])
    found = sl.worth([*known, *swapped, *sl.unlabeled(inputs(90, 4))], estimator=sl.Tagger(max_rounds=3, n_jobs=1))
    assert "companion answers" in str(found) and "companion answers" in found._repr_html_()
    assert found.as_dict()["notes"] == found.notes
