"""Passes of a perceptron over some of the choices, the scores of all others being fixed (`rounds.sequential_learning`).

Compiled for spaces whose best output is a kernel: slots alone, lists of outputs, entities and relations; for any other
an inference at a time. Both do the same steps in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.rows import Rows, TokenFeatures
from sidelight.spaces.sub_problems.listed_space import ListedSpace, best_listed
from sidelight.spaces.sub_problems.relation_kernels import best_relations
from sidelight.spaces.sub_problems.relation_space import MOST_NODES, RelationSpace, too_many_steps
from sidelight.spaces.sub_problems.tied_space import FreeSpace, TiedSpace


@dataclass(slots=True)
class PartPerceptron:
    """Weights of some choices [attributes + 1, choices], biases last, with the sums that give their average."""

    rows: Rows
    space: TiedSpace
    fixed: Floats  # [T, K] scores that do not change
    targets: Ids  # [T]
    importance: Floats  # [N]
    choices: Ints
    weights: Floats
    totals: Floats
    clock: float = 1.0

    @classmethod
    def fresh(
        cls, rows: Rows, space: TiedSpace, fixed: Floats, targets: Ids, importance: Floats, choices: Ints, size: int
    ) -> PartPerceptron:
        there: Bytes = space.there
        shape = size + 1, len(choices)
        held = np.where(there != 0, fixed, -np.inf)
        return cls(rows, space, held, targets, importance, choices, np.zeros(shape), np.zeros(shape))

    def average(self) -> Floats:
        """The average of the weights before the first example and after each."""
        return self.weights - self.totals / self.clock

    def epoch(self, order: Ints) -> int:
        """One pass in an order of examples; how many slots weights moved for."""
        task, space = self._task, self.space
        if isinstance(space, FreeSpace):
            moved = _free_epoch(task, order)
        elif isinstance(space, ListedSpace):
            lists: tuple[Any, ...] = (space.list_of, *space.flat)
            moved = _listed_epoch(task, order, *lists)
        elif isinstance(space, RelationSpace):
            if space.alone is not None:
                task = task._replace(fixed=self.fixed + space.alone)
            tables = space.counts, space.pair_starts, space.table_of, space.tables
            moved = _relation_epoch(task, order, *tables, MOST_NODES)
            if moved < 0:
                raise too_many_steps(int(space.counts[-1 - moved]))
        else:
            moved = self.plain_epoch(order)
        self.clock += len(order)
        return moved

    def plain_epoch(self, order: Ints) -> int:
        """The same, with one inference at a time."""
        task, moved = self._task, 0
        scores, guess = np.empty_like(self.fixed), np.zeros(len(self.fixed), dtype=np.int32)
        for number, i in enumerate(order.tolist()):
            first, last = int(task.starts[i]), int(task.starts[i + 1])
            _score(task, i, scores)
            one = cast(TiedSpace, self.space.part(i, i + 1))
            guess[first:last] = one.best_each(scores[first:last])[0]
            moved += _update(task, i, guess, number)
        return moved

    @property
    def _task(self) -> Task:
        place = np.full(self.space.n_labels, -1, dtype=np.int64)
        place[self.choices] = np.arange(len(self.choices))
        data = self.rows.starts, self.rows.tokens, self.fixed, self.targets, self.importance
        return Task(*data, self.choices, place, self.weights, self.totals, self.clock)


class Task(NamedTuple):
    """The data and weights of a pass, in the form for kernels."""

    starts: Ints  # [N + 1]
    tokens: TokenFeatures
    fixed: Floats  # [T, K]
    targets: Ids  # [T]
    importance: Floats  # [N]
    choices: Ints
    place: Ints  # [K] among the choices, or −1
    weights: Floats  # [attributes + 1, choices]
    totals: Floats
    clock: float  # of the first example


@kernel
def _free_epoch(task: Task, order: Ints) -> int:
    scores, guess = np.empty(task.fixed.shape), np.zeros(task.fixed.shape[0], np.int32)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        _score(task, i, scores)
        for t in range(task.starts[i], task.starts[i + 1]):
            best = 0
            for c in range(1, task.fixed.shape[1]):
                if scores[t, c] > scores[t, best]:
                    best = c
            guess[t] = best
        moved += _update(task, i, guess, number)
    return moved


@kernel
def _listed_epoch(
    task: Task, order: Ints, list_of: Ints, outputs: Ids, list_starts: Ints, charges: Floats, firsts: Ints
) -> int:
    scores, guess = np.empty(task.fixed.shape), np.zeros(task.fixed.shape[0], np.int32)
    worth = np.empty(task.starts.shape[0] - 1)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        _score(task, i, scores)
        best_listed(task.starts, list_of, outputs, list_starts, charges, firsts, i, i + 1, scores, guess, worth)
        moved += _update(task, i, guess, number)
    return moved


@kernel
def _relation_epoch(
    task: Task, order: Ints, counts: Ints, pair_starts: Ints, table_of: Ints, tables: Floats, most: int
) -> int:
    """As the others; −1 − i where the search for the best output of input i was given up."""
    scores, guess = np.empty(task.fixed.shape), np.zeros(task.fixed.shape[0], np.int32)
    worth = np.empty(task.starts.shape[0] - 1)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        _score(task, i, scores)
        pairs = counts, pair_starts, table_of, tables
        if best_relations(task.starts, *pairs, i, i + 1, scores, most, guess, worth) >= 0:
            return int(-1 - i)
        moved += _update(task, i, guess, number)
    return moved


@kernel
def _score(task: Task, i: int, scores: Floats) -> None:
    """The scores of the slots of an example: what is fixed, and those of the choices that are learned."""
    weights, choices = task.weights, task.choices
    indptr, indices, values, _ = task.tokens
    bias = weights[weights.shape[0] - 1]
    valued = values.shape[0] > 0
    own = np.empty(choices.shape[0])
    for t in range(task.starts[i], task.starts[i + 1]):
        for c in range(scores.shape[1]):
            scores[t, c] = task.fixed[t, c]
        if scores[t, choices[0]] == -np.inf and scores[t, choices[choices.shape[0] - 1]] == -np.inf:
            open_ = False
            for j in range(choices.shape[0]):
                open_ = open_ or scores[t, choices[j]] > -np.inf
            if not open_:  # the variable is of another kind
                continue
        for j in range(choices.shape[0]):
            own[j] = bias[j]
        for k in range(indptr[t], indptr[t + 1]):
            row = weights[indices[k]]
            value = values[k] if valued else 1.0
            for j in range(choices.shape[0]):
                own[j] += value * row[j]
        for j in range(choices.shape[0]):
            scores[t, choices[j]] += own[j]


@kernel
def _update(task: Task, i: int, guess: Ids, number: int) -> int:
    """Add the features of the right output minus those of the guess to the weights; returns the number of slots that
    differ.
    """
    indptr, indices, values, _ = task.tokens
    weights, totals, targets, place = task.weights, task.totals, task.targets, task.place
    step, clock = task.importance[i], task.clock + number
    moved = 0
    valued = values.shape[0] > 0
    bias = weights.shape[0] - 1
    for t in range(task.starts[i], task.starts[i + 1]):
        if targets[t] == guess[t]:
            continue
        plus, minus = place[targets[t]], place[guess[t]]
        if plus < 0 and minus < 0:
            continue
        moved += 1
        for k in range(indptr[t], indptr[t + 1] + 1):
            at = np.int64(indices[k]) if k < indptr[t + 1] else bias
            value = step * (values[k] if valued and k < indptr[t + 1] else 1.0)
            if plus >= 0:
                weights[at, plus] += value
                totals[at, plus] += clock * value
            if minus >= 0:
                weights[at, minus] -= value
                totals[at, minus] -= clock * value
    return moved
