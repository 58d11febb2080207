"""CLLP and its baselines through the estimators: what they take, what they refuse, what they learn."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.errors import DataError, Infeasible, Intractable, LongTraining
from sidelight.learners import all_labelings
from sidelight.learners.all_labelings import counted, expanded, foretold
from sidelight.learners.candidates import USUAL
from sidelight.recipes import LEARNERS
from sidelight.spaces import ChainSpace, Transitions
from sidelight.specs import Need

LABELS = ["A", "B", "C", "D"]


def corpus(count=60, seed=0):
    rng = np.random.default_rng(seed)
    ys = [[LABELS[k] for k in rng.integers(0, 4, rng.integers(2, 6))] for _ in range(count)]
    xs = [[f"{label.lower()}{rng.integers(6)}" for label in y] for y in ys]
    return xs, ys


def sets_around(ys, size, seed=0):
    rng = np.random.default_rng(seed)
    others = {label: [other for other in LABELS if other != label] for label in LABELS}
    return [[{label, *rng.choice(others[label], size - 1, replace=False)} for label in y] for y in ys]


def tagger(learner, **settings):
    return sl.Tagger(features=sl.features.words(), labels=LABELS, learner=learner, n_jobs=1, **settings)


XS, YS = corpus(200)
TEST = corpus(40, seed=1)


@pytest.mark.parametrize(
    "learner", ["cllp", "mms", recipes.cllp(solver="dual_coordinate"), recipes.mms(solver="dual_coordinate")]
)
def test_learns_the_right_labels_from_candidates(learner):
    """A local search from random labels: judged by the mean of a few."""
    evidence = sl.candidates(XS, sets_around(YS, 2))
    settings = [{"prices": {"candidates": 0.1}, "seed": seed} for seed in range(3)]
    fitted = [tagger(learner, **one).fit(evidence) for one in settings]
    naive = [tagger("naive", **one).fit(evidence).score(*TEST) for one in settings]
    assert np.mean([one.score(*TEST) for one in fitted]) > 0.9 > np.mean(naive)
    assert all(one.rounds_[-1].last for one in fitted)


@pytest.mark.parametrize(
    "learner",
    [
        recipes.cllp(),
        recipes.cllp(solver="dual_coordinate"),
        recipes.mms(),
        recipes.mms(solver="dual_coordinate"),
    ],
    ids=lambda recipe: f"{recipe.name} {recipe.options.solver}",
)
def test_the_last_objective_is_the_lowest_of_all_completions(learner):
    """Completions that raise the objective are common where words are ambiguous."""
    rng = np.random.default_rng(0)
    ys = [[LABELS[k] for k in rng.integers(0, 4, rng.integers(2, 6))] for _ in range(80)]
    xs = [[f"{label.lower()}{rng.integers(6)}" if rng.random() < 0.8 else "w" for label in y] for y in ys]
    sets = [[{label, *(LABELS[k] for k in rng.integers(0, 4, 2))} for label in y] for y in ys]
    for seed in range(3):
        fitted = tagger(learner, seed=seed).fit(sl.candidates(xs, sets))
        ends = {record.completion: record.objective for record in fitted.rounds_}
        assert fitted.rounds_[-1].objective <= min(ends.values()) * (1 + 1e-9)


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive", "cl_svm"])
def test_takes_every_mixture_of_labels(learner):
    sets = sets_around(YS, 2)
    evidence = [
        *sl.gold(XS[:10], YS[:10]),
        *sl.candidates(XS[10:40], sets[10:40]),
        *sl.partial(XS[40:50], [[y[0], *[None] * (len(y) - 1)] for y in YS[40:50]]),
        *sl.unlabeled([x[:2] for x in XS[50:60]]),
    ]
    fitted = tagger(learner).fit(evidence)
    assert len(fitted.predict(TEST[0])) == 40
    assert fitted.score(*TEST) > 0.5


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive", "cl_svm"])
def test_companion_evidence_is_refused(learner):
    with pytest.raises(DataError, match=f"the learner {learner} learns from Candidates, Partial, Gold and Unlabeled"):
        tagger(learner).fit([*sl.gold(XS, YS), sl.Companion(["a1"], 1)])


def test_classes_have_candidates_too():
    xs = [{word: 1.0} for x in XS for word in x]
    sets = [candidates for sets in sets_around(YS, 2) for candidates in sets]
    classifier = sl.Classifier(learner="cllp", labels=LABELS, n_jobs=1).fit(sl.candidates(xs, [[s] for s in sets]))
    truth = [label for y in TEST[1] for label in y]
    assert classifier.score([{word: 1.0} for x in TEST[0] for word in x], truth) > 0.95


def test_initial_labels_are_begun_with():
    sets = sets_around(YS, 3)
    wrong = [[sorted(options - {label})[0] for options, label in zip(s, y)] for s, y in zip(sets, YS)]

    def first(initial):
        evidence = [sl.Candidates(x, s, initial=i) for x, s, i in zip(XS, sets, initial)]
        from sidelight.training import Training

        return Training(tagger("cllp")._settings(), evidence).learner.labels

    number = {label: k for k, label in enumerate(LABELS)}
    np.testing.assert_array_equal(first(wrong), [number[label] for y in wrong for label in y])
    np.testing.assert_array_equal(first(YS), [number[label] for y in YS for label in y])


def test_an_initial_label_that_is_no_candidate_is_refused():
    with pytest.raises(DataError, match="token 1: the initial label 'C' is not among the candidates"):
        tagger("cllp").fit([sl.Candidates(["a1", "b1"], [{"A"}, {"A", "B"}], initial=["A", "C"])])
    with pytest.raises(DataError, match="2 candidate sets but 1 initial labels"):
        tagger("cllp").fit([sl.Candidates(["a1", "b1"], [{"A"}, {"A", "B"}], initial=["A"])])


def begun(learner, piece, seed, **settings):
    """The labels that a learner begins with, where chance chooses what is not given."""
    from sidelight.training import Training

    recipe = recipes.LEARNERS[learner](initial="random")
    estimator = sl.Tagger(learner=recipe, labels=["B-X", "I-X", "O"], scheme="BIO", n_jobs=1, seed=seed, **settings)
    training = Training(estimator._settings(), [sl.Gold(["o"], ["O"]), piece])
    found = training.learner
    labels = found.problem.gold.cost.targets if learner == "naive" else found.labels
    return training.labels.decode(labels)[1:]


BIO_SETS = [{"O", "B-X"}, {"I-X", "O"}]
BIO_CHUNK = sl.Chunk(0, [("B-X", "I-X"), ("O", "O")])


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive"])
def test_what_initial_labels_leave_open_is_drawn_from_admitted_outputs(learner):
    half = sl.Candidates(["a", "b"], BIO_SETS, initial=["O", None])
    assert {tuple(begun(learner, half, seed)) for seed in range(20)} == {("O", "O")}
    half = sl.Candidates(["a", "b"], BIO_SETS, initial=["B-X", None])
    assert {tuple(begun(learner, half, seed)) for seed in range(20)} == {("B-X", "I-X"), ("B-X", "O")}
    half = sl.Candidates(["a", "b"], [None, None], initial=[None, "I-X"], chunks=[BIO_CHUNK])
    assert {tuple(begun(learner, half, seed)) for seed in range(5)} == {("B-X", "I-X")}


def test_initial_labels_may_have_any_of_their_states():
    half = sl.Candidates(["a", "b"], BIO_SETS, initial=["B-X", None])
    found = {tuple(begun("cllp", half, seed, states=2)) for seed in range(20)}
    assert found == {("B-X", "I-X"), ("B-X", "O")}


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive"])
@pytest.mark.parametrize(
    "piece",
    [
        sl.Candidates(["a", "b"], BIO_SETS, initial=["O", "I-X"]),
        sl.Candidates(["a", "b"], [None, None], initial=["B-X", "O"], chunks=[BIO_CHUNK]),
    ],
)
def test_initial_labels_that_are_no_output_are_refused(learner, piece):
    with pytest.raises(
        DataError, match=r"evidence 1 \(Candidates\): no output within the candidates .* initial labels"
    ):
        begun(learner, piece, 0)


def test_known_labels_choose_among_the_labelings_of_a_chunk():
    piece = sl.Candidates(["a", "b"], [None, None], known=[None, "O"], chunks=[BIO_CHUNK])
    assert {tuple(begun("cllp", piece, seed)) for seed in range(10)} == {("O", "O")}
    piece = sl.Candidates(["a", "b"], [None, None], known=["O", "I-X"], chunks=[BIO_CHUNK])
    with pytest.raises(DataError, match="token 0: the known labels of a chunk are in none of its labelings"):
        begun("cllp", piece, 0)
    with pytest.raises(DataError, match="token 1: unknown label 'Z'"):
        begun("cllp", sl.Candidates(["a", "b"], [None, None], known=[None, "Z"]), 0)


def test_an_uninformed_start_matters_less_than_a_wrong_one():
    sets = sets_around(YS, 2)
    wrong = [[next(iter(options - {label})) for options, label in zip(s, y)] for s, y in zip(sets, YS)]
    evidence = [sl.Candidates(x, s, initial=i) for x, s, i in zip(XS, sets, wrong)]
    assert tagger("naive").fit(evidence).score(*TEST) < 0.5
    assert tagger("naive").fit([sl.Candidates(x, s, initial=y) for x, s, y in zip(XS, sets, YS)]).score(*TEST) > 0.95


# chunks


def in_chunks():
    """Every two tokens are one part, with the right labeling and a wrong one."""
    rng = np.random.default_rng(0)
    evidence = []
    for x, y in zip(XS, YS):
        chunks = []
        for first in range(0, len(y), 2):
            right = tuple(y[first : first + 2])
            other = tuple(LABELS[(LABELS.index(label) + int(rng.integers(1, 4))) % 4] for label in right)
            chunks.append(sl.Chunk(first, [right, other]))
        evidence.append(sl.Candidates(x, [None] * len(x), chunks=chunks))
    return evidence


def test_wrong_parts_cost_one_each():
    """At zero weights the worst output inside the candidates, and outside, is wrong in every part or every token."""
    from sidelight.training import Training

    evidence, found = in_chunks(), {}
    for wrong in ("tokens", "parts"):
        estimator = tagger(recipes.cllp(wrong=wrong), prices={"candidates": 0.1})
        learner = Training(estimator._settings(), evidence).learner
        terms = learner.problem.convex(learner.labels)
        found[wrong] = [group.worst(np.zeros(learner.problem.batch.scorer.size)).values for group in terms]
        assert estimator.fit(evidence).score(*TEST) > 0.9
    chunks, tokens = [len(piece.chunks) for piece in evidence], [len(piece.x) for piece in evidence]
    assert all(np.array_equal(part, chunks) for part in found["parts"])
    assert all(np.array_equal(part, tokens) for part in found["tokens"])
    with pytest.raises(ValueError, match="cllp knows no cost and no class_weight"):
        tagger(recipes.cllp(wrong="parts"), class_weight={"A": 2.0}).fit(evidence)


def test_chunks_of_labelings_are_learned_from():
    evidence = in_chunks()
    for learner in ("cllp", "mms", recipes.cllp(solver="dual_coordinate")):
        assert tagger(learner, prices={"candidates": 0.1}).fit(evidence).score(*TEST) > 0.9
    assert len(tagger("naive").fit(evidence).predict(TEST[0])) == 40
    for learner in ("cl_svm", "jlis"):
        with pytest.raises(DataError, match=r"single tokens.*use cllp"):
            tagger(learner).fit(evidence)


@pytest.mark.parametrize(
    ("chunk", "y", "message"),
    [
        (sl.Chunk(0, [("A", "B"), ("A",)]), [None, None], "labelings of different lengths"),
        (sl.Chunk(0, []), [None, None], "a chunk without labelings"),
        (sl.Chunk(1, [("A", "B")]), [None, None], "a chunk of 2 tokens from token 1 on, where there are 2"),
        (sl.Chunk(0, [("A", "B")]), [None, {"A"}], "token 1: a token of a chunk has candidates of its own"),
        (sl.Chunk(0, [("A", "X")]), [None, None], "token 1: unknown label 'X'"),
    ],
)
def test_bad_chunks_are_refused(chunk, y, message):
    with pytest.raises(DataError, match=message):
        tagger("cllp").fit([sl.Candidates(["a1", "b1"], y, chunks=[chunk])])


def test_learners_that_take_chunks_are_those_of_the_guide():
    chunk = sl.Candidates(["a1", "b1"], [None, None], chunks=[sl.Chunk(0, [("A", "B"), ("B", "A")])])
    taken = set()
    for name in LEARNERS:
        estimator = sl.SegmentTagger if Need.SEGMENTS in LEARNERS[name].needs else sl.Tagger
        try:
            estimator(learner=name, max_rounds=1, n_jobs=1).fit([*sl.gold(XS[:5], YS[:5]), chunk])
            taken.add(name)
        except (Intractable, DataError):
            pass
    guide = (Path(__file__).parent.parent / "docs" / "guide.md").read_text()
    line = next(line for line in guide.split("\n") if line.startswith("Chunks are for "))
    assert taken == set(re.findall(r"`(\w+)`", line.partition(".")[0]))
    for name in taken:
        with pytest.raises(Intractable, match="need a chain of order 1; leave order out"):
            tagger(name, order=2).fit([chunk])


def test_a_checkpoint_belongs_to_its_chunks_and_initial_labels(tmp_path):
    x, y = ["a1", "b1"], [None, None]
    one = sl.Candidates(x, y, chunks=[sl.Chunk(0, [("A", "B"), ("B", "A")])], initial=["A", None])
    others = [
        sl.Candidates(x, y, chunks=[sl.Chunk(0, [("A", "B"), ("B", "B")])], initial=["A", None]),
        sl.Candidates(x, y, chunks=one.chunks, initial=["B", None]),
        sl.Candidates(x, y, chunks=one.chunks),
    ]
    settings = {"checkpoint": tmp_path / "c", "max_rounds": 1}
    tagger("cllp", **settings).fit([one, *sl.gold(XS[:2], YS[:2])])
    for other in others:
        with pytest.raises(DataError, match="the checkpoint is of other data or settings"):
            tagger("cllp", **settings).fit([other, *sl.gold(XS[:2], YS[:2])])


# CL-SVM


def test_every_labeling_is_expanded_once():
    rng = np.random.default_rng(0)
    starts = np.array([0, 3, 5])
    admitted = (rng.random((5, 3)) < 0.6).astype(np.uint8)
    admitted[:, 0] = 1
    which, labels = expanded(starts, admitted)
    sizes = [int(np.prod(admitted[a:b].sum(1))) for a, b in ((0, 3), (3, 5))]
    assert np.bincount(which).tolist() == sizes
    rows = labels[: 3 * sizes[0]].reshape(-1, 3)
    assert len({tuple(row) for row in rows}) == sizes[0]
    assert np.all(admitted[np.arange(3), rows] == 1)


def test_no_labeling_is_expanded_that_the_allowed_transitions_forbid():
    rng = np.random.default_rng(1)
    starts = np.array([0, 4, 5, 8])
    for _ in range(20):
        admitted = (rng.random((8, 3)) < 0.8).astype(np.uint8)
        allowed = Transitions(*((rng.random(shape) < 0.7).astype(np.uint8) for shape in ((3, 3), 3, 3)))
        space = ChainSpace(starts, 3, allowed).inside(admitted)
        if not space.feasible().all():
            continue
        which, labels = expanded(starts, admitted, allowed)
        paths = np.split(labels, np.cumsum(np.diff(starts)[which])[:-1])
        found = {(int(i), *path.tolist()) for i, path in zip(which, paths)}
        every = {
            (i, *path)
            for i in range(3)
            for path in product(range(3), repeat=int(np.diff(starts)[i]))
            if space.part(i, i + 1).admits(np.array(path, dtype=np.int32))[0]
        }
        assert found == every and len(found) == len(which)
        assert counted(starts, admitted, allowed).tolist() == np.bincount(which, minlength=3).tolist()


def test_cl_svm_trains_on_allowed_labelings_alone():
    from sidelight.training import Training

    candidates = [sl.Candidates(["a", "b"], [{"O", "B-X"}, {"I-X", "O"}])]
    names = ["B-X", "I-X", "O"]
    estimator = sl.Tagger(learner=recipes.cl_svm(at_most=3), labels=names, scheme="BIO", n_jobs=1)
    targets = Training(estimator._settings(), candidates).learner.problem.gold.cost.targets.reshape(-1, 2)
    assert [[names[label] for label in path] for path in targets] == [["B-X", "I-X"], ["B-X", "O"], ["O", "O"]]
    with pytest.raises(Intractable, match="cl_svm would train on 3 labelings of 1 inputs"):
        estimator.set_params(learner=recipes.cl_svm(at_most=2)).fit(candidates)
    with pytest.raises(Infeasible, match=r"evidence 0 \(Candidates\), token 1: the allowed transitions leave no"):
        estimator.fit([sl.Candidates(["a", "b"], [{"O"}, {"I-X"}])])


def test_cl_svm_refuses_too_many_labelings():
    with pytest.raises(Intractable, match=r"cl_svm would train on [\d,]+ labelings of 200 inputs"):
        tagger(recipes.cl_svm(at_most=100)).fit(sl.candidates(XS, sets_around(YS, 3)))


def test_cl_svm_warns_of_a_long_training(monkeypatch):
    """By a sample, which leaves no trace; a short training, or a small one, is not worth a word."""
    evidence = sl.candidates(XS, sets_around(YS, 3))
    usual = tagger("cl_svm", max_rounds=2).fit(evidence).model_.weights
    monkeypatch.setattr(all_labelings, "LONG", 0.0)
    with pytest.warns(
        LongTraining, match=r"cl_svm trains on [\d,]+ labelings with [\d,]+ tokens; by a sample .* takes some"
    ):
        np.testing.assert_array_equal(tagger("cl_svm", max_rounds=2).fit(evidence).model_.weights, usual)
    monkeypatch.setattr(all_labelings, "PATIENCE", 0.0)
    with pytest.warns(LongTraining, match="it takes more than"):
        tagger("cl_svm", max_rounds=2).fit(evidence)
    tagger("cl_svm", max_rounds=2).fit(evidence[:5])


def test_a_measured_sample_foretells_more_than_in_proportion():
    assert foretold(1.0, 500, 500) == 1.0
    assert 10.0 < foretold(1.0, 500, 5000) < 100.0


# settings


@pytest.mark.parametrize(
    "settings", [{"cost": {("A", "B"): 7.0}}, {"class_weight": {"A": 9.0}}], ids=["cost", "weight"]
)
def test_mms_takes_costs_where_it_charges_by_the_completion_alone(settings):
    evidence = sl.candidates(XS[:30], sets_around(YS[:30], 2))
    name = next(iter(settings))
    with pytest.raises(ValueError, match=f"mms counts parts .* leave {name} out, or set the learner's charge"):
        tagger("mms", **settings).fit(evidence)
    for learner in (recipes.mms(charge="completion"), recipes.cllp(), recipes.cllp(charge="candidates")):
        plain, costly = (tagger(learner, **more).fit(evidence).model_.weights for more in ({}, settings))
        assert not np.array_equal(plain, costly)


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
@pytest.mark.parametrize("make", [recipes.cllp, recipes.mms])
def test_settings_of_the_estimator_are_taken_or_refused(make, solver):
    def options(learner, **settings):
        return learner.options_under(tagger(learner, **settings)._settings())

    learner, name = make(solver=solver), make().name
    assert options(learner, seed=3, loss="hinge") == replace(learner.options, seed=3)
    assert options(learner, max_rounds=7, max_completions=4, decrease=0.5) == replace(
        learner.options, max_rounds=7, max_completions=4, decrease=0.5
    )
    assert options(make(solver=solver, max_completions=4), max_completions=4).max_completions == 4
    with pytest.raises(ValueError, match=f"max_completions is 9, and 4 among {name}'s options; give one of them"):
        options(make(solver=solver, max_completions=4), max_completions=9)
    with pytest.raises(ValueError, match="max_completions is 0; give a whole number from 1 on"):
        options(learner, max_completions=0)
    with pytest.raises(ValueError, match=f"{name} has its own precision, and tolerance is 0.1; leave it out"):
        options(learner, tolerance=0.1)
    with pytest.raises(ValueError, match=f"{name} takes the first of outputs that tie, and random_ties is set"):
        options(learner, random_ties=True)
    if solver == "dual_coordinate":
        assert options(learner, violation=1e-5).violation == 1e-5
    else:
        with pytest.raises(ValueError, match="violation is 1e-05; leave it out, or set the learner's solver"):
            options(learner, violation=1e-5)


def test_what_is_usual_is_what_estimators_have():
    parameters = tagger("cllp").get_params()
    assert {name: parameters[name] for name in USUAL} == USUAL


@pytest.mark.parametrize("make", [recipes.cllp, recipes.mms])
def test_what_is_given_counts_and_otherwise_the_learner_has_its_own(make):
    """1e-5 and 50 are usual for other learners, 1e-4 and 30 for these."""

    def limits(learner, **settings):
        found = learner.options_under(tagger(learner, **settings)._settings())
        return found.decrease, found.max_completions

    assert limits(make()) == (1e-4, 30)
    assert limits(make(), decrease=1e-5) == (1e-5, 30)
    assert limits(make(), max_completions=50) == (1e-4, 50)
    assert limits(make(max_completions=50)) == (1e-4, 50)
    with pytest.raises(ValueError, match="max_completions is 50, and 4 among"):
        limits(make(max_completions=4), max_completions=50)
    others = tagger("jlis")._settings()
    assert (others.fall, others.completions) == (1e-5, 50)


def test_settings_reach_the_learner():
    evidence = sl.candidates(XS[:30], sets_around(YS[:30], 2))
    few = tagger(recipes.cllp(initial="random"), max_completions=2).fit(evidence).rounds_[-1]
    assert (few.completion, few.stopped) == (2, "max_completions")
    with pytest.raises(ValueError, match=r"tolerance is 0\.5"):
        tagger("mms", tolerance=0.5).fit(evidence)


# recipes


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="solver is 'simplex'"):
        recipes.cllp(solver="simplex")
    with pytest.raises(ValueError, match="discount is 1"):
        recipes.cllp(discount=1.0)
    with pytest.raises(ValueError, match="discount is 'much'; give a number"):
        recipes.cllp(discount="much")
    with pytest.raises(ValueError, match=r"a threshold of 0\.5 is above the precision of 0\.1 that comes down to it"):
        recipes.mms(precision=0.1, threshold=0.5)
    with pytest.raises(ValueError, match="learner is 'clp'; there are auto, jlis"):
        tagger("clp").fit(sl.gold(XS, YS))


NO_NUMBERS = [0, 0.0, -1.0, float("nan"), float("inf"), "much", True]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_amounts_are_above_0(value):
    for option in ("inside", "precision", "threshold", "precision_inside", "threshold_inside"):
        with pytest.raises(ValueError, match=f"{option} is .*; give a number"):
            recipes.cllp(**{option: value})
    for option in ("precision", "threshold"):
        with pytest.raises(ValueError, match=f"{option} is .*; give a number"):
            recipes.mms(**{option: value})


@pytest.mark.parametrize("value", [0, -1, 2.5, float("nan"), "2", True])
def test_limits_are_whole_numbers_from_1_on(value):
    for make in (recipes.cllp, recipes.mms):
        with pytest.raises(ValueError, match=f"max_completions is {value!r}; give a whole number"):
            make(max_completions=value)
    with pytest.raises(ValueError, match=f"at_most is {value!r}; give a whole number"):
        recipes.cl_svm(at_most=value)


def test_options_that_are_good_are_taken():
    recipe = recipes.cllp(inside=1, precision=np.float64(0.5), threshold=0.5, max_completions=np.int64(1))
    assert (recipe.inside, recipe.options.max_completions) == (1.0, 1)
    assert recipes.cl_svm(at_most=1).at_most == 1


def test_contradictory_candidates_are_infeasible():
    with pytest.raises(
        Infeasible, match=r"evidence 0 \(Candidates\), token 1: the allowed transitions leave no output"
    ):
        sl.Tagger(learner="cllp", scheme="BIO", labels=["B-X", "I-X", "O"], n_jobs=1).fit(
            [sl.Candidates(["a", "b"], [{"O"}, {"I-X"}])]
        )


def limited(x, candidates):
    return sl.Companion(x, 1, candidates=candidates)


@pytest.mark.parametrize("learner", ["cllp", "jlis", "partial_crf", "em", "self_training", "contrastive", "codl"])
def test_what_is_infeasible_is_named_by_its_place_in_the_evidence(learner):
    """Learners number the inputs of their own batches."""
    known = sl.gold([["a", "b"]] * 3, [["A", "B"]] * 3)
    kinds = [sl.Candidates, sl.Partial] if learner != "jlis" else [sl.Candidates, sl.Partial, limited]
    for make, free in zip(kinds, ([{"A"}, {"A"}, {"B"}], ["A", "A", None], [{"A"}, {"A"}, None])):
        settings = {"learner": learner, "allowed": [("A", "B"), ("B", "A")], "n_jobs": 1}
        with pytest.raises(Infeasible, match=r"evidence 3 \(\w+\), token 1: .*; correct or add candidates") as found:
            sl.Tagger(**settings).fit([*known, make(["a", "b", "c"], free)])
        assert found.value.example == 3


def test_chunks_that_cannot_follow_each_other_are_infeasible():
    chunk = sl.Chunk(0, [("A", "B"), ("B", "A")])
    settings = {"learner": "cllp", "labels": ["A", "B"], "allowed": [("A", "A"), ("B", "B")], "n_jobs": 1}
    with pytest.raises(Infeasible, match=r"evidence 1 \(Candidates\): the allowed transitions leave no output"):
        sl.Tagger(**settings).fit(
            [sl.Gold(["a"], ["A"]), sl.Candidates(["a", "b", "c"], [None, None, None], chunks=[chunk])]
        )


# companion evidence with a dictionary


def test_a_dictionary_limits_companion_evidence():
    from sidelight.training import Training

    good = [sl.Companion(x, 1, candidates=sets) for x, sets in zip(XS, sets_around(YS, 2))]
    bad = sl.companion(sl.shuffled(XS), -1)
    training = Training(tagger("jlis", random_ties=True)._settings(), [*good, *bad])
    for _ in training.rounds():
        pass
    number = {label: k for k, label in enumerate(LABELS)}
    allowed = [{number[name] for name in options} for sets in sets_around(YS, 2) for options in sets]
    completed = training.learner.completion.positive
    assert all(label in options for label, options in zip(completed, allowed))
    with pytest.raises(DataError, match="an empty candidate set"):
        tagger("jlis").fit([sl.Companion(["a1"], 1, candidates=[set()])])


def test_restarts_keep_the_lowest_objective():
    sets = sets_around(YS[:40], 2)
    evidence = [
        *sl.companion(XS[:40], 1, candidates=sets),
        *sl.companion(sl.shuffled(XS[:40]), -1),
    ]
    settings = {"prices": {"companion": 1.0}}
    alone = [tagger("jlis", random_ties=True, seed=seed, **settings).fit(evidence) for seed in range(4)]
    lowest = min(fitted.rounds_[-1].objective for fitted in alone)
    several = tagger(recipes.jlis(restarts=4), **settings).fit(evidence)
    best = min(r.objective for r in several.rounds_ if r.objective is not None)
    assert best == pytest.approx(lowest)
    assert {r.restart for r in several.rounds_} == {0, 1, 2, 3}
    weights = alone[int(np.argmin([fitted.rounds_[-1].objective for fitted in alone]))].model_.weights
    np.testing.assert_array_equal(several.model_.weights, weights)
    with pytest.raises(ValueError, match="restarts is 0"):
        recipes.jlis(restarts=0)
