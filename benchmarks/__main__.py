"""Run benchmarks, print a table and write JSON."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import Row

NAMES = [
    "start",
    "chunking",
    "tagging",
    "dual",
    "crf",
    "sums",
    "letters",
    "candidates",
    "hmm",
    "alignment",
    "rules",
    "votes",
    "strangers",
    "choice",
    "growth",
    "structures",
    "lclr",
    "out_of_core",
]
CORPUS = {
    "chunking": "conll2000",
    "tagging": "conll2000",
    "dual": "newsgroups20",
    "crf": "conll2000",
    "letters": "ocr_letters",
    "candidates": "conll2000",
    "alignment": "hansards",
    "rules": "citations",
    "votes": "conll2003",
    "strangers": "conll2003",
    "choice": "conll2003",
    "lclr": "msrp",
}
PEER = {
    "chunking": "pycrfsuite",
    "tagging": "pycrfsuite",
    "dual": "sklearn",
    "strangers": "pycrfsuite",
}  # without which nothing is left
QUICK = [
    "crf",
    "sums",
    "letters",
    "candidates",
    "hmm",
    "alignment",
    "rules",
    "votes",
    "strangers",
    "choice",
    "structures",
    "lclr",
    "out_of_core",
]  # have a small size


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument(
        "--quick", action="store_true", help=f"small sizes, to see that all runs: {', '.join(QUICK)} alone"
    )
    options = parser.parse_args()
    known = QUICK if options.quick else NAMES
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    rows: list[Row] = []
    failed = []
    for name in options.names or known:
        missing = _missing(name)
        if missing:
            print(f"{name}: skipped, {missing}", file=sys.stderr)
            continue
        print(f"… {name}", file=sys.stderr, flush=True)
        run = import_module(f"benchmarks.{name}").run
        try:
            found = run(quick=True) if options.quick else run()
        except subprocess.CalledProcessError as error:  # the others are still worth running
            print(f"{name}: FAILED in a child process\n{error.stderr}", file=sys.stderr)
            failed.append(name)
            continue
        if options.quick:
            found = [replace(row, target="", met=None) for row in found]  # small sizes say nothing about targets
        for row in found:
            print(row.text, flush=True)
        rows += found
    if options.json:
        options.json.write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


def _missing(name: str) -> str | None:
    """What a benchmark cannot do without and does not find."""
    folder = CORPUS.get(name)
    if folder is not None:
        if "SIDELIGHT_DATA" not in os.environ:
            return "set SIDELIGHT_DATA to the folder of corpora"
        if not (Path(os.environ["SIDELIGHT_DATA"]) / folder).is_dir():
            return f"SIDELIGHT_DATA has no folder {folder}"
    package = PEER.get(name)
    if package is not None and find_spec(package) is None:
        return f"its peer {package} is not installed; the extra bench has it"
    return None


if __name__ == "__main__":
    sys.exit(main())
