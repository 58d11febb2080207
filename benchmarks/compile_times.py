"""How long the kernels of each learner take to compile, in CPU seconds: the table in `sidelight.core.compiling`.

Each learner runs in a process of its own, with a cache that has the kernels of features and of decoding alone (those of
a perceptron). Run it with `python benchmarks/compile_times.py [LEARNER …]`; all of them take a quarter of an hour.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

X = [["Ann", "Lee", "lives", "in", "Oslo"], ["Bob", "lives", "in", "Rome"], ["Rain", "falls"]]
Y = [["P", "P", "O", "O", "L"], ["P", "O", "O", "L"], ["O", "O"]]


class Clock:
    """Sums what compiling took."""

    def __init__(self) -> None:
        self.began = self.total = 0.0

    def compiling(self, kernel: str) -> None:
        self.began = time.process_time()

    def compiled(self, kernel: str, seconds: float) -> None:
        self.total += time.process_time() - self.began


def measure(name: str) -> float:
    """Fit a learner to a few sentences with all that it learns from; the seconds that compiling took."""
    import sidelight as sl
    from sidelight.core.compiling import watched

    clock = Clock()
    told = "all" if name == "alignment" else sl.recipes.LEARNERS[name].learns_from().partition(";")[0]
    evidence = list(sl.gold(X, Y)) if "Gold" in told or "all" in told else []
    if "Candidates" in told or "all" in told:
        evidence += sl.candidates([["Rain", "in", "Rome"]], [[["O", "P"], ["O"], ["L", "P"]]])
    if "Unlabeled" in told or "all" in told:
        evidence += sl.unlabeled([["Rain", "lives"]])
    if "Companion" in told or "all" in told:
        evidence += [*sl.companion([["Rain", "lives"]], +1), *sl.companion([["in", "in"]], -1)]
    with watched(clock):
        if name == "alignment":
            sl.Aligner().fit([(x, x) for x in X])
        else:
            kind = sl.SegmentTagger if name.startswith("semi_") else sl.Tagger
            kind(learner=name).fit(evidence).predict(X)
    return clock.total


def main(names: list[str]) -> None:
    from sidelight.recipes import LEARNERS

    with tempfile.TemporaryDirectory() as folder:
        shared, own = Path(folder, "shared"), Path(folder, "own")
        shared.mkdir()
        for name in ["perceptron", *(names or [*LEARNERS, "alignment"])]:
            cache = shared if not any(shared.iterdir()) else own
            if cache == own:
                shutil.rmtree(own, ignore_errors=True)
                shutil.copytree(shared, own)
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
            code = f"import compile_times as c; print(round(c.measure({name!r}), 1))"
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, cwd=Path(__file__).parent, capture_output=True, text=True
            )
            print(f"{name:26} {done.stdout.strip() or done.stderr.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
