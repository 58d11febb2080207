"""Word alignment of 10,000 Hansards pairs (and the 484 with gold links, the usual set-up), from files to links.

Both directions with agreement against eflomal, and without agreement against fast_align. Either is run if it can be
found (the extra bench-align; `fast_align` on the path); otherwise figures published for such a machine stand in and the
note says so. γ and threshold are the library's defaults (docs/alignment.md says how they were settled); error rates are
those of the 447 test pairs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.alignment_train import TEST, scored, write_texts
from benchmarks.measure import Row, in_child

PAIRS, SMALL = 10_000, 500
EFLOMAL, FAST_ALIGN = (17.5, 9.1), (4.3, 21.3)  # published: seconds and AER, one direction of 10.4k pairs


def run(*, quick: bool = False) -> list[Row]:
    pairs = SMALL if quick else PAIRS
    agreed = train(pairs=pairs, agreement=True)
    free = train(pairs=pairs, agreement=False)
    if quick:
        return [
            Row(
                "alignment",
                f"{ours['pairs']:,} pairs, files to links",
                ours["seconds"],
                "s",
                note=f"AER {ours['aer']:.2f}",
            )
            for ours in (agreed, free)
        ]
    return [
        _row("with agreement", agreed, EFLOMAL, eflomal(pairs), "eflomal, one direction", 1.0, 11.0),
        _row("without agreement", free, FAST_ALIGN, fast_align(pairs), "fast_align, one direction", 2.0, 21.3),
        Row("alignment", "a saved model, 10 new pairs, from words to links", agreed["apply"], "ms"),
        Row("alignment", "a saved model, loading it", agreed["load"], "ms", note=f"{agreed['file_mb']:.1f} MB"),
    ]


def train(**options: Any) -> dict[str, Any]:
    """Seconds, AER and more of one training run; see `alignment_train`."""
    return in_child("benchmarks.alignment_train", json.dumps(options))


def eflomal(pairs: int) -> tuple[float, float] | None:
    """Seconds and AER of one direction with its default model."""
    program = shutil.which("eflomal-align") or shutil.which("eflomal-align", path=str(Path(sys.executable).parent))
    if program is None:
        return None
    return _peer(pairs, lambda e, f, out: [program, "-s", str(e), "-t", str(f), "-m", "3", "-f", str(out)])


def fast_align(pairs: int) -> tuple[float, float] | None:
    """Seconds and AER of one direction with the options that its authors recommend."""
    program = shutil.which("fast_align")
    if program is None:
        return None
    return _peer(pairs, lambda e, f, out: [program, "-i", str(e.with_suffix(".both")), "-d", "-o", "-v"])


def _peer(pairs: int, command: Any) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        source, target, links = (Path(folder, name) for name in ("text.e", "text.f", "links"))
        write_texts(source, target, pairs)
        both = zip(source.read_text(encoding="utf-8").splitlines(), target.read_text(encoding="utf-8").splitlines())
        source.with_suffix(".both").write_text("".join(f"{x} ||| {y}\n" for x, y in both), encoding="utf-8")
        began = time.perf_counter()
        done = subprocess.run(command(source, target, links), capture_output=True, text=True, check=True)
        taken = time.perf_counter() - began
        lines = (links.read_text() if links.exists() else done.stdout).splitlines()
    found = [[tuple(map(int, cell.split("-"))) for cell in line.split()] for line in lines[:TEST]]
    return taken, 100.0 * scored(found)


def _row(
    what: str,
    ours: dict[str, Any],
    published: tuple[float, float],
    measured: tuple[float, float] | None,
    name: str,
    most: float,
    aer: float,
) -> Row:
    seconds, peer_aer = published if measured is None else measured
    ratio = ours["seconds"] / seconds
    told = "published figures" if measured is None else "measured in this run"
    return Row(
        "alignment",
        f"{ours['pairs']:,} pairs, both directions {what}, files to links",
        ours["seconds"],
        "s",
        seconds,
        name if measured is not None else f"{name} (published)",
        ratio,
        f"time at most {most:g} of the peer's, AER at most {aer:g}",
        ratio <= most and ours["aer"] <= aer,
        f"AER {ours['aer']:.2f}, peak {ours['peak_mb']:.0f} MB; {told}: AER {peer_aer:.1f}",
    )
