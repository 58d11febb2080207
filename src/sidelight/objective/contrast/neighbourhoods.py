"""Inputs near an input: what contrastive estimation sets it against (Smith and Eisner 2005).

    transpose             one pair of adjacent tokens swapped
    delete                one token left out
    delete_or_transpose   both of these
    shuffle               tokens in random order, so many times
    swaps                 any number of adjacent pairs swapped, no token twice

Every neighbourhood holds the input itself. It is a set of reorderings, not of inputs: swapping two equal words counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.features.rows import Rows, offsets_of, taken

Token = TypeVar("Token")

KINDS = ("transpose", "delete", "delete_or_transpose", "shuffle", "swaps")


def orders(length: int, kind: str, *, copies: int = 10, rng: np.random.Generator | None = None) -> list[list[int]]:
    """The reorderings of an input of some length, as positions; the first is the input itself.

    `copies` and `rng` belong to "shuffle". There are exponentially many "swaps": list them for short inputs only.

    >>> orders(3, "transpose")
    [[0, 1, 2], [1, 0, 2], [0, 2, 1]]
    >>> len(orders(3, "delete_or_transpose")), len(orders(4, "swaps"))
    (6, 5)
    """
    if kind not in KINDS:
        raise ValueError(f"the neighbourhood is {kind!r}; there are {', '.join(KINDS)}")
    same = list(range(length))
    neighbours = [same]
    if kind in ("delete", "delete_or_transpose") and length > 1:
        neighbours += [same[:t] + same[t + 1 :] for t in range(length)]
    if kind in ("transpose", "delete_or_transpose"):
        neighbours += [[*same[:t], t + 1, t, *same[t + 2 :]] for t in range(length - 1)]
    if kind == "shuffle":
        if rng is None:
            raise ValueError("shuffled neighbours need rng")
        neighbours += [[int(t) for t in rng.permutation(length)] for _ in range(copies)]
    if kind == "swaps":
        neighbours = [[]]
        shorter: list[list[int]] = []
        for t in range(length):
            longer = [[*order, t] for order in neighbours] + [[*order, t, t - 1] for order in shorter]
            shorter, neighbours = neighbours, longer
    return neighbours


def neighbours(
    x: Sequence[Token], kind: str, *, copies: int = 10, rng: np.random.Generator | None = None
) -> list[list[Token]]:
    """The neighbours of an input, itself first, for those who extract features of them anew.

    >>> neighbours("abc", "delete")
    [['a', 'b', 'c'], ['b', 'c'], ['a', 'c'], ['a', 'b']]
    """
    return [[x[t] for t in order] for order in orders(len(x), kind, copies=copies, rng=rng)]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Reorderings of the inputs of a batch, listed."""

    ptr: Ints  # [N + 1] first reordering of each input
    starts: Ints  # [M + 1] first token of each reordering
    tokens: Ints  # [Σ lengths] token of the batch that stands there

    @classmethod
    def of(cls, starts: Ints, kind: str, *, copies: int = 10, rng: np.random.Generator | None = None) -> Neighbours:
        """The neighbours of a batch whose inputs begin at `starts`."""
        listed: dict[int, tuple[Ints, Ints]] = {}
        lengths, tokens, counts = [], [], []
        for first, length in zip(starts[:-1], np.diff(starts)):
            key = int(length)
            if kind == "shuffle" or key not in listed:
                neighbours = orders(key, kind, copies=copies, rng=rng)
                flat = np.array([t for order in neighbours for t in order], dtype=np.int64)
                listed[key] = np.array([len(order) for order in neighbours], dtype=np.int64), flat
            lengths.append(listed[key][0])
            tokens.append(listed[key][1] + first)
            counts.append(len(listed[key][0]))
        none = [np.zeros(0, dtype=np.int64)]
        return cls(offsets_of(counts), offsets_of(np.concatenate(lengths or none)), np.concatenate(tokens or none))

    def part(self, lo: int, hi: int, first: int) -> Neighbours:
        """Those of the inputs lo..hi, whose tokens begin at `first`."""
        a, b = self.ptr[lo], self.ptr[hi]
        p, q = self.starts[a], self.starts[b]
        return Neighbours(self.ptr[lo : hi + 1] - a, self.starts[a : b + 1] - p, self.tokens[p:q] - first)

    def rows(self, rows: Rows) -> Rows:
        """The neighbours as inputs of their own; tokens keep the features they had."""
        indptr, picked = taken(rows.indptr, self.tokens)
        values = rows.values[picked] if len(rows.values) else rows.values
        return Rows(self.starts, indptr, rows.indices[picked], values, rows.dense[self.tokens])
