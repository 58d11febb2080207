"""Chunking learned from three candidate labels per token, all of CoNLL-2000: words and tags of a window of one.

CLLP with both of its solvers, MMS, and NAIVE (a structural SVM on a label picked from the candidates); no peer was
found. Prices were chosen on held-out training sentences (`python -m benchmarks.prices candidates`). Seconds are from
evidence in memory to a model.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from benchmarks.measure import Row, in_child

SMALL = 300  # sentences


class Learner(NamedTuple):
    what: str
    name: str
    solver: str | None
    price: float


LEARNERS = (
    Learner("CLLP, 2-slack cutting plane", "cllp", "two_slack", 0.1),
    Learner("CLLP, dual coordinate descent", "cllp", "dual_coordinate", 0.1),
    Learner("MMS, cutting plane", "mms", "two_slack", 1.0),
    Learner("NAIVE", "naive", None, 0.3),
)


def run(*, quick: bool = False) -> list[Row]:
    sentences = SMALL if quick else None
    return [_row(one, train(one, one.price, sentences=sentences)) for one in LEARNERS]


def train(one: Learner, price: float, **options: Any) -> dict[str, Any]:
    """Seconds, accuracy and more of one training run; see `candidates_train`."""
    given = {"learner": one.name, "solver": one.solver, "price": price, **options}
    return in_child("benchmarks.candidates_train", json.dumps(given))


def _row(one: Learner, found: dict[str, Any]) -> Row:
    work = (
        f"{found['completions']} completions, {found['rounds']} rounds" if one.solver else f"{found['rounds']} rounds"
    )
    scores = f"accuracy {found['accuracy']:.2f}, F1 {found['f1']:.2f}" if found["learned"] else "ALL WEIGHTS ARE ZERO"
    return Row(
        "candidates",
        f"{one.what}, 3 candidates per token",
        found["seconds"],
        "s",
        note=f"{scores}, price {one.price:g}, {work}, {found['sentences']:,} sentences, "
        f"objective {found['objective']:.1f}, gap {found['gap']:.1f}, peak {found['peak_mb']:.0f} MB",
    )
