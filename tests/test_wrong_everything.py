"""One wrong thing for one parameter of every entry point: it works, or an error of ours says what to give.

Every parameter gets some of the wrong things, another share of them each; SIDELIGHT_WRONG=all gives all of them.
"""

from __future__ import annotations

import ast
import os
import warnings
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from entry_points import asking, estimators, learning, other_files, structures, tied

HOME = Path(sl.__file__).parent
STEP = 1 if os.environ.get("SIDELIGHT_WRONG") == "all" else 7
NAN = float("nan")
WRONG: list[Any] = [None, True, "text", "", b"bytes", -1, 0, 3, 2.5, NAN, float("inf"), 10**30, 1j, [], {}, set(), ()]
WRONG += [[None], [3], [NAN], ["text"], [b"bytes"], [[]], [[], []], [["a", ["b"]]], [[["a"], "b"]], [[["a"]]], [[None]]]
WRONG += [[[3, "a"]], [{"a": 1}], {"a": 1}, {"a": "b"}, {1: [2]}, {("a",): None}, [("a", 1)], [object()], object()]
WRONG += [np.array("text"), np.array(["a", "b"]), np.array([["a"], ["b"]]), np.array([None, {}], dtype=object)]
WRONG += [np.array([1.0, NAN]), np.eye(2), np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array([1j]), np.datetime64("2020")]
WRONG += [np.array([[{}, []]], dtype=object), np.float32(0.5), np.int8(1), len, sl.Tagger, range(3), "\ud800", "a\0b"]
WRONG += [[True, 1], [[True, 1, 1.0]], {"e": [[]]}, [{"e": 1}], {"e": {"a": "x"}}, [{"e": {"a": None}}], slice(3)]


@cache
def _raises(file: str) -> list[tuple[int, int]]:
    """The lines of each `raise` of a file."""
    tree = ast.parse(Path(file).read_text())
    return [(node.lineno, node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, ast.Raise)]


def is_ours(trace: TracebackType | None) -> bool:
    """Whether an error was raised on purpose, by a line of the package."""
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return Path(file).is_relative_to(HOME) and any(a <= trace.tb_lineno <= b for a, b in _raises(file))


def fault(what: Any, given: dict[str, Any]) -> str | None:
    """What is wrong with how a call ended; None where it worked, or was refused in our words."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            what(**given)
        except (ValueError, TypeError, sl.SidelightError, OSError) as error:
            told = str(error)
            if not is_ours(error.__traceback__):
                return f"raw {error!r}"
            return None if "\n" not in told and len(told) < 2000 else f"more than a line: {told}"
        except Exception as error:
            return f"raw {error!r}"
    return None


@pytest.mark.parametrize("group", ["learning", "estimators", "asking", "structures", "tied", "other_files"])
def test_wrong_things(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    makers = {"learning": learning, "estimators": estimators}
    in_folder = {"asking": asking, "structures": structures, "tied": tied, "other_files": other_files}
    entries = makers[group]() if group in makers else in_folder[group](tmp_path)
    odd, turn = [], 0
    for name, (what, given) in entries.items():
        assert fault(what, given) is None, name
        for parameter in given:
            turn += 1
            for wrong in WRONG[turn % STEP :: STEP]:
                found = fault(what, {**given, parameter: wrong})
                if found:
                    odd.append(f"{name}, {parameter}={wrong!r}: {found}")
    assert not odd, "\n".join(odd)
