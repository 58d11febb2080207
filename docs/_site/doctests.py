"""Examples of docstrings (`>>> …`) as blocks of code; Markdown would take them for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLES = re.compile(r"(?:^>>> .*\n(?:^(?!>>> )\S.*\n|^ +\S.*\n)*)+", re.MULTILINE)  # up to an empty line


def fenced(text: str) -> str:
    """A docstring whose examples stand in fences."""
    return EXAMPLES.sub(lambda found: f"```pycon\n{found[0]}```\n", text + "\n")


class Doctests(griffe.Extension):
    """Every docstring is changed once, as its object is made."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
