"""Where in a user's file a rule went wrong."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def place_of(error: BaseException, function: Callable[..., Any]) -> tuple[str | None, int | None]:
    """The file and the line: the deepest line of the function's own file that was running.

    Where the function has no file of the user's, the first line that is not of `sidelight.rules`; where nothing of the
    user's was running any more, the line at which the function begins. Nothing for functions of `sidelight.rules`.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    outside = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if code is None or _is_ours(code.co_filename):
        return (outside[0].filename, outside[0].lineno) if outside else (None, None)
    own = [frame for frame in outside if frame.filename == code.co_filename]
    return code.co_filename, own[-1].lineno if own else code.co_firstlineno


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_HERE)
