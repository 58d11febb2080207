"""Labelling functions from a file of Python: its list `FUNCTIONS`, or every function that it defines.

Names that begin with _ are the file's own affair.
"""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType

from sidelight.errors import DataError
from sidelight.rules.files import run_file
from sidelight.voting.functions import LabellingFunction, named_functions


def read_functions(path: str | Path) -> tuple[LabellingFunction, ...]:
    """Run a file and take its functions; raises `DataError` with the line where it fails, or where it has none."""
    return run_file(path, _functions_of, remedy="give a file of Python with functions of a sentence")


def _functions_of(module: ModuleType, path: Path) -> tuple[LabellingFunction, ...]:
    listed = getattr(module, "FUNCTIONS", None)
    if listed is None:
        listed = [value for name, value in vars(module).items() if not name.startswith("_") and _own(value, module)]
    try:
        return named_functions(listed)
    except DataError as error:
        raise DataError(error.problem, file=path, remedy=error.remedy) from None


def _own(value: object, module: ModuleType) -> bool:
    """Whether this is a function that the file defines, and not one that it imports."""
    function = value.function if isinstance(value, LabellingFunction) else value
    return isinstance(function, FunctionType) and function.__module__ == module.__name__
