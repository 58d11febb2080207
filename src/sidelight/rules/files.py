"""Rules from a file of Python: its list `RULES`, or every rule that it names, in the order of their definitions."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

from sidelight.errors import DataError
from sidelight.rules.rule import Rule


def read_rules(path: str | Path) -> list[Rule]:
    """Run a file and take its rules; raises `DataError` with the line where it fails, or where it has none."""
    path = Path(path).absolute()
    if not path.is_file():
        raise DataError("there is no such file", file=path, remedy="give a file of Python with @rule functions")
    spec = importlib.util.spec_from_file_location(f"sidelight_rules_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DataError("this is not a file of Python", file=path, remedy="give it a name that ends in .py")
    module: Any = importlib.util.module_from_spec(spec)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # nothing is left beside the file
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise DataError(f"{error.msg}", file=path, line=error.lineno, remedy="correct the syntax") from error
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = frames[-1].lineno if frames else None
        raise DataError(f"{type(error).__name__}: {error}", file=path, line=line, remedy="mend the file") from error
    finally:
        sys.dont_write_bytecode = before
    listed = getattr(module, "RULES", None)
    found = (
        list(listed) if listed is not None else [value for value in vars(module).values() if isinstance(value, Rule)]
    )
    for value in found:
        if not isinstance(value, Rule):
            raise DataError(f"RULES has {value!r}, which is not a rule", file=path, remedy="make rules with @rule")
    if not found:
        raise DataError("the file has no rules", file=path, remedy="put @rule above a function of x and y")
    return list(dict.fromkeys(found))
