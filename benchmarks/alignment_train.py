"""One word aligner trained in a process of its own: `python -m benchmarks.alignment_train '{"pairs": 10000, …}'`.

Options: pairs, agreement. Prints seconds from files to links of all pairs, the AER of the test pairs, and how long a
saved model takes to load and to align ten pairs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sidelight as sl
from benchmarks.measure import seconds
from sidelight.data.links import read_gold
from sidelight.data.parallel import read_parallel
from sidelight.evaluate.alignments import score_alignments

TEST, DEV = 447, 37
OPTIONS: dict[bool, dict[str, Any]] = {True: {}, False: {"agreement": False, "gamma": 1.0}}  # by agreement


def write_texts(source: Path, target: Path, pairs: int) -> None:
    """The test pairs, the development pairs and so many training pairs, in two files."""
    folder = Path(os.environ["SIDELIGHT_DATA"]) / "hansards"
    parts = [read_parallel(folder / f"{name}.e", folder / f"{name}.f").pairs for name in ("test", "dev")]
    parts.append(read_parallel(folder / "train.e.gz", folder / "train.f.gz", skip_empty=True).pairs[:pairs])
    together = [pair for part in parts for pair in part]
    for path, side in ((source, 0), (target, 1)):
        path.write_text("".join(" ".join(pair[side]).lower() + "\n" for pair in together), encoding="utf-8")


def scored(links: Sequence[Any]) -> float:
    """The AER of the test pairs' links."""
    return score_alignments(
        read_gold(Path(os.environ["SIDELIGHT_DATA"]) / "hansards" / "test.wa", count=TEST), links
    ).aer


def sidelight(*, pairs: int, agreement: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, target, model = (Path(folder, name) for name in ("text.e", "text.f", "model"))
        write_texts(source, target, pairs)
        aligner = sl.Aligner(**OPTIONS[agreement])
        few = read_parallel(source, target).pairs[:50]
        aligner.fit(few).align(few)  # kernels from the disk cache
        began = time.perf_counter()
        text = read_parallel(source, target)
        links = aligner.fit(text.sources, text.targets).align(text.sources, text.targets)
        taken = time.perf_counter() - began
        aligner.save(model)
        loading, loaded = seconds(lambda: sl.Aligner.load(model), repeat=3)
        applying, _ = seconds(lambda: loaded.align(few[:10]), repeat=5)
        size = model.stat().st_size / 1e6
    return {
        "seconds": taken,
        "pairs": len(text.lines),
        "aer": 100.0 * scored(links[:TEST]),
        "load": 1000.0 * loading,
        "apply": 1000.0 * applying,
        "file_mb": size,
    }


if __name__ == "__main__":
    print(json.dumps(sidelight(**json.loads(sys.argv[1]))))
