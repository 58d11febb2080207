"""From a batch of chains with scores and masks to the scores of one input at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.errors import Intractable
from sidelight.features.structured.variable_features import VariableScores
from sidelight.inference.problem import Clause, SegmentProblem, Solution, VariableProblem
from sidelight.inference.rule_set import TransitionScores
from sidelight.spaces import ChainSpace, Space
from sidelight.spaces.chains.chain import ChainScores as TokenScores
from sidelight.spaces.second_order.second_order import SecondOrderScores, SecondOrderSpace
from sidelight.spaces.segments.segment_space import SegmentScores, SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading
from sidelight.spaces.variables.variable_space import VariableSpace


@dataclass(frozen=True, slots=True, eq=False)
class SharedSegmentScores:
    """The scores that the segmentations of all inputs share; an input's own scores are the totals of its segments [T,
    M, L].
    """

    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    reading: TokenReading

    def problem(self, own: Floats, clauses: tuple[Clause, ...] = ()) -> SegmentProblem:
        """The problem of an input."""
        return SegmentProblem(own, self.transition, self.start, self.end, self.reading, clauses)

    def plain(self, own: Sequence[Floats]) -> list[Solution | None]:
        """Not implemented: one input after another is as fast."""
        return [None] * len(own)


@dataclass(frozen=True, slots=True)
class SegmentBatchScores:
    """Scores of a batch of segmentations, −inf for what the space excludes."""

    scores: SegmentScores
    space: SegmentSpace

    @property
    def shared(self) -> SharedSegmentScores:
        """The scores that all inputs share."""
        return SharedSegmentScores(*self.space.masked(self.scores), self.space.reading)

    def own(self, i: int) -> Floats:
        """The totals of the segments of input i. # [T, M, L]"""
        return self.space.totals(self.scores, i)


@dataclass(frozen=True, slots=True)
class ChainBatchScores:
    """Scores of a batch, −inf for what the space excludes, with a view of each input."""

    scores: TokenScores
    space: ChainSpace
    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    triple: Floats | None  # [L, L, L]

    @classmethod
    def of(cls, scores: TokenScores | SecondOrderScores, space: Space) -> ChainBatchScores:
        """Raises `Intractable` for a space that is not one of chains within candidate sets."""
        if isinstance(space, SecondOrderSpace):
            chains, triple = space.labelings, scores.second  # type: ignore[union-attr]
        elif isinstance(space, ChainSpace):
            chains, triple = space, None
        else:
            raise Intractable(f"rules are about chains of labels; there are none in a {type(space).__name__}")
        if chains.left_out is not None:
            raise Intractable("rules cannot be combined with outputs outside candidate sets")
        return cls(scores, chains, *chains.masked(scores), triple)

    def __len__(self) -> int:
        return len(self.space.starts) - 1

    @property
    def shared(self) -> TransitionScores:
        """The scores that all inputs share, −inf for what the space excludes."""
        return TransitionScores(self.transition, self.start, self.end, self.triple)

    def own(self, i: int) -> Floats:
        """The scores of the tokens of input i. # [T, L]"""
        return self.tokens(i)

    def tokens(self, i: int) -> Floats:
        """Token scores of input i. # [T, L]"""
        first, last = int(self.space.starts[i]), int(self.space.starts[i + 1])
        block = self.scores.block(first, last)
        if self.space.admitted is not None:
            block[self.space.admitted[first:last] == 0] = -np.inf
        return block


BatchScores = SegmentBatchScores | ChainBatchScores  # one input at a time


@dataclass(frozen=True, slots=True, eq=False)
class VariableBatchScores:
    """Scores of a batch of variables, −inf for what the space excludes, with a view of each input."""

    problems: tuple[VariableProblem, ...]  # without clauses

    @classmethod
    def of(cls, scores: VariableScores, space: VariableSpace) -> VariableBatchScores:
        problems = []
        for _, tables, sizes in space.each(scores):
            own = tuple(tables[v,] for v in range(len(sizes)))
            pairs = [scope for scope in tables if len(scope) == 2]
            problems.append(VariableProblem(own, tuple(pairs), tuple(tables[scope] for scope in pairs)))
        return cls(tuple(problems))


def batch_scores(scores: Any, space: Space) -> Any:
    """Scores of a batch of chains, segmentations or variables, one input at a time."""
    if isinstance(space, VariableSpace):
        return VariableBatchScores.of(scores, space)
    return SegmentBatchScores(scores, space) if isinstance(space, SegmentSpace) else ChainBatchScores.of(scores, space)
