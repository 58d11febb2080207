"""The margin problem over listed cuts, solved by a generic quadratic or, for the logistic loss, convex program."""

from __future__ import annotations

import cvxopt
import numpy as np

from sidelight.objective.cuts import LOGISTIC, losses_of

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
    """The least ½‖w − origin‖² + Σ C ξ^power with ξ >= offset + slope·w and ξ >= 0, and the w that attains it.

    For the logistic loss it is Σ C log(1 + exp ξ), and ξ may be negative.
    """
    size = slopes.shape[1]
    origin = np.zeros(size) if origin is None else origin
    loud = prices[terms] > 0
    slopes, offsets, terms = slopes[loud], offsets[loud] + slopes[loud] @ origin, terms[loud]
    if len(terms) == 0:
        return 0.0, origin
    names, place = np.unique(terms, return_inverse=True)
    count = len(names)
    if power == LOGISTIC:
        point = _logistic_optimum(slopes, offsets, place, prices[names])
        return primal(slopes, offsets, terms, prices, point, power=power), point + origin
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
    values = np.full(len(prices), -np.inf)
    np.maximum.at(values, terms, offsets + slopes @ weights)
    return float(0.5 * moved @ moved + prices @ losses_of(values, power))


def _logistic_optimum(slopes: np.ndarray, offsets: np.ndarray, terms: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """The weights that are best, every term having a price and a cut, by an interior point method."""
    size, count = slopes.shape[1], len(prices)
    upper = np.zeros((len(terms), size + count))
    upper[:, :size] = slopes
    upper[np.arange(len(terms)), size + terms] = -1.0

    def objective(x=None, z=None):
        if x is None:
            return 0, cvxopt.matrix(np.zeros(size + count))
        x = np.array(x).ravel()
        weights, values = x[:size], x[size:]
        share = 1.0 / (1.0 + np.exp(-values))
        value = 0.5 * weights @ weights + prices @ np.logaddexp(0.0, values)
        slope = cvxopt.matrix(np.concatenate([weights, prices * share])[None])
        if z is None:
            return value, slope
        return (
            value,
            slope,
            cvxopt.matrix(z[0] * np.diag(np.concatenate([np.ones(size), prices * share * (1 - share)]))),
        )

    found = cvxopt.solvers.cp(objective, cvxopt.matrix(upper), cvxopt.matrix(-offsets))
    return np.array(found["x"]).ravel()[:size]
