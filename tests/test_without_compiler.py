"""With NUMBA_DISABLE_JIT=1 kernels are plain Python and give the labels that compiled ones give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

SCRIPT = Path(__file__).parent / "small_fits.py"


def test_kernels_give_the_same_labels_without_a_compiler() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = [sys.executable, "-W", "error", str(SCRIPT)]
    made = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)
    assert found.pop("compiled") is False
    if numba.config.DISABLE_JIT:
        pytest.skip("this run has no compiler to compare with")
    from small_fits import outputs

    expected = json.loads(json.dumps(outputs()))
    assert expected.pop("compiled") is True
    assert found == expected
