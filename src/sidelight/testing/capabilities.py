"""What a structure can do, found by asking it; what it cannot raises `Intractable`, which says what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sidelight.objective.batch import Batch
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.spaces import sums
from sidelight.testing.sum_laws import has


def capabilities(batch: Batch) -> dict[str, bool]:
    """By name, whether a batch of small inputs can do it.

    Every structure has the best output, with costs, bonuses, clamps and candidates; margins ask for no more.
    """
    weights = np.zeros(batch.scorer.size)
    scores, space = batch.scores(weights), batch.space
    mask = np.ones((int(batch.starts[-1]), space.n_labels), dtype=np.uint8)
    asked: dict[str, Callable[[], Any]] = {
        "outside candidates": lambda: space.outside(mask).feasible(),
        "k best": lambda: sums.k_best(space, scores, 2),
        "sums and marginals": lambda: (sums.log_sums(space, scores), sums.token_marginals(space, scores)),
        "samples": lambda: sums.sample(space, scores, np.random.default_rng(0)),
        "likelihood": lambda: likelihood_problem(
            [Labelled(batch, np.ones(len(batch)), admitted=mask)], support="all"
        ).value_and_gradient(weights, weights.copy()),
        "random ties": lambda: batch.best(weights, rng=np.random.default_rng(0)),
    }
    return {"best": True, **{name: has(name, ask) for name, ask in asked.items()}}


def table(batches: Mapping[str, Batch]) -> str:
    """Structures by capabilities, as Markdown."""
    facts = {name: capabilities(batch) for name, batch in batches.items()}
    heads = list(next(iter(facts.values())))
    lines = [["structure", *heads], ["---"] * (len(heads) + 1)]
    lines += [[name, *("yes" if own[head] else "–" for head in heads)] for name, own in facts.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
