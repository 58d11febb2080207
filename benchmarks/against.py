"""Benchmarks of this version beside an earlier one, in one run: `python -m benchmarks.against REVISION [NAME …]`.

The earlier version is checked out into a folder of its own, and both run the benchmarks that they have, in turns, each
in a fresh process; of several turns the best counts. Rows are matched by what they say they measure. Times and memory
that are more than a tenth above the earlier ones are marked, and so are rates that are as far below.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.__main__ import QUICK

HERE = Path(__file__).resolve().parent.parent
NAMES = ["start", "tagging", "dual", "sums", "letters", "candidates", "hmm", "alignment", "rules"]
SLOWER = 1.1
RATE = re.compile(r"\w+/s\b")  # how the unit of a rate begins
COST = re.compile(r"(s|ms|µs|ns|MB)(\b|/)")  # and of a time, or of memory


@dataclass(frozen=True)
class Compared:
    """One figure of both versions."""

    bench: str
    what: str
    unit: str
    before: float
    now: float

    @property
    def ratio(self) -> float:
        """How much worse it is now: above 1 where more time is taken, or less is done in it."""
        return self.before / self.now if RATE.match(self.unit) else self.now / self.before

    @property
    def text(self) -> str:
        """A line for people."""
        mark = "  [slower]" if self.ratio > SLOWER else ""
        return f"{self.what}: {self.before:,.4g} {self.unit} before, {self.now:,.4g} now, {self.ratio:.2f}{mark}"


Figures = dict[tuple[str, str, str], float]  # by benchmark, what is measured, and unit


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", help="the earlier version, as git names it")
    parser.add_argument("names", nargs="*", help=f"which benchmarks (default: {', '.join(NAMES)})")
    parser.add_argument("--turns", type=int, default=3, help="how often each is run; the best counts")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    rows: list[Compared] = []
    with checkout(options.revision) as tree:
        for name in options.names or [name for name in NAMES if not options.quick or name in QUICK]:
            print(f"… {name}", file=sys.stderr, flush=True)
            before, now = turns(name, tree, options.turns, quick=options.quick)
            rows += compared(before, now)
            for row in compared(before, now):
                print(row.text, flush=True)
            for bench, what, _ in sorted(before.keys() ^ now.keys()):
                print(f"{what} ({bench}): of one version alone")
    if options.json:
        told = [asdict(row) | {"ratio": row.ratio} for row in rows]
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with an earlier version, while it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def turns(name: str, tree: Path, count: int, *, quick: bool) -> tuple[Figures, Figures]:
    """The best figures of the earlier version and of this one."""
    before: Figures = {}
    now: Figures = {}
    for _ in range(count):
        for source, best in ((tree, before), (HERE, now)):
            for key, value in measured(name, source, quick=quick).items():
                known = best.get(key, value)
                best[key] = max(known, value) if RATE.match(key[2]) else min(known, value)
    return before, now


def measured(name: str, source: Path, *, quick: bool) -> Figures:
    """The figures of one benchmark of the version in a folder, whose kernels are compiled there."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "benchmarks", name, "--json", str(rows), *(["--quick"] if quick else [])]
        environment = os.environ | {"PYTHONPATH": f"{source}:{source / 'src'}"}
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not rows.exists():
            print(f"{name} in {source}: {done.stderr.strip()[-500:]}", file=sys.stderr)
            return {}
        found = json.loads(rows.read_text(encoding="utf-8"))
    return {(row["bench"], row["what"], row["unit"]): row["ours"] for row in found}


def compared(before: Figures, now: Figures) -> Sequence[Compared]:
    """What both versions measured, and is a time, a rate or memory."""
    return [
        Compared(*key, before[key], now[key])
        for key in before
        if key in now and (RATE.match(key[2]) or COST.match(key[2])) and now[key] > 0 and before[key] > 0
    ]


if __name__ == "__main__":
    sys.exit(main())
