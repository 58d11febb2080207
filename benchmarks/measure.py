"""Timing, memory of a child process, and rows of a result table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure: ours, the peer's, their ratio, and what was promised of it."""

    bench: str
    what: str
    ours: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def text(self) -> str:
        """A line for people, with the target and the note below it."""
        peer = (
            "" if self.peer is None else f"  {self.peer_name} {_short(self.peer)} {self.unit}, ratio {self.ratio:.3f}"
        )
        verdict = "" if self.met is None else "  [met]" if self.met else "  [NOT met]"
        lines = [f"{self.what}: {_short(self.ours)} {self.unit}{peer}{verdict}"]
        lines += [f"    {text}" for text in (self.target and f"target: {self.target}", self.note) if text]
        return "\n".join(lines)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def seconds(function: Callable[[], Any], *, repeat: int = 1) -> tuple[float, Any]:
    """The shortest of several times, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        began = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - began)
    return best, result


def in_child(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module in a fresh process; it prints one JSON line last. Its peak memory is added as "peak_mb"."""
    code = (
        "import resource, runpy, sys, json; sys.argv = sys.argv[1:]; "
        "runpy.run_module(sys.argv[0], run_name='__main__'); "
        "print(json.dumps({'peak_mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))"
    )
    done = subprocess.run([sys.executable, "-c", code, module, *arguments], capture_output=True, text=True, check=True)
    result: dict[str, Any] = {}
    for line in done.stdout.strip().splitlines()[-2:]:
        result |= json.loads(line)
    return result
