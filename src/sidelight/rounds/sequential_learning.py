"""Learning sub-problems while others are fixed: the perceptron of Figure 2 and the likelihood of Figure 1, in the
orders of LO and L+I, IBT, and SL.

(Roth, Small and Titov, Sequential Learning of Classifiers for Structured Prediction Problems, AISTATS 2009.)

The perceptron, for every example and several passes, averaged:

    ŷ = argmax_y  w_k·f_k(x, y) + Σ_(j learned) w_j·f_j(x, y) − handicap      over all legal y
    w_k += f_k(x, y) − f_k(x, ŷ)                                             where they differ in k

Sub-problems that are not learned yet score zero, so the best legal completion is used for them: max_(y_<t) c(y_<t,
y_k). A thick margin is a handicap of the right choice (or, if it is not among the choices of k, a bonus for these).
`updates` counts variables on which weights changed.

The likelihood, by L-BFGS:

    min_(w_k)  ½ ‖w_k‖² − C Σ_i log P(y_k | x),    P(y_k | x) ∝ e^(w_k·f_k) Σ_(y learned) e^(c + Σ_j w_j·f_j)

The sum is over the outputs of learned sub-problems that have a legal completion (`TiedSpace.projected`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.file_contents import mapping_of, number_of, text_of, whole_of
from sidelight.errors import DataError, Intractable
from sidelight.features.rows import Rows
from sidelight.features.structured.variable_features import VariableLayout, add_variable_parts, variable_scores
from sidelight.objective.online.sequential_epochs import PartPerceptron
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.spaces.slot_sums import SummedSlotSpace
from sidelight.spaces.slots import SlotScores
from sidelight.spaces.sub_problems.tied_space import FreeSpace, TiedSpace

MOST_ITERATIONS = 500


class Learned(NamedTuple):
    """The weights of one sub-problem, zero elsewhere, and the number of their updates."""

    weights: Floats  # in the layout of all
    updates: int  # variables, over all passes; 0 for likelihoods
    passes: int  # or iterations


Told = Callable[[int, int, float | None], None]  # pass, updates, objective


@dataclass(frozen=True)
class TiedExamples:
    """A batch with its right outputs, in the form for sub-problems."""

    rows: Rows
    layout: VariableLayout  # without pairs
    space: TiedSpace
    targets: Ids  # [T]
    importance: Floats  # [N]

    @cached_property
    def free(self) -> FreeSpace:
        """The space of outputs without the rules."""
        return FreeSpace.of(self.space)

    @cached_property
    def norms(self) -> Floats:
        """1 + ‖f‖² of every slot: the change of its score in one update. # [T]"""
        squares = np.ones(len(self.rows.indices)) if not len(self.rows.values) else self.rows.values**2
        sums = np.concatenate([[0.0], np.cumsum(squares)])
        return np.asarray(1.0 + sums[self.rows.indptr[1:]] - sums[self.rows.indptr[:-1]])

    def scores(self, weights: Floats) -> Floats:
        """# [T, K]"""
        return variable_scores(self.rows, self.layout, weights).slots

    def instances(self, choices: Ints) -> int:
        """The number of slots that have one of these choices."""
        return int(np.isin(self.targets, choices).sum())

    def best(self, weights: Floats, *, tied: bool = True) -> Ids:
        """The best choices of all slots, with or without the rules. # [T]"""
        space: TiedSpace = self.space if tied else self.free
        return space.best_each(np.where(space.there != 0, self.scores(weights), -np.inf))[0]

    def error(self, weights: Floats, choices: Ints) -> float:
        """The number of slots where the best outputs are wrong about these choices, divided by the number of slots that
        have one of them.
        """
        choices_now = self.best(weights)
        touched = np.isin(self.targets, choices) | np.isin(choices_now, choices)
        return np.count_nonzero((self.targets != choices_now) & touched) / max(self.instances(choices), 1)

    def take(self, which: Ints) -> TiedExamples:
        """Some of the inputs."""
        slots = self.rows.tokens_of(which)
        space = cast(TiedSpace, self.space.take(which))
        return TiedExamples(self.rows.take(which), self.layout, space, self.targets[slots], self.importance[which])

    def margins(self, updates: Floats) -> Floats:
        """Margins of choices, converted from updates: multiplied by the mean change of a slot's score in one update. #
        [K]
        """
        there = self.space.there.astype(np.float64)
        return np.asarray(updates * (there.T @ self.norms) / np.maximum(there.sum(axis=0), 1.0))

    def handicaps(self, choices: Ints, margins: Floats) -> Floats:
        """The bonus or handicap of each choice while a sub-problem is learned. # [T, K]"""
        bonus, slots = np.zeros((len(self.targets), self.space.n_labels)), np.arange(len(self.targets))
        among = np.isin(self.targets, choices)
        bonus[np.ix_(~among, choices)] = margins[choices]
        bonus[slots[among], self.targets[among]] = -margins[self.targets[among]]
        return bonus


