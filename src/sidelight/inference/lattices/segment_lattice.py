"""The lattice of a problem over segmentations."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.inference.lattices import segment_lattice_kernels as kernels
from sidelight.inference.lattices.a_star_kernels import segment_a_star
from sidelight.inference.lattices.frontier_kernels import segment_frontier
from sidelight.inference.lattices.lattice import Lattice, LoweredClauses, possible
from sidelight.inference.lattices.machines import Guide, Node, Searched, Taken
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts
from sidelight.inference.lattices.tighten_kernels import tighten
from sidelight.inference.methods.sequence_program import segment_program
from sidelight.inference.problem import SegmentProblem
from sidelight.spaces.highs import LinearProgram
from sidelight.spaces.segments.token_reading import TokenReading

NO_TRIPLE = np.zeros((1, 1, 1))


class SegmentLattice(Lattice):
    """Segments and the links between them, with what local clauses say of token labels added to both.

    `tokens` [T, K] and `edges` [T, K, K] are what local clauses say alone.
    """

    __slots__ = ("parts", "reading")

    def __init__(self, problem: SegmentProblem, clauses: LoweredClauses) -> None:
        length, size = problem.length, problem.n_labels
        super().__init__(np.zeros((length, size)), np.zeros((length, size, size)), clauses)
        self.reading = problem.reading
        plain = _parts(problem)
        totals, links = kernels.folded(plain, self.tokens, self.edges)
        self.parts = plain._replace(totals=totals, links=links)
        self.future = kernels.completions(self.parts)  # [T, 1, E + M L]

    @property
    def places(self) -> int:
        return len(self.parts.reads) + len(self.parts.first)

    def best(self) -> tuple[Ids, float]:
        labels = np.empty(self.length, dtype=np.int32)
        return labels, kernels.best_path(self.parts, self.future, labels)

    def best_added(self, tokens: Floats, edges: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        parts = self.parts
        if not scored:
            parts = parts._replace(totals=possible(parts.totals), links=possible(parts.links))
        totals, links = kernels.folded(parts, tokens, edges)
        parts = parts._replace(totals=totals, links=links)
        labels = np.empty(self.length, dtype=np.int32)
        return labels, kernels.best_path(parts, kernels.completions(parts), labels)

    def program(self) -> LinearProgram:
        return segment_program(self.parts, self.tokens.shape[1], constant=-self.constant)

    def path_value(self, labels: Ids) -> float:
        return kernels.path_value(self.parts, self.reading.segment_of, labels)

    def frontier(self, taken: Taken, guide: Guide, *, floor: float, width: int, most_nodes: int) -> Searched:
        labels = np.empty(self.length, dtype=np.int32)
        potentials = self.parts, guide.future, guide.bonus, taken.machines
        return Searched(*segment_frontier(*potentials, floor, width, most_nodes, labels), labels)

    def a_star(self, taken: Taken, guide: Guide, *, most_nodes: int) -> Searched:
        labels = np.empty(self.length, dtype=np.int32)
        potentials = self.parts, guide.future, guide.bonus, taken.machines
        return Searched(*segment_a_star(*potentials, taken.most_codes, most_nodes, labels), labels)

    def moves(self, t: int, node: Node, *, look_ahead: bool = True) -> list[tuple[Node, float, float]]:
        parts, (kinds, size) = self.parts, self.parts.links.shape[1:]
        places: list[tuple[Node, float]] = []
        end, gain = 0, 0.0
        if node:  # a segment, and how many tokens it has
            label, d, _ = node
            gain, end = float(parts.totals[t - 1, d - 1, label]), int(parts.ends[label, d - 1])
            if d < parts.longest[label]:
                places.append(((label, d + 1, int(parts.inside[label])), 0.0))
        links = parts.links[t, end].tolist()
        places += [((label, 1, int(first)), gain + links[label]) for label, first in enumerate(parts.first)]
        moves = []
        for place, worth in places:
            label, d, _ = place
            if t == self.length - 1:  # it ends here
                moves.append((place, worth + float(parts.totals[t, d - 1, label]), 0.0))
            else:
                ahead = float(self.future[t, 0, kinds + (d - 1) * size + label]) if look_ahead else 0.0
                moves.append((place, worth, ahead))
        return moves

    def tighten(self, taken: Taken, *, floor: float, steps: int) -> Guide:
        future, bonus = np.array(self.future), taken.zero_bonus()
        added = np.zeros_like(self.tokens), np.zeros_like(self.edges), NO_TRIPLE
        bound = tighten(*added, self.parts, taken.machines, floor, steps, future, bonus)
        return Guide(future, bonus, bound)


def _parts(problem: SegmentProblem) -> SegmentParts:
    """The scores of segments and links, before local clauses; the score of the end is that of the last segment."""
    reading, (length, most, size) = problem.reading, problem.totals.shape
    totals = np.array(problem.totals, dtype=np.float64, order="C")
    totals[-1] += problem.end
    ends, reads = _ends(reading, most)
    links = np.repeat(np.asarray(problem.transition, dtype=np.float64), 2, axis=0)  # [E, L]
    runs = np.flatnonzero(reading.first == reading.inside)
    links[2 * runs, runs] = -np.inf  # it is not as long as can be
    every = np.empty((length, 2 * size, size))
    every[:] = links
    every[0] = problem.start
    return SegmentParts(totals, every, ends, reads, reading.first, reading.inside, reading.longest)


def _ends(reading: TokenReading, most: int) -> tuple[Ids, Ids]:
    """The end that a segment makes, by label and length − 1 [L, M], and what its last token reads as [E].

    End 2 l + 1 of a run: as long as can be. Else: more than one token.
    """
    lengths = np.arange(1, most + 1)
    runs = reading.first == reading.inside
    flags = np.where(runs[:, None], lengths == reading.longest[:, None], lengths > 1)
    ends = 2 * np.arange(len(runs))[:, None] + flags
    return ends.astype(np.int32), np.stack([reading.first, reading.inside], axis=1).ravel().astype(np.int32)
