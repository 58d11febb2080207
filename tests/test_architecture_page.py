"""The page about the layout names every module, in an order that import-linter holds the code to."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TABLE = [line.split("|")[1] for line in PAGE.split("\n| place |")[1].split("\n\n")[0].split("\n")[2:]]
ROWS = [re.findall(r"`(\w+)(?:/|\.py)`", cell) for cell in TABLE]


def test_every_module_has_a_place():
    found = [path for path in (ROOT / "src" / "sidelight").iterdir() if path.suffix == ".py" or path.is_dir()]
    assert sorted(name for row in ROWS for name in row) == sorted(
        path.stem for path in found if not path.name.startswith("__")
    )


def test_rows_are_in_the_order_of_the_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    height = {name.strip(): -i for i, layer in enumerate(layers) for name in layer.split(":")}
    heights = [[height[f"sidelight.{name}"] for name in row] for row in ROWS]
    for below, above in pairwise(heights):
        assert max(below) <= min(above)
