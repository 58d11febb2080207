"""Compiled code is used again only while nothing that it was compiled from has changed; who may call what."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types
from numpy.typing import NDArray

import sidelight
from sidelight.core.kernels import KNOWN_INSIDES, inner_kernel, kernel

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
    environment["NUMBA_CACHE_DIR"] = str(folder / "kept")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("decorator", ["inline_kernel", "inner_kernel"])
def test_a_kernel_is_compiled_again_where_one_that_it_calls_has_changed(tmp_path: Path, decorator: str) -> None:
    (tmp_path / "calling.py").write_text(CALLING)
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, more=1))
    assert outcome(tmp_path) == "12 0"
    assert outcome(tmp_path) == "12 1"  # from the disk
    kept = [file.name for file in tmp_path.rglob("*.nbc")]
    assert kept and not [name for name in kept if "amount" in name]
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, more=7))
    assert outcome(tmp_path) == "24 0"


@kernel
def doubled(x: float) -> float:
    return 2.0 * halved(x)


@inner_kernel
def halved(x: float) -> float:
    return x / 2.0


def test_kernels_call_inner_kernels_and_python_cannot() -> None:
    assert doubled(3.0) == 3.0
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("as Python's functions they are all alike")
    if not KNOWN_INSIDES:
        pytest.skip("this Numba is newer than those whose insides are known")
    with pytest.raises(TypeError, match="halved is an inner kernel"):
        halved(3.0)


@inner_kernel
def squared(x: float) -> float:
    return halved(x) * x * 2.0


@inner_kernel
def positive(x: float) -> float:
    if x <= 0.0:
        raise ValueError("not above zero")
    return x


@kernel
def together(x: float) -> float:
    return halved(x) + 10.0 * squared(x) + 100.0 * positive(x)


@kernel
def apart(xs: NDArray[np.float64]) -> float:
    total = 0.0
    for k in range(xs.shape[0]):
        total += squared(xs[k]) - halved(np.float32(xs[k]))
    return total


def test_inner_kernels_of_the_same_types_are_told_apart_and_serve_several_kernels() -> None:
    assert together(4.0) == 2.0 + 160.0 + 400.0
    assert together(np.float32(2.0)) == 1.0 + 40.0 + 200.0  # other types are compiled anew
    assert apart(np.array([4.0, 2.0])) == 20.0 - 3.0
    with pytest.raises(ValueError, match="not above zero"):
        together(-1.0)


SOURCE = Path(sidelight.__file__).parent


def _decorator(node: ast.AST) -> str:
    return node.decorator_list[0].id if _decorated(node) else ""  # type: ignore[attr-defined]


def _decorated(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return isinstance(node, ast.FunctionDef) and len(decorators) == 1 and isinstance(decorators[0], ast.Name)


def test_no_python_function_names_an_inner_kernel() -> None:
    """One that does would fail where it is called, which may be rare."""
    trees = {
        ".".join(("sidelight", *file.relative_to(SOURCE).with_suffix("").parts)): file for file in SOURCE.rglob("*.py")
    }
    parsed = {module: ast.parse(file.read_text()) for module, file in trees.items()}
    inner = {
        (module, node.name)
        for module, tree in parsed.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and _decorator(node) == "inner_kernel"
    }
    assert len(inner) > 100
    for module, tree in parsed.items():
        known = {node.name: (module, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                known |= {name.asname or name.name: (str(node.module), name.name) for name in node.names}
        for node in tree.body:
            if not _decorator(node).endswith("kernel"):
                names = {
                    name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
                }
                assert not {known[name] for name in names & set(known)} & inner, module


@kernel
def added(x: Any) -> Any:
    return x + 1.0


def test_numba_works_out_operations_as_before_once_a_kernel_is_compiled() -> None:
    looked_up = types.BaseFunction.get_call_type
    for _ in range(2):  # an operation that was worked out, and one that no number has
        assert added(2.0) == 3.0 and added(np.int32(2)) == 3.0
        if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            with pytest.raises(numba.TypingError):
                added("two")
        assert types.BaseFunction.get_call_type is looked_up


@inner_kernel
def empty(size: int) -> NDArray[np.float64]:
    return np.empty(size)


@kernel
def counted(size: int) -> float:
    own, other = np.empty(size), empty(size)
    for k in range(size):
        own[k], other[k] = 1.0, 2.0
    return float(np.sum(own) + np.sum(other))


def test_what_numba_compiles_of_its_own_is_shared_between_kernels_and_inner_kernels() -> None:
    plain = numba.njit(error_model="numpy")(counted.py_func if hasattr(counted, "py_func") else counted)
    assert counted(4) == 12.0
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        assert plain(5) == 15.0  # as others compile, beside it
