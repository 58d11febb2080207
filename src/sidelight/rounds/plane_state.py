"""The state of a cutting-plane solver, for the checkpoints of learners that have one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import array_like, array_of, flag_of, number_of, part_of
from sidelight.errors import ModelFileError
from sidelight.rounds.learner import State
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.duals.working_set import WorkingSet


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


def restored_plane(state: State, fresh: CuttingPlane, prefix: str) -> CuttingPlane:
    """The solver that was in this state, of the same problem as a fresh one; arrays of other names are left alone.

    Names of its own arrays begin with the prefix, those of its working set with "pool.".
    """
    values, arrays = state
    more = {
        name: array_like(arrays, prefix + name, fresh.weights) if prefix + name in arrays else None
        for name in ("origin", "start")
    }
    if (more["origin"] is None) != (fresh.origin is None):
        raise ModelFileError("its weights are drawn to another origin")
    return CuttingPlane(
        array_like(arrays, prefix + "weights", fresh.weights),
        WorkingSet.restored(part_of(arrays, "pool."), fresh.pool, size=len(fresh.weights)),
        array_of(arrays, prefix + "random", np.uint64, [1]),
        fresh.power,
        more["origin"],
        more["start"],
        number_of(values, "best_primal", finite=False),
        number_of(values, "gap", finite=False),
        flag_of(values, "at_best"),
    )
