"""One CRF trained on CoNLL-2000 in a process of its own: `python -m benchmarks.crf_train '{"support": "all", …}'`.

Options: support, price, rounds (null: until it has converged), sentences (null: all), n_jobs, held_out (true: train on
the first four fifths of the training part and tag the last fifth, instead of the test part), or for python-crfsuite
peer (true), rounds and sentences.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.chunking_data import load
from benchmarks.chunking_train import crfsuite
from sidelight.evaluate import evaluate


def sidelight(
    *,
    support: str,
    price: float,
    rounds: int | None = None,
    sentences: int | None = None,
    held_out: bool = False,
    n_jobs: int = -1,
) -> dict[str, Any]:
    import sidelight as sl

    xs, ys = load("train", sentences)
    test_xs, test_ys = load("test")
    if held_out:
        cut = len(xs) * 4 // 5
        xs, test_xs = xs[:cut], xs[cut:]
        ys, test_ys = ys[:cut], ys[cut:]
    settings: dict[str, Any] = {
        "features": sl.features.chunking(),
        "learner": sl.recipes.crf(support=support),
        "prices": {"gold": price},
        "n_jobs": n_jobs,
    }
    sl.Tagger(**settings, max_rounds=12).fit(xs[:50], ys[:50]).predict(xs[:5])  # kernels from the disk cache
    began = time.perf_counter()
    tagger = sl.Tagger(**settings, max_rounds=rounds).fit(xs, ys)
    ended = time.perf_counter()
    result = evaluate(test_ys, tagger.predict(test_xs))
    return {
        "seconds": ended - began,
        "learning": tagger.rounds_[-1].seconds,
        "rounds": len(tagger.rounds_),
        "objective": tagger.rounds_[-1].objective,
        "f1": result.f1,
        "accuracy": result.accuracy,
    }


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    if options.pop("peer", False):
        print(json.dumps(crfsuite("lbfgs", options["rounds"], sentences=options["sentences"])))
    else:
        print(json.dumps(sidelight(**options)))
