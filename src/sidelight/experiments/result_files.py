"""Results of experiments in a folder: one JSON file each, written when the experiment is finished, completely or not at
all.

A file has the rows, the notes, the settings and the corpora, which a run on the same machine reproduces to the last
byte, and under "run" the values that differ between runs: times, versions, log lines.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sidelight.core.atomic_files import write_atomically
from sidelight.errors import DataError
from sidelight.experiments.table import Row

PACKAGES = ("numpy", "scipy", "numba")
LONGEST = 160  # characters of a setting that is shown
KEYS = ("setting", "method", "metric", "value", "std", "paper", "draws")


@dataclass(frozen=True)
class StoredResult:
    """The result of an experiment."""

    experiment: str
    quick: bool
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)  # of each corpus: how large it is, and its digest
    run: dict[str, Any] = field(default_factory=dict)


def result_path(folder: Path, name: str) -> Path:
    """The path of an experiment's result."""
    return folder / f"{name}.json"


def write_result(folder: Path, result: StoredResult) -> None:
    """Write a result, whole or not at all."""
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"
    write_atomically(result_path(folder, result.experiment), text.encode())


def read_result(folder: Path, name: str) -> StoredResult | None:
    """The result of an experiment; None if there is none. Raises `DataError` for a file that is not one."""
    path = result_path(folder, name)
    if not path.exists():
        return None
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        result = StoredResult(**results)
        if result.experiment != name or not all(set(KEYS) <= set(row) for row in result.rows):
            raise ValueError(name)
    except (ValueError, TypeError) as error:
        raise DataError(
            "not the result of an experiment", file=path, remedy="remove it, and run sidelight reproduce again"
        ) from error
    return result


def settings_of(place: str, choices: Mapping[str, str]) -> dict[str, str]:
    """The constants of an experiment's module that are not names, and the selection by --choose."""
    results = {
        name: repr(value)
        for name, value in vars(importlib.import_module(place)).items()
        if re.fullmatch(r"[A-Z][A-Z_]*", name)
        and _is_plain(value)
        and not isinstance(value, str)
        and not name.endswith(("NOTES", "TITLE", "TREND"))
    }
    return {name: text for name, text in results.items() if len(text) <= LONGEST} | dict(choices)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | str)


def fingerprint(folder: Path) -> str:
    """The number of files of a corpus, its size, and a digest of names and contents."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    size = sum(path.stat().st_size for path in files)
    return f"{len(files)} files, {size:,} bytes, sha256 {digest.hexdigest()[:16]}"


@lru_cache
def versions() -> dict[str, str]:
    """The environment: this package with a digest of its sources, Python, the numerical libraries, the machine."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    results = {"sidelight": f"{_version('sidelight')}, sources {digest.hexdigest()[:12]}"}
    results["python"] = platform.python_version()
    results |= {name: _version(name) for name in PACKAGES}
    return results | {"machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def results_in(folder: Path, names: Sequence[str]) -> dict[str, StoredResult]:
    """The results that a folder has, in the order of the names."""
    return {name: result for name in names if (result := read_result(folder, name)) is not None}
