"""Learning on a structure that knows only its best output: assignments of left to right vertices, each used once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import sidelight as sl
from sidelight import recipes
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.batch import Batch
from sidelight.objective.margin import TargetTerms
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.recipes import LEARNERS
from sidelight.spaces import Cost, sums
from sidelight.spaces.slots import SlotSpace
from sidelight.testing import check_examples, check_solver, check_structure


@dataclass(frozen=True)
class Assignments(SlotSpace):
    def best_of(self, scores):
        try:
            return linear_sum_assignment(scores, maximize=True)[1]
        except ValueError:
            return None


class Assignment:
    """Every number on the left goes to a number on the right."""

    def __init__(self, size):
        self.size, self.names = size, FeatureNames()

    def batch(self, xs):
        def features(one, other):
            return {"distance": (one - other) ** 2 / 100, f"parity {(one + other) % 2}": 1.0}

        scorer = self.names.scorer([[[features(a, b) for b in x[1]] for a in x[0]] for x in xs], self.size)
        return Batch(scorer, Assignments(scorer.starts, self.size))

    def encode(self, x, y):
        return np.array(y, dtype=np.int32)

    def decode(self, x, choices):
        return tuple(int(choice) for choice in choices)

    def admitted(self, x, y):
        return np.array([[own is None or b in own for b in range(self.size)] for own in y], dtype=np.uint8)


def closest(x):
    """The assignment with the least squared distances."""
    return min(permutations(range(len(x[1]))), key=lambda y: sum((x[0][i] - x[1][j]) ** 2 for i, j in enumerate(y)))


def inputs(count, seed, size=3):
    rng = np.random.default_rng(seed)
    return [tuple(rng.choice(50, size, replace=False).tolist() for _ in range(2)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_laws(seed):
    xs = inputs(3, seed)
    permuted = lambda i, y: len(set(y.tolist())) == len(y)  # noqa: E731
    checked = check_structure(Assignment(3).batch(xs), seed=seed, admits=permuted)
    assert checked.outputs == 18 and checked.k_best and not (checked.sums or checked.likelihood)
    check_examples(Assignment(3), xs, [closest(x) for x in xs], seed=seed)


def test_solvers_over_assignments():
    xs = inputs(3, 1)
    batch = Assignment(3).batch(xs)
    targets = np.concatenate([closest(x) for x in xs]).astype(np.int32)
    terms = TargetTerms(batch, Cost(targets, 1.0 - np.eye(3)), np.full(3, 0.5))
    for solver in ("one_slack", "n_slack_qp"):
        check_solver(
            lambda terms, solver=solver: ConvexLearner.fresh(terms, ConvexOptions(solver, tolerance=1e-6)), terms=terms
        )


def few(count, seed):
    return [sl.Gold(x, closest(x)) for x in inputs(count, seed)]


UNLABELLED = [sl.Unlabeled(x) for x in inputs(10, 3)]
CANDIDATES = [sl.Candidates(x, [{closest(x)[0], 0}, None, None]) for x in inputs(10, 4)]
PARTIAL = [sl.Partial(x, [{closest(x)[0]}, None, None]) for x in inputs(5, 6)]
COMPANIONS = [sl.Companion(inputs(1, 5)[0], +1), sl.Companion(([1, 2, 3], [90, 91, 92]), -1)]
ANSWERED = [*few(20, 1), *COMPANIONS]
KINDS = {"gold": [], "unlabeled": UNLABELLED, "candidates": CANDIDATES, "partial": PARTIAL, "companion": COMPANIONS}
ALL = [one for kind in KINDS.values() for one in kind]
TEST = inputs(50, 9)
RIGHT = [closest(x) for x in TEST]
MISSING = {
    "crf": "beliefs about parts",
    "partial_crf": "beliefs about parts",
    "cllp": "beliefs about parts",
    "mms": "beliefs about parts",
    "codl": "rules about its outputs",
    "contrastive": "neighbours of an output",
    "naive_bayes": "labels of single tokens",
    "one_against_rest": "labels of single tokens",
    "cl_svm": "a list of all candidate outputs",
    "semi_crf": "segments",
    "semi_svm": "segments",
}
OWN_PRECISION = ("cllp", "cllp_as_printed", "mms")
GENERATIVE = ("hmm", "em", "hard_em", "unified_em", "codl_as_printed", "posterior_regularization")


def predictor(learner="jlis", **options):
    precise = {} if learner in OWN_PRECISION or not isinstance(learner, str) else {"tolerance": 1e-3}
    return sl.Predictor(Assignment(3), learner=learner, **{**precise, "n_jobs": 1, **options})


@pytest.mark.parametrize("kind", KINDS)
def test_learning(kind):
    fitted = predictor().fit([*few(20, 1), *KINDS[kind]])
    assert fitted.rounds_[-1].last
    objectives = [record.objective for record in fitted.rounds_ if record.completion]
    assert all(after <= before + 1e-9 for before, after in pairwise(objectives))
    assert np.mean([found == right for found, right in zip(fitted.predict(TEST), RIGHT)]) > 0.9
    assert fitted.score(TEST, RIGHT) > 0.9 and fitted.evidence_["gold"] == 20


def test_all_kinds_together_and_a_decision():
    fitted = predictor().fit([*few(20, 1), *ALL])
    assert fitted.score(TEST, RIGHT) > 0.9
    judged = predictor(prices={"companion": 10.0}).fit(ANSWERED)
    good, bad = judged.judge([COMPANIONS[0].x, COMPANIONS[1].x])
    assert good > bad


@pytest.mark.parametrize("name", [name for name, one in LEARNERS.items() if "gold" in one.takes])
def test_every_learner_works_or_names_what_is_missing(name):
    missing = "a generative model" if name in GENERATIVE else MISSING.get(name)
    rounds = {} if name in OWN_PRECISION else {"max_rounds": 60}
    if missing is not None:
        with pytest.raises((ValueError, Intractable), match=missing):
            predictor(name, **rounds).fit(few(5, 1))
        return
    fitted = predictor(name, **rounds, max_completions=3).fit(few(20, 1))
    assert fitted.score(TEST, RIGHT) > 0.8, name


@pytest.mark.parametrize("recipe", [recipes.cllp(initial="random"), recipes.mms(initial="random")])
def test_candidates_that_begin_at_random(recipe):
    assert predictor(recipe, max_completions=3).fit([*few(20, 1), *CANDIDATES]).score(TEST, RIGHT) > 0.8


@pytest.mark.parametrize("solver", ["dual_coordinate", "one_slack", "n_slack_qp", "frank_wolfe", "subgradient"])
def test_solvers_meet(solver):
    gold, prices = few(15, 1), {"gold": 0.1}
    exact = predictor("structural_svm", loss="hinge", tolerance=1e-5, prices=prices).fit(gold).rounds_[-1].objective
    learner = recipes.structural_svm(solver=solver)
    other = predictor(learner, loss="hinge", tolerance=1e-3, prices=prices, max_rounds=2000).fit(gold).rounds_[-1]
    assert exact * (1 - 1e-3) <= other.objective <= exact * 1.03


def test_the_learner_is_that_of_all_structures():
    """Choices that are free of each other are classes: the same convex problem as a classifier's."""

    class Free(SlotSpace):
        def best_of(self, scores):
            return scores.argmax(axis=1) if np.isfinite(scores.max(axis=1)).all() else None

    class Three:
        def __init__(self):
            self.names = FeatureNames()

        def batch(self, xs):
            inputs = [[[{f"{k} {name}": value for name, value in x.items()} for k in range(3)]] for x in xs]
            scorer = self.names.scorer(inputs, 3)
            return Batch(scorer, Free(scorer.starts, 3))

        def encode(self, x, y):
            return np.array([y])

        def decode(self, x, choices):
            return int(choices[0])

    rng = np.random.default_rng(0)
    xs = [{"a": float(rng.normal()), "b": float(rng.normal())} for _ in range(30)]
    ys = [int(x["a"] > 0) + int(x["b"] > 0) for x in xs]
    shared = {"tolerance": 1e-5, "cost": {(0, 2): 3.0}, "class_weight": {1: 2.0}, "prices": {"gold": 0.1}}
    one = sl.Predictor(Three(), **shared).fit(xs, ys)
    other = sl.Classifier(learner="jlis", bias=False, features=sl.features.Attributes(), **shared).fit(xs, ys)
    assert one.rounds_[-1].objective == pytest.approx(other.rounds_[-1].objective, rel=1e-3)
    assert one.predict(xs) == other.predict(xs)


