"""The guard: when it stays with the fixed choice, and when it moves away, with plans whose quality is known."""

from __future__ import annotations

import json
from itertools import combinations
from zlib import crc32

import numpy as np
import pytest

from sidelight.choice import Offer, choose
from sidelight.choice.auto import FITS, FOLD_SHARE, Question
from sidelight.choice.plan import alternatives, fixed_plan, gold_alone, in_brief, without
from sidelight.choice.race import tokens_in
from sidelight.errors import Infeasible
from sidelight.evidence import Candidates, Companion, Gold

OFFER = Offer(frozenset({"candidates", "companion"}))


def evidence_of(count: int, seed: int = 0) -> list:
    rng = np.random.default_rng(seed)
    labels = [["AB"[i] for i in rng.integers(0, 2, size=10)] for _ in range(count)]
    golds = [Gold([f"{seed}:{i}:{t}" for t in range(10)], labels[i]) for i in range(count)]
    return [*golds, *(Candidates(["x"] * 10, [None] * 10) for _ in range(5)), Companion(["y"] * 10, 1)]


class Plans:
    """A stand-in for fits: a plan gets tokens right as often as `quality` says, whatever it is fitted to."""

    def __init__(self, evidence, quality, usual=0.7):
        self.right = {tuple(piece.x): piece.y for piece in evidence if piece.kind == "gold"}
        self.quality, self.usual = quality, usual
        self.calls = []

    def __call__(self, plan, evidence, xs):
        self.calls.append((plan, list(evidence), list(xs)))
        if self.quality.get(plan) is None and plan in self.quality:
            raise Infeasible("cannot be")
        share = self.quality.get(plan, self.usual)
        guesses = []
        for x in xs:
            seed = crc32(repr((plan.learner.name, sorted(plan.kinds), plan.prices, x[0])).encode())
            wrong = np.random.default_rng(seed).random(len(x)) > share
            guesses.append([("B" if y == "A" else "A") if bad else y for y, bad in zip(self.right[tuple(x)], wrong)])
        return guesses


def asked(evidence, offer=OFFER, **others) -> Question:
    return Question(offer, evidence, "accuracy", True, 0, 1, **others)


def test_nothing_better_leaves_the_fixed_choice():
    evidence = evidence_of(40)
    found = choose(asked(evidence), Plans(evidence, {fixed_plan(OFFER): 0.9}))
    assert found.chosen == found.fixed == fixed_plan(OFFER)
    assert {one.verdict for one in found.kinds} == {"helps"}
    assert not found.left_out


def test_what_harms_is_left_out_and_named():
    evidence, fixed = evidence_of(40), fixed_plan(OFFER)
    better = without(OFFER, fixed, "candidates")
    found = choose(asked(evidence), Plans(evidence, {fixed: 0.5, better: 0.9}, usual=0.4))
    assert found.chosen == better
    assert found.left_out == ("candidates",)
    assert {one.kind: one.verdict for one in found.kinds}["candidates"] == "harms"
    assert "candidate labels did harm" in str(found)


def test_two_kinds_that_harm_are_left_out_one_after_the_other():
    evidence, fixed = evidence_of(60), fixed_plan(OFFER)
    one = without(OFFER, fixed, "candidates")
    found = choose(asked(evidence), Plans(evidence, {fixed: 0.3, one: 0.6, gold_alone(OFFER): 0.9}, usual=0.2))
    assert found.chosen == gold_alone(OFFER)
    assert set(found.left_out) == {"candidates", "companion"}


def test_what_cannot_be_fitted_is_no_choice():
    evidence, fixed = evidence_of(40), fixed_plan(OFFER)
    found = choose(asked(evidence), Plans(evidence, {fixed: None}))
    assert found.chosen != fixed
    assert any("cannot be" in reason for reason in found.reasons)


def test_chance_alone_seldom_moves_it():
    """All plans are equally good: the fixed choice is left by chance in a small share of the draws."""
    moved = 0
    for seed in range(60):
        evidence = evidence_of(30, seed)
        moved += choose(asked(evidence), Plans(evidence, {})).chosen != fixed_plan(OFFER)
    assert moved <= 15


