"""One training run on CoNLL-2000 in a process of its own: `python -m benchmarks.chunking_train WHO`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.chunking_data import feature_strings, load
from sidelight.evaluate import evaluate


def crfsuite(algorithm: str, iterations: int, *, sentences: int | None = None) -> dict[str, Any]:
    import pycrfsuite

    xs, ys = load("train", sentences)
    began, worked = time.perf_counter(), time.process_time()
    rows = [feature_strings(x) for x in xs]
    extracted = time.perf_counter()
    trainer = pycrfsuite.Trainer(verbose=False)
    for row, y in zip(rows, ys):
        trainer.append(row, y)
    appended = time.perf_counter()
    trainer.select(algorithm)
    trainer.set_params({"max_iterations": iterations})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        ended = time.perf_counter()
        cpu = time.process_time() - worked
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        test_xs, test_ys = load("test")
        result = evaluate(test_ys, [tagger.tag(feature_strings(x)) for x in test_xs])
    return {
        "seconds": ended - began,
        "cpu": cpu,
        "extract": extracted - began,
        "append": appended - extracted,
        "train": ended - appended,
        "f1": result.f1,
        "accuracy": result.accuracy,
    }


def sidelight(learner: str, *, price: float = 1.0, rounds: int | None = None, held_out: bool = False) -> dict[str, Any]:
    """`held_out`: trained on the first four fifths of the training part, tried on the last, not on the test part."""
    import sidelight as sl

    xs, ys = load("train")
    test_xs, test_ys = load("test")
    if held_out:
        cut = len(xs) * 4 // 5
        xs, test_xs = xs[:cut], xs[cut:]
        ys, test_ys = ys[:cut], ys[cut:]
    settings: dict[str, Any] = {"features": sl.features.chunking(), "learner": learner, "prices": {"gold": price}}
    sl.Tagger(**settings, max_rounds=2).fit(xs[:50], ys[:50]).predict(xs[:5])  # kernels from the disk cache
    began, worked = time.perf_counter(), time.process_time()
    tagger = sl.Tagger(**settings, max_rounds=rounds).fit(xs, ys)
    ended = time.perf_counter()
    cpu = time.process_time() - worked
    result = evaluate(test_ys, tagger.predict(test_xs))
    return {
        "seconds": ended - began,
        "cpu": cpu,
        "f1": result.f1,
        "accuracy": result.accuracy,
        "rounds": len(tagger.rounds_),
        "features": tagger.model_.layout.n_attributes,
    }


WHO = {
    "crfsuite-ap": lambda: crfsuite("ap", 5),
    "crfsuite-lbfgs": lambda: crfsuite("lbfgs", 50),
    "sidelight-perceptron": lambda: sidelight("perceptron", rounds=5),
}

if __name__ == "__main__":
    if sys.argv[1] == "sidelight-svm":  # and options as JSON
        print(json.dumps(sidelight("structural_svm", **json.loads(sys.argv[2]))))
    else:
        print(json.dumps(WHO[sys.argv[1]]()))
