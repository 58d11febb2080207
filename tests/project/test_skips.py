"""A run that is to show that all libraries are there fails where a test is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SKIPS = 'import pytest\n\ndef test_one():\n    pytest.importorskip("no_such_library")\n\ndef test_two():\n    pass\n'


@pytest.mark.parametrize(("strict", "code"), [("", 0), ("1", 1)])
def test_a_skip_fails_a_strict_run(strict: str, code: int, tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_skips.py").write_text(SKIPS, encoding="utf-8")
    environment = {**os.environ, "SIDELIGHT_NO_SKIPS": strict}
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", "."]
    done = subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
