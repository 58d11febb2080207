"""Small structural SVMs over chains and classes, and their optimum over all outputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from drawing import batches, dense_rows_of, generators, labelings, members_of, random_mask, random_rows
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.objective.margin import TargetTerms, Worst
from sidelight.objective.scorers.chain_scorer import ChainScorer
from sidelight.spaces import Cost


@st.composite
def gold_terms(draw, *, most: int = 4, longest: int = 3, free: bool = True, generic: bool = False) -> TargetTerms:
    """Targets within the space, any costs that are zero for the target, some terms free of charge if `free`.

    With `generic`, every token has real-valued features of its own, so that outputs do not tie by chance.
    """
    batch = draw(batches(most=most, longest=longest))
    rng = draw(generators())
    labels, tokens = batch.scorer.layout.n_labels, batch.scorer.rows.n_tokens
    if generic:
        layout = replace(batch.scorer.layout, n_dense=max(batch.scorer.layout.n_dense, 1))
        rows = random_rows(rng, batch.scorer.rows.starts, layout.n_attributes, layout.n_dense, valued=True)
        batch = replace(batch, scorer=ChainScorer(rows, layout))
    elif draw(st.booleans()):
        batch.scorer.rows.dense[:] *= random_mask(
            rng, batch.scorer.rows.dense.shape, 0.4
        )  # mostly zero: kept as sparse entries
    costs = rng.uniform(0.2, 2.0, (labels, labels))
    np.fill_diagonal(costs, 0.0)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    if draw(st.booleans()):
        admitted = random_mask(rng, (tokens, labels), 0.7)
        admitted[np.arange(tokens), targets] = 1
        batch = replace(batch, space=batch.space.inside(admitted))
    weights = rng.uniform(0.5, 2.0, tokens) if draw(st.booleans()) else np.zeros(0)
    prices = rng.uniform(0.05, 2.0, len(batch))
    if free:
        prices *= rng.random(len(batch)) < 0.9
    return TargetTerms(batch, Cost(targets, costs, weights), prices)


def all_outputs(terms: TargetTerms):
    """Every output of every term as a constraint: slopes, offsets, term numbers."""
    slopes, offsets, numbers = [], [], []
    starts = terms.batch.scorer.rows.starts
    for i in range(len(terms)):
        a, b = int(starts[i]), int(starts[i + 1])
        paths = labelings(terms.batch.scorer.layout.n_labels, b - a)
        for path in paths[members_of(terms.batch.space, a, paths)]:
            outputs = np.array(terms.cost.targets)
            outputs[a:b] = path
            cuts = terms.cuts(Worst(np.zeros(len(terms)), outputs), np.array([i]))
            slopes.append(dense_rows_of(cuts.slopes, terms.batch.scorer.size))
            offsets.append(cuts.offsets)
            numbers.append(np.array([i]))
    return np.concatenate(slopes), np.concatenate(offsets), np.concatenate(numbers)


def least_primal(terms: TargetTerms, *, power: int = 1):
    """The least primal value, and the weights that attain it.

    The generic solver stops early, or breaks down, where numbers are small, so it is asked in three scales: with
    weights s w and offsets s Δ, prices must be s C (hinge) or C (its square) for an objective s² times as large.
    """
    slopes, offsets, numbers = all_outputs(terms)
    found = []
    for scale in (1.0, 5.0, 25.0):
        prices = terms.prices * scale if power == 1 else terms.prices
        try:
            value, weights = optimum(slopes, scale * offsets, numbers, prices, power=power)
        except (ValueError, ArithmeticError):
            continue
        found.append((value / scale**2, weights / scale))
    return min(found, key=lambda one: one[0])
