"""Checks for structures, scorers and solvers of your own, on small inputs whose outputs can all be listed."""

from sidelight.testing.outputs import BrokenLaw
from sidelight.testing.solver import check_solver
from sidelight.testing.structure import Checked, check_examples, check_structure

__all__ = ["BrokenLaw", "Checked", "check_examples", "check_solver", "check_structure"]
