"""Prediction of many inputs in a place: every worker gets the model, and ranges of consecutive inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.estimators.constrained import Constrained
from sidelight.inference.problem import Solution
from sidelight.inference.proofs import warn_of_early_ends
from sidelight.models.model import Model
from sidelight.parallel.place import FEW, Place, in_lots, one_each
from sidelight.structures.chain_structure import ChainStructure


def spread(place: Place, inputs: Any) -> bool:
    """Whether inputs can be predicted on workers: lists of inputs can, features prepared in this process cannot."""
    return place.remote and isinstance(inputs, list | tuple)


def predict_in(place: Place, model: Model, inputs: Sequence[Any]) -> list[Any]:
    """The best output of each input; warns as `Model.predict`."""
    answers = in_lots(place, _predict, inputs, model, few=_few(model))
    warn_of_early_ends(np.concatenate([proved for _, proved in answers]) if answers else None)
    return list(chain.from_iterable(outputs for outputs, _ in answers))


def solve_in(place: Place, under: Constrained, inputs: Sequence[Any]) -> list[Solution]:
    """The best output of each input under rules, with its value."""
    return one_each(place, _solve, inputs, under, few=1)


def judge_in(place: Place, model: Model, inputs: Sequence[Any], sizes: Sequence[float] | None) -> Floats:
    """The companion decision of each input; see `Model.judge`. # [N]"""
    sized = [(x, None if sizes is None else sizes[i]) for i, x in enumerate(inputs)]
    return np.array(one_each(place, _judge, sized, model, few=_few(model)), dtype=np.float64)


def _few(model: Model) -> int:
    """The minimum number of inputs per message; it is smaller for structures with slow inference."""
    return FEW if isinstance(model.structure, ChainStructure) else 1


def _predict(inputs: list[Any], model: Model, n_jobs: int | None) -> tuple[list[Any], NDArray[np.bool_]]:
    outputs, proved = model.answers(inputs, n_jobs=n_jobs)
    return outputs, np.ones(len(outputs), dtype=np.bool_) if proved is None else proved


def _solve(inputs: list[Any], under: Constrained, n_jobs: int | None) -> list[Solution]:
    under.n_jobs = n_jobs
    return under.solutions(inputs)


def _judge(sized: list[tuple[Any, float | None]], model: Model, n_jobs: int | None) -> list[float]:
    sizes = [size for _, size in sized if size is not None]
    decisions: list[float] = model.judge([x for x, _ in sized], sizes=sizes or None, n_jobs=n_jobs).tolist()
    return decisions
