"""Converts a problem of any kind to its folded form: the lattice of a sequence, or the factors of variables."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.inference.factors import Factors
from sidelight.inference.folded_problem import Folded
from sidelight.inference.lattices.chain_lattice import ChainLattice
from sidelight.inference.lattices.lattice import Lattice, LoweredClauses
from sidelight.inference.lattices.segment_lattice import SegmentLattice
from sidelight.inference.problem import ChainProblem, RuledProblem, SegmentProblem, VariableProblem
from sidelight.rules.expr import pieces
from sidelight.rules.lowering.counters import lowered


def folded(problem: RuledProblem, *, names: Sequence[str] = (), fold: bool = True) -> Folded:
    """The folded form of a problem; without `fold`, local clauses are not added to the scores."""
    if isinstance(problem, VariableProblem):
        return Factors(problem, names=names, fold=fold)
    return lattice(problem, names=names, fold=fold)


def lattice(problem: RuledProblem, *, names: Sequence[str] = (), fold: bool = True) -> Lattice:
    """The lattice of a problem; without `fold`, local clauses also become counters instead of scores."""
    clauses = [(piece, clause) for clause in problem.clauses for piece in pieces(clause.says)]
    machines = [lowered(says, problem.length, problem.n_labels) for says, _ in clauses]
    rules, prices = [clause.rule for _, clause in clauses], [clause.penalty for _, clause in clauses]
    return lattice_with(problem, LoweredClauses(machines, rules, prices, names, fold))


def lattice_with(problem: RuledProblem, clauses: LoweredClauses) -> Lattice:
    """The lattice of a problem with the given lowered clauses instead of its own."""
    match problem:
        case ChainProblem():
            return ChainLattice(problem, clauses)
        case SegmentProblem():
            return SegmentLattice(problem, clauses)
        case _:
            raise TypeError(f"there is no lattice of a {type(problem).__name__}")
