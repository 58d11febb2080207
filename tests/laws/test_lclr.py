"""Laws of LCLR: its objective never rises, its convex problem is solved, and the baselines do what they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.learners.lclr import HeldLearner, lclr_learner, solved
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.cuts import Worst, losses_of
from sidelight.objective.decisions import Decisions, decisions
from sidelight.objective.margin import NegativeTerms
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.trees import DependencyTree
from sidelight.testing.outputs import listed

EXACT = MarginOptions(tolerance=1e-7, violation=0.0)


def drawn(kind: str, seed: int) -> tuple[object, Decisions, np.ndarray]:
    """A small problem over one of some structures, and first weights."""
    rng = np.random.default_rng(seed)

    def word(letters: str) -> str:
        return "".join(rng.choice(list(letters), rng.integers(1, 4)))

    def graph() -> Graph:
        size = int(rng.integers(1, 4))
        return Graph(
            tuple((word("ab"), word("NV")[:1]) for _ in range(size)), tuple((0, k, "e") for k in range(1, size))
        )

    structure, draw = {
        "letters": (CharacterAlignment(bits=5), lambda: (word("ab"), word("xy"))),
        "matching": (CharacterAlignment(bits=5, crossing=True), lambda: (word("ab"), word("xy"))),
        "trees": (DependencyTree(bits=5), lambda: [(word("ab"), word("NV")[:1]) for _ in range(rng.integers(1, 4))]),
        "graphs": (GraphAlignment(bits=5), lambda: (graph(), graph())),
    }[kind]
    zs = [1, -1, *rng.choice([1, -1], 4).tolist()]
    data = decisions(
        structure, [draw() for _ in zs], zs, C=float(rng.uniform(0.3, 3.0)), weights=rng.uniform(0.5, 2.0, 6)
    )
    return structure, data, rng.normal(size=data.size)


def objective_by_lists(data: Decisions, weights: np.ndarray, power: int) -> float:
    """Eq. 5.3 by its formula, over lists of all structures."""
    total = 0.5 * float(weights @ weights)
    for sign, batch, sizes, prices in (
        (1.0, data.good.batch, data.good.sizes, data.good.prices),
        (-1.0, data.bad.batch, data.bad.sizes, data.bad.prices),
    ):
        for one, size, price in zip(listed(batch, weights), sizes, prices):
            score = one.scores.max() / size + weights[0]
            total += price * float(losses_of(np.array([1.0 - sign * score]), power)[0])
    return total


@pytest.mark.parametrize("kind", ["letters", "matching", "trees", "graphs"])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([1, 2]))
def test_the_objective_never_rises(kind, seed, power):
    _, data, start = drawn(kind, seed)
    learner = lclr_learner(data, start, MarginOptions(power=power))
    at_first = objective_by_lists(data, start, power)
    assert data.objective(start, power=power) == pytest.approx(at_first)
    told, found = [], []
    for record in learner.run():
        told.append(record.objective)
        if learner.has_result(record):
            found.append(objective_by_lists(data, learner.weights, power))
    assert told[0] <= at_first + 1e-9 and found[-1] <= told[-1] + 1e-9 * (1 + told[-1])
    for values in (told, found):
        assert all(after <= before + 1e-8 * (1.0 + before) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("kind", ["letters", "graphs"])
def test_structures_of_bad_inputs_are_kept_from_one_convex_problem_to_the_next(kind, monkeypatch):
    """Algorithm 11's cache: a completion replaces the cut of a good input, and no cut of a bad one."""
    completions = []
    complete = MarginLearner._complete

    def watched(learner):
        before = cuts_by_term(learner)
        more = complete(learner)
        completions.append((before, cuts_by_term(learner), learner.problem.first_positive))
        return more

    monkeypatch.setattr(MarginLearner, "_complete", watched)
    replaced = 0
    for seed in range(6):
        _, data, start = drawn(kind, seed)
        for _ in lclr_learner(data, start, EXACT).run():
            pass
    for before, after, good in completions:
        assert {k: v for k, v in before.items() if k < good} == {k: v for k, v in after.items() if k < good}
        assert all(len(cuts) == 1 for term, cuts in after.items() if term >= good)
        replaced += bool(before) and before != after
    assert replaced > 0 and any(len(cuts) > 1 for _, after, _ in completions for cuts in after.values())


