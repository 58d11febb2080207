"""Laws draw new cases in every run, and the same ones where SIDELIGHT_STEADY is set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
LAW = """
from drawing import law, seeds
from hypothesis import given

seen = []

@law(30)
@given(seeds)
def test_drawn(seed):
    seen.append(seed)

def test_told():
    print("seen", seen)
"""


def drawn(folder: Path, *, steady: bool) -> str:
    """The cases of one run."""
    kept = {name: value for name, value in os.environ.items() if name not in ("SIDELIGHT_STEADY", "CI")}
    run = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", "-c", "none.ini", "test_law.py"]
    environment = {**kept, **({"SIDELIGHT_STEADY": "1"} if steady else {})}
    (folder / "none.ini").write_text("[pytest]\n")
    found = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return next(line for line in found.stdout.splitlines() if "seen" in line)


@pytest.mark.parametrize("steady", [False, True])
def test_cases_are_drawn_anew_unless_steady(tmp_path: Path, steady: bool) -> None:
    (tmp_path / "conftest.py").write_text(
        (ROOT / "conftest.py").read_text().replace("Path(__file__)", f"Path({str(ROOT / 'conftest.py')!r})")
    )
    (tmp_path / "test_law.py").write_text(LAW)
    first, second = (drawn(tmp_path, steady=steady) for _ in range(2))
    assert (first == second) == steady
