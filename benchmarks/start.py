"""How long it takes until something happens: importing the package, and asking for help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Row, seconds


def run() -> list[Row]:
    def imported() -> None:
        subprocess.run([sys.executable, "-c", "import sidelight"], check=True)

    def nothing() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    def helped() -> None:
        subprocess.run([str(Path(sys.executable).parent / "sidelight"), "--help"], check=True, capture_output=True)

    imported()
    package = seconds(imported, repeat=5)[0] - seconds(nothing, repeat=5)[0]
    helped()
    shown = seconds(helped, repeat=5)[0]
    return [
        Row("start", "import sidelight", package, "s", target="under 0.5 s", met=package < 0.5),
        Row("start", "sidelight --help", shown, "s", target="under 1 s", met=shown < 1.0),
    ]
