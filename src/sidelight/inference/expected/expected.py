"""The E-step of unified EM under rules, for chains: beliefs about unknown outputs.

    max_q  E_q[score] + γ H(q) − Σ ρ ξ      over  E_q[φ] <= b + ξ        (thesis Eq. 4.7, A.1)

where rows φ, b and slacks ξ come from `rules.expectations`. For γ > 0 by dual ascent: γ = 1 is posterior regularisation
(Ganchev et al. 2010), γ = ∞ the belief of maximum entropy that obeys. For γ = 0 by the linear program over beliefs of
tokens and edges; without rules, its vertices are the labelings. All chains of a batch have the same transition scores.
If rules need counters, the chain is replaced by that of `expected_states`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import offsets_of
from sidelight.inference.expected.expected_ascent import FIXED, ascend
from sidelight.inference.expected.expected_program import believed_by_program, possible
from sidelight.inference.expected.expected_states import paired
from sidelight.inference.legal import infeasible
from sidelight.inference.problem import ChainProblem, Clause
from sidelight.parallel import shards, threads
from sidelight.rules.columns import chain_columns
from sidelight.rules.expr import TRUE
from sidelight.rules.lowering.expectations import HARD, Expectations, expectations

MOST_STEPS = 500
TOLERANCE = 1e-6  # tolerance for hard rows; with a larger one, T of unified EM would sometimes fall by as much
DOUBTFUL = 1e-2  # a row with a larger violation after all steps may be infeasible
MOST_COLUMNS = 1_000_000  # of a linear program over pairs of labels and states of counters
TRACE = 64  # maximum number of stored values of the dual


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedBeliefs:
    """The best beliefs about a batch of chains under rules."""

    starts: Ints  # [N + 1]
    tokens: Floats  # [T, L] q(y_t = l)
    moves: Floats  # [N, L, L] expected transitions of each sequence
    values: Floats  # [N] E_q[score] + γ H(q) (without H for γ = ∞), less penalties
    penalties: Floats  # [N] Σ ρ ξ and the other costs of soft rules
    bounds: Floats  # [N] no belief that obeys is worth more: the dual
    violations: Floats  # [N] by how much the worst hard row is still broken
    multipliers: Floats  # [rows of all sequences] λ/γ: a warm start for the next call
    steps: Ints  # [N]
    duals: Floats  # [N, TRACE] γ D after each step, the last ones repeated


class ExpectationBatch:
    """The constraints of a batch of chains, prepared once and used in every E-step."""

    def __init__(self, lengths: Sequence[int], n_labels: int, readings: Sequence[Expectations]) -> None:
        self.n_labels, self.readings = n_labels, list(readings)
        self.numbers: Sequence[int] | None = None  # numbers of the sequences in errors
        self.starts = offsets_of(lengths)
        self.counting = [i for i, one in enumerate(readings) if one.counters]
        laid = [_Cells(one, length * n_labels) for one, length in zip(readings, lengths)]
        self.out_starts = offsets_of([len(one.edges_out) for one in laid])
        self.ruled_out = _whole([one.edges_out for one in laid])
        self.nodes_out = [one.nodes_out for one in laid]
        self.cell_starts = offsets_of([len(one.places) for one in laid])
        self.places = _whole([one.places for one in laid])
        self.entry_starts = offsets_of([count for one in laid for count in one.counts])
        self.entry_rows = _whole([one.rows for one in laid])
        self.entry_weights = _real([one.weights for one in laid])
        self.row_starts = offsets_of([one.n_rows + 1 for one in readings])  # the last row of each: its fixed costs
        self.bound = _real([np.append(one.bound, 0.0) for one in readings])
        self.group = _whole([np.append(one.group, FIXED) for one in readings])
        self.share = _real([np.append(one.share, 0.0) for one in readings])
        self.price = _real([_prices(one) for one in readings])

    def called(self, numbers: Sequence[int]) -> ExpectationBatch:
        """The same, with these numbers of sequences in errors."""
        self.numbers = numbers
        return self

    def beliefs(
        self,
        tokens: Floats,  # [T, L]
        transition: Floats,  # [L, L]
        start: Floats,  # [L]
        end: Floats,  # [L]
        *,
        gamma: float,
        warm: Floats | None = None,
        most_steps: int = MOST_STEPS,
        tolerance: float = TOLERANCE,
        n_jobs: int | None = None,
    ) -> ConstrainedBeliefs:
        """The best beliefs; `warm` are the multipliers of an earlier call.

        Raises `Infeasible` with the number of the sequence and the conflicting rules if no belief obeys the hard rules,
        and `Intractable` for γ < 0, for which the best belief is a single labeling.
        """
        if not gamma >= 0.0:
            raise Intractable(f"beliefs under rules need gamma >= 0, not {gamma}; below 0 take the best labeling")
        scores = np.array(tokens, dtype=np.float64)
        scores[self.starts[:-1]] += start
        scores[self.starts[1:] - 1] += end
        free = scores.copy()
        for first, out in zip(self.starts, self.nodes_out):
            scores[first + out // self.n_labels, out % self.n_labels] = -math.inf
        if gamma == 0.0:
            beliefs = self._by_program(scores, free, transition, n_jobs)
        else:
            beliefs = self._by_ascent(scores, free, transition, gamma, warm, most_steps, tolerance, n_jobs)

        def run(i: int) -> None:
            self._by_pairs(beliefs, i, scores, free, transition, gamma, warm, most_steps, tolerance)

        threads(run, self.counting, n_jobs=n_jobs)
        return beliefs

    def _by_ascent(
        self,
        scores: Floats,
        free: Floats,
        transition: Floats,
        gamma: float,
        warm: Floats | None,
        most_steps: int,
        tolerance: float,
        n_jobs: int | None,
    ) -> ConstrainedBeliefs:
        count, size = len(self.starts) - 1, self.n_labels
        fixed = self.group == FIXED
        multipliers = np.zeros(len(self.bound)) if warm is None else np.array(warm, dtype=np.float64)
        multipliers[fixed] = 1.0 / gamma
        beliefs = ConstrainedBeliefs(
            starts=self.starts,
            tokens=np.zeros_like(scores),
            moves=np.zeros((count, size, size)),
            values=np.zeros(count),
            penalties=np.zeros(count),
            bounds=np.zeros(count),
            violations=np.zeros(count),
            multipliers=multipliers,
            steps=np.zeros(count, np.int64),
            duals=np.zeros((count, TRACE)),
        )
        means, sums, residuals = np.zeros(len(self.bound)), np.zeros(count), np.zeros(count)
        divided, onward, caps = (_divided(part, gamma) for part in (scores, transition, self.price))

        def run(shard: tuple[int, int]) -> None:
            for lo, hi in self._plain(*shard):
                ascend_from(lo, hi)

        def ascend_from(lo: int, hi: int) -> None:
            ascend(
                self.starts, lo, hi, divided, onward, self.out_starts, self.ruled_out, self.cell_starts, self.places,
                self.entry_starts, self.entry_rows, self.entry_weights, self.row_starts, self.bound, self.group,
                self.share, caps, most_steps, tolerance, multipliers, beliefs.tokens, beliefs.moves, means, sums,
                beliefs.duals, residuals, beliefs.steps,
            )  # fmt: skip

        threads(run, shards(self.starts), n_jobs=n_jobs)
        for i, reading in enumerate(self.readings):
            if reading.counters:
                continue
            first, last = int(self.row_starts[i]), int(self.row_starts[i + 1]) - 1
            mine, expected = multipliers[first : last + 1], means[first : last + 1]
            beliefs.violations[i] = reading.violation(expected[:-1]) if sums[i] > -math.inf else math.inf
            if beliefs.violations[i] > max(DOUBTFUL, tolerance):
                self._check(i, free, transition)
            slack = reading.slack(expected[:-1])
            beliefs.penalties[i] = reading.constant + float(expected[-1]) + float(reading.price @ slack)
            if math.isfinite(gamma):
                worth = gamma * (float(sums[i]) + float(mine @ expected))
            else:
                part = slice(int(self.starts[i]), int(self.starts[i + 1]))
                worth = _expected(beliefs.tokens[part], scores[part]) + _expected(beliefs.moves[i], transition)
            beliefs.values[i] = worth - beliefs.penalties[i]
            beliefs.bounds[i] = math.inf if math.isinf(gamma) else gamma * beliefs.duals[i, -1] - reading.constant
        if math.isfinite(gamma):
            beliefs.duals[:] *= gamma
        return beliefs

    def _by_program(self, scores: Floats, free: Floats, transition: Floats, n_jobs: int | None) -> ConstrainedBeliefs:
        count, size = len(self.starts) - 1, self.n_labels
        moves, values, penalties = np.zeros((count, size, size)), np.zeros(count), np.zeros(count)
        beliefs = np.zeros_like(scores)

        def run(i: int) -> None:
            part = slice(int(self.starts[i]), int(self.starts[i + 1]))
            one = believed_by_program(scores[part], transition, self.readings[i])
            if one is None:
                raise self._impossible(i, free, transition)
            beliefs[part], moves[i], values[i], penalties[i] = one

        threads(run, [i for i, reading in enumerate(self.readings) if not reading.counters], n_jobs=n_jobs)
        none = np.zeros(count)
        steps, duals = np.ones(count, np.int64), np.repeat(values[:, None], TRACE, axis=1)
        multipliers = np.zeros(len(self.bound))
        return ConstrainedBeliefs(
            self.starts, beliefs, moves, values, penalties, values.copy(), none, multipliers, steps, duals
        )

    def _plain(self, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """The sequences lo..hi without those with counters."""
        for i in (i for i in self.counting if lo <= i < hi):
            if lo < i:
                yield lo, i
            lo = i + 1
        if lo < hi:
            yield lo, hi

    def _by_pairs(
        self,
        beliefs: ConstrainedBeliefs,
        i: int,
        scores: Floats,
        free: Floats,
        transition: Floats,
        gamma: float,
        warm: Floats | None,
        most_steps: int,
        tolerance: float,
    ) -> None:
        """Write the beliefs about a sequence with counters."""
        part, rows = (slice(int(at[i]), int(at[i + 1])) for at in (self.starts, self.row_starts))
        size, length = self.n_labels, int(self.starts[i + 1] - self.starts[i])
        chain = paired(scores[part], transition, self.readings[i])
        n_pairs = chain.n_pairs
        if gamma == 0.0 and length * n_pairs * n_pairs > MOST_COLUMNS:
            variables = f"{length} tokens and {n_pairs} pairs of a label and a state of counters"
            raise Intractable(f"a linear program with {variables} is too large; use gamma above 0")
        nothing = np.zeros(n_pairs)
        try:
            one = ExpectationBatch([length], n_pairs, [chain.reading]).beliefs(
                chain.scores, chain.transition, nothing, nothing, gamma=gamma,
                warm=None if warm is None else warm[rows], most_steps=most_steps, tolerance=tolerance, n_jobs=1,
            )  # fmt: skip
        except Infeasible:
            raise self._impossible(i, free, transition) from None
        beliefs.tokens[part] = one.tokens.reshape(length, -1, size).sum(axis=1)
        beliefs.moves[i] = one.moves[0].reshape(-1, size, n_pairs // size, size).sum(axis=(0, 2))
        for name in ("values", "penalties", "bounds", "violations", "steps", "duals"):
            getattr(beliefs, name)[i] = getattr(one, name)[0]
        beliefs.multipliers[rows] = one.multipliers

    def _check(self, i: int, free: Floats, transition: Floats) -> None:
        part = slice(int(self.starts[i]), int(self.starts[i + 1]))
        if not possible(free[part], transition, self.readings[i]):
            raise self._impossible(i, free, transition)

    def _impossible(self, i: int, free: Floats, transition: Floats) -> Infeasible:
        """The error with a minimal set of conflicting rules; `free` are the scores without exclusions."""
        part, reading = slice(int(self.starts[i]), int(self.starts[i + 1])), self.readings[i]
        names = reading.hard_rules

        def feasible(clauses: tuple[Clause, ...]) -> bool:
            subset = reading.only([names[clause.rule] for clause in clauses])
            if not subset.counters:
                return possible(free[part], transition, subset)
            chain = paired(free[part], transition, subset)
            return possible(chain.scores, chain.transition, chain.reading)

        error = infeasible([Clause(k, TRUE) for k in range(len(names))], feasible, names)
        where = f"sequence {i}" if self.numbers is None else f"example {self.numbers[i]}"
        return Infeasible(f"{where}: {error}", example=None if self.numbers is None else self.numbers[i])


def expected_beliefs(
    problem: ChainProblem, *, gamma: float, names: Sequence[str] = (), tolerance: float = TOLERANCE
) -> ConstrainedBeliefs:
    """The best beliefs about one chain under its clauses.

    Raises `Intractable` for second-order chains and for clauses without a linear form, and `Infeasible` if no belief
    obeys.

    >>> from sidelight.inference.problem import Clause
    >>> from sidelight.rules.expr import Between, OneOf
    >>> twice = Clause(0, Between(tuple((1, OneOf(t, (1,))) for t in range(3)), 2, None))
    >>> flat = ChainProblem(np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2), (twice,))
    >>> expected_beliefs(flat, gamma=1.0).tokens[:, 1].round(4).tolist()
    [0.6667, 0.6667, 0.6667]
    """
    if problem.triple is not None:
        raise Intractable("beliefs under rules are for first-order chains")
    columns = chain_columns(problem.length, problem.n_labels)
    clauses = problem.clauses
    called = [names[one.rule] if one.rule < len(names) else f"number {one.rule}" for one in clauses]
    says, penalties = [one.says for one in clauses], [one.penalty for one in clauses]
    reading = expectations(says, penalties, columns, names=called)
    batch = ExpectationBatch([problem.length], problem.n_labels, [reading])
    arrays = problem.tokens, problem.transition, problem.start, problem.end
    return batch.beliefs(*arrays, gamma=gamma, tolerance=tolerance)


class _Cells:
    """The columns in the rows and costs of one chain, each with its entries, and the excluded columns."""

    __slots__ = ("counts", "edges_out", "nodes_out", "places", "rows", "weights")

    def __init__(self, reading: Expectations, n_nodes: int) -> None:
        self.nodes_out = reading.ruled_out[reading.ruled_out < n_nodes]
        self.edges_out = reading.ruled_out[reading.ruled_out >= n_nodes]
        paid = np.flatnonzero(reading.cost)
        row = np.repeat(np.arange(reading.n_rows), np.diff(reading.starts))
        columns = np.concatenate([reading.columns, paid])
        rows = np.concatenate([row, np.full(len(paid), reading.n_rows)])
        weights = np.concatenate([reading.weights, reading.cost[paid]])
        order = np.argsort(columns, kind="stable")
        self.places, self.counts = np.unique(columns, return_counts=True)
        self.rows, self.weights = rows[order], weights[order]


def _prices(reading: Expectations) -> Floats:
    """The price of the group of every row, and of the fixed one."""
    prices = np.full(reading.n_rows + 1, math.inf)
    soft = np.flatnonzero(reading.group != HARD)
    prices[soft] = reading.price[reading.group[soft]]
    return prices


def _whole(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def _real(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])


def _divided(scores: Floats, gamma: float) -> Floats:
    """scores/γ; infinite scores stay infinite."""
    return np.where(np.isfinite(scores), scores, 0.0) / gamma + np.where(np.isfinite(scores), 0.0, scores)


def _expected(beliefs: Floats, scores: Floats) -> float:
    seen = beliefs > 0.0
    return float(beliefs[seen] @ scores[seen])
