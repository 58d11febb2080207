"""Inputs read from a file, with their outputs if it has any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sidelight.evidence import Origin


@dataclass(frozen=True, slots=True)
class Corpus:
    """Inputs, their outputs (`None` if the file has none) and their places in the file, in the order of the file.

    >>> corpus = Corpus([[("Lights",), ("on",)]], [["NOUN", "ADP"]], [Origin("a.txt", range(1, 3))])
    >>> len(corpus), corpus.origins[0].line(1)
    (1, 2)
    """

    xs: list[Any]
    ys: list[Any] | None
    origins: list[Origin]

    def __len__(self) -> int:
        return len(self.xs)
