"""Which prices learners should have on CoNLL-2000: learned from four fifths of training sentences, tried on the last.

`python -m benchmarks.prices crf`, `svm` and `candidates` print tables; their best prices stand in `crf.py`,
`chunking.py` and `candidates.py` (of prices within 0.01 of each other, the smaller). Candidates are tried on the first
2,500 sentences.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import candidates, chunking, crf

CRF_GRID = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SVM_GRID = (0.03, 0.1, 0.3, 1.0)
CANDIDATES_GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SENTENCES = 2500


def of_crf() -> None:
    """Chunk F1, and in brackets the iterations."""
    for support in ("seen", "all"):
        for rounds in (crf.ROUNDS, None):
            _line(
                f"crf, support {support}, {rounds or 'all'} iterations",
                CRF_GRID,
                lambda price: crf.train(support=support, price=price, rounds=rounds, held_out=True),  # noqa: B023
                lambda found: f"{found['f1']:.2f} ({found['rounds']})",
            )


def of_svm() -> None:
    """Chunk F1, and in brackets the rounds."""
    _line(
        "structural SVM, gap of 1 %",
        SVM_GRID,
        lambda price: chunking.train_svm(price, held_out=True),
        lambda found: f"{found['f1']:.2f} ({found['rounds']})",
    )


def of_candidates() -> None:
    """Accuracy, and in brackets the rounds."""
    for one in candidates.LEARNERS:
        _line(
            one.what,
            CANDIDATES_GRID,
            lambda price: candidates.train(one, price, sentences=SENTENCES, held_out=True),  # noqa: B023
            lambda found: f"{found['accuracy']:.2f} ({found['rounds']})",
        )


def _line(
    what: str,
    grid: Sequence[float],
    train: Callable[[float], dict[str, Any]],
    tell: Callable[[dict[str, Any]], str],
) -> None:
    print(what, end="", flush=True)
    for price in grid:
        print(f", C {price:g}: {tell(train(price))}", end="", flush=True)
    print()


if __name__ == "__main__":
    {"crf": of_crf, "svm": of_svm, "candidates": of_candidates}[sys.argv[1]]()
