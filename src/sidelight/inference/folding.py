"""From a problem of any kind to its folded form: the lattice of a sequence, the factors of variables."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.inference.factors import Factors
from sidelight.inference.folded_problem import Folded
from sidelight.inference.lattices.chain_lattice import ChainLattice
from sidelight.inference.lattices.lattice import Lattice
from sidelight.inference.lattices.segment_lattice import SegmentLattice
from sidelight.inference.problem import ChainProblem, RuledProblem, SegmentProblem, VariableProblem
from sidelight.rules.expr import pieces
from sidelight.rules.lowering.counters import Piece, lowered


def folded(problem: RuledProblem, *, names: Sequence[str] = (), fold: bool = True) -> Folded:
    """The folded form of a problem; without `fold` local clauses stay out of the scores."""
    if isinstance(problem, VariableProblem):
        return Factors(problem, names=names, fold=fold)
    return lattice(problem, names=names, fold=fold)


def lattice(problem: RuledProblem, *, names: Sequence[str] = (), fold: bool = True) -> Lattice:
    """The lattice of a problem; without `fold` local clauses stay out of the scores and become counters too."""
    clauses = [(piece, clause) for clause in problem.clauses for piece in pieces(clause.says)]
    return lattice_with(
        problem,
        [lowered(says, problem.length, problem.n_labels) for says, _ in clauses],
        [clause.rule for _, clause in clauses],
        [clause.penalty for _, clause in clauses],
        names=names,
        fold=fold,
    )


def lattice_with(
    problem: RuledProblem,
    pieces: Sequence[Piece],
    rules: Sequence[int],
    prices: Sequence[float],
    *,
    names: Sequence[str] = (),
    fold: bool = True,
) -> Lattice:
    """The lattice of a problem with pieces that have been lowered, in place of its clauses."""
    match problem:
        case ChainProblem():
            return ChainLattice(problem, pieces, rules, prices, names=names, fold=fold)
        case SegmentProblem():
            return SegmentLattice(problem, pieces, rules, prices, names=names, fold=fold)
        case _:
            raise TypeError(f"there is no lattice of a {type(problem).__name__}")
