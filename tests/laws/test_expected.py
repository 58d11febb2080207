"""Beliefs under expectation constraints, against enumeration, weak duality and generic solvers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from chain_problems import chain_problems
from expressions import outputs
from sidelight.errors import Infeasible
from sidelight.inference.expected.expected import ConstrainedBeliefs, ExpectationBatch
from sidelight.inference.problem import ChainProblem, Clause
from sidelight.rules.columns import InputColumns, chain_columns
from sidelight.rules.expr import OneOf, between, disjunction, negation, total
from sidelight.rules.lowering.expectations import HARD, Expectations, expectations
from sidelight.rules.lowering.truth import degree

GAMMAS = st.sampled_from([0.05, 0.5, 1.0, 3.0, math.inf])


def point_of(columns: InputColumns, labels: Sequence[int], size: int) -> np.ndarray:
    found = np.zeros(columns.count)
    found[[t * size + label for t, label in enumerate(labels)]] = 1.0
    for (v, w), place in columns.edges.items():
        found[place + labels[v] * size + labels[w]] = 1.0
    return found


def charge(reading: Expectations, labels: Sequence[int]) -> float:
    """What an output costs by the clauses that have counters."""
    numbers = np.array(labels, dtype=np.int32)
    broken = [(one.price, one.counter.degree(numbers)) for one in reading.counters]
    return sum(price * much for price, much in broken if much)


def expected_beliefs(problem: ChainProblem, *, gamma: float) -> ConstrainedBeliefs:
    """The best beliefs about one chain under its clauses."""
    columns = chain_columns(problem.length, problem.n_labels)
    says, penalties = [one.says for one in problem.clauses], [one.penalty for one in problem.clauses]
    names = [f"number {one.rule}" for one in problem.clauses]
    reading = expectations(says, penalties, columns, names=names)
    batch = ExpectationBatch([problem.length], problem.n_labels, [reading])
    return batch.beliefs(problem.tokens, problem.transition, problem.start, problem.end, gamma=gamma)


class Enumerated:
    """All possible outputs of a problem, with scores, columns and rows."""

    def __init__(self, problem: ChainProblem) -> None:
        size, length = problem.n_labels, problem.length
        columns = chain_columns(length, size)
        clauses = problem.clauses
        self.reading = expectations([c.says for c in clauses], [c.penalty for c in clauses], columns)
        every = [np.array(labels) for labels in outputs([size] * length)]
        kept = [labels for labels in every if problem.score(labels) > -math.inf]
        points = [point_of(columns, labels, size) for labels in kept]
        charged = [charge(self.reading, labels) for labels in kept]
        legal = [
            k for k, point in enumerate(points) if not point[self.reading.ruled_out].any() and charged[k] < math.inf
        ]
        self.labels = [kept[k] for k in legal]
        self.points = np.array([points[k] for k in legal]).reshape(-1, columns.count)  # [Y, columns]
        self.scores = np.array([problem.score(labels) for labels in self.labels])
        self.costs = self.points @ self.reading.cost + [charged[k] for k in legal]
        rows = np.zeros((self.reading.n_rows, columns.count))
        for r in range(self.reading.n_rows):
            part = slice(self.reading.starts[r], self.reading.starts[r + 1])
            rows[r, self.reading.columns[part]] = self.reading.weights[part]
        self.rows = self.points @ rows.T  # [Y, R]


@law(200)
@given(chain_problems(depth=2, penalties=(0.5, 2.0, math.inf)))
def test_readings_agree_with_truth(problem: ChainProblem) -> None:
    """One output obeys all rows and columns exactly where it obeys the hard clauses, and costs what it should."""
    found = Enumerated(problem)
    reading: Expectations = found.reading
    columns = chain_columns(problem.length, problem.n_labels)
    for labels in outputs([problem.n_labels] * problem.length):
        point = point_of(columns, labels, problem.n_labels)
        sums = np.add.reduceat(np.append(reading.weights * point[reading.columns], 0.0), reading.starts[:-1])
        means = np.where(np.diff(reading.starts) > 0, sums[: reading.n_rows], 0.0)
        counted = charge(reading, labels)
        legal = not point[reading.ruled_out].any() and reading.violation(means) < 1e-9 and counted < math.inf
        broken = [degree(clause.says, labels) for clause in problem.clauses]
        assert legal == all(not much for clause, much in zip(problem.clauses, broken) if clause.hard)
        if counted == math.inf:
            continue
        cost = reading.constant + reading.cost @ point + reading.price @ reading.slack(means) + counted
        expected = sum(clause.penalty * much for clause, much in zip(problem.clauses, broken) if not clause.hard)
        if reading.counted.all():
            assert cost == pytest.approx(expected)
        else:
            assert -1e-9 <= cost <= expected + 1e-9


@law(250)
@given(chain_problems(depth=2, penalties=(0.3, 2.0, math.inf)), GAMMAS)
def test_ascent_against_enumeration(problem: ChainProblem, gamma: float) -> None:
    found = Enumerated(problem)
    reading = found.reading
    try:
        beliefs = expected_beliefs(problem, gamma=gamma)
    except Infeasible:
        assert not feasible(found)
        return
    assert beliefs.violations[0] <= 2e-3
    multipliers = beliefs.multipliers[:-1]  # the last one is that of fixed costs
    flat = found.scores / gamma if gamma < math.inf else np.zeros(len(found.scores))
    logs = flat - found.rows @ multipliers - (found.costs / gamma if gamma < math.inf else 0.0)
    q = np.exp(logs - logs.max())
    q /= q.sum()
    tokens = (q @ found.points)[: problem.tokens.size].reshape(problem.tokens.shape)
    np.testing.assert_allclose(beliefs.tokens, tokens, atol=1e-9)
    moves = (q @ found.points)[problem.tokens.size :].reshape(-1, problem.n_labels, problem.n_labels).sum(0)
    np.testing.assert_allclose(beliefs.moves[0], moves, atol=1e-9)
    assert (multipliers >= 0).all()
    if gamma == math.inf:
        assert beliefs.values[0] == pytest.approx(q @ found.scores - beliefs.penalties[0])
        return
    means = q @ found.rows
    entropy = -float(q[q > 0] @ np.log(q[q > 0]))
    penalty = reading.constant + q @ found.costs + reading.price @ reading.slack(means)
    assert beliefs.penalties[0] == pytest.approx(penalty, abs=1e-9)
    assert beliefs.values[0] == pytest.approx(q @ found.scores + gamma * entropy - penalty, abs=1e-8)
    for g, price in enumerate(reading.price):  # multipliers of soft rows stay below their price
        rows = reading.group == g
        assert gamma * multipliers[rows] @ reading.share[rows] <= price + 1e-9
    assert (np.diff(beliefs.duals[0]) <= 1e-12).all()
    if beliefs.violations[0] <= 1e-6:  # weak duality: a small gap proves both
        gap = beliefs.bounds[0] - beliefs.values[0]
        assert -1e-4 <= gap <= 1e-3 * max(1.0, abs(beliefs.values[0]))


def feasible(found: Enumerated) -> bool:
    return linear(found) is not None


def linear(found: Enumerated) -> float | None:
    """The best value for γ = 0, by a program over all outputs."""
    from scipy.optimize import linprog

    reading, count, groups = found.reading, len(found.scores), len(found.reading.price)
    if count == 0:
        return None
    above = np.zeros((reading.n_rows, groups))
    soft = np.flatnonzero(reading.group != HARD)
    above[soft, reading.group[soft]] = -reading.share[soft]
    gain = np.concatenate([found.scores - found.costs, -reading.price])
    every = np.concatenate([np.ones(count), np.zeros(groups)])[None]
    rows = np.hstack([found.rows.T, above]) if reading.n_rows else None
    bounds = reading.bound if reading.n_rows else None
    solved = linprog(-gain, A_ub=rows, b_ub=bounds, A_eq=every, b_eq=[1.0], method="highs")
    return None if solved.status == 2 else -float(solved.fun) - reading.constant


@st.composite
def counts_that_ask_for_counts(draw: st.DrawFn, penalties: tuple[float, ...] = (0.3, 2.0, math.inf)) -> ChainProblem:
    """As `chain_problems`, with one or two clauses like "two A ask for a B", which have no linear reading."""
    problem = draw(chain_problems(longest=5, most_labels=2, depth=1, most_rules=2, penalties=penalties))
    size, length = problem.n_labels, problem.length
    rule = 1 + max((clause.rule for clause in problem.clauses), default=-1)
    more = []
    for k in range(draw(st.integers(1, 2))):
        label, other = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
        before = total([(1, OneOf(t, (label,))) for t in range(length)])
        after = total([(1, OneOf(t, (other,))) for t in range(length)])
        low, high = draw(st.integers(1, length)), draw(st.integers(0, length))
        then = between(after, high, None) if draw(st.booleans()) else between(after, None, high)
        says = disjunction([negation(between(before, low, None)), then])
        more.append(Clause(rule + k, says, draw(st.sampled_from(penalties))))
    return problem.with_clauses((*problem.clauses, *more))


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, math.inf])
def test_counts_that_ask_for_counts(gamma: float) -> None:
    """Clauses without rows are charged by their degree, or rule out what breaks them, exactly."""
    seen = 0

    @law(60)
    @given(counts_that_ask_for_counts())
    def run(problem: ChainProblem) -> None:
        nonlocal seen
        found = Enumerated(problem)
        seen += bool(found.reading.counters)
        if not feasible(found):
            with pytest.raises(Infeasible, match=r"no output obeys the rules? number|the scores allow no output"):
                expected_beliefs(problem, gamma=gamma)
            return
        beliefs = expected_beliefs(problem, gamma=gamma)
        if gamma == 0.0:
            assert beliefs.values[0] == pytest.approx(linear(found), abs=1e-6)
            return
        flat = (found.scores - found.costs) / gamma if gamma < math.inf else np.zeros(len(found.scores))
        logs = flat - found.rows @ beliefs.multipliers[:-1]
        q = np.exp(logs - logs.max())
        q /= q.sum()
        tokens = (q @ found.points)[: problem.tokens.size].reshape(problem.tokens.shape)
        np.testing.assert_allclose(beliefs.tokens, tokens, atol=1e-9)
        if found.reading.n_rows == 0 and gamma < math.inf:
            peak = flat.max()
            value = gamma * (peak + math.log(np.exp(flat - peak).sum())) - found.reading.constant
            assert beliefs.values[0] == pytest.approx(value)

    run()
    assert seen > 3


@law(120)
@given(chain_problems(depth=2, penalties=(0.3, 2.0, math.inf)))
def test_program_against_enumeration(problem: ChainProblem) -> None:
    found = Enumerated(problem)
    best = linear(found)
    if best is None:
        with pytest.raises(Infeasible):
            expected_beliefs(problem, gamma=0.0)
        return
    beliefs = expected_beliefs(problem, gamma=0.0)
    assert beliefs.values[0] == pytest.approx(best, abs=1e-6)
    np.testing.assert_allclose(beliefs.tokens.sum(1), 1.0, atol=1e-6)
    assert beliefs.moves.sum() == pytest.approx(problem.length - 1, abs=1e-6)
    near = expected_beliefs(problem, gamma=0.01)  # the program is the limit
    assert near.values[0] >= best - 1e-3 and near.values[0] <= best + 0.01 * math.log(len(found.scores)) + 1e-3


@st.composite
def problems_with_a_count(draw: st.DrawFn) -> ChainProblem:
    """Small problems, of which those with three tokens or more have a count, and so rows."""
    problem = draw(chain_problems(longest=4, most_labels=2, depth=2, penalties=(0.3, math.inf)))
    if problem.length < 3 or problem.n_labels < 2:
        return problem
    often = total((1, OneOf(t, (0,))) for t in range(problem.length))
    says = between(often, draw(st.integers(0, 1)), draw(st.integers(1, 2)))
    return problem.with_clauses((*problem.clauses, Clause(len(problem.clauses), says, 0.3)))


@pytest.mark.parametrize("gamma", [0.7, 1.0, 2.0])
def test_ascent_against_a_generic_solver(gamma: float) -> None:
    from scipy.optimize import minimize

    seen = 0

    @law(60)
    @given(problems_with_a_count())
    def run(problem: ChainProblem) -> None:
        nonlocal seen
        found = Enumerated(problem)
        reading, count, groups = found.reading, len(found.scores), len(found.reading.price)
        if not feasible(found) or reading.n_rows == 0:
            return
        seen += 1

        def loss(v: np.ndarray) -> float:
            q = np.maximum(v[:count], 1e-300)
            return float(gamma * q @ np.log(q) - q @ (found.scores - found.costs) + reading.price @ v[count:])

        def room(v: np.ndarray) -> np.ndarray:
            slack = np.where(reading.group == HARD, 0.0, reading.share * np.append(v[count:], 0.0)[reading.group])
            return reading.bound + slack - v[:count] @ found.rows

        rules = [{"type": "eq", "fun": lambda v: v[:count].sum() - 1.0}, {"type": "ineq", "fun": room}]
        begin = np.concatenate([np.full(count, 1.0 / count), np.ones(groups)])
        limits = [(1e-12, 1.0)] * count + [(0.0, None)] * groups
        options = {"maxiter": 500, "ftol": 1e-12}
        solved = minimize(loss, begin, method="SLSQP", bounds=limits, constraints=rules, options=options)
        beliefs = expected_beliefs(problem, gamma=gamma)
        if solved.success:
            assert beliefs.values[0] == pytest.approx(-solved.fun - reading.constant, abs=2e-4)

    run()
    assert seen > 3


@pytest.mark.parametrize("counters", [False, True])
def test_a_batch_is_its_parts_on_any_number_of_threads(counters: bool) -> None:
    rng = np.random.default_rng(3)
    from sidelight.rules import Sentence, count, gallery, implies, rule
    from sidelight.rules.output import Domain

    labels = "ABC"
    rules = [gallery.appears_once(labels), gallery.at_least(2, "A").soft(0.8), gallery.starts_with("A", "B")]
    lengths = [3, 1, 7, 5, 4]

    @rule
    def asks(x, y):
        often = [count(y[t] == label for t in x.positions) for label in "BC"]
        return True if len(x) in (3, 5) else implies(often[0] >= 2, often[1] >= 2)

    rules += [asks, asks.soft(0.5)] if counters else []
    readings = []
    for length in lengths:
        x = Sentence(["w"] * length)
        says = [one.on_labels(x, Domain(labels)) for one in rules]
        penalties = [math.inf if one.penalty is None else one.penalty for one in rules]
        readings.append(expectations(says, penalties, chain_columns(length, 3)))
    tokens, transition = rng.normal(size=(20, 3)) * 2, rng.normal(size=(3, 3))
    start, end = rng.normal(size=3), rng.normal(size=3)
    assert [bool(one.counters) for one in readings] == [False, False, counters, False, counters]
    batch = ExpectationBatch(lengths, 3, readings)
    whole = batch.beliefs(tokens, transition, start, end, gamma=1.0)
    two = batch.beliefs(tokens, transition, start, end, gamma=1.0, n_jobs=2)
    assert (whole.tokens == two.tokens).all() and (whole.multipliers == two.multipliers).all()
    first = 0
    for i, length in enumerate(lengths):
        one = ExpectationBatch([length], 3, [readings[i]])
        alone = one.beliefs(tokens[first : first + length], transition, start, end, gamma=1.0)
        assert (alone.tokens == whole.tokens[first : first + length]).all()
        assert alone.values[0] == whole.values[i]
        first += length
    assert (whole.violations < 1e-5).all() and (whole.steps > 1).any()
    warm = batch.beliefs(tokens, transition, start, end, gamma=1.0, warm=whole.multipliers)
    assert warm.steps.max() <= 2
    np.testing.assert_allclose(warm.tokens, whole.tokens, atol=1e-9)


def test_scores_that_span_too_much_for_scaling() -> None:
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(6, 3)) * 800
    transition = rng.normal(size=(3, 3)) * 900
    problem = ChainProblem(tokens, transition, np.zeros(3), np.zeros(3))
    found = Enumerated(problem)
    beliefs = expected_beliefs(problem, gamma=1.0)
    peak = found.scores.max()
    assert beliefs.values[0] == pytest.approx(peak + math.log(np.exp(found.scores - peak).sum()))
    np.testing.assert_allclose(beliefs.tokens.sum(1), 1.0)
