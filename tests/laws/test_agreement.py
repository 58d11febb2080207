"""Agreement of two models: against enumeration on any two structures, and against the kernels of word alignment."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pytest
from drawing import generators, labelings, law, random_scores, values_of
from drawing_second_order import random_second_order_scores, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from segmenting import members_of, random_segment_scores, runs_of, value_of
from test_alignment_agreement import SEEDS, linear_program, listed, one_pair

import sidelight as sl
from sidelight.errors import DataError, NotFitted, NotProved
from sidelight.features.rows import offsets_of
from sidelight.generative.word_alignment.agreement import AgreementStep, expect
from sidelight.inference.methods.agreement import Side, agreed_beliefs, agreed_outputs
from sidelight.spaces import ChainSpace, GivenScores, SecondOrderSpace
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.trees import DependencyTree

KINDS = ("chain", "second_order", "segments")
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))


class Listed(NamedTuple):
    """All outputs of one input with their scores."""

    outputs: np.ndarray  # [outputs, T]
    scores: np.ndarray


def side_of(kind: str, rng: np.random.Generator, starts: np.ndarray, labels: int) -> tuple[Side, list[Listed]]:
    """A random model of a structure, and all outputs of each input."""
    tokens = int(starts[-1])
    links = np.arange(tokens * labels).reshape(tokens, labels)
    bounds = list(itertools.pairwise(starts.tolist()))
    if kind == "segments":
        space = SegmentSpace(starts, runs_of(labels, [2] * labels), 2)
        scores = random_segment_scores(rng, space, tied=False)
        found = []
        for i, (a, _) in enumerate(bounds):
            own = members_of(space, i)
            found.append(Listed(np.array(list(own)), np.array([value_of(scores, a, one) for one in own.values()])))
        return Side(space, scores, links), found
    paths = [labelings(labels, b - a) for a, b in bounds]
    chain = ChainSpace(starts, labels)
    if kind == "chain":
        scores = random_scores(rng, tokens, labels, tied=False)
        return Side(chain, scores, links), [Listed(p, values_of(scores, a, p)) for p, (a, _) in zip(paths, bounds)]
    scores = random_second_order_scores(rng, tokens, labels, tied=False)
    values = [Listed(p, second_order_values(scores, a, p)) for p, (a, _) in zip(paths, bounds)]
    return Side(SecondOrderSpace(chain), scores, links), values


def shared(one: Listed, other: Listed) -> dict[tuple[int, ...], float]:
    """The sum of both scores of every output that both have."""
    first, second = ({tuple(map(int, y)): s for y, s in zip(*side)} for side in (one, other))
    return {y: score + second[y] for y, score in first.items() if y in second}


@pytest.mark.parametrize("kinds", PAIRS)
def test_the_best_output_of_both_by_enumeration(kinds):
    @law(10)
    @given(generators(), st.integers(2, 3))
    def check(rng, labels):
        starts = offsets_of(rng.integers(1, 5, 3))
        (one, listed_one), (other, listed_other) = (side_of(kind, rng, starts, labels) for kind in kinds)
        found = agreed_outputs(one, other, max_rounds=300)
        for i, (a, b) in enumerate(itertools.pairwise(starts.tolist())):
            values = shared(listed_one[i], listed_other[i])
            best = max(values.values())
            assert found.bounds[i] >= best - 1e-8
            if found.agreed[i]:
                assert tuple(found.first[a:b]) == tuple(found.second[a:b])
                assert values[tuple(map(int, found.first[a:b]))] == pytest.approx(best, abs=1e-8)
                assert found.bounds[i] == pytest.approx(best, abs=1e-8)

    check()


def test_agreement_is_reached_as_a_rule():
    rng = np.random.default_rng(0)
    starts = offsets_of(rng.integers(1, 6, 60))
    one, other = (side_of(kind, rng, starts, 3)[0] for kind in ("chain", "second_order"))
    found = agreed_outputs(one, other, max_rounds=300)
    assert np.mean(found.agreed) > 0.8
    few = agreed_outputs(one, other, max_rounds=10)
    assert few.rounds == 10 and few.agreed.sum() < found.agreed.sum()
    assert np.all(few.bounds >= found.bounds - 1e-9)


@pytest.mark.parametrize("kinds", PAIRS)
def test_beliefs_are_those_of_a_generic_solver(kinds):
    @law(5)
    @given(generators(), st.sampled_from([0.5, 1.0]))
    def check(rng, gamma):
        labels, starts = 2, offsets_of([3])
        (one, (all_one,)), (other, (all_other,)) = (side_of(kind, rng, starts, labels) for kind in kinds)

        def dual(tilt):
            value, slope = 0.0, np.zeros(len(tilt))
            for outputs, scores, sign in ((*all_one, 1.0), (*all_other, -1.0)):
                links = np.eye(labels)[outputs].reshape(len(outputs), -1)  # [outputs, T · K]
                logs = scores / gamma + sign * links @ tilt
                shares = np.exp(logs - logs.max())
                value += logs.max() + np.log(shares.sum())
                slope += sign * (shares / shares.sum()) @ links
            return value, slope

        solved = minimize(dual, np.zeros(3 * labels), jac=True, method="BFGS", options={"gtol": 1e-8})
        found = agreed_beliefs(tempered(one, gamma), tempered(other, gamma), gamma=gamma, tolerance=1e-6)
        assert found.values[0] == pytest.approx(gamma * solved.fun, abs=1e-6)
        assert found.apart[0] <= 1e-6
        np.testing.assert_allclose(found.first, found.second, atol=2e-6)

    check()


def tempered(side: Side, gamma: float) -> Side:
    """Scores divided by γ."""
    scores = side.scores
    parts = {name: getattr(scores, name) / gamma for name in type(scores).__dataclass_fields__}
    return side._replace(scores=type(scores)(**parts))


def alignment_side(text, parameters, *, backward: bool) -> Side:
    """One direction of an alignment as a chain: a state is a column of the other side, linked to or not."""
    source, target = (int(np.diff(starts)[0]) for starts in (text.source_starts, text.target_starts))
    cells = text.entries.reshape(source, target)
    words, null = parameters.lexicon, parameters.null
    if backward:
        table, nulls, jumps = words.backward[cells.T], words.backward_null[text.sources], parameters.backward
    else:
        table, nulls, jumps = words.forward[cells], words.forward_null[text.targets], parameters.forward
    size, steps = table.shape
    states = 2 * size + 1  # linked to columns 1..size, then not linked with last column 0..size
    column = np.r_[np.arange(1, size + 1), np.arange(size + 1)]
    linked = np.arange(states) < size
    moves = np.full((states, states), -np.inf)
    for at, to in itertools.product(range(states), repeat=2):
        if linked[to] and jumps is None:
            moves[at, to] = np.log(1 - null) - np.log(size)
        elif linked[to]:
            weights = jumps.of(size + 1)
            reachable = sum(weights[size + 1 + i - column[at]] for i in range(1, size + 1))
            moves[at, to] = np.log(1 - null) + np.log(weights[size + 1 + column[to] - column[at]] / reachable)
        elif column[at] == column[to]:
            moves[at, to] = np.log(null)
    tokens = np.repeat(np.asarray(nulls)[:, None], states, axis=1).astype(float)
    tokens[:, :size] = table.T
    links = np.full((steps, states), -1, dtype=np.int64)
    for t in range(steps):
        links[t, :size] = [t * target + k if backward else k * target + t for k in range(size)]
    return Side(
        ChainSpace(np.array([0, steps]), states), GivenScores(tokens, moves, moves[size], np.zeros(states)), links
    )


def cells_of(side: Side, shares: np.ndarray, count: int) -> np.ndarray:
    return side.expected(shares, count)


@law(15)
@given(SEEDS, st.booleans(), st.sampled_from([0.3, 1.0]))
def test_on_word_alignments_beliefs_are_those_of_the_kernels(seed, hmm, gamma):
    text, parameters, sizes = one_pair(seed, hmm=hmm)
    one, other = (tempered(alignment_side(text, parameters, backward=side), gamma) for side in (False, True))
    found = agreed_beliefs(one, other, gamma=gamma, tolerance=1e-6, max_rounds=500)
    known = expect(text, parameters, AgreementStep(gamma, True, 2000, 1e-7))
    assert found.values[0] == pytest.approx(known.objective, abs=1e-5)
    count = int(np.prod(sizes))
    np.testing.assert_allclose(cells_of(one, found.first, count), known.forward, atol=1e-3)
    np.testing.assert_allclose(cells_of(other, found.second, count), known.backward, atol=1e-3)


@law(15)
@given(SEEDS, st.booleans())
def test_on_word_alignments_outputs_are_those_of_the_kernels(seed, hmm):
    text, parameters, _ = one_pair(seed, hmm=hmm)
    one, other = (alignment_side(text, parameters, backward=side) for side in (False, True))
    found = agreed_outputs(one, other, max_rounds=500)
    least = linear_program(text, parameters)
    assert found.bounds[0] >= least - 1e-7
    if found.agreed[0]:
        known = expect(text, parameters, AgreementStep(0.0, True, 20_000))
        assert found.bounds[0] == pytest.approx(least, abs=1e-6)
        assert known.objective == pytest.approx(found.bounds[0], abs=0.01)
        first, second = listed(text, parameters)
        pairs = (
            a + b
            for a, u in zip(first.logs, first.links)
            for b, v in zip(second.logs, second.links)
            if np.array_equal(u, v)
        )
        assert max(pairs) == pytest.approx(found.bounds[0], abs=1e-6)


XS = [["a", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["a", "bark"]]
YS = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N"]]


def test_two_taggers_agree():
    one = sl.Tagger(learner="crf", order=1, labels=["D", "N", "V"]).fit(XS, YS)
    other = sl.Tagger(learner="crf", order=2, features=sl.features.words(), labels=["V", "N", "D"]).fit(XS, YS)
    new = [["a", "dog", "sleeps"], ["cats", "bark"], ["unknown"]]
    hard = sl.agree(one, other, new)
    for x, y, agreed in zip(new, hard.outputs, hard.agreed):
        totals = {}
        for path in itertools.product("DNV", repeat=len(x)):
            chances = [model.log_probability([x], [list(path)])[0] for model in (one, other)]
            totals[path] = sum(chances)
        assert agreed and totals[tuple(y)] == pytest.approx(max(totals.values()))
    soft = sl.agree(one, other, new, gamma=1.0, tolerance=1e-4)
    assert all(soft.agreed) and [len(y) for y in soft.outputs] == [len(x) for x in new]
    for x, shares in zip(new, soft.marginals):
        assert [sum(chances.values()) for chances in shares] == pytest.approx([1.0] * len(x))
    assert hard.marginals is None and sl.agree(one, other, []).outputs == []


def test_a_model_agrees_with_itself():
    one = sl.Tagger(learner="crf").fit(XS, YS)
    assert sl.agree(one, one.model_, XS).outputs == one.predict(XS)
    soft = sl.agree(one, one, XS, gamma=1.0)
    for shares, known in zip(soft.marginals, one.predict_marginals(XS)):
        assert shares == [pytest.approx(chances, abs=1e-6) for chances in known]


def test_a_segmenter_and_a_tagger_agree():
    xs = [["in", "New", "York"], ["Oslo", "and", "Lima"], ["New", "Oslo"]]
    ys = [["O", "B-L", "I-L"], ["B-L", "O", "B-L"], ["B-L", "I-L"]]
    one = sl.SegmentTagger(scheme="BIO", max_length=2).fit(xs, ys)
    other = sl.Tagger(learner="crf", scheme="BIO", labels=["O", "B-L", "I-L"]).fit(xs, ys)
    for pair in ((one, other), (other, one)):
        found = sl.agree(*pair, xs)
        assert found.outputs == ys and all(found.agreed)
        assert sl.agree(*pair, xs, gamma=1.0, tolerance=1e-2).outputs == ys


def test_classifiers_and_hidden_states_agree():
    xs, ys = [{"a": 1.0}, {"b": 1.0}, {"a": 1.0, "b": 1.0}], ["x", "y", "x"]
    one, other = (sl.Classifier(learner=name).fit(xs, ys) for name in ("crf", "jlis"))
    assert sl.agree(one, other, xs).outputs == ys
    states = sl.Tagger(learner="partial_crf", states=2).fit(XS, YS)
    found = sl.agree(states, sl.Tagger(learner="crf").fit(XS, YS), XS)
    assert found.outputs == YS and all(found.agreed)


def fitted_trees(projective: bool, seed: int) -> sl.Predictor:
    xs, ys = [[("a", "D"), ("dog", "N"), ("barks", "V")], [("it", "P"), ("barks", "V")]], [[2, 3, 0], [2, 0]]
    fitted = sl.Predictor(DependencyTree(projective=projective, bits=8)).fit(xs, ys)
    fitted.model_.weights[:] = np.random.default_rng(seed).normal(size=len(fitted.model_.weights))
    return fitted


def fitted_joint(seed: int, **options: object) -> sl.Joint:
    joint = sl.Joint(
        {"tag": ["D", "N"], "verb": ["yes", "no"]},
        variables=lambda x: {"tag": range(len(x)), "verb": [len(x) - 1]},
        features=lambda x, kind, key: {x[key]: 1.0},
        **options,
    )
    joint.fit([["a", "b"], ["b", "c"]], [{"tag": {0: "D", 1: "N"}, "verb": {1: "yes"}}] * 2)
    joint.model_.weights[:] = np.random.default_rng(seed).normal(size=len(joint.model_.weights))
    return joint


@pytest.mark.parametrize("seed", range(4))
def test_models_of_any_structure_agree(seed):
    """Two `Joint`, and two `Predictor` whose structures have the same choices, in the form of the first."""
    words = [[("a", "D"), ("dog", "N"), ("barks", "V"), ("here", "A")], [("it", "P"), ("runs", "V")]]
    heads = [list(y) for y in itertools.product(range(5), repeat=4)]
    paired = lambda x: [("next", ("tag", 0), ("tag", 1)), ("said", ("tag", 0), ("verb", 1))]  # noqa: E731
    tags = [{"tag": {0: a, 1: b}, "verb": {1: c}} for a in "DN" for b in "DN" for c in ("yes", "no")]
    for one, other, xs, outputs in (
        (fitted_trees(True, seed), fitted_trees(False, seed + 10), words[:1], heads),
        (fitted_joint(seed), fitted_joint(seed + 10, pairs=paired), [["b", "a"]], tags),
    ):
        totals = []
        for y in outputs:
            with suppress(DataError):  # what is no tree
                totals.append(sum(model.log_probability(xs, [y])[0] for model in (one, other)))
        found = sl.agree(one, other, xs, max_rounds=500)
        assert found.agreed == [True] and found.outputs[0] in outputs
        best = sum(model.log_probability(xs, found.outputs)[0] for model in (one, other))
        assert best == pytest.approx(max(totals))
        soft = sl.agree(one, other, xs, gamma=1.0, tolerance=1e-4)
        assert soft.agreed == [True] and soft.outputs[0] in outputs
        assert type(soft.marginals[0]) is type(one.predict_marginals(xs)[0])
    one, other = fitted_trees(True, seed), fitted_trees(False, seed + 10)
    assert sl.agree(one, other, words).outputs[0] == sl.agree(one, other, words[:1]).outputs[0]


def test_structures_whose_choices_are_others_do_not_agree():
    x, y = ("ab", "xy"), [((0, 1), (0, 1)), ((1, 2), (1, 2))]
    fits = [sl.Predictor(SegmentAlignment(longest=most, bits=8)).fit([x], [y]) for most in ((1, 3), (2, 1), (2, 2))]
    trees = fitted_trees(True, 0)
    with pytest.raises(DataError, match="the choices of the models mean other things; give both structures the same"):
        sl.agree(*fits[:2], [x])
    with pytest.raises(DataError, match="is known to one alone"):
        sl.agree(*fits[1:], [x])
    with pytest.raises(DataError, match="one model has SegmentAlignment and the other DependencyTree"):
        sl.agree(fits[0], trees, [x])
    with pytest.raises(DataError, match="the models see other tokens or variables of an input"):
        sl.agree(fitted_joint(0), turned_joint(), [["a", "b"]])
    assert sl.agree(fits[0], fits[0], [x]).outputs == fits[0].predict([x])


def turned_joint() -> sl.Joint:
    """The same variables in another order."""
    joint = sl.Joint(
        {"tag": ["D", "N"], "verb": ["yes", "no"]},
        variables=lambda x: {"tag": reversed(range(len(x))), "verb": [len(x) - 1]},
        features=lambda x, kind, key: {x[key]: 1.0},
    )
    return joint.fit([["a", "b"]], [{"tag": {0: "D", 1: "N"}, "verb": {1: "yes"}}])


def test_what_cannot_agree_is_refused():
    one = sl.Tagger(learner="crf").fit(XS, YS)
    few = sl.Tagger(learner="crf").fit(XS[2:3], YS[2:3])
    with pytest.raises(DataError, match=r"other labels: D is known to one alone; fit both with the same labels"):
        sl.agree(one, few, XS)
    single = sl.Classifier(learner="crf").fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    with pytest.raises(DataError, match="one model labels tokens and the other inputs"):
        sl.agree(one, single, XS)
    with pytest.raises(NotFitted):
        sl.agree(one, sl.Tagger(), XS)
    with pytest.raises(ValueError, match="gamma is -1"):
        sl.agree(one, one, XS, gamma=-1)
    with pytest.raises(ValueError, match="max_rounds is 0"):
        sl.agree(one, one, XS, max_rounds=0)
    rng = np.random.default_rng(1)
    noise = sl.Tagger(learner="crf", labels=["D", "N", "V"], order=2).fit(
        XS, [[str(label) for label in rng.choice(list("DNV"), len(x))] for x in XS]
    )
    with pytest.warns(NotProved, match="did not agree on .* inputs; give more max_rounds"):
        found = sl.agree(one, noise, XS, max_rounds=1)
    assert not all(found.agreed) and [len(y) for y in found.outputs] == [len(x) for x in XS]