@pytest.mark.parametrize("learner", ["jlis", "perceptron", "structural_svm"])
def test_an_interrupted_fit_goes_on_to_the_same_bits(learner, tmp_path):
    def stop(record):
        if record.number == 2:
            raise KeyboardInterrupt

    evidence = few(10, 1) if learner != "jlis" else [*few(10, 1), *ALL]
    path = tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        predictor(learner, checkpoint=path, callbacks=[stop]).fit(evidence)
    rest, whole = (predictor(learner, checkpoint=at).fit(evidence) for at in (path, None))
    np.testing.assert_array_equal(rest.model_.weights, whole.model_.weights)
    with pytest.raises(sl.ModelFileError, match="of other data or settings"):
        predictor(learner, checkpoint=path).fit(few(10, 2))


def test_validation_warm_starts_and_more_evidence():
    fitted = predictor(patience=1).fit([*few(5, 1), *UNLABELLED], validation=(TEST, RIGHT))
    scores = [record.validation for record in fitted.rounds_ if record.validation is not None]
    assert scores and fitted.score(TEST, RIGHT) == pytest.approx(max(scores))
    again = predictor(warm_start=True).fit(few(10, 1))
    rounds = len(again.rounds_)
    assert len(again.fit(few(10, 1)).rounds_) < rounds
    for learner in ("jlis", "perceptron"):
        partly = predictor(learner).fit(few(10, 1))
        assert partly.partial_fit(few(5, 2)).score(TEST, RIGHT) > 0.8


