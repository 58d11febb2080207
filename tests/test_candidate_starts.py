"""What learners from candidates begin with, and CLLP as it is printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.rounds.candidates import FINE, ROUGH
from sidelight.training import Training

LABELS = ["A", "B", "C", "D"]
NUMBER = {label: k for k, label in enumerate(LABELS)}


def corpus(count, seed):
    """Words of forty, most of which have one label and some two."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        y = [LABELS[k] for k in rng.integers(0, 4, rng.integers(3, 8))]
        xs.append(
            [f"{label.lower()}{rng.integers(10)}" if rng.random() < 0.9 else f"w{rng.integers(5)}" for label in y]
        )
        ys.append(y)
    return xs, ys


def open_sets(ys, seed):
    """Candidates as dictionaries have them: three tokens of ten may be anything, others two labels or one."""
    rng = np.random.default_rng(seed)

    def one(label):
        chance = rng.random()
        return None if chance < 0.3 else {label} if chance < 0.5 else {label, LABELS[rng.integers(4)]}

    return [[one(label) for label in y] for y in ys]


def training(learner, evidence, **settings):
    estimator = sl.Tagger(learner=learner, features=sl.features.words(), labels=LABELS, n_jobs=1, **settings)
    return Training(estimator._settings(), evidence)


XS, YS = corpus(60, 0)
EVIDENCE = [*sl.gold(XS[:15], YS[:15]), *sl.candidates(XS[15:], open_sets(YS[15:], 1))]


def best_admitted(model, evidence):
    """The best labels of all tokens within their candidates."""
    rows = model.extractor.rows([piece.x for piece in evidence], n_jobs=1)
    batch = chain_batch(rows, model.layout, allowed=None, n_jobs=1)
    sets = (options for piece in evidence for options in piece.y)
    mask = [[options is None or name in options for name in model.labels.names] for options in sets]
    return replace(batch, space=batch.space.inside(np.array(mask, dtype=np.uint8))).best(model.weights).labels


@pytest.mark.parametrize("learner", ["cllp", "mms"])
@pytest.mark.parametrize("known", [0, 15])
def test_the_best_admitted_labels_of_a_partially_labelled_crf_are_begun_with(learner, known):
    """Beside Gold, other inputs count a tenth; Gold without a price is none."""
    gold, rest = EVIDENCE[:known], EVIDENCE[15:]
    begun = training(learner, [*gold, *rest]).learner.labels
    settings = {"features": sl.features.words(), "labels": LABELS, "n_jobs": 1}
    prices = {"candidates": 0.1 if known else 1.0}
    model = sl.Tagger(learner="partial_crf", prices=prices, **settings).fit([*gold, *rest]).model_
    right = [NUMBER[label] for piece in gold for label in piece.y]
    np.testing.assert_array_equal(begun, [*right, *best_admitted(model, rest)])
    truth = np.array([NUMBER[label] for y in YS[15:] for label in y])
    chance = training(recipes.cllp(initial="random"), rest).learner.labels
    assert np.mean(begun[len(right) :] == truth) > np.mean(chance == truth) + 0.1


def test_gold_without_a_price_is_no_gold():
    free = training("mms", EVIDENCE, prices={"gold": 0.0}).learner.labels
    np.testing.assert_array_equal(free[-100:], training("mms", EVIDENCE[15:]).learner.labels[-100:])


def test_labels_that_are_given_stay_and_the_crf_has_the_rest():
    word = next(word for x in XS[:15] for word in x if word.startswith("a"))
    x, sets = [word, "w1"], [{"A", "B"}, {"A", "B"}]
    evidence = [*sl.gold(XS[:15], YS[:15]), sl.Candidates(x, sets, initial=["B", None])]
    free = [*sl.gold(XS[:15], YS[:15]), sl.Candidates(x, sets)]
    assert training("cllp", evidence).learner.labels[-2] == NUMBER["B"]
    assert training("cllp", free).learner.labels[-2] == NUMBER["A"]


def test_only_labels_at_random_have_rough_first_rounds():
    assert recipes.cllp().options.shares == recipes.mms().options.shares == FINE
    assert recipes.cllp(initial="random").options.shares == ROUGH
    learner = training("cllp", EVIDENCE).learner
    assert learner.precision == learner.thresholds
    learner = training(recipes.cllp(initial="random"), EVIDENCE).learner
    assert all(first > last for first, last in zip(learner.precision, learner.thresholds))


MANY = [f"L{k}" for k in range(12)]


