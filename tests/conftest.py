"""Lets every test import `drawing` and `quadratic`, which stand in tests/laws, and `expressions`, beside this file."""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here / "laws"), str(here)]