class Named(Assignment):
    """With a feature for each number on the left, so that new inputs have new ones."""

    def batch(self, xs):
        cells = [[[{"distance": (a - b) ** 2 / 100, f"from {a}": 0.1} for b in x[1]] for a in x[0]] for x in xs]
        scorer = self.names.scorer(cells, self.size)
        return Batch(scorer, Assignments(scorer.starts, self.size))


def test_features_grow_with_evidence_and_are_closed_for_prediction():
    structure = Named(3)
    fitted = sl.Predictor(structure).fit(few(5, 1))
    assert not structure.names.places  # a fit works on a copy
    size = fitted.model_.structure.size
    assert fitted.predict(TEST) and fitted.model_.structure.size == size
    assert fitted.partial_fit(few(5, 2)).model_.structure.size > size
    frozen = sl.Predictor(structure, freeze_vocabulary=True).fit(few(5, 1))
    assert frozen.partial_fit(few(5, 2)).model_.structure.size == size


def test_save_and_load(tmp_path):
    path = tmp_path / "model"
    fitted = predictor().fit(few(20, 1))
    fitted.save(path)
    again = predictor().load(path)
    assert again.predict(TEST) == fitted.predict(TEST) and again.model_.about["structure"] == "Assignment"
    with pytest.raises(sl.ModelFileError, match="the model of a Assignment"):
        sl.Predictor(Named(3)).load(path)
    with pytest.raises(sl.ModelFileError, match="the model of a Assignment"):
        sl.load_model(path)
    tagger = sl.Tagger(learner="jlis", max_rounds=3).fit([["a", "b"]], [["A", "B"]])
    tagger.save(path)
    with pytest.raises(sl.ModelFileError, match="not the model of a Predictor; use the estimator of chains"):
        predictor().load(path)


def test_outputs_are_looked_for_once_an_input(monkeypatch):
    """Telling features from inputs asks for no outputs."""
    fitted, asked = predictor().fit(few(5, 1)), []
    best_of = Assignments.best_of
    monkeypatch.setattr(Assignments, "best_of", lambda self, scores: asked.append(1) or best_of(self, scores))
    fitted.predict(TEST)
    fitted.judge(TEST)
    assert len(asked) == 2 * len(TEST)


def test_the_k_best_outputs():
    fitted = predictor().fit(few(20, 1))
    for x, found in zip(TEST[:5], fitted.k_best(TEST[:5], 9)):
        every = list(permutations(range(3)))
        batch = fitted.model_.batch([x] * 6)
        values = batch.score(fitted.model_.weights, np.array(every, dtype=np.int32).ravel())
        assert sorted(y for y, _ in found) == every and found[0][0] == fitted.predict([x])[0]
        np.testing.assert_allclose([value for _, value in found], np.sort(values)[::-1])


def test_weights_by_name():
    fitted = predictor().fit([*few(20, 1), *COMPANIONS])
    found = {(one.part, one.name): one.value for one in sl.weights(fitted)}
    assert set(found) == {("feature", "distance"), ("feature", "parity 0"), ("feature", "parity 1"), ("threshold", "")}
    assert found["feature", "distance"] < 0 and found["threshold", ""] == fitted.model_.weights[0]