def test_held_out_gold_is_never_learned_from_and_the_rest_always():
    evidence = evidence_of(20)
    plans = Plans(evidence, {})
    found = choose(asked(evidence), plans)
    assert found.folds == 15
    assert found.fits < 15 * 5
    for plan, training, xs in plans.calls:
        known = {tuple(piece.x) for piece in training if piece.kind == "gold"}
        assert known.isdisjoint(tuple(x) for x in xs)
        assert len(known) + len(xs) == 20
        for kind, count in (("candidates", 5), ("companion", 1)):
            assert sum(piece.kind == kind for piece in training) == (count if plan.takes(kind) else 0)


@pytest.mark.parametrize("count", [20, 60, 200, 900])
def test_it_costs_at_most_so_many_fits(count):
    evidence = evidence_of(count)
    plans = Plans(evidence, {})
    choose(asked(evidence), plans)
    spent = FOLD_SHARE * sum(tokens_in(training) for _, training, _ in plans.calls) / tokens_in(evidence)
    assert spent <= FITS


def test_large_gold_is_judged_by_a_sample_that_costs_less_than_half_a_fit():
    evidence = evidence_of(3000)
    plans = Plans(evidence, {})
    found = choose(asked(evidence), plans)
    assert found.labelled < 300
    assert sum(tokens_in(training) for _, training, _ in plans.calls) * FOLD_SHARE <= 0.5 * tokens_in(evidence)


def test_validation_data_are_judges_of_one_fit_each():
    evidence = evidence_of(30)
    judges = [piece for piece in evidence_of(40, 1) if piece.kind == "gold"]
    plans = Plans([*evidence, *judges], {})
    found = choose(asked(evidence, validation=judges), plans)
    assert found.labelled == 40
    assert found.folds == 1
    assert all(len(training) >= 30 and len(xs) == 40 for _, training, xs in plans.calls)


@pytest.mark.parametrize(
    ("offer", "count", "words"),
    [
        (Offer(frozenset()), 20, "Gold alone"),
        (Offer(frozenset({"unlabeled"})), 20, "does not learn from unlabelled inputs"),
        (OFFER, 3, "too few"),
        (Offer(OFFER.kinds, gold=False), 0, "no Gold"),
    ],
)
def test_where_nothing_can_be_judged_there_is_no_fit(offer, count, words):
    evidence = evidence_of(count)
    plans = Plans(evidence, {})
    found = choose(asked(evidence, offer), plans)
    assert not plans.calls
    assert words in found.reasons[0]
    assert found.chosen == fixed_plan(offer)


def test_what_the_learner_has_no_use_for_is_named():
    evidence = evidence_of(20)
    found = choose(asked(evidence, Offer(OFFER.kinds | {"unlabeled"})), Plans(evidence, {fixed_plan(OFFER): 0.9}))
    assert found.left_out == ("unlabeled",)
    assert "left out: partial_crf does not learn from unlabelled inputs" in found.reasons


def test_the_report_is_plain_values_and_a_table():
    evidence = evidence_of(30)
    found = choose(asked(evidence), Plans(evidence, {fixed_plan(OFFER): 0.9}))
    told = json.loads(json.dumps(found.as_dict()))
    assert told["chosen"] == str(found.chosen)
    assert len(told["candidates"]) == 1 + len(alternatives(OFFER, fixed_plan(OFFER)))
    assert all(in_brief(one.plan, found.fixed) in str(found) for one in found.candidates)
    assert all(in_brief(one.plan, found.fixed) in found._repr_html_() for one in found.candidates)


def test_prices_of_the_user_stand():
    offer = Offer(frozenset({"candidates"}), prices=(("candidates", 2.0), ("gold", 3.0)))
    plans = [fixed_plan(offer), *alternatives(offer, fixed_plan(offer))]
    assert all(dict(plan.prices)["gold"] == 3.0 for plan in plans)
    assert all(dict(plan.prices)["candidates"] == 2.0 for plan in plans if plan.takes("candidates"))


OFFERED = ("partial", "candidates", "votes", "companion", "unlabeled", "rules", "text")


@pytest.mark.parametrize("size", range(len(OFFERED) + 1))
def test_every_plan_that_can_be_moved_to_takes_what_its_learner_learns_from(size):
    for kinds in combinations(OFFERED, size):
        offer = Offer(frozenset(kinds))
        seen, open_plans = set(), [fixed_plan(offer)]
        while open_plans:
            plan = open_plans.pop()
            if plan not in seen:
                seen.add(plan)
                open_plans += alternatives(offer, plan)
        for plan in seen:
            if plan.learner.name == "crf":
                assert plan.kinds <= {"rules", "text"}
            if plan.learner.name == "partial_crf":
                assert "unlabeled" not in plan.kinds
