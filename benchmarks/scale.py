"""Workers against threads: `make bench-scale`, or `python -m benchmarks.scale --quick`.

Two workers with a thread each against two threads of one process, and against one worker, for every family; growth on
paper from what was measured, checked against one, two and four workers; and workers and drivers that die. Needs a
quiet machine with two processors, the corpora, and `sidelight[ray]`. Whatever `--json` has already is not measured
again, so that parts can be run one by one (`--choose`) and a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import scale_chaos, scale_growth
from benchmarks.scale_fits import Corpus, Timed, families, threads
from sidelight.parallel.ray_place import RayPlace, disband

LEAST, MOST = 0.8, 0.15  # efficiency of two workers, overhead of the place
PROMISED = ("CRF", "HMM EM", "word alignment", "prediction", "prediction of a file")


Found = dict[str, dict[str, Timed]]  # by family, and by place: "threads", or a number of workers


def measured(data: Corpus, chosen: Sequence[str], places: Sequence[str], kept: Results) -> Found:
    """The families that are chosen, or all, in some places; what is kept is not measured again."""
    found: Found = {}
    for name, fit in families(data).items():
        if chosen and name not in chosen:
            continue
        runs = found[name] = kept.runs(name)
        for place in places:
            if place not in runs:
                where = threads(data) if place == "threads" else RayPlace(workers=int(place), shard_tokens=data.shard)
                runs[place] = fit(where, 2)
                kept.keep(name, place, runs[place])
        print(_line(name, runs), flush=True)
    return found


class Results:
    """What was measured, in a file that is written after every fit."""

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self.path = path
        self.all: dict[str, Any] = {"about": about, "measured": {}}
        if path is not None and path.exists():
            before = json.loads(path.read_text())
            if before.get("about") != about:
                raise SystemExit(f"{path} is of other data ({before.get('about')}); delete it, or name another file")
            self.all = before

    def runs(self, family: str) -> dict[str, Timed]:
        """Those of a family."""
        return {place: Timed(**one) for place, one in self.all["measured"].get(family, {}).items()}

    def keep(self, family: str, place: str, run: Timed) -> None:
        """Add one."""
        self.all["measured"].setdefault(family, {})[place] = asdict(run)
        self.write()

    def write(self) -> None:
        """To the file, in full or not at all."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.all, indent=1) + "\n")
            part.replace(self.path)


def _line(name: str, runs: dict[str, Timed]) -> str:
    if not {"1", "2", "threads"} <= runs.keys():
        told = ", ".join(f"{place}: {run.seconds:.2f} s, driver {run.cpu:.2f} s CPU" for place, run in runs.items())
        return f"{name}: {told}"
    two, one, here = runs["2"], runs["1"], runs["threads"]
    same = len({run.bits for run in runs.values()}) == 1
    efficiency, overhead = one.seconds / (2 * two.seconds), two.seconds / here.seconds - 1
    busy = f"efficiency {one.path / (2 * two.path):.2f}, overhead {two.path / here.path - 1:+.0%}"
    verdict = "" if name not in PROMISED else "  [met]" if efficiency >= LEAST and overhead <= MOST else "  [NOT met]"
    place = two.place or {}
    parts = [f"{key} {place.get(key, 0.0):.2f} s" for key in ("inference", "transit", "solving")]
    return (
        f"{name}: a round of {two.tokens:,} tokens: threads {here.seconds:.2f} s, one worker {one.seconds:.2f} s, two"
        f" {two.seconds:.2f} s; efficiency {efficiency:.2f}, overhead {overhead:+.0%}, bits"
        f" {'the same' if same else 'DIFFER'}{verdict}\n    {place.get('bytes', 0) / 1e6:,.1f} MB, {', '.join(parts)}\n"
        f"    in seconds of CPU: threads {here.path:.2f}, one worker {one.path:.2f} ({one.cpu:.2f} in the"
        f" driver), two {two.path:.2f} ({two.cpu:.2f}); {busy}"
    )


def grown(found: Found) -> list[dict[str, Any]]:
    """Growth on paper, and the formula against what local workers took."""
    rows = []
    for name, runs in found.items():
        if "1" not in runs:
            continue
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
    parser.add_argument("--share", type=float, default=1.0, help="of the two million tokens and 60,000 pairs")
    parser.add_argument("--choose", default="", help="families, with commas between them")
    parser.add_argument("--places", default="threads,1,2,4", help="threads and numbers of workers, commas between them")
    parser.add_argument("--no-chaos", action="store_true", help="only time and growth")
    parser.add_argument("--only-chaos", action="store_true", help="only processes that are ended")
    parser.add_argument("--json", type=Path, help="where results are kept, and found again")
    asked = parser.parse_args()
    os.environ["RAY_DEDUP_LOGS"] = "1"
    places = [one for one in asked.places.split(",") if one]
    kept = Results(asked.json, {"quick": asked.quick, "share": asked.share})
    RayPlace(workers=4).team()  # the cluster has room for all
    began = time.perf_counter()
    found: Found = {}
    if not asked.only_chaos:
        data = Corpus.read(quick=asked.quick, share=asked.share)
        found = measured(data, [one for one in asked.choose.split(",") if one], places, kept)
        kept.all["growth"] = {**kept.all.get("growth", {}), **{row["family"]: row for row in grown(found)}}
    if not asked.no_chaos:
        kept.all["chaos"] = chaos = scale_chaos.run(quick=asked.quick)
        ended = f"{chaos['kills']} workers ended in {chaos['fits']} fits, {chaos['in_a_row']} right after they began"
        drivers, changed = sum(row["kills"] for row in chaos["drivers"]), ", ".join(chaos["changed"]) or "nothing"
        print(f"chaos: {ended}, {drivers} drivers; changed: {changed}")
    kept.write()
    print(f"{time.perf_counter() - began:.0f} s")
    disband()
    differ = [name for name, runs in found.items() if len({run.bits for run in runs.values()}) > 1]
    return 1 if differ or kept.all.get("chaos", {}).get("changed") else 0


if __name__ == "__main__":
    sys.exit(main())
