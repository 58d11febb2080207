"""Alignments of two graphs: words with words, edges with edges, or with nothing (thesis section 5.3).

Slots are the words of the first graph, then its edges; choice 0 is nothing, others are 1 + a word, or an edge, of the
second graph. An edge is mapped if, and only if, both of its words are mapped to those of an edge. Found by bounds and
branching where the first graph is a forest (`graph_kernels`), and by HiGHS otherwise, the linear relaxation first
(`graph_program`); or without branching, with a bound of the error. Sums over alignments of graphs are not supported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.parallel import threads
from sidelight.spaces.alignments.graph_program import GraphProgram
from sidelight.spaces.slots import BatchedSlotSpace, SlotScores
from sidelight.spaces.space import Solved


@dataclass(frozen=True)
class GraphSpace(BatchedSlotSpace):
    """The alignments of a batch of pairs of graphs."""

    no_sums = "sums over alignments of graphs are not tractable"
    programs: tuple[GraphProgram, ...] = ()  # [N] built once
    all_words: bool = False  # as many words are mapped as there are in the smaller graph
    exact: bool = True  # else without branching
    seconds: float = math.inf  # time limit for one pair; the best alignment so far is used

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        return replace(super().take(which), programs=tuple([self.programs[i] for i in which]))

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        solutions = self._solved(scores, n_jobs)
        return solutions.choices, solutions.values

    def solved(self, scores: SlotScores, *, n_jobs: int | None = None) -> Solved:
        """The best alignments with their bounds: exact ones, or rounded ones, or those found in time."""
        return self._solved(self.block(scores), n_jobs)

    def _solved(self, scores: Floats, n_jobs: int | None) -> Solved:
        count = len(self.programs)
        choices, values, bounds = np.zeros(len(scores), np.int32), np.empty(count), np.empty(count)

        def run(i: int) -> None:
            here = slice(int(self.starts[i]), int(self.starts[i + 1]))
            options = {"all_words": self.all_words, "exact": self.exact}
            solution = self.programs[i].best(scores[here], seconds=self.seconds, **options)
            values[i], bounds[i] = solution.value, solution.bound
            if solution.choices is not None:
                choices[here] = solution.choices

        threads(run, range(count), n_jobs=n_jobs)
        return Solved(choices, values, bounds)

    def admits(self, labels: Ids) -> Bytes:
        """Whether each input's choices are an alignment. # [N] of 0 and 1"""
        open_ = np.ones(len(labels), bool) if self.mask is None else self.mask[np.arange(len(labels)), labels] != 0
        admitted = np.zeros(len(self.programs), np.uint8)
        for i, program in enumerate(self.programs):
            here = slice(int(self.starts[i]), int(self.starts[i + 1]))
            admitted[i] = open_[here].all() and program.admits(labels[here], all_words=self.all_words)
        return admitted