def test_a_completion_searches_bad_inputs_once(monkeypatch):
    """The objective of the new problem and the cuts of its good inputs come from one search."""
    _, data, start = drawn("letters", 3)
    searched, plain = [], NegativeTerms.worst

    def counted(terms, weights):
        searched.append(len(terms))
        return plain(terms, weights)

    monkeypatch.setattr(NegativeTerms, "worst", counted)
    learner = lclr_learner(data, start, EXACT)
    assert learner.completions == 1 and searched == [len(data.bad)]
    assert learner.solver.best_primal == pytest.approx(data.objective(start, power=EXACT.power), rel=1e-12)


def cuts_by_term(learner: MarginLearner) -> dict[int, list[tuple[float, ...]]]:
    """The cuts in a learner's working set, of each term."""
    pool = learner.solver.pool
    cuts: dict[int, list[tuple[float, ...]]] = {}
    for k in range(len(pool)):
        entries = slice(int(pool.begin[k]), int(pool.end[k]))
        slope = (*pool.indices[entries].tolist(), *pool.values[entries].tolist())
        cuts.setdefault(int(pool.terms[k]), []).append((float(pool.offsets[k]), *slope))
    return cuts


@pytest.mark.parametrize("kind", ["letters", "trees", "graphs"])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([1, 2]))
def test_the_inner_problem_against_a_quadratic_program(kind, seed, power):
    """Eq. 5.4: one cut for each completed good input, all structures of bad inputs as cuts."""
    _, data, start = drawn(kind, seed)
    options = MarginOptions(power=power, tolerance=1e-7, violation=0.0, max_completions=1)
    learner = lclr_learner(data, start, options)
    learner.tolerance = options.tolerance  # not roughly, as the first problems are else
    held = learner.completion.terms
    slopes, offsets, terms = [], [], []

    def add(cuts, number):
        row = np.zeros(data.size)
        np.add.at(row, cuts.slopes.indices, cuts.slopes.values)
        slopes.append(row)
        offsets.append(cuts.offsets[0])
        terms.append(number)

    for i in range(len(held)):
        add(held.cuts(held.worst(start), np.array([i])), i)
    for one in listed(data.bad.batch, start):
        outputs = np.zeros(int(data.bad.batch.starts[-1]), np.int32)
        for y in one.outputs:
            outputs[one.slots] = y
            cuts = data.bad.cuts(Worst(np.zeros(len(data.bad)), outputs), np.array([one.number]))
            add(cuts, len(held) + one.number)
    prices = np.concatenate([data.good.prices, data.bad.prices])
    least, _ = optimum(np.array(slopes), np.array(offsets), np.array(terms), prices, power=power)
    records = list(itertools.takewhile(lambda record: record.completion == 1, learner.run()))
    assert records[-1].objective == pytest.approx(least, rel=1e-4, abs=1e-6)
    assert all(record.dual <= least * (1 + 1e-6) + 1e-6 for record in records)


@pytest.mark.parametrize("kind", ["letters", "graphs"])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_held_structures_make_an_ordinary_svm(kind, seed):
    _, data, start = drawn(kind, seed)
    terms = data.held(start)
    rows = np.zeros((len(terms), data.size))
    for i in range(len(terms)):
        own = slice(terms.slopes.indptr[i], terms.slopes.indptr[i + 1])
        rows[i, terms.slopes.indices[own]] = terms.slopes.values[own]
    values = terms.offsets + rows @ start
    np.testing.assert_allclose(values, data.values(start), atol=1e-9)  # under the weights that found them they are best
    least, _ = optimum(rows, terms.offsets, np.arange(len(terms)), terms.prices, power=2)
    weights, gap = solved(terms, data.size, EXACT)
    told = 0.5 * weights @ weights + terms.prices @ losses_of(terms.offsets + rows @ weights, 2)
    assert told == pytest.approx(least, rel=1e-4, abs=1e-6) and gap <= 1e-6 * (1 + told)


def test_learners_can_be_stopped_and_taken_up_again():
    _, data, start = drawn("letters", 3)
    makers = (
        lambda: lclr_learner(data, start, EXACT),
        lambda: HeldLearner.fresh(data, start, MarginOptions(max_rounds=4)),
    )
    for make in makers:
        whole, first, later = make(), make(), make()
        count = len(list(whole.run()))
        for _ in itertools.islice(first.run(), count // 2):
            pass
        later.resume(first.state())
        assert len(list(later.run())) == count - count // 2
        assert np.array_equal(later.finish(), whole.finish())
