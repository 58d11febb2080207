"""Lists of all outputs of small inputs, with which the laws compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.objective.batch import Batch, LinearScorer
from sidelight.spaces import AnyCost

MOST = 100_000  # maximum combinations of choices of an input: lists must be short

Score = Callable[[Floats, int, Ids], float]  # of weights, the number of an input, and choices of its slots
Admits = Callable[[int, Ids], bool]


class BrokenLaw(AssertionError):
    """A structure or a solver breaks a law; the message shows the request and the result."""


def differs(law: str, number: int, what: str, result: float, right: float) -> BrokenLaw:
    """The error for a number that is not the expected one."""
    return BrokenLaw(f"{law}: input {number}: {what} is given as {result:.9g}, and is {right:.9g}")


@dataclass(frozen=True, slots=True)
class ListedOutputs:
    """The outputs of one input, and their scores."""

    number: int
    first: int  # slot
    outputs: Ids  # [outputs, slots]
    scores: Floats  # [outputs]

    @property
    def slots(self) -> slice:
        return slice(self.first, self.first + self.outputs.shape[1])

    def place(self, choices: Ids) -> int | None:
        """The position of an output in the list; None if it is not listed."""
        places = np.flatnonzero(np.all(self.outputs == choices, axis=1))
        return int(places[0]) if len(places) else None

    def only(self, which: Floats) -> ListedOutputs:
        """Some of the outputs."""
        return ListedOutputs(self.number, self.first, self.outputs[which], self.scores[which])

    def costs(self, cost: AnyCost) -> Floats:
        """The cost of every output. # [outputs]"""
        own, ends = cost.part(self.slots.start, self.slots.stop), np.array([0, self.outputs.shape[1]])
        return np.array([own.of(ends, one)[0] for one in self.outputs])

    def sums(self, amounts: Floats) -> Floats:
        """Σ over slots of the amount of the choice, for every output. # amounts: [slots, K]"""
        return np.asarray(amounts[np.arange(self.outputs.shape[1]), self.outputs].sum(axis=1))


def listed(
    batch: Batch, weights: Floats, *, score: Score | None = None, admits: Admits | None = None
) -> list[ListedOutputs]:
    """The outputs of every input, by `admits` or by the space, with scores by `score` or by counted features."""
    lists = []
    for i, first in enumerate(batch.starts[:-1].tolist()):
        every = all_choices(batch, i)
        if admits is None:
            inside = repeated(batch, i, len(every)).space.admits(every.ravel()) != 0
        else:
            inside = np.array([admits(i, one) for one in every], dtype=bool)
        outputs = np.ascontiguousarray(every[inside])
        if score is None:
            scores = _scores(repeated(batch, i, len(outputs)), weights, outputs.ravel())
        else:
            scores = np.array([score(weights, i, one) for one in outputs], dtype=np.float64)
        lists.append(ListedOutputs(i, first, outputs, scores))
    return lists


def repeated(batch: Batch, i: int, times: int) -> Batch:
    """A batch with one input repeated, to score many outputs at once."""
    return batch.take(np.full(times, i, dtype=np.int64))


def _scores(batch: Batch, weights: Floats, outputs: Ids) -> Floats:
    """Scores by counted features, or by the space if scores are not linear."""
    if not isinstance(batch.scorer, LinearScorer):
        return batch.score(weights, outputs)
    every = np.arange(len(batch))
    return batch.differences(every, outputs, None, scales=np.ones(len(every))).dot(weights)


def all_choices(batch: Batch, i: int) -> Ids:
    """All combinations of choices of an input, valid outputs or not. # [choices, slots]"""
    slots, size = int(batch.lengths[i]), batch.space.n_labels
    if size**slots > MOST:
        remedy = "give smaller inputs, all of whose outputs can be listed"
        raise ValueError(f"input {i} has {size} choices for each of {slots} slots; {remedy}")
    return np.indices((size,) * slots, dtype=np.int32).reshape(slots, -1).T
