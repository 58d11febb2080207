"""How cost grows: with tokens (linearly), with labels (at most quadratically), with threads (nearly inversely)."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, seconds
from sidelight.core.arrays import NO_FLOATS
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online.online import perceptron_epoch
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.perceptron import Perceptron
from sidelight.spaces import Cost

PER_TOKEN, ATTRIBUTES, LENGTH = 10, 50_000, 25


def problem(tokens: int, labels: int, n_jobs: int) -> TargetTerms:
    """Random sentences whose labels depend on their features."""
    rng = np.random.default_rng(7)
    starts = offsets_of([LENGTH] * (tokens // LENGTH))
    count = int(starts[-1])
    indices = np.minimum(rng.zipf(1.3, count * PER_TOKEN) - 1, ATTRIBUTES - 1).astype(np.int32)
    indptr = np.arange(count + 1, dtype=np.int64) * PER_TOKEN
    rows = Rows(starts, indptr, indices, NO_FLOATS, np.zeros((count, 0), dtype=np.float32))
    layout = Layout(labels, ATTRIBUTES)
    batch = chain_batch(rows, layout, n_jobs=n_jobs)
    targets = batch.best(rng.normal(size=layout.size)).labels
    return TargetTerms(batch, Cost(targets, 1.0 - np.eye(labels), NO_FLOATS), np.full(len(rows), 0.1))


def timed(tokens: int, labels: int, n_jobs: int) -> dict[str, float]:
    """Seconds of decoding, of a perceptron epoch and of a round of cutting planes."""
    terms = problem(tokens, labels, n_jobs)
    layout = terms.batch.scorer.layout
    weights = np.random.default_rng(1).normal(size=layout.size)
    perceptron = Perceptron.fresh(layout.size)
    ones = np.ones(len(terms))

    def epoch() -> None:
        order = np.arange(len(terms))
        state = (perceptron.weights, perceptron.totals, perceptron.clock)
        perceptron_epoch(terms.batch, terms.cost.targets, ones, order, *state)

    solver = CuttingPlane.fresh(layout.size, len(terms), power=2, seed=0)
    return {
        "decoding": seconds(lambda: terms.batch.best(weights), repeat=3)[0],
        "perceptron epoch": seconds(epoch, repeat=2)[0],
        "cutting-plane round": seconds(lambda: solver.round(terms, violation=1e-3, tolerance=0.01))[0],
    }


def run() -> list[Row]:
    timed(1000, 5, 1)
    rows: list[Row] = []
    for tokens in (10_000, 100_000, 1_000_000):
        for what, time in timed(tokens, 22, 2).items():
            rows.append(_row(f"{what}: {tokens:,} tokens, 22 labels, 2 threads", 1e9 * time / tokens))
    for labels in (5, 10, 20, 50, 100, 200):
        for what, time in timed(50_000, labels, 2).items():
            rows.append(_row(f"{what}: {labels} labels, 50,000 tokens, 2 threads", 1e9 * time / 50_000))
    for n_jobs in (1, 2):
        for what, time in timed(200_000, 22, n_jobs).items():
            rows.append(_row(f"{what}: {n_jobs} threads, 200,000 tokens, 22 labels", 1e9 * time / 200_000))
    return rows


def _row(what: str, value: float) -> Row:
    return Row("growth", what, value, "ns/token")
