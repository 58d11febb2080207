"""Lets every test import `drawing` and `quadratic`, which stand in tests/laws."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "laws"))
