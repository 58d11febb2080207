"""The page about CRFsuite: the prices that it names give the model of sklearn-crfsuite."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sidelight as sl

crfsuite = pytest.importorskip("sklearn_crfsuite", reason="needs sklearn-crfsuite")

LABELS = ("A", "B", "C")
NEAR = 1e-4


def drawn(count: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Dicts of strings and of numbers, with labels that hang together."""
    rng = random.Random(seed)
    xs, ys = [], []
    for _ in range(count):
        y = [rng.choice(LABELS)]
        for _ in range(rng.randint(0, 5)):
            y.append(y[-1] if rng.random() < 0.5 else rng.choice(LABELS))
        words = [f"w{2 * LABELS.index(label) + rng.randint(0, 3)}" for label in y]
        xs.append([{"word": word, "bias": 1.0, "size": rng.choice([0.5, 1.0, 2.0])} for word in words])
        ys.append(y)
    return xs, ys


def edged(x: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with the attributes for which weights of first and last labels stand here."""
    tokens = [dict(token) for token in x]
    tokens[0]["BOS"], tokens[-1]["EOS"] = True, True
    return tokens


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 0.5), (0.1, 0.1), (0.0, 2.0)])
def test_marginals_are_those_of_sklearn_crfsuite(c1: float, c2: float) -> None:
    xs, ys = drawn(30, seed=0)
    theirs = crfsuite.CRF(
        c1=c1,
        c2=c2,
        max_iterations=1000,
        epsilon=1e-9,
        delta=1e-12,
        all_possible_states=True,
        all_possible_transitions=True,
    )
    theirs.fit([edged(x) for x in xs], ys)
    learner = sl.recipes.crf(l1=c1 / (2 * c2), support="all")
    ours = sl.Tagger(learner=learner, prices={"gold": 1 / (2 * c2)}, tolerance=1e-8, max_rounds=5000).fit(xs, ys)
    new, _ = drawn(10, seed=1)
    for x in (*xs, *new):
        [expected], [found] = theirs.predict_marginals([edged(x)]), ours.predict_marginals([x])
        for one, other in zip(expected, found):
            assert {label: other[label] for label in LABELS} == pytest.approx(one, abs=NEAR)
    assert ours.classes_ == sorted(theirs.classes_)


def test_the_model_without_options_is_that_of_c2_one_half() -> None:
    """`Tagger(learner="crf")` against `CRF(c2=0.5)`, as the README has them: the same labels of nearly all tokens."""
    xs, ys = drawn(60, seed=2)
    theirs = crfsuite.CRF(c2=0.5).fit(xs, ys)
    ours = sl.Tagger(learner="crf").fit(xs, ys)
    new, _ = drawn(60, seed=3)
    pairs = [pair for x in new for pair in zip(theirs.predict_single(x), *ours.predict([x]))]
    assert sum(one == other for one, other in pairs) / len(pairs) > 0.9
