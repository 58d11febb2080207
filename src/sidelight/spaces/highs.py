"""Linear and integer programs, solved by HiGHS through SciPy.

    max  constant + gain · c     over  low <= A c <= high,  0 <= c <= upper,  c integer if required

SciPy is loaded when the first program is solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.errors import Intractable
from sidelight.rules.lowering.rows import LinearRows


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """A program in the form above; rows are sparse, as in `LinearRows`."""

    gain: Floats  # [C]
    constant: float
    upper: Floats  # [C]
    whole: NDArray[np.bool_]  # [C]
    starts: Ints  # [R + 1]
    columns: Ints
    weights: Floats
    low: Floats  # [R]
    high: Floats  # [R]

    def rows_from(self, first: int) -> LinearProgram:
        """The same program without the first rows."""
        at = self.starts[first:]
        entries = slice(int(at[0]), None)
        return replace(
            self,
            starts=at - at[0],
            columns=self.columns[entries],
            weights=self.weights[entries],
            low=self.low[first:],
            high=self.high[first:],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The result of HiGHS; `point` is None if there is no feasible point."""

    point: Floats | None  # [C]
    value: float
    bound: float
    nodes: int


def with_rows(program: LinearProgram, rows: LinearRows, structural: int) -> LinearProgram:
    """A program with the rows of clauses: their first `structural` columns are its first, the others come last."""
    size = len(program.gain)
    columns = np.where(rows.columns < structural, rows.columns, rows.columns - structural + size)
    extra = len(rows.upper)
    gain = np.concatenate([program.gain, -rows.cost[structural:]])
    gain[:structural] -= rows.cost[:structural]
    return LinearProgram(
        gain=gain,
        constant=program.constant - rows.constant,
        upper=np.concatenate([program.upper, rows.upper]),
        whole=np.concatenate([program.whole, np.ones(extra, np.bool_)]),
        starts=np.concatenate([program.starts, program.starts[-1] + rows.starts[1:]]),
        columns=np.concatenate([program.columns, columns]),
        weights=np.concatenate([program.weights, rows.weights]),
        low=np.concatenate([program.low, rows.low]),
        high=np.concatenate([program.high, rows.high]),
    )


def solve(program: LinearProgram, *, integer: bool, seconds: float = math.inf) -> Optimum:
    """The best point; raises `Intractable` if HiGHS gives up or finds nothing in the time it has."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    shape = len(program.low), len(program.gain)
    matrix = csr_array((program.weights, program.columns, program.starts), shape=shape)
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if seconds < math.inf:
        options["time_limit"] = seconds
    result = milp(
        -program.gain,
        integrality=program.whole.astype(np.int64) if integer and program.whole.any() else None,
        bounds=Bounds(0.0, program.upper),
        constraints=LinearConstraint(matrix, program.low, program.high) if shape[0] else None,
        options=options,
    )
    if result.status == 2:
        return Optimum(None, -math.inf, -math.inf, 0)
    if result.x is None:
        raise Intractable(f"HiGHS found no solution: {result.message}")
    value = program.constant - float(result.fun)
    dual = result.get("mip_dual_bound")
    bound = value if dual is None or not np.isfinite(dual) else max(value, program.constant - float(dual))
    nodes = result.get("mip_node_count")
    return Optimum(np.asarray(result.x, np.float64), value, bound, int(nodes or 0))
