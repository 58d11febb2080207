"""Predictions of many inputs in a place: every worker gets the model, and runs of neighbouring inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.errors import Infeasible
from sidelight.estimators.constrained import Constrained
from sidelight.inference.problem import Solution
from sidelight.models.model import Model
from sidelight.parallel.place import Place, in_lots


def spread(place: Place, inputs: Any) -> bool:
    """Whether inputs can be predicted elsewhere: lists of them, and not features that are here already."""
    return place.remote and isinstance(inputs, list | tuple)


def predict_in(place: Place, model: Model, inputs: Sequence[Any]) -> list[Any]:
    """The best output of each input."""
    return in_lots(place, _predict, inputs, model)


def solve_in(place: Place, under: Constrained, inputs: Sequence[Any]) -> list[Solution]:
    """The best output of each input under rules, with what it is worth."""
    return in_lots(place, _solve, inputs, under)


def _predict(inputs: list[Any], first: int, model: Model, n_jobs: int | None) -> list[Any]:
    return model.predict(inputs, n_jobs=n_jobs)


def _solve(inputs: list[Any], first: int, under: Constrained, n_jobs: int | None) -> list[Solution]:
    under.n_jobs = n_jobs
    try:
        return under.solutions(inputs)
    except Infeasible as error:
        if error.example is None:
            raise
        number = error.example + first
        told = str(error).replace(f"example {error.example}:", f"example {number}:")
        raise Infeasible(told, example=number, rules=error.rules) from None
