"""Files that were made up, with checksums that are right, are refused or used, and never read outside memory.

Everything in a file of every kind is spoiled in every way of `crafting`, one thing at a time: tens of thousands of
files, of which each run takes about two thousand; SIDELIGHT_CRAFTED=all takes all of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crafting import CHECKPOINTS, MODELS, PREPARED
from crafting_structures import STRUCTURES

HERE = Path(__file__).parent
ALL = os.environ.get("SIDELIGHT_CRAFTED") == "all"
STEPS = {
    "models": 1 if ALL else 23,
    "structures": 1 if ALL else 11,
    "checkpoints": 1 if ALL else 31,
    "prepared": 1 if ALL else 31,
}  # odd ones, so that every way comes round


@pytest.mark.parametrize("which", ["models", "structures", "checkpoints", "prepared"])
def test_crafted_files_do_no_harm(which: str, tmp_path: Path) -> None:
    named = {"models": MODELS, "structures": list(STRUCTURES), "checkpoints": CHECKPOINTS, "prepared": list(PREPARED)}
    kinds = named[which]
    command = [sys.executable, str(HERE / "crafting.py"), str(tmp_path), str(STEPS[which]), *kinds]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    made = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=None if ALL else 600)
    records = [json.loads(line) for line in made.stdout.splitlines()]
    names = [record["file"] for record in records if "file" in record]
    outcomes = [record["outcome"] for record in records if "outcome" in record]
    assert made.returncode == 0, (names[-1:], made.stderr[-2000:])
    counts = Counter(outcomes)
    odd = [(name, found) for name, found in zip(names, outcomes) if " " in found]
    assert not odd, odd[:20]
    assert len(outcomes) == len(names) > (100 if which == "prepared" else 500)
    assert counts["ModelFileError"] > counts["accepted"] > 0  # most make no sense, and some are as good as before
