"""One against the rest: a binary linear SVM for every class, the highest score wins.

The problem of class l, with y_il = 1 where input i has it and −1 elsewhere (Rifkin and Klautau 2004; what LIBLINEAR
and scikit-learn's LinearSVC solve):

    min_w  ½ ‖w_l‖² + Σ_i C_i max(0, 1 − y_il w_l·x_i)^p

or the logistic loss of the same value; x_i has a constant 1 beside its features if there is a bias. Each input is one
term with one cut, 1 − y_il w·x_i, which is in the working set from the start; `solvers.dual_coordinate` does the rest.
Classes share no weights, so they are solved on several threads, and all of them together have the sum of the objectives
and of the duals. A class is solved when its gap is at most tolerance times its objective, or after the maximum number
of sweeps.

Two classes are one problem. Tokens of sequences are separate inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids
from sidelight.core.file_contents import whole_of
from sidelight.core.kernels import inner
from sidelight.core.records import SMALL_GAP, Round
from sidelight.features.counts import Differences, difference_rows
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.learners.margin import MARGIN_KIN, MarginOptions, options_of
from sidelight.learners.single_tokens import GoldTokens, token_weights
from sidelight.objective.cuts import Cuts, total_loss
from sidelight.parallel import threads
from sidelight.rounds import Learner
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.solvers.dual_coordinate import dual_value, sweeps, worst_values
from sidelight.solvers.duals.working_set import WorkingSet
from sidelight.specs import LearnerSpec, Need
from sidelight.specs.fit_data import FitData

ABREAST = 8  # classes solved in a round
MOST_SWEEPS = 20_000


@dataclass(frozen=True, kw_only=True)
class OneAgainstRest(LearnerSpec):
    """A binary SVM for every class against the rest, or for every label of single tokens (Rifkin and Klautau 2004)."""

    name = "one_against_rest"
    needs = frozenset({Need.TOKENS})
    heeds = frozenset({"loss", "prices"})
    kin = MARGIN_KIN
    minimises = "½‖w‖² + C Σ binary margin loss, per class"
    inference = "scores"
    stops = "duality gap"
    no_partial_fit = "fit it on all evidence at once"

    def make(self, data: FitData) -> Learner:
        tokens = GoldTokens.of(data)
        problems = BinaryProblems(tokens.rows, tokens.labels, tokens.prices, data.layout, data.settings.n_jobs)
        return OneAgainstRestLearner.fresh(problems, options_of(data))


class SolvedClass(NamedTuple):
    """A binary problem's weights and what is known of them."""

    weights: Floats
    primal: float
    dual: float
    sweeps: int


@dataclass(frozen=True, slots=True)
class BinaryProblems:
    """Labelled tokens, each as a separate input."""

    rows: Rows
    labels: Ids  # [T]
    prices: Floats  # [T]
    layout: Layout  # of the model: one column of weights per problem
    n_jobs: int | None = None
    most_sweeps: int = MOST_SWEEPS

    def __len__(self) -> int:
        return self.layout.columns

    @property
    def own_layout(self) -> Layout:
        """The layout of the weights of one problem."""
        layout = self.layout
        return Layout(2, layout.n_attributes, layout.n_dense, chain=False, bias=layout.bias, null_label=True)

    def solve(self, column: int, options: MarginOptions) -> SolvedClass:
        """The SVM of one class against the rest."""
        layout, rows, count = self.own_layout, self.rows, len(self.rows)
        mine = (self.labels == column + self.layout.n_labels - self.layout.columns).astype(np.int32)
        ones, everything = np.ones(count), np.arange(count)
        slopes = difference_rows(rows, layout, Differences.of(everything, 1 - mine, mine, scales=ones))
        whole = options.power == 2 and len(rows.values) == 0 and rows.dense.shape[1] == 0
        pool = WorkingSet(count, whole=whole)
        pool.add(Cuts(everything, slopes, ones))
        weights = layout.zeros()
        state = np.array([options.seed], dtype=np.uint64)
        sweep_count, step, primal, dual = 0, 1, total_loss(ones, self.prices, options.power), 0.0
        while not _is_solved(primal, dual, options) and sweep_count < self.most_sweeps:
            done, _ = sweeps(
                pool, weights, self.prices, cuts=everything, power=options.power, at_most=step, enough=0.0, state=state
            )
            sweep_count += done
            step = min(2 * step, 32)
            values = worst_values(pool, weights, everything, power=options.power)
            loss = total_loss(values, self.prices, options.power)
            primal = 0.5 * inner(weights, weights) + loss
            dual = dual_value(pool, weights, self.prices, power=options.power)
        return SolvedClass(weights, primal, dual, sweep_count)

    def assemble(self, weights: Floats) -> Floats:
        """The model's weights from those of all problems. # [problems, size of own_layout]"""
        own, layout = self.own_layout, self.layout
        parts = [np.zeros((layout.n_labels - layout.columns, own.size)), weights]
        columns = np.concatenate(parts).T  # [size, L]
        constants = columns[own.start_at] if layout.bias else np.zeros(layout.n_labels)
        dense, attributes = columns[own.dense_at : own.emission_at], columns[own.emission_at :]
        return token_weights(layout, constants=constants, dense=dense, attributes=attributes)


@dataclass(slots=True)
class OneAgainstRestLearner(RoundByRound):
    """Binary SVMs, some classes a round; those to come have weights 0."""

    KEEPS = ("found", "primals", "duals")
    name = "one_against_rest"

    problems: BinaryProblems
    options: MarginOptions
    found: Floats  # [problems, size of own_layout]
    primals: Floats  # [problems]
    duals: Floats  # [problems]
    solved: int = 0

    @classmethod
    def fresh(cls, problems: BinaryProblems, options: MarginOptions) -> OneAgainstRestLearner:
        """A learner before its first round."""
        count = len(problems)
        at_zero = np.full(count, total_loss(np.ones(len(problems.prices)), problems.prices, options.power))
        return cls(problems, options, np.zeros((count, problems.own_layout.size)), at_zero, np.zeros(count))

    @property
    def weights(self) -> Floats:
        """The weights of all classes."""
        return self.problems.assemble(self.found)

    def step(self) -> Step:
        """Solve some classes."""
        columns = range(self.solved, min(self.solved + ABREAST, len(self.problems)))

        def run(column: int) -> SolvedClass:
            return self.problems.solve(column, self.options)

        solved = threads(run, columns, n_jobs=self.problems.n_jobs)
        for column, one in zip(columns, solved):
            self.found[column] = one.weights
            self.primals[column], self.duals[column] = one.primal, one.dual
        self.solved = columns.stop
        primal, dual = float(np.sum(self.primals)), float(np.sum(self.duals))
        cuts = len(columns) * len(self.problems.rows)
        figures = {"objective": primal, "primal": primal, "dual": dual, "gap": primal - dual}
        return self._why(), {
            **figures,
            "new_cuts": cuts,
            "working_set": cuts,
            "sweeps": sum(one.sweeps for one in solved),
        }

    def _why(self) -> str | None:
        if self.solved < len(self.problems):
            return None
        solved = all(_is_solved(primal, dual, self.options) for primal, dual in zip(self.primals, self.duals))
        return SMALL_GAP if solved else f"{self.problems.most_sweeps} sweeps"

    def has_result(self, record: Round) -> bool:
        """Only all classes together are of use."""
        return record.last

    def more_state(self) -> State:
        return {"solved": self.solved}, {}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.solved = whole_of(values, "solved", high=len(self.problems))


def _is_solved(primal: float, dual: float, options: MarginOptions) -> bool:
    return primal - dual <= max(options.tolerance * primal, 1e-12)
