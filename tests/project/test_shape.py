"""The shape of the package: folders that can be taken in at a glance, and a name for every class."""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2] / "src" / "sidelight"
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MOST = 20  # files of a folder


def test_no_folder_has_more_files_than_can_be_taken_in_at_a_glance():
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in [PACKAGE, *PACKAGE.rglob("*/")]}
    assert {str(folder.relative_to(PACKAGE)): size for folder, size in sizes.items() if size > MOST} == {}


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_benchmarks_import_is_there():
    """Most of them need a corpus or a peer, so that no test runs them."""
    missing = []
    for path in sorted(BENCHMARKS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sidelight":
                module = importlib.import_module(node.module)
                names = [name.name for name in node.names if not _has(module, name.name)]
                missing += [f"{path.name}: {node.module}.{name}" for name in names]
    assert missing == []


def _has(module: Any, name: str) -> bool:
    if hasattr(module, name):
        return True
    try:
        importlib.import_module(f"{module.__name__}.{name}")
    except ModuleNotFoundError:
        return False
    return True