def tagged(count, seed):
    """Sentences with twelve labels that follow each other unevenly; three words of ten have one of three labels."""
    rng, moves = np.random.default_rng(seed), np.random.default_rng(7).dirichlet(np.full(12, 0.3), size=12)
    xs, ys = [], []
    for _ in range(count):
        y = [int(rng.integers(12))]
        for _ in range(rng.integers(3, 9)):
            y.append(int(rng.choice(12, p=moves[y[-1]])))
        shared = rng.random(len(y)) < 0.3
        xs.append(
            [
                f"w{(k + rng.integers(3)) % 12}-{rng.integers(5)}" if s else f"{k}-{rng.integers(20)}"
                for k, s in zip(y, shared)
            ]
        )
        ys.append([MANY[k] for k in y])
    return xs, ys


@pytest.mark.parametrize("learner", ["cllp", "mms", recipes.cllp(solver="dual_coordinate")])
def test_candidates_that_leave_much_open_do_not_wreck_what_gold_says(learner):
    """Three tokens of ten may be anything, the others have up to four other labels; from chance CLLP gains little."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        (xs, ys), test = tagged(160, seed), tagged(60, 100 + seed)
        gold = sl.gold(xs[:20], ys[:20])
        sets = [
            [None if rng.random() < 0.3 else {z, *(MANY[k] for k in rng.integers(0, 12, 4))} for z in y] for y in ys
        ]
        settings = {"features": sl.features.words(), "labels": MANY, "n_jobs": 1, "seed": seed}
        alone = sl.Tagger(learner="structural_svm", **settings).fit(gold).score(*test)
        both = sl.Tagger(learner=learner, **settings).fit([*gold, *sl.candidates(xs[20:], sets[20:])]).score(*test)
        assert both > alone + 0.1


def test_chunks_are_begun_with_by_a_crf_of_single_tokens():
    chunk = sl.Chunk(0, [("A", "B"), ("C", "D")])
    evidence = [*sl.candidates(XS, open_sets(YS, 2)), sl.Candidates(["a1", "b1"], [None, None], chunks=[chunk])]
    assert training("cllp", evidence).learner.labels[-2:].tolist() == [NUMBER["A"], NUMBER["B"]]


def test_an_unknown_start_is_refused():
    for make in (recipes.cllp, recipes.mms, recipes.naive):
        with pytest.raises(ValueError, match="initial is 'gold'; give 'partial_crf' or 'random'"):
            make(initial="gold")


# as printed


def test_as_printed_prices_are_those_of_all_inputs_together():
    recipe = recipes.cllp_as_printed(c1=300.0, c2=600.0)
    problem = training(recipe, EVIDENCE).learner.problem
    np.testing.assert_allclose(problem.outside.prices, 600.0 / len(EVIDENCE))
    np.testing.assert_allclose(problem.inside.prices, 300.0 / len(EVIDENCE))
    assert recipe.begins == "random" and recipe.options.thresholds == (0.5, 0.5)
    for option in ("c1", "c2", "threshold"):
        with pytest.raises(ValueError, match=rf"{option} is 0(\.0)?; give a number above 0"):
            recipes.cllp_as_printed(**{option: 0})


def test_as_printed_a_round_ends_with_the_last_models_weights():
    learner = training(recipes.cllp_as_printed(c1=10.0, c2=60.0), EVIDENCE).learner
    np.testing.assert_array_equal(learner.labels, training(recipes.cllp(initial="random"), EVIDENCE).learner.labels)
    model = learner.slack.weights
    for record in learner.run():
        if record.last or learner.completions != record.completion:
            np.testing.assert_allclose(learner.best, model, atol=1e-12)
        model = learner.slack.weights  # of the last model, which the next round looks at
    assert record.last and record.completion > 1
    np.testing.assert_array_equal(learner.finish(), learner.best)


def test_as_printed_zero_weights_complete_by_their_ties():
    learner = training(recipes.cllp_as_printed(precision=1e9, threshold=1e8), EVIDENCE).learner
    learner.round()
    assert not np.any(learner.best)
    np.testing.assert_array_equal(learner.labels, learner.problem.complete(np.zeros_like(learner.best)))


def test_as_printed_can_be_taken_up_again(tmp_path):
    whole = training(recipes.cllp_as_printed(c1=10.0, c2=60.0), EVIDENCE)
    rounds = list(whole.rounds())
    settings = {"checkpoint": tmp_path / "c"}
    for most in (len(rounds) // 2, None):
        part = training(recipes.cllp_as_printed(c1=10.0, c2=60.0), EVIDENCE, max_rounds=most, **settings)
        list(part.rounds())
    np.testing.assert_array_equal(part.learner.finish(), whole.learner.finish())
