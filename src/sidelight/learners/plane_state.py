"""The state of a cutting-plane solver, for the checkpoints of learners that have one."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sidelight.learners.learner import State
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.working_set import WorkingSet


def plane_state(plane: CuttingPlane) -> State:
    """Everything that a solver knows between two rounds."""
    values = {"best_primal": float(plane.best_primal), "gap": float(plane.gap), "at_best": plane.at_best}
    arrays: dict[str, NDArray[Any]] = {f"pool.{name}": array for name, array in plane.pool.state().items()}
    arrays |= {"plane.weights": plane.weights, "plane.random": plane.random}
    if plane.origin is not None:
        arrays["plane.origin"] = plane.origin
    if plane.start is not None:
        arrays["plane.start"] = plane.start
    return values, arrays


def restored_plane(state: State, *, power: int) -> CuttingPlane:
    """The solver that was in this state; arrays of other names are left alone."""
    values, arrays = state
    pool = WorkingSet.restored({name[5:]: array for name, array in arrays.items() if name.startswith("pool.")})
    return CuttingPlane(
        arrays["plane.weights"].copy(),
        pool,
        arrays["plane.random"].copy(),
        power,
        arrays.get("plane.origin"),
        arrays.get("plane.start"),
        values["best_primal"],
        values["gap"],
        values["at_best"],
    )
