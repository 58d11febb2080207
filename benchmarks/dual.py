"""Dual coordinate descent against LIBLINEAR's on 20 Newsgroups: 20 one-against-rest problems of equal size.

Both make the same number of sweeps with no tolerance to stop them; the time per sweep is the difference between a long
and a short run, so that neither set-up nor conversion counts. The first sweep of both skips nothing; later ones leave
out what each solver's own shrinking leaves out.
"""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, seconds
from sidelight.features.counts import SparseRows
from sidelight.objective.cuts import Cuts
from sidelight.solvers.dual_coordinate import sweeps
from sidelight.solvers.duals.working_set import WorkingSet

SHORT, LONG = 1, 6


def run() -> list[Row]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    labels, texts = _documents()
    matrix = TfidfVectorizer(sublinear_tf=True).fit_transform(texts).tocsr()
    matrix.sort_indices()
    classes = int(labels.max()) + 1

    def peer(count: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LinearSVC(tol=1e-12, max_iter=count, fit_intercept=False, C=1.0).fit(matrix, labels)

    pools = [_pool(matrix, np.where(labels == k, 1.0, -1.0)) for k in range(classes)]
    prices = np.full(matrix.shape[0], 1.0)

    def ours(count: int) -> None:
        for pool in pools:
            pool.alphas[:] = 0.0
            pool.sums[:] = 0.0
            weights = np.zeros(matrix.shape[1])
            everything = np.arange(len(pool))
            state = np.array([1], dtype=np.uint64)
            sweeps(pool, weights, prices, cuts=everything, power=2, at_most=count, enough=-1.0, state=state)

    ours(1)
    once = matrix.nnz * classes
    work = once * (LONG - SHORT)
    mine = (seconds(lambda: ours(LONG), repeat=3)[0] - seconds(lambda: ours(SHORT), repeat=3)[0]) / work
    theirs = (seconds(lambda: peer(LONG), repeat=3)[0] - seconds(lambda: peer(SHORT), repeat=3)[0]) / work
    first = (seconds(lambda: ours(1), repeat=3)[0] - seconds(lambda: ours(0), repeat=3)[0]) / once
    their_first = (seconds(lambda: peer(1), repeat=3)[0] - seconds(lambda: peer(0), repeat=3)[0]) / once
    size = f"{matrix.nnz:,} nonzeros, {classes} problems"
    return [
        _row("a sweep that skips nothing", first, their_first, f"{size}; the first sweep"),
        _row("a sweep with shrinking", mine, theirs, f"{size}; the mean of sweeps {SHORT + 1} to {LONG}"),
    ]


def _row(what: str, mine: float, theirs: float, note: str) -> Row:
    return Row(
        "dual",
        f"coordinate descent, {what}, time per nonzero",
        1e9 * mine,
        "ns",
        1e9 * theirs,
        "LinearSVC",
        mine / theirs,
        "at most 1.5 times",
        mine <= 1.5 * theirs,
        note,
    )


def _pool(matrix: object, signs: NDArray[np.float64]) -> WorkingSet:
    indptr = matrix.indptr.astype(np.int64)  # type: ignore[attr-defined]
    values = -matrix.data * np.repeat(signs, np.diff(indptr))  # type: ignore[attr-defined]
    pool = WorkingSet(len(signs))
    slopes = SparseRows(indptr, matrix.indices.astype(np.int32), values)  # type: ignore[attr-defined]
    pool.add(Cuts(np.arange(len(signs)), slopes, np.ones(len(signs))))
    return pool


def _documents() -> tuple[NDArray[np.int64], list[str]]:
    labels, texts = [], []
    with gzip.open(
        Path(os.environ["SIDELIGHT_DATA"]) / "newsgroups20" / "train.tsv.gz", "rt", encoding="utf-8"
    ) as file:
        for line in file:
            label, _, subject, body = line.rstrip("\n").split("\t")
            labels.append(int(label))
            texts.append(subject + " " + body.replace("\\n", " ").replace("\\t", " "))
    return np.array(labels), texts
