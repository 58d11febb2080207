"""The lattice of a chain of first or second order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.inference.lattices.a_star_kernels import a_star
from sidelight.inference.lattices.frontier_kernels import frontier
from sidelight.inference.lattices.lattice import Lattice, LoweredClauses, possible
from sidelight.inference.lattices.lattice_kernels import best_path, completions, path_value
from sidelight.inference.lattices.machines import Guide, Node, Searched, Taken
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts
from sidelight.inference.lattices.tighten_kernels import tighten
from sidelight.inference.methods.sequence_program import chain_program
from sidelight.inference.problem import ChainProblem
from sidelight.spaces.highs import LinearProgram

_NO_IDS = np.zeros(0, dtype=np.int32)
NO_PARTS = SegmentParts(  # a chain has no segments
    np.zeros((0, 0, 0)),
    np.zeros((0, 0, 0)),
    np.zeros((0, 0), dtype=np.int32),
    _NO_IDS,
    _NO_IDS,
    _NO_IDS,
    np.zeros(0, dtype=np.int64),
)


class ChainLattice(Lattice):
    """Labels, edges between neighbours with scores of their own at every place, and triples."""

    __slots__ = ("triple",)

    def __init__(self, problem: ChainProblem, clauses: LoweredClauses) -> None:
        length, size = problem.tokens.shape
        tokens = np.array(problem.tokens, dtype=np.float64, order="C")  # [T, L]
        edges = np.empty((length, size, size))  # [T, L, L]
        edges[:] = problem.transition
        tokens[0] += problem.start
        tokens[-1] += problem.end
        self.triple = np.zeros((1, 1, 1))  # [L, L, L], or [1, 1, 1] for first order
        if problem.triple is not None:
            self.triple = np.ascontiguousarray(problem.triple, dtype=np.float64)
            if size == 1:  # one label has no pairs
                edges[2:] += self.triple[0, 0, 0]
                self.triple = np.zeros((1, 1, 1))
        super().__init__(tokens, edges, clauses)
        self.future = completions(self.tokens, self.edges, self.triple)  # [T, P, L]

    @property
    def places(self) -> int:
        size = int(self.tokens.shape[1])
        return size * size if len(self.triple) > 1 else size

    def best(self) -> tuple[Ids, float]:
        labels = np.empty(self.length, dtype=np.int32)
        return labels, best_path(self.tokens, self.edges, self.triple, self.future, labels)

    def best_added(self, tokens: Floats, edges: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        own = self.tokens, self.edges, self.triple
        if not scored:
            own = possible(self.tokens), possible(self.edges), possible(self.triple)
        arrays = own[0] + tokens, own[1] + edges, own[2]
        labels = np.empty(self.length, dtype=np.int32)
        return labels, best_path(*arrays, completions(*arrays), labels)

    def program(self) -> LinearProgram:
        triple = self.triple if len(self.triple) > 1 else None
        return replace(chain_program(self.tokens, self.edges, triple), constant=-self.constant)

    def path_value(self, labels: Ids) -> float:
        return path_value(self.tokens, self.edges, self.triple, labels)

    def frontier(self, taken: Taken, guide: Guide, *, floor: float, width: int, most_nodes: int) -> Searched:
        labels = np.empty(self.length, dtype=np.int32)
        potentials = self.tokens, self.edges, self.triple, guide.future, guide.bonus, taken.machines
        return Searched(*frontier(*potentials, floor, width, most_nodes, labels), labels)

    def a_star(self, taken: Taken, guide: Guide, *, most_nodes: int) -> Searched:
        labels = np.empty(self.length, dtype=np.int32)
        potentials = self.tokens, self.edges, self.triple, guide.future, guide.bonus, taken.machines
        return Searched(*a_star(*potentials, taken.most_codes, most_nodes, labels), labels)

    def moves(self, t: int, node: Node, *, look_ahead: bool = True) -> list[tuple[Node, float, float]]:
        before, label = node or (0, 0)  # the label before matters for second order only
        second = len(self.triple) > 1
        worth = self.tokens[t]
        if t:
            worth = worth + self.edges[t, label]
        if second and t > 1:
            worth = worth + self.triple[before, label]
        own = label if second and t else 0
        ahead = self.future[t, own].tolist() if look_ahead else [0.0] * len(worth)
        return [((own, after), gain, ahead[after]) for after, gain in enumerate(worth.tolist())]

    def tighten(self, taken: Taken, *, floor: float, steps: int) -> Guide:
        future, bonus = np.array(self.future), taken.zero_bonus()
        scores = self.tokens, self.edges, self.triple
        bound = tighten(*scores, NO_PARTS, taken.machines, floor, steps, future, bonus)
        return Guide(future, bonus, bound)
