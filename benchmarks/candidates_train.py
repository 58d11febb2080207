"""Learning to chunk from candidate labels in a process of its own: `python -m benchmarks.candidates_train '{…}'`.

Options: learner (cllp, mms, naive), solver (of cllp and mms), price, sentences (null: all), held_out (true: train on
the first four fifths of the training part and tag the last fifth, instead of the test part).
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.chunking_data import load
from sidelight.evaluate import evaluate

SIZE = 3  # candidates of a token
FEATURES = "\n".join(f"U{column}{offset:+}:%x[{offset},{column}]" for column in (0, 1) for offset in (-1, 0, 1)) + "\nB"


def candidates_of(ys: list[list[str]], labels: list[str], rng: np.random.Generator) -> list[list[list[str]]]:
    """The right label of every token and two others at random, all different."""
    number = {label: k for k, label in enumerate(labels)}
    right = np.array([number[label] for y in ys for label in y])
    # The first of a random order of all labels, with the right one put first.
    keys = rng.random((len(right), len(labels)))
    keys[np.arange(len(right)), right] = -1.0
    chosen = np.sort(np.argpartition(keys, SIZE - 1, axis=1)[:, :SIZE], axis=1)
    names = iter([[labels[k] for k in row] for row in chosen.tolist()])
    return [[next(names) for _ in y] for y in ys]


def train(
    *, learner: str, price: float, solver: str | None = None, sentences: int | None = None, held_out: bool = False
) -> dict[str, Any]:
    import sidelight as sl

    make = getattr(sl.recipes, learner)
    recipe = make() if solver is None else make(solver=solver)

    xs, ys = load("train", sentences)
    labels = sorted({label for y in ys for label in y})
    test_xs, test_ys = load("test")
    if held_out:
        cut = len(xs) * 4 // 5
        xs, test_xs = xs[:cut], xs[cut:]
        ys, test_ys = ys[:cut], ys[cut:]
    evidence = sl.candidates(xs, candidates_of(ys, labels, np.random.default_rng(5)))

    def tagger() -> sl.Tagger:
        return sl.Tagger(
            features=sl.features.parse_templates(FEATURES),
            learner=recipe,
            loss="hinge",
            prices={"candidates": price},
            labels=labels,
        )

    tagger().fit(evidence[:30]).predict(xs[:5])  # kernels from the disk cache
    began = time.perf_counter()
    fitted = tagger().fit(evidence)
    ended = time.perf_counter()
    last = fitted.rounds_[-1]
    result = evaluate(test_ys, fitted.predict(test_xs))
    return {
        "seconds": ended - began,
        "rounds": last.number,
        "completions": last.completion,
        "stopped": last.stopped,
        "objective": last.objective,
        "gap": last.gap,
        "learned": bool(np.any(fitted.model_.weights)),
        "sentences": len(xs),
        "f1": result.f1,
        "accuracy": result.accuracy,
    }


if __name__ == "__main__":
    print(json.dumps(train(**json.loads(sys.argv[1]))))
