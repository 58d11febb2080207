"""The code of the guide runs, in order, and gives what its comments say."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parent.parent / "docs" / "guide.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def said(line: str) -> Any:
    """The value in the comment of a line; `...` where the comment is prose or not there."""
    try:
        return ast.literal_eval(line.rpartition("  # ")[2].strip())
    except (SyntaxError, ValueError):
        return ...


def test_the_guide():
    page = GUIDE.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "guide"}
    compared = 0
    for block in PYTHON.finditer(page):
        above = page.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        for statement in ast.parse(block[1]).body:
            ast.increment_lineno(statement, above)
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), str(GUIDE), "exec"), names)
                continue
            value = eval(compile(ast.Expression(statement.value), str(GUIDE), "eval"), names)
            expected = said(lines[(statement.end_lineno or 0) - above - 1])
            if expected is not ...:
                compared += 1
                assert value == expected, f"line {statement.lineno} gives {value!r}"
    assert compared >= 10
