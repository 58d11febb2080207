"""Learning on a structure that knows only its best output: assignments of left to right vertices, each used once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import sidelight as sl
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.learners.any_structure import margin_learner
from sidelight.objective.batch import Batch
from sidelight.objective.margin import TargetTerms
from sidelight.objective.slot_scorer import FeatureNames
from sidelight.rounds.convex import ConvexLearner, ConvexOptions
from sidelight.rounds.margin import MarginOptions
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
    assert checked.outputs == 18 and not (checked.k_best or checked.sums or checked.likelihood)
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


def accuracy(structure, weights, xs):
    structure.names.closed = True
    batch = structure.batch(xs)
    found = batch.best(weights).labels.reshape(-1, 3)
    return np.mean([structure.decode(x, y) == closest(x) for x, y in zip(xs, found)])


def few(count, seed):
    return [sl.Gold(x, closest(x)) for x in inputs(count, seed)]


@pytest.mark.parametrize(
    "more",
    [
        [],
        [sl.Unlabeled(x) for x in inputs(10, 3)],
        [sl.Candidates(x, [{closest(x)[0], 0}, None, None]) for x in inputs(10, 4)],
        [sl.Companion(inputs(1, 5)[0], +1), sl.Companion(([1, 2, 3], [90, 91, 92]), -1)],
    ],
    ids=["structural SVM", "latent", "candidates", "J-LIS"],
)
def test_learning(more):
    structure = Assignment(3)
    learner = margin_learner(structure, [*few(20, 1), *more], options=MarginOptions(tolerance=1e-3))
    records = list(learner.run())
    assert records[-1].last
    objectives = [record.objective for record in records if record.completion]
    assert all(after <= before + 1e-9 for before, after in pairwise(objectives))
    assert accuracy(structure, learner.finish(), inputs(50, 9)) > 0.9


def test_what_is_refused():
    with pytest.raises(DataError, match="margins are not learned from Voted"):
        margin_learner(Assignment(3), [sl.Voted(inputs(1, 0)[0], {})])
    with pytest.raises(DataError, match="Companion with candidates of its own is for taggers"):
        margin_learner(Assignment(3), [sl.Companion(inputs(1, 0)[0], +1, candidates=[["a"]])])
    silent = type("Silent", (), {name: getattr(Assignment, name) for name in ("__init__", "batch", "encode", "decode")})
    with pytest.raises(DataError, match=r"Silent does not say which choices .* method admitted"):
        margin_learner(silent(3), [sl.Partial(inputs(1, 0)[0], [None, None, None])])
    with pytest.raises(ValueError, match="other than 4 choices"):
        FeatureNames().scorer([[[{}, {}, {}]]], 4)


def test_what_it_cannot_do_is_named():
    batch = Assignment(3).batch(inputs(1, 0))
    scores = batch.scores(np.zeros(batch.scorer.size))
    with pytest.raises(Intractable, match="Assignments has no k best outputs"):
        sums.k_best(batch.space, scores, 2)
    with pytest.raises(Intractable, match="not broken at random"):
        batch.best(np.zeros(batch.scorer.size), rng=np.random.default_rng(0))
    with pytest.raises(Infeasible, match="sequence 0"):
        batch.inside(np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]], np.uint8)).best(np.zeros(batch.scorer.size))
