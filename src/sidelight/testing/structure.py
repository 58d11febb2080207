"""`check_structure`: checks everything that learners assume about a structure, on small inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.objective.batch import Batch, LinearScorer
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.structure import PlainStructure
from sidelight.spaces import sums
from sidelight.testing import scorer_laws, space_laws, sum_laws
from sidelight.testing.outputs import Admits, BrokenLaw, Score, all_choices, listed
from sidelight.testing.sum_laws import has


@dataclass(frozen=True, slots=True)
class Checked:
    """The checks that were made; operations that a structure lacks raised `Intractable`, as they should."""

    outputs: int  # of all inputs
    gradients: bool  # of scores and margins
    k_best: bool
    sums: bool
    likelihood: bool


def check_structure(
    batch: Batch,
    *,
    seed: int = 0,
    weights: Floats | None = None,
    score: Score | None = None,
    admits: Admits | None = None,
    k: int = 4,
) -> Checked:
    """Check a batch of small inputs against the list of all their outputs; raises `BrokenLaw` with an explanation.

    The outputs are defined by `admits` (number of an input, choices), or else by the space. Scores are defined by
    `score` (weights, number of an input, choices), or else by the features that the scorer counts. Pass both if you can
    write down the definition of a structure: then the check does not rely on the structure itself. Random numbers come
    from `seed`.
    """
    rng = np.random.default_rng(seed)
    if weights is None:
        weights = rng.normal(size=batch.scorer.size)
    lists = listed(batch, weights, score=score, admits=admits)
    every = [all_choices(batch, i) for i in range(len(batch))]
    space_laws.check_members(batch, weights, lists, every)
    space_laws.check_best(batch, weights, lists, rng)
    space_laws.check_inside(batch, weights, lists, rng)
    space_laws.check_outside(batch, weights, lists, rng)
    space_laws.check_random(batch, lists, rng)
    space_laws.check_parts(batch, weights, lists, rng)
    space_laws.check_repeatable(batch, weights, lists, rng)
    if isinstance(batch.scorer, LinearScorer):
        scorer_laws.check_adjoint(batch, weights, lists, rng)
        scorer_laws.check_cuts(batch, weights, lists, rng)
    return Checked(
        sum(len(one.outputs) for one in lists),
        scorer_laws.check_gradients(batch, weights, lists, rng),
        sum_laws.check_k_best(batch, weights, lists, k),
        sum_laws.check_sums(batch, weights, lists, rng),
        sum_laws.check_likelihood(batch, weights, lists, rng),
    )


def check_examples(
    structure: PlainStructure[Any, Any], xs: Sequence[Any], ys: Sequence[Any], *, seed: int = 0
) -> Checked:
    """Check a structure by small examples: outputs are encoded and read back, and the laws of their batch hold."""
    batch = structure.batch(xs)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        choices = np.asarray(structure.encode(x, y), dtype=np.int32)
        if len(choices) != batch.lengths[i]:
            raise BrokenLaw(f"encode: example {i} has {batch.lengths[i]} slots, and {len(choices)} choices")
        if not batch.space.part(i, i + 1).admits(choices)[0]:
            raise BrokenLaw(f"encode: example {i}: {choices.tolist()} is not an output of the space")
        if structure.decode(x, choices) != y:
            raise BrokenLaw(f"decode: example {i} is {y!r}, and reads {structure.decode(x, choices)!r} after encode")
    return check_structure(batch, seed=seed)


def capabilities(batch: Batch) -> dict[str, bool]:
    """For each operation, by name, whether a batch of small inputs supports it.

    Every structure has the best output, with costs, bonuses, clamps and candidates; margin learners need no more.
    """
    weights = np.zeros(batch.scorer.size)
    scores, space = batch.scores(weights), batch.space
    mask = np.ones((int(batch.starts[-1]), space.n_labels), dtype=np.uint8)
    operations: dict[str, Callable[[], Any]] = {
        "outside candidates": lambda: space.outside(mask).feasible(),
        "k best": lambda: sums.k_best(space, scores, 2),
        "sums and marginals": lambda: (sums.log_sums(space, scores), sums.token_marginals(space, scores)),
        "samples": lambda: sums.sample(space, scores, np.random.default_rng(0)),
        "likelihood": lambda: likelihood_problem(
            [Labelled(batch, np.ones(len(batch)), admitted=mask)], support="all"
        ).value_and_gradient(weights, weights.copy()),
        "random ties": lambda: batch.best(weights, rng=np.random.default_rng(0)),
    }
    return {"best": True, **{name: has(name, ask) for name, ask in operations.items()}}


def table(batches: Mapping[str, Batch]) -> str:
    """Structures by capabilities, as Markdown."""
    facts = {name: capabilities(batch) for name, batch in batches.items()}
    heads = list(next(iter(facts.values())))
    lines = [["structure", *heads], ["---"] * (len(heads) + 1)]
    lines += [[name, *("yes" if own[head] else "–" for head in heads)] for name, own in facts.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
