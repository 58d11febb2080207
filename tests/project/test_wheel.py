"""The wheel builds, has what it should, and installs into an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = "import sidelight; print(len([getattr(sidelight, name) for name in sidelight.__all__]))"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that must succeed, without this clone on the path."""
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(one) for one in command], cwd=cwd, env=plain, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(out / "tried"), "hatchling"],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        pytest.skip("no package index can be reached, and the build needs hatchling")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, ROOT, cwd=out)
    [made] = out.glob("*.whl")
    return made


def test_the_wheel_has_the_package_and_no_more(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name.split("/")[0] for name in names}
    assert inside == {"sidelight", next(name for name in inside if name.endswith(".dist-info"))}
    assert "sidelight/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert modules <= set(names)
    assert not [name for name in names if "__pycache__" in name]


def test_it_installs_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env/bin/python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    run(python, "-m", "pip", "check", cwd=tmp_path)
    assert run(tmp_path / "env/bin/sidelight", "--version", cwd=tmp_path).stdout.startswith("sidelight ")
    assert int(run(python, "-c", NAMES, cwd=tmp_path).stdout) > 40
    assert "partial_crf" in run(tmp_path / "env/bin/sidelight", "learners", cwd=tmp_path).stdout
