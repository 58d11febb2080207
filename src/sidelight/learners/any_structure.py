"""Margin learning on any structure, from evidence of every kind, by the learner that all structures share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial, Unlabeled
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.batch import Batch
from sidelight.objective.completion import Latent, Positive, latent_problem
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.objective.sizes import sizes_of
from sidelight.objective.structure import Structure
from sidelight.spaces import Cost


def margin_learner(
    structure: Structure[Any, Any],
    evidence: Sequence[Evidence],
    *,
    C: float = 1.0,
    options: MarginOptions | None = None,
) -> MarginLearner:
    """Structural SVM (Gold alone), J-LIS (with Companion) and latent margins (with Unlabeled, Partial, Candidates).

    Costs are Hamming's, over slots. Of Partial and Candidates, `structure.admitted(x, y)` says which choices they admit
    [slots, K]; a structure without it takes the others.
    """
    for one in evidence:
        _check(one)
    gold = [one for one in evidence if isinstance(one, Gold)]
    latent = [one for one in evidence if isinstance(one, (Unlabeled, Partial, Candidates))]
    bad = [one for one in evidence if isinstance(one, Companion) and one.z < 0]
    good = [one for one in evidence if isinstance(one, Companion) and one.z > 0]
    groups: list[Sequence[Any]] = [gold, latent, bad, good]
    inputs = [one.x for group in groups for one in group]
    every = structure.batch(inputs)  # one batch: all know all features
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    parts = [every.part(lo, hi) for lo, hi in pairwise(ends)]
    sizes = np.split(sizes_of(structure, inputs, every), ends[1:-1])
    prices = [np.array([C * one.weight for one in group], dtype=np.float64) for group in groups]
    targets = [structure.encode(one.x, one.y) for one in gold]
    nothing = np.zeros(int(parts[1].starts[-1]), np.int32)
    problem = latent_problem(
        _terms(parts[0], np.concatenate([np.zeros(0), *targets]).astype(np.int32), prices[0]),
        latent=Latent(_terms(parts[1], nothing, prices[1]), _admitted(structure, latent, parts[1])),
        negative=NegativeTerms(parts[2], sizes[2], prices[2]),
        positive=Positive(parts[3], sizes[3], prices[3]),
    )
    return MarginLearner.fresh(problem, options or MarginOptions(), size=every.scorer.size)


def _check(one: Evidence) -> None:
    """Raise `DataError` for what is not learned from here."""
    if not isinstance(one, (Gold, Unlabeled, Partial, Candidates, Companion)):
        raise DataError(f"margins are not learned from {type(one).__name__}", remedy="give evidence of another kind")
    more = {"rules": "rules", "candidates": "candidates of its own", "chunks": "chunks"}
    for name, what in more.items():
        if getattr(one, name, None):
            raise DataError(f"{type(one).__name__} with {what} is for taggers", remedy=f"leave {name} out")


def _terms(batch: Batch, targets: Ids, prices: Floats) -> TargetTerms:
    return TargetTerms(batch, Cost(targets, 1.0 - np.eye(batch.space.n_labels)), prices)


def _admitted(structure: Any, latent: Sequence[Any], batch: Batch) -> Bytes | None:
    if all(isinstance(one, Unlabeled) for one in latent):
        return None
    if not hasattr(structure, "admitted"):
        remedy = "give it a method admitted(x, y), or give evidence of another kind"
        raise DataError(f"{type(structure).__name__} does not say which choices labels admit", remedy=remedy)
    masks = np.zeros((int(batch.starts[-1]), batch.space.n_labels), np.uint8)
    for one, first, last in zip(latent, batch.starts[:-1], batch.starts[1:]):
        if isinstance(one, Unlabeled):
            masks[first:last] = 1
        else:  # inputs of some structures have fewer choices than the largest
            own = np.asarray(structure.admitted(one.x, one.y), dtype=np.uint8)
            masks[first:last, : own.shape[1]] = own
    return masks
