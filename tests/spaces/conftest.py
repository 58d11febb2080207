"""Lets these tests import `drawing`, which stands in tests/laws."""

import sys
from pathlib import Path

LAWS = str(Path(__file__).resolve().parents[1] / "laws")
if LAWS not in sys.path:
    sys.path.insert(0, LAWS)
