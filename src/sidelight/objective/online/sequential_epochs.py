"""Passes of a perceptron over some of the choices, the scores of all others being fixed (`rounds.sequential_learning`).

Compiled for spaces whose best output is a kernel: slots alone, lists of outputs, entities and relations; for any other
an inference at a time. Both do the same steps in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.rows import Rows
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
        place = np.full(self.space.n_labels, -1, dtype=np.int64)
        place[self.choices] = np.arange(len(self.choices))
        rows, space = self.rows, self.space
        arguments: tuple[Any, ...] = (
            order,
            rows.starts,
            rows.indptr,
            rows.indices,
            rows.values,
            self.fixed,
            self.targets,
        )
        arguments += (self.importance, self.choices, place, self.weights, self.totals, self.clock)
        if isinstance(space, FreeSpace):
            moved = _free_epoch(*arguments)
        elif isinstance(space, ListedSpace):
            arguments += (space.list_of, *space.flat)
            moved = _listed_epoch(*arguments)
        elif isinstance(space, RelationSpace):
            if space.alone is not None:
                arguments = (*arguments[:5], self.fixed + space.alone, *arguments[6:])
            arguments += (space.counts, space.pair_starts, space.table_of, space.tables, MOST_NODES)
            moved = _relation_epoch(*arguments)
            if moved < 0:
                raise too_many_steps(int(space.counts[-1 - moved]))
        else:
            moved = self.plain_epoch(order)
        self.clock += len(order)
        return moved

    def plain_epoch(self, order: Ints) -> int:
        """The same, an inference at a time."""
        place = np.full(self.space.n_labels, -1, dtype=np.int64)
        place[self.choices] = np.arange(len(self.choices))
        rows, moved = self.rows, 0
        features = rows.indptr, rows.indices, rows.values
        scores, guess = np.empty_like(self.fixed), np.zeros(len(self.fixed), dtype=np.int32)
        for number, i in enumerate(order.tolist()):
            first, last = int(rows.starts[i]), int(rows.starts[i + 1])
            _score(*features, first, last, self.fixed, self.weights, self.choices, scores)
            one = cast(TiedSpace, self.space.part(i, i + 1))
            guess[first:last] = one.best_each(scores[first:last])[0]
            step, clock = float(self.importance[i]), self.clock + number
            moved += _update(*features, first, last, self.targets, guess, place, step, clock, self.weights, self.totals)
        return moved


@kernel
def _free_epoch(
    order: Ints,
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    fixed: Floats,
    targets: Ids,
    importance: Floats,
    choices: Ints,
    place: Ints,
    weights: Floats,
    totals: Floats,
    clock: float,
) -> int:
    scores, guess = np.empty(fixed.shape), np.zeros(fixed.shape[0], np.int32)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        first, last = starts[i], starts[i + 1]
        _score(indptr, indices, values, first, last, fixed, weights, choices, scores)
        for t in range(first, last):
            best = 0
            for c in range(1, fixed.shape[1]):
                if scores[t, c] > scores[t, best]:
                    best = c
            guess[t] = best
        moved += _update(
            indptr, indices, values, first, last, targets, guess, place, importance[i], clock + number, weights, totals
        )
    return moved


@kernel
def _listed_epoch(
    order: Ints,
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    fixed: Floats,
    targets: Ids,
    importance: Floats,
    choices: Ints,
    place: Ints,
    weights: Floats,
    totals: Floats,
    clock: float,
    list_of: Ints,
    outputs: Ids,
    list_starts: Ints,
    charges: Floats,
    firsts: Ints,
) -> int:
    scores, guess = np.empty(fixed.shape), np.zeros(fixed.shape[0], np.int32)
    worth = np.empty(starts.shape[0] - 1)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        first, last = starts[i], starts[i + 1]
        _score(indptr, indices, values, first, last, fixed, weights, choices, scores)
        best_listed(starts, list_of, outputs, list_starts, charges, firsts, i, i + 1, scores, guess, worth)
        moved += _update(
            indptr, indices, values, first, last, targets, guess, place, importance[i], clock + number, weights, totals
        )
    return moved


@kernel
def _relation_epoch(
    order: Ints,
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    fixed: Floats,
    targets: Ids,
    importance: Floats,
    choices: Ints,
    place: Ints,
    weights: Floats,
    totals: Floats,
    clock: float,
    counts: Ints,
    pair_starts: Ints,
    table_of: Ints,
    tables: Floats,
    most: int,
) -> int:
    """As the others; −1 − i where the search for the best output of input i was given up."""
    scores, guess = np.empty(fixed.shape), np.zeros(fixed.shape[0], np.int32)
    worth = np.empty(starts.shape[0] - 1)
    moved = 0
    for number in range(order.shape[0]):
        i = order[number]
        first, last = starts[i], starts[i + 1]
        _score(indptr, indices, values, first, last, fixed, weights, choices, scores)
        if best_relations(starts, counts, pair_starts, table_of, tables, i, i + 1, scores, most, guess, worth) >= 0:
            return int(-1 - i)
        moved += _update(
            indptr, indices, values, first, last, targets, guess, place, importance[i], clock + number, weights, totals
        )
    return moved


@kernel
def _score(
    indptr: Ints,
    indices: Ids,
    values: Floats,
    first: int,
    last: int,
    fixed: Floats,
    weights: Floats,
    choices: Ints,
    scores: Floats,
) -> None:
    """The scores of slots first..last: what is fixed, and those of the choices that are learned."""
    bias = weights[weights.shape[0] - 1]
    valued = values.shape[0] > 0
    own = np.empty(choices.shape[0])
    for t in range(first, last):
        for c in range(fixed.shape[1]):
            scores[t, c] = fixed[t, c]
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
def _update(
    indptr: Ints,
    indices: Ids,
    values: Floats,
    first: int,
    last: int,
    targets: Ids,
    guess: Ids,
    place: Ints,
    step: float,
    clock: float,
    weights: Floats,
    totals: Floats,
) -> int:
    """Move the weights by what is right less what was guessed; gives the number of slots that it was for."""
    moved = 0
    valued = values.shape[0] > 0
    bias = weights.shape[0] - 1
    for t in range(first, last):
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
