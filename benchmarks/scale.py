"""Workers against threads: `make bench-scale`, or `python -m benchmarks.scale --quick`.

Two workers with a thread each against two threads of one process, and against one worker, for every family; growth on
paper from what was measured, checked against one, two and four workers; and workers that die. Needs a quiet machine
with two processors, the corpora, and `sidelight[ray]`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import scale_chaos, scale_growth
from benchmarks.scale_fits import Corpus, families, threads
from sidelight.parallel.ray_place import RayPlace, disband

LEAST, MOST = 0.8, 0.15  # efficiency of two workers, overhead of the place
PROMISED = ("CRF", "HMM EM", "word alignment", "prediction")


def measured(data: Corpus, chosen: list[str], most: int) -> dict[str, Any]:
    """Every family in every place."""
    found: dict[str, Any] = {}
    for name, fit in families(data).items():
        if chosen and name not in chosen:
            continue
        runs = {"threads": fit(threads(data), 2)}
        for workers in (1, 2, 4):
            if workers <= most:
                runs[str(workers)] = fit(RayPlace(workers=workers, shard_tokens=data.shard), 2)
        found[name] = runs
        print(_line(name, runs), flush=True)
    return found


def _line(name: str, runs: dict[str, Any]) -> str:
    two, one, here = runs["2"], runs["1"], runs["threads"]
    same = len({run.bits for run in runs.values()}) == 1
    efficiency, overhead = one.seconds / (2 * two.seconds), two.seconds / here.seconds - 1
    verdict = "" if name not in PROMISED else "  [met]" if efficiency >= LEAST and overhead <= MOST else "  [NOT met]"
    place = two.place or {}
    parts = [f"{key} {place.get(key, 0.0):.2f} s" for key in ("inference", "transit", "solving")]
    return (
        f"{name}: a round of {two.tokens:,} tokens: threads {here.seconds:.2f} s, one worker {one.seconds:.2f} s, two"
        f" {two.seconds:.2f} s; efficiency {efficiency:.2f}, overhead {overhead:+.0%}, bits"
        f" {'the same' if same else 'DIFFER'}{verdict}\n    {place.get('bytes', 0) / 1e6:,.1f} MB, {', '.join(parts)}"
    )


def grown(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Growth on paper, and the formula against what local workers took."""
    rows = []
    for name, runs in found.items():
        parts = scale_growth.Parts.of(name, runs["1"])
        transit = (runs["1"].place or {"transit": 0.0})["transit"]
        processors = os.cpu_count() or 1
        checks = {
            w: (scale_growth.predicted(parts, int(w), processors, transit), runs[w].seconds)
            for w in runs
            if w != "threads"
        }
        rows.append(
            {
                "family": name,
                "bytes": scale_growth.BYTES[name],
                "table": scale_growth.table(name, parts),
                "check": checks,
            }
        )
        told = ", ".join(f"{w}: {a:.2f} s on paper, {b:.2f} s measured" for w, (a, b) in checks.items())
        print(f"{name}: workers {told}\n    bytes: {scale_growth.BYTES[name]}")
        for row in rows[-1]["table"]:
            seconds = ", ".join(f"{m}: {s:.3g} s" for m, s in row["seconds"].items())
            print(f"    {row['tokens']:,} tokens: {seconds}; stops paying at {row['stops_paying']:,} machines")
    return rows


def main() -> int:
    """Run what is asked for; 1 where bits differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="60,000 tokens and three families of chaos")
    parser.add_argument("--choose", default="", help="families, with commas between them")
    parser.add_argument("--workers", type=int, default=4, help="up to so many workers (1, 2, 4)")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    os.environ["RAY_DEDUP_LOGS"] = "1"
    RayPlace(workers=4).team()  # the cluster has room for all
    began = time.perf_counter()
    found = measured(
        Corpus.read(quick=asked.quick), [one for one in asked.choose.split(",") if one], max(2, asked.workers)
    )
    rows = grown(found)
    chaos = scale_chaos.run(quick=asked.quick)
    changed = ", ".join(chaos["changed"]) or "nothing"
    ended = (
        f"{chaos['kills']} workers ended in {chaos['fits']} fits, {chaos['in_a_row']} of them right after they began"
    )
    print(f"chaos: {ended}, {sum(row['kills'] for row in chaos['drivers'])} drivers; changed: {changed}")
    if asked.json is not None:
        told = {name: {place: asdict(run) for place, run in runs.items()} for name, runs in found.items()}
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({"measured": told, "growth": rows, "chaos": chaos}, indent=1) + "\n")
    print(f"{time.perf_counter() - began:.0f} s")
    disband()
    differ = [name for name, runs in found.items() if len({run.bits for run in runs.values()}) > 1]
    return 1 if differ or chaos["changed"] else 0


if __name__ == "__main__":
    sys.exit(main())
