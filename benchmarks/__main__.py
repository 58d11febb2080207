"""Run benchmarks, print a table and write JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path

NAMES = ["start", "chunking", "tagging", "dual", "growth"]
NEED_DATA = {"chunking", "tagging", "dual"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help=f"which of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    rows = []
    for name in options.names:
        if name in NEED_DATA and "SIDELIGHT_DATA" not in os.environ:
            print(f"{name}: skipped, set SIDELIGHT_DATA to the folder of corpora", file=sys.stderr)
            continue
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += import_module(f"benchmarks.{name}").run()
    for row in rows:
        peer = "" if row.peer is None else f"  {row.peer_name} {row.peer:,.4g} {row.unit}, ratio {row.ratio:.3f}"
        verdict = "" if row.met is None else "  [met]" if row.met else "  [NOT met]"
        print(f"{row.what}: {row.ours:,.4g} {row.unit}{peer}{verdict}")
        for text in (row.target and f"target: {row.target}", row.note):
            if text:
                print(f"    {text}")
    if options.json:
        options.json.write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
