"""The margin problem over a listed set of cuts, solved by a generic quadratic program."""

from __future__ import annotations

import cvxopt
import numpy as np

cvxopt.solvers.options.update(show_progress=False, abstol=1e-12, reltol=1e-12, feastol=1e-12, maxiters=200)


def optimum(
    slopes: np.ndarray,  # [R, D]
    offsets: np.ndarray,  # [R]
    terms: np.ndarray,  # [R]
    prices: np.ndarray,  # [N]
    *,
    power: int,
    origin: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """The least ½‖w − origin‖² + Σ C ξ^power with ξ >= offset + slope·w and ξ >= 0, and the w that attains it."""
    size = slopes.shape[1]
    origin = np.zeros(size) if origin is None else origin
    loud = prices[terms] > 0
    slopes, offsets, terms = slopes[loud], offsets[loud] + slopes[loud] @ origin, terms[loud]
    if len(terms) == 0:
        return 0.0, origin
    names, place = np.unique(terms, return_inverse=True)
    count = len(names)
    quadratic = np.zeros((size + count, size + count))
    quadratic[:size, :size] = np.eye(size)
    linear = np.zeros(size + count)
    if power == 2:
        quadratic[size:, size:] = np.diag(2.0 * prices[names])
    else:
        linear[size:] = prices[names]
    upper = np.zeros((len(terms) + count, size + count))
    upper[: len(terms), :size] = slopes
    upper[np.arange(len(terms)), size + place] = -1.0
    upper[len(terms) :, size:] = -np.eye(count)
    bound = np.concatenate([-offsets, np.zeros(count)])
    found = cvxopt.solvers.qp(*map(cvxopt.matrix, (quadratic, linear, upper, bound)))
    point = np.array(found["x"]).ravel()[:size]
    return primal(slopes, offsets, terms, prices, point, power=power), point + origin


def primal(
    slopes: np.ndarray,
    offsets: np.ndarray,
    terms: np.ndarray,
    prices: np.ndarray,
    weights: np.ndarray,
    *,
    power: int,
    origin: np.ndarray | None = None,
) -> float:
    """The objective at some weights."""
    moved = weights if origin is None else weights - origin
    slack = np.zeros(len(prices))
    np.maximum.at(slack, terms, offsets + slopes @ weights)
    return float(0.5 * moved @ moved + prices @ slack**power)
