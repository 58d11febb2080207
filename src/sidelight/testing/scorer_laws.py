"""Laws of a scorer: features counted from outputs are the adjoint of scores, and margin terms have true cuts."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.features.counts import SparseRows
from sidelight.objective.batch import Batch, LinearScorer, SmoothScorer
from sidelight.objective.cuts import Terms
from sidelight.objective.margin import NegativeTerms, TargetTerms, positive_terms
from sidelight.objective.margin_descent import MarginDescent, add_difference
from sidelight.spaces import Cost
from sidelight.testing.outputs import BrokenLaw, ListedOutputs
from sidelight.testing.space_laws import close, outputs_at_random
from sidelight.testing.sum_laws import check_gradient, has


def check_adjoint(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """w · (scale · (Φ(x, plus) − Φ(x, minus)) + threshold) must equal the scores, row by row and in sum."""
    if not all(len(one.outputs) for one in lists):
        return
    count = len(batch)
    plus, minus = outputs_at_random(lists, rng), outputs_at_random(lists, rng)
    which = rng.permutation(count)[: int(rng.integers(0, count + 1))]
    scales, thresholds = rng.normal(size=len(which)), rng.normal(size=len(which))
    rows = batch.differences(which, plus, minus, scales=scales, thresholds=thresholds)
    both = batch.score(weights, plus) - batch.score(weights, minus)
    for i, value, right in zip(which, rows.dot(weights), scales * both[which] + thresholds * weights[0]):
        if not close(value, right):
            raise BrokenLaw(
                f"differences: input {i}: its row gives {value:.9g} with the weights, and scores give {right:.9g}"
            )
    expected = counted(batch.differences(which, plus, None, scales=scales, thresholds=thresholds), batch.scorer.size)
    expected -= counted(batch.differences(which, minus, None, scales=scales), batch.scorer.size)
    for i, value, right in zip(which, counted(rows, batch.scorer.size), expected):
        if not np.allclose(value, right):
            raise BrokenLaw(f"differences: input {i}: its row is not that of plus less that of minus")
    for i, first, last in zip(which, rows.indptr[:-1], rows.indptr[1:]):
        if np.any(np.diff(rows.indices[first:last]) <= 0):
            raise BrokenLaw(f"differences: input {i}: the indices of its row are not in order, or one is there twice")
    alike = batch.differences(which, plus, plus, scales=np.ones(len(which)))
    if batch.linear.is_binary and len(alike.indices):  # for others there may be rounding errors
        raise BrokenLaw("differences: an output less itself leaves features, and should leave none")
    every = rng.normal(size=count)
    value, right = float(batch.linear.summed(plus, minus, every) @ weights), float(every @ both)
    if not close(value, right):
        raise BrokenLaw(f"summed: gives {value:.9g} with the weights, and scores give {right:.9g}")


def check_gradients(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> bool:
    """Gradients of scores and of margins, against finite differences; False if a scorer has none."""
    if not all(len(one.outputs) for one in lists) or not len(batch):
        return True
    if not isinstance(batch.scorer, (LinearScorer, SmoothScorer)):
        return False
    plus, minus, scales = outputs_at_random(lists, rng), outputs_at_random(lists, rng), rng.normal(size=len(batch))

    def value(there: Floats) -> float:
        return float(scales @ (batch.score(there, plus) - batch.score(there, minus)))

    gradient = np.zeros(batch.scorer.size)
    if not has("gradients", lambda: add_difference(batch, weights, plus, minus, scales, gradient)):
        return False
    check_gradient("gradient of scores", value, weights, gradient, rng)
    cost = Cost(plus, 1.0 - np.eye(batch.space.n_labels))
    problem = MarginDescent(TargetTerms(batch, cost, rng.uniform(0.5, 2.0, len(batch))), power=2)
    loss = problem.value_and_gradient(weights, gradient)
    if not close(loss, problem.value(weights)):
        raise BrokenLaw("margins by gradients: the objective differs from that which comes with a gradient")
    there = weights + 1e-3 * rng.normal(size=len(weights))
    slope, change = float(gradient @ (there - weights)), problem.value(there) - loss
    if isinstance(batch.scorer, LinearScorer) and change < slope - 1e-8 * (1.0 + abs(loss)):
        raise BrokenLaw(
            f"margins by gradients: the objective changes by {change:.9g}, less than the gradient's {slope:.9g}"
        )
    return True


def counted(rows: SparseRows, size: int) -> Floats:
    """Sparse rows as an array. # [R, size]"""
    counts = np.zeros((len(rows), size))
    np.add.at(counts, (np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.indices), rows.values)
    return counts


def check_cuts(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """The three terms of margins: their value is the maximum over all outputs, and cuts touch and support them."""
    if not all(len(one.outputs) for one in lists) or not len(batch):
        return
    size, targets = batch.space.n_labels, outputs_at_random(lists, rng)
    cost, sizes, prices = Cost(targets, 1.0 - np.eye(size)), rng.uniform(0.5, 2.0, len(batch)), np.ones(len(batch))
    target = TargetTerms(batch, cost, prices)
    negative = NegativeTerms(batch, sizes, prices)
    here, bad = target.worst(weights).values, negative.worst(weights).values
    for one in lists:
        own = one.scores[one.place(targets[one.slots])]
        right = float((one.scores + one.costs(cost)).max() - own)
        if not close(here[one.number], right):
            raise BrokenLaw(f"target term: input {one.number} is given {here[one.number]:.9g}, and has {right:.9g}")
        right = 1.0 + float(one.scores.max()) / sizes[one.number] + float(weights[0])
        if not close(bad[one.number], right):
            raise BrokenLaw(f"negative term: input {one.number} is given {bad[one.number]:.9g}, and has {right:.9g}")
    for name, terms in (
        ("target", target),
        ("negative", negative),
        ("positive", positive_terms(batch, targets, sizes, prices)),
    ):
        check_support(f"{name} term", terms, weights, rng)


def check_support(law: str, terms: Terms, weights: Floats, rng: np.random.Generator) -> None:
    """Cuts touch their terms at the requested weights, and lie below them everywhere."""
    worst, every = terms.worst(weights), np.arange(len(terms))
    cuts = terms.cuts(worst, every)
    for i, value, right in zip(every, cuts.offsets + cuts.slopes.dot(weights), worst.values):
        if not close(value, right):
            raise BrokenLaw(f"{law}: the cut of input {i} has {value:.9g} where its term has {right:.9g}")
    for scale in (0.1, 10.0):
        there = weights + scale * rng.normal(size=len(weights))
        for i, cut, term in zip(every, cuts.offsets + cuts.slopes.dot(there), terms.worst(there).values):
            if cut > term + 1e-8 * (1.0 + abs(term)):
                raise BrokenLaw(
                    f"{law}: the cut of input {i} is {cut:.9g} at other weights, above the term's {term:.9g}"
                )
