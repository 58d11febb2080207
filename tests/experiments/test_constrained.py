"""The experiments with rules: draws, choices, rows, and every table on a tiny corpus."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sidelight.experiments.ccm import (
    constrained_ads,
    constrained_citations,
    constrained_em,
    constrained_rules,
    constrained_semicrf,
)
from sidelight.experiments.ccm.citation_rules import citation_rules
from sidelight.experiments.ccm.constrained_study import (
    EMISSIONS,
    HUGE,
    Fit,
    Fits,
    RuleStudy,
    StudyOutcome,
    accuracy,
    difference_rows,
    fit,
    load_citations,
)
from sidelight.experiments.grid import LabelledExamples
from sidelight.rules import Sentence

FIELDS = ("author", "title", "date")


def references(count, first=0):
    """References with a name, a title and a year, each ended by a mark."""
    xs = [
        [f"name{k % 3}", ".", "on", f"word{k % 5}", f"thing{k % 4}", ".", f"{1990 + k % 10}", "."]
        for k in range(first, first + count)
    ]
    return LabelledExamples(xs, [["author"] * 2 + ["title"] * 4 + ["date"] * 2] * count)


def start_and_year():
    """Those of the rules of references that speak of these fields only."""
    return tuple(rule for rule in citation_rules() if rule.name in ("Punctuation", "Date"))


@pytest.fixture(scope="module")
def study():
    train, pool = references(12), references(8, 3).xs
    return RuleStudy(train, references(4, 1), references(4, 2), pool, sorted(FIELDS), start_and_year, ((0, 5, 9, 11),))


@pytest.fixture(scope="module")
def data():
    if "SIDELIGHT_DATA" not in os.environ:
        pytest.skip("SIDELIGHT_DATA does not name the folder of the corpora")
    return Path(os.environ["SIDELIGHT_DATA"])


def test_draws_come_from_the_fold_while_it_is_large_enough_and_are_nested(study):
    fold = [study.train.xs[i] for i in study.folds[0]]
    small, large = study.drawn(2, 0), study.drawn(4, 0)
    assert large[:2] == small
    assert all(piece.x in fold for piece in large)
    assert len(study.drawn(6, 0)) == len(study.drawn(6, 1)) == 6
    assert study.drawn(6, 1) != study.drawn(6, 2)


def test_rules_of_a_study_are_soft_priced_or_left_out(study):
    assert all(rule.learned for rule in study.rules())
    assert [rule.penalty for rule in study.rules(penalty=HUGE)] == [HUGE, HUGE]
    assert [rule.name for rule in study.rules(only=("Date",))] == ["Date"]
    assert study.rules(only=()) == []


def test_controls_learn_from_the_pool_and_from_the_test_references(study):
    chosen = {False: EMISSIONS[0], True: EMISSIONS[0]}
    rows = constrained_citations.control_rows(study, chosen, EMISSIONS[0])
    assert [(row["method"], row["paper"]) for row in rows] == list(constrained_citations.CONTROLS.items())
    plain = fit(study, Fit(12, 0, "hmm", EMISSIONS[0])).test
    assert rows[1]["value"] >= plain and rows[2]["value"] >= 99.0  # has seen what it is asked


@pytest.mark.parametrize("method", ["hmm", "hard_em", "em", "codl"])
def test_every_method_fits(study, method):
    found = fit(study, Fit(3, 0, method, EMISSIONS[0], cycles=2))
    assert all(0.0 <= value <= 100.0 for value in found)
    if method in ("hard_em", "em"):
        assert (found.dev, found.test) == (found.dev_ruled, found.test_ruled)


def test_a_rule_decides_at_test_time_even_where_it_is_wrong(study):
    """The year in this title is a date by the rule, at a price that nothing outweighs."""
    odd = LabelledExamples([["name0", ".", "on", "1990", "word1", "."]], [["author"] * 2 + ["title"] * 4])
    other = RuleStudy(study.train, odd, odd, study.pool, study.labels, study.make_rules)
    found = fit(other, Fit(12, 0, "hmm", EMISSIONS[0], penalty=HUGE, only=("Date",)))
    assert found.test_ruled <= 100.0 * 5 / 6


def test_fits_are_made_once_and_the_choice_is_by_development_scores():
    made = []

    def run(tasks):
        made.extend(tasks)
        # on the test set the order is the other way round
        return [StudyOutcome(k := EMISSIONS.index(t.emission), 10 - k, 100 - k, 100 - k) for t in tasks]

    fits = Fits(run)
    like = Fit(5, 0, "hmm", EMISSIONS[0])
    assert fits.best(like, pilots=range(2), ruled=False) == EMISSIONS[-1]
    assert fits.best(like, pilots=range(2), ruled=True) == EMISSIONS[0]
    assert len(made) == len(set(made)) == 2 * len(EMISSIONS)


def test_differences_have_a_p_value_with_two_draws():
    rows = difference_rows("5", "a - b", [3.0, 5.0, 4.0], [1.0, 2.0, 3.0], paper=1.0)
    assert [item["metric"] for item in rows] == ["difference", "p-value"]
    assert rows[0]["value"] == 2.0 and 0.0 < rows[1]["value"] < 1.0
    assert len(difference_rows("5", "a - b", [3.0], [1.0])) == 1


def test_accuracy_is_of_tokens():
    assert accuracy([["A"], ["B", "B", "B"]], [["B"], ["B", "B", "B"]]) == 75.0


def test_table_of_citations(study):
    setting = constrained_citations.CitationSetting(3, 2, {"HMM": 50.0, "HMM-CCM": 60.0}, 1)
    told = []
    fits = Fits(lambda tasks: [fit(study, task) for task in tasks])
    rows = constrained_citations.rows_of(setting, fits, told.append)
    by_name = {item["method"]: item for item in rows if item["metric"] == "accuracy"}
    assert list(by_name) == list(constrained_citations.LEARNED)
    assert by_name["HMM"]["paper"] == 50.0 and by_name["HMM"]["draws"] == 2
    gain = next(item for item in rows if item["method"] == "HMM-CCM - HMM" and item["metric"] == "difference")
    assert gain["paper"] == 10.0
    assert len(told) == 1


@pytest.mark.parametrize("method", ["codl", "hard_em", "em"])
def test_a_curve_has_a_point_for_every_iteration_and_ends_like_the_fit(study, method):
    task = Fit(3, 0, method, EMISSIONS[0], cycles=3)
    found = constrained_em.curve(study, task)
    assert len(found) == 4
    assert found[-1] == pytest.approx(fit(study, task).test_ruled)


def test_rows_of_curves():
    names = [name + suffix for suffix in constrained_em.BETAS for name in constrained_em.METHODS]
    curves = {name: [[1.0, 3.0, 2.0], [2.0, 2.0, 2.0]] for name in names}
    rows = constrained_em.rows_of(curves)
    assert sum(item["metric"] == "accuracy" for item in rows) == 18
    fallen = next(item for item in rows if item["method"] == "EM, last - best")
    assert fallen["value"] == -0.5


def test_tables_of_rules(study, monkeypatch):
    monkeypatch.setattr(constrained_rules, "PAPER_HARD", {3: (1.0, 2.0)})
    monkeypatch.setitem(constrained_rules.CHOSEN, 3, EMISSIONS[0])
    fits = Fits(lambda tasks: [fit(study, task) for task in tasks])
    hard = constrained_rules.hard_rows(3, fits, 2)
    assert [item["method"] for item in hard[:2]] == [constrained_rules.SOFT, constrained_rules.HARD]
    assert hard[2]["paper"] == -1.0
    alone = constrained_rules.alone_rows(["Date"], Fits(lambda tasks: [StudyOutcome(0, 0, 0, 5.0)] * len(tasks)), 2)
    assert {item["method"] for item in alone} == {
        "rule None",
        "rule Date",
        "rule ALL",
        "rule Date - none",
        "rule ALL - none",
    }
    assert all(task.penalty == HUGE for task in fits.outcomes if task.penalty is not None)


def test_with_beta_one_completions_do_not_matter(study):
    one, three = (fit(study, Fit(3, 0, "codl", EMISSIONS[0], beta=1.0, cycles=cycles)) for cycles in (1, 3))
    assert one == three


@pytest.mark.parametrize(
    "method", [constrained_semicrf.CCM, constrained_semicrf.SEMI_CRF_LONG, constrained_semicrf.PR_HMM]
)
def test_models_made_for_the_task(study, method):
    found = constrained_semicrf.fit(
        study, constrained_semicrf.SemiCrfTask(4, 0, method, constrained_semicrf.trials(method)[0])
    )
    assert 0.0 <= found.test <= 100.0


def test_rules_about_posts():
    words = constrained_ads.words_of(
        LabelledExamples(
            [["Grand", "Hyatt", "Bayside"], ["Bayside", "Inn"]], [["hotelname"] * 2 + ["localarea"], ["hotelname"] * 2]
        )
    )
    assert words == {"hotelname": ("grand", "hyatt"), "localarea": ()}  # Bayside is both, Inn too short
    rules = {rule.name: rule for rule in constrained_ads.ad_rules({"hotelname": ["hyatt"], "localarea": ["downtown"]})}
    post = Sentence(["2.5*", "hyatt", "$40", "3/4"])
    right = ["starrating", "hotelname", "O", "O"]
    assert all(rule.violations(post, right) == 0 for rule in rules.values())
    assert rules["Stars"].violations(post, ["O"] * 4) == rules["HasHotel"].violations(post, ["O"] * 4) == 1
    assert rules["Money"].violations(post, ["hotelname"] * 4) == rules["Dates"].violations(post, ["hotelname"] * 4) == 1


def test_corpora(data):
    corpus = load_citations(data)
    assert [len(part.xs) for part in (corpus.train, corpus.dev, corpus.test)] == [300, 100, 100]
    assert len(corpus.pool) == 1_000 and [len(fold) for fold in corpus.folds] == [25] * 5
    assert len(corpus.rules()) == 12
    assert {piece.x[0] for piece in corpus.drawn(300, 0)} == {x[0] for x in corpus.train.xs}
    posts = constrained_ads.load(data)
    assert len(posts.pool) == 500 and len(posts.rules()) == 7
