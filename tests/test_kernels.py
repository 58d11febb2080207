"""Compiled code is used again only while nothing that it was compiled from has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALLED = "from sidelight.core.kernels import {decorator}\n\n@{decorator}\ndef amount(x):\n    return x + {more}\n"
CALLING = """from sidelight.core.kernels import kernel
from called import amount

@kernel
def doubled(x):
    return 2 * after(x)

@kernel
def after(x):
    return amount(x)
"""


def outcome(folder: Path) -> str:
    code = "import calling; print(calling.doubled(5), sum(calling.doubled.stats.cache_hits.values()))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_kernel_is_compiled_again_where_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    (tmp_path / "calling.py").write_text(CALLING)
    (tmp_path / "called.py").write_text(CALLED.format(decorator="inline_kernel", more=1))
    assert outcome(tmp_path) == "12 0"
    assert outcome(tmp_path) == "12 1"  # from the disk
    (tmp_path / "called.py").write_text(CALLED.format(decorator="inline_kernel", more=7))
    assert outcome(tmp_path) == "24 0"