def test_contributions_add_up_to_the_margin():
    fitted = predictor().fit(few(20, 1))
    for x in TEST[:5]:
        why = sl.explain(fitted, x)
        (best, first), (_, second) = fitted.k_best([x], 2)[0]
        assert why.margin == pytest.approx(first - second) and why.predicted == list(best)
        assert sum(item.amount for item in why.contributions) == pytest.approx(why.margin)
        assert {item.name for item in why.contributions} <= {"distance", "parity 0", "parity 1"}
        assert why.tokens == ["slot 0", "slot 1", "slot 2"]


def test_clamps():
    fitted = predictor().fit(few(20, 1))
    for y, clamped in zip(RIGHT[:5], fitted.predict(TEST[:5], clamp=[[{2}, None, None], None, None, None, None])):
        assert sorted(clamped) == sorted(y)
    assert fitted.predict(TEST[:1], clamp=[[{2}, None, None]])[0][0] == 2
    with pytest.raises(Infeasible, match="no output has the clamped labels"):
        fitted.predict(TEST[:1], clamp=[[{2}, {2}, None]])


def test_what_is_refused():
    x = inputs(1, 0)[0]
    silent = type("Silent", (), {name: getattr(Assignment, name) for name in ("__init__", "batch", "encode", "decode")})
    with pytest.raises(DataError, match=r"Silent does not say which choices .* method admitted"):
        sl.Predictor(silent(3)).fit([sl.Partial(x, [None, None, None])])
    for evidence, problem in (
        ([sl.Voted(x, {"one": [None] * 3})], "Assignment does not say what votes of its outputs are"),
        ([sl.Gold(x, (0, 1))], r"encode gave \[0, 1\] for 3 slots with 3 choices"),
        ([sl.Gold(x, (0, 0, 1))], "is not an output of the space; correct it"),
        ([], "no evidence"),
        ([x], "evidence 0 is a tuple; wrap the input"),
        ([sl.Companion(x, 0)], "the answer 0"),
    ):
        with pytest.raises(DataError, match=problem):
            predictor().fit(evidence)
    with pytest.raises(Infeasible, match="no output has choices that all slots admit"):
        predictor().fit([*few(2, 1), sl.Candidates(x, [[0], [0], None])])
    with pytest.raises(DataError, match="is a class; give a structure as"):
        sl.Predictor(Assignment).fit(few(2, 1))
    with pytest.raises(DataError, match="has no batch; give a structure as"):
        sl.Predictor("assignment").fit(few(2, 1))
    with pytest.raises(ValueError, match="other than 4 choices"):
        FeatureNames().scorer([[[{}, {}, {}]]], 4)
    fitted = predictor().fit(few(5, 1))
    for ask in (
        lambda: fitted.predict_marginals(TEST),
        lambda: fitted.sample(TEST[:1]),
        lambda: fitted.log_partition(TEST),
    ):
        with pytest.raises(Intractable, match="Assignments has no"):
            ask()


def test_rules_and_random_starts_that_it_does_not_have_are_named():
    """Not the labels that a rule speaks of, nor a setting that was not given."""
    fitted, one = predictor().fit(few(5, 1)), sl.rules.gallery.at_most(1, "A")
    for ask in (lambda: fitted.predict(TEST, rules=[one]), lambda: sl.Constrained(fitted, [one]).predict(TEST)):
        with pytest.raises(Intractable, match="about labels of tokens or inputs, and Assignment are none"):
            ask()
    with pytest.raises(Intractable, match="leave random_ties and restarts out"):
        predictor(recipes.jlis(restarts=2)).fit([*few(5, 1), *UNLABELLED])


def test_what_it_cannot_do_is_named():
    batch = Assignment(3).batch(inputs(1, 0))
    scores = batch.scores(np.zeros(batch.scorer.size))
    with pytest.raises(Intractable, match="Assignments has no sums over outputs"):
        sums.log_sums(batch.space, scores)
    with pytest.raises(Intractable, match="not broken at random"):
        batch.best(np.zeros(batch.scorer.size), rng=np.random.default_rng(0))
    with pytest.raises(Infeasible, match="sequence 0"):
        batch.inside(np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]], np.uint8)).best(np.zeros(batch.scorer.size))
