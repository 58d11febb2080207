"""One step of the benchmark in a process of its own: `python -m benchmarks.out_of_core_run '{"step": "fit", …}'`.

Options: step (fit, tag), stored (whether the data stays in files), learner, rounds, file, folder, model. Prints CPU
seconds of all threads, and the peaks of memory: of the process's own (RssAnon) and, by `in_child`, of all that counts
for it, the pages of mapped files among it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import sidelight as sl
from sidelight.data import load_corpus, load_evidence, stored, write_columns
from sidelight.data.files import write_text_atomically

FEATURES = sl.features.standard(min_count=3)
LEARNERS: dict[str, Any] = {"crf_sgd": sl.recipes.crf(solver="sgd"), "perceptron": "perceptron"}
KERNELS = "light NOUN\non ADP\n\nlights NOUN\noff ADP\n\n" * 40


class OwnMemory(threading.Thread):
    """The peak of the memory that is the process's own, looked at now and then."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
            self.peak = max(self.peak, int(found[1]) / 1024 if found else 0.0)


def fit(*, stored_data: bool, learner: str, rounds: int, file: Path, folder: Path, model: Path) -> dict[str, float]:
    began = time.process_time()
    evidence: Any = stored(gold=file, folder=folder) if stored_data else load_evidence(file, "gold")
    tagger = sl.Tagger(learner=LEARNERS[learner], features=FEATURES, max_rounds=rounds, n_jobs=1).fit(evidence)
    ended = time.process_time()
    tagger.save(model)
    return {"cpu": ended - began, "attributes": tagger.model_.extractor.n_attributes}


def tag(*, stored_data: bool, file: Path, model: Path) -> dict[str, float]:
    out = model.with_suffix(".tagged")
    began = time.process_time()
    if stored_data:
        from sidelight.cli import app

        arguments = ["predict", str(model), str(file), "--labelled", "--jobs", "1", "--out", str(out), "--resume"]
        app(arguments, standalone_mode=False)
    else:
        corpus = load_corpus(file)
        labels = sl.load_model(model).predict(corpus.xs, n_jobs=1)
        full = [[(*x, y) for x, y in zip(xs, ys)] for xs, ys in zip(corpus.xs, corpus.ys or [])]
        write_text_atomically(out, write_columns(full, labels))
    cpu = time.process_time() - began
    right = total = 0
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                *_, gold, guess = line.rstrip("\n").split("\t")
                total, right = total + 1, right + (gold == guess)
    out.unlink()
    return {"cpu": cpu, "accuracy": right / total, "tokens": total}


def main() -> None:
    options = json.loads(sys.argv[1])
    step, stored_data = options.pop("step"), options.pop("stored")
    paths = {name: Path(options.pop(name)) for name in ("file", "folder", "model") if name in options}
    with tempfile.TemporaryDirectory() as folder:  # kernels from the disk cache
        small = Path(folder, "small.txt")
        small.write_text(KERNELS)
        name = options.get("learner", "perceptron")
        fit(stored_data=True, learner=name, rounds=1, file=small, folder=Path(folder), model=Path(folder, "m"))
        tag(stored_data=True, file=small, model=Path(folder, "m"))
    memory = OwnMemory()
    memory.start()
    if step == "fit":
        found = fit(stored_data=stored_data, **options, **paths)
    else:
        found = tag(stored_data=stored_data, file=paths["file"], model=paths["model"])
    memory.over.set()
    print(json.dumps({**found, "own_mb": memory.peak}))


if __name__ == "__main__":
    main()
