"""Small sub-problems with random rules, for tests."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from sidelight.rules import Rule, every, not_
from sidelight.structures.sub_problems import SubProblems

KINDS = {"one": ("a", "b"), "two": ("a", "b", "c"), "three": ("a", "b")}


def drawn_rules(rng: np.random.Generator, *, soft: bool = True) -> list[Rule]:
    """Some outputs are illegal, some cost something."""
    every_ = list(product(*KINDS.values()))
    illegal = [every_[k] for k in rng.permutation(len(every_))[: int(rng.integers(0, len(every_) - 2))]]
    dear = every_[int(rng.integers(len(every_)))]

    def forbids(outputs: list[Any]) -> Any:
        return lambda x, y: every(
            not_(every(getattr(y, kind)[0] == label for kind, label in zip(KINDS, one))) for one in outputs
        )

    return [Rule(forbids(illegal), "legal"), *([Rule(forbids([dear[:2]]), "dear", 0.7)] if soft else [])]


def drawn_structure(rng: np.random.Generator, *, soft: bool = True) -> SubProblems:
    return SubProblems(
        KINDS,
        drawn_rules(rng, soft=soft),
        variables=lambda x: dict.fromkeys(KINDS, (0,)),
        features=lambda x, kind, key: x[list(KINDS).index(kind)],
    )


def drawn_data(structure: SubProblems, rng: np.random.Generator, count: int) -> tuple[list[Any], list[Any]]:
    """Inputs of three vectors of three numbers, and legal outputs that depend on them."""
    xs = [rng.normal(size=(3, 3)) for _ in range(count)]
    batch = structure.batch(xs)
    weights = np.random.default_rng(99).normal(size=batch.scorer.size)
    choices = batch.best(weights).labels
    structure.names.places.clear()
    return xs, [structure.decode(x, choices[a : a + 3]) for x, a in zip(xs, batch.starts[:-1])]