def learn_by_perceptron(
    data: TiedExamples,
    choices: Ints,
    earlier: Floats,  # [T, K] scores of what is learned
    *,
    tied: bool,
    margins: Floats,  # [K] in units of scores
    passes: int,
    seed: int,
    report: Told | None = None,
) -> Learned:
    """The averaged perceptron for the sub-problem with these choices."""
    space: TiedSpace = data.space if tied else data.free
    fixed, layout = earlier + data.handicaps(choices, margins), data.layout
    own = PartPerceptron.fresh(data.rows, space, fixed, data.targets, data.importance, choices, layout.n_attributes)
    rng, updates, done = np.random.default_rng(seed), 0, 0
    for number in range(passes):
        moved = own.epoch(rng.permutation(len(data.rows)))
        updates, done = updates + moved, number + 1
        if report is not None:
            report(done, moved, None)
        if moved == 0:
            break
    average, flat = own.average(), layout.zeros()
    layout.bias(flat)[choices] = average[-1]
    layout.attribute_weights(flat)[:, choices] = average[:-1]
    return Learned(flat, updates, done)


def learn_by_likelihood(
    data: TiedExamples,
    choices: Ints,
    earlier: Floats,
    learned: Bytes,  # [K] of earlier sub-problems
    *,
    tied: bool,
    C: float,
    report: Told | None = None,
) -> Learned:
    """The maximum-likelihood weights of the sub-problem with these choices, summed over the earlier sub-problems."""
    objective = SequentialLikelihood.of(data, choices, earlier, learned, tied=tied, C=C)
    solver = Lbfgs.fresh(data.layout.zeros(), LbfgsOptions(epsilon=1e-6, delta=1e-9))
    while not solver.stopped and solver.iterations < MOST_ITERATIONS:
        value = solver.step(objective.evaluate)
        if report is not None:
            report(solver.iterations, 0, value)
    return Learned(np.array(solver.weights), 0, solver.iterations)


@dataclass(frozen=True)
class SequentialLikelihood:
    """½ ‖w_k‖² − C Σ log P(y_k | x), with its gradient for the weights of k, zero elsewhere."""

    data: TiedExamples
    choices: Ints
    earlier: Floats  # [T, K]
    every: SummedSlotSpace  # all outputs of the learned sub-problems
    right: SummedSlotSpace  # those in which k is right
    C: float

    @classmethod
    def of(
        cls, data: TiedExamples, choices: Ints, earlier: Floats, learned: Bytes, *, tied: bool, C: float
    ) -> SequentialLikelihood:
        """Raises `Intractable` if the sum over earlier sub-problems is intractable."""
        fixed = learned.copy()
        fixed[choices] = 1
        try:
            every = (data.space if tied else data.free).projected(fixed)
            among = np.isin(data.targets, choices)
            right = np.ones((len(data.targets), data.space.n_labels), dtype=np.uint8)
            right[:, choices] = 0
            right[among] = 0
            right[among, data.targets[among]] = 1
            inside = every.inside(right)
            likelihood = cls(data, choices, earlier, every, inside, C)
            likelihood.evaluate(data.layout.zeros(), data.layout.zeros())
        except Intractable as error:
            problem = str(error).split(";")[0]
            remedy = "use form='perceptron', which needs only the best output"
            raise Intractable(f"{problem}; {remedy}") from None
        return likelihood

    def evaluate(self, weights: Floats, gradient: Floats) -> float:
        """The value; its gradient is written to `gradient`."""
        data, prices = self.data, self.C * self.data.importance
        scores = SlotScores(self.earlier + data.scores(weights))
        alike = self.every.beliefs(scores, prices=prices)
        right = self.right.log_sums(scores)
        gradient[:] = weights
        slopes = np.zeros_like(alike.slots)
        slopes[:, self.choices] = alike.slots[:, self.choices]
        among = np.flatnonzero(np.isin(data.targets, self.choices))
        slopes[among, data.targets[among]] -= np.repeat(prices, data.rows.lengths)[among]
        add_variable_parts(data.rows, data.layout, slopes, (), gradient)
        return float(0.5 * weights @ weights + prices @ (alike.log_sums - right))


