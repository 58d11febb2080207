"""Rules from a Python file: its list `RULES` or `rules`, or all rules that it defines, in order.

The file is run like a Python script: modules in its folder can be imported, and its definitions have a module.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sidelight.core.checks import file_name
from sidelight.errors import DataError
from sidelight.rules.rule import Rule, checked_rules

Found = TypeVar("Found")
FILE_MODULE = "sidelight_file_"  # prefix of the names of their modules, which no other process can import


def read_rules(path: str | Path) -> list[Rule]:
    """Run a file and return its rules; raises `DataError` with the line if it fails, or if it has no rules."""
    return run_file(path, _rules_of, remedy="give a Python file with @rule functions")


def run_file(path: str | Path, take: Callable[[ModuleType, Path], Found], *, remedy: str) -> Found:
    """Run a file and return `take` of its module; raises `DataError` with the line if it fails.

    `remedy` describes the expected file, for the error if it does not exist.
    """
    path = Path(file_name(path)).absolute()
    if not path.is_file():
        raise DataError("there is no such file", file=path, remedy=remedy)
    name = f"{FILE_MODULE}{path.stem}_{zlib.crc32(str(path).encode()):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DataError("this is not a file of Python", file=path, remedy="give it a name that ends in .py")
    module: Any = importlib.util.module_from_spec(spec)
    try:
        with _as_script(module, path.parent):
            spec.loader.exec_module(module)
            return take(module, path)
    except DataError as error:
        if error.file == str(path):
            raise
        raise DataError(str(error), file=path, line=_line(error, path), remedy="fix the file") from error
    except SyntaxError as error:
        file, line = error.filename or path, error.lineno  # possibly of an imported module
        raise DataError(f"{error.msg}", file=file, line=line, remedy="correct the syntax") from error
    except SystemExit as error:
        problem = f"the file ends the program: SystemExit({error.code!r})"
        remedy = 'leave it out, or put it under if __name__ == "__main__"'
        raise DataError(problem, file=path, line=_line(error, path), remedy=remedy) from error
    except (Exception, GeneratorExit) as error:
        problem = f"{type(error).__name__}: {error}"
        raise DataError(problem, file=path, line=_line(error, path), remedy="fix the file") from error


def _rules_of(module: ModuleType, path: Path) -> list[Rule]:
    own = getattr(module, "rules", None)
    listed = getattr(module, "RULES", own if isinstance(own, list | tuple) else None)  # rules may be the package's
    if listed is None:
        listed = [value for value in vars(module).values() if isinstance(value, Rule)]
    try:
        rules = checked_rules(listed, name="RULES" if hasattr(module, "RULES") else "rules")
    except DataError as error:
        raise DataError(error.problem, file=path, remedy=error.remedy) from None
    if not rules:
        raise DataError("the file has no rules", file=path, remedy="put @rule above a function of x and y")
    return list(dict.fromkeys(rules))


@contextmanager
def _as_script(module: ModuleType, folder: Path) -> Iterator[None]:
    """Context manager: modules in the folder can be imported. They are unloaded afterwards, since other folders may use
    the same names.
    """
    bytecode, before, name = sys.dont_write_bytecode, set(sys.modules), module.__name__
    sys.dont_write_bytecode = True  # write no files into the folder
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    sys.modules[name] = module
    try:
        yield
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.dont_write_bytecode = bytecode
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        for other in [other for other in sys.modules if other not in before and other != name]:
            file = getattr(sys.modules[other], "__file__", None)
            if file is not None and Path(file).parent == folder:
                del sys.modules[other]


def _line(error: BaseException, path: Path) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None