class SubProblem(NamedTuple):
    """The choices of a sub-problem, and their kind of variable."""

    choices: Ints
    kind: str


Parts = Mapping[str, SubProblem]


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """One step of sequential learning: the selected sub-problem, and the difficulty of each remaining one."""

    chosen: str
    errors: Mapping[str, float]  # updates, or held-out errors, per instance; empty in a given order
    updates: int
    passes: int


class Learn(Protocol):
    """Learns the named sub-problems at once."""

    def __call__(
        self, data: TiedExamples, names: Sequence[str], earlier: Floats, done: Sequence[str], *, tied: bool
    ) -> Learned: ...


def learned_alone(data: TiedExamples, parts: Parts, learn: Learn) -> Floats:
    """Every sub-problem separately (LO, L+I)."""
    nothing = np.zeros((len(data.targets), data.space.n_labels))
    return np.asarray(sum(learn(data, [name], nothing, [], tied=False).weights for name in parts))


def learned_together(data: TiedExamples, parts: Parts, learn: Learn) -> Floats:
    """All sub-problems at once, under the rules (IBT)."""
    nothing = np.zeros((len(data.targets), data.space.n_labels))
    return learn(data, list(parts), nothing, [], tied=True).weights


def learned_in_sequence(
    data: TiedExamples,
    parts: Parts,
    learn: Learn,
    *,
    order: Sequence[str] | None = None,
    validation: TiedExamples | None = None,
) -> tuple[Floats, list[LearnedPart]]:
    """One sub-problem after another (SL): in a given order, or at each step the easiest of the remaining ones.

    The easiest one has the smallest error on validation examples, if there are any (Figure 1), else the fewest updates
    for its instances (Figure 2, with the scale of footnote 2); of equal ones the first.
    """
    weights = data.layout.zeros()
    steps: list[LearnedPart] = []
    while len(steps) < len(parts):
        done = [step.chosen for step in steps]
        names = [order[len(done)]] if order is not None else [name for name in parts if name not in done]
        earlier = data.scores(weights)
        tried = {name: learn(data, [name], earlier, done, tied=True) for name in names}
        errors: dict[str, float] = {}
        for name, one in tried.items() if order is None else ():
            choices = parts[name].choices
            if validation is None:
                errors[name] = one.updates / max(data.instances(choices), 1)
            else:
                errors[name] = validation.error(weights + one.weights, choices)
        easiest = min(tried, key=lambda name: errors.get(name, 0.0))
        steps.append(LearnedPart(easiest, errors, tried[easiest].updates, tried[easiest].passes))
        weights = weights + tried[easiest].weights
    return weights, steps


def set_aside(data: TiedExamples, share: float, *, seed: int) -> tuple[TiedExamples, TiedExamples]:
    """Split examples into a training part and a held-out share; raises `DataError` if there are too few."""
    mixed = np.random.default_rng(seed).permutation(len(data.rows))
    cut = max(1, round(share * len(mixed)))
    if cut >= len(mixed):
        raise DataError(f"{len(mixed)} examples, of which some are held out", remedy="give more, or an order")
    return data.take(np.sort(mixed[cut:])), data.take(np.sort(mixed[:cut]))


def stored_step(values: Any) -> LearnedPart:
    """The step stored in a file; raises `ModelFileError` if it is invalid."""
    errors = mapping_of(values, "errors")
    return LearnedPart(
        text_of(values, "chosen"),
        {name: number_of(errors, name, low=0.0) for name in errors},
        whole_of(values, "updates"),
        whole_of(values, "passes"),
    )
