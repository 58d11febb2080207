"""Numbers for strings, worked out once per distinct string and kept, because words come again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Keys
from sidelight.features.transforms import Classes
from sidelight.features.words.lexicon import Columns, distinct, string_hashes

KEPT = 1 << 17  # so many strings of a column are kept between batches

Work = Callable[[list[int], list[str]], NDArray[Any]]  # views of one column, distinct strings [W] -> numbers [V, W]


class Views:
    """The numbers of several views, (transform, column) pairs, at every token.

    A string's numbers are one `bytes`, so that those of a batch are joined in one go, and threads that predict at the
    same time write the same thing into a dict without a lock.
    """

    def __init__(self, views: Sequence[tuple[str, int]], dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.views = list(views)
        self.of_column: dict[int, list[int]] = {}
        for number, (_, column) in enumerate(views):
            self.of_column.setdefault(column, []).append(number)
        self._kept: dict[int, dict[str, bytes]] = {}

    def numbers(self, columns: Columns, work: Work, *, anew: bool = False) -> NDArray[Any]:
        """The number of every view at every token; `anew` forgets what was kept. # [V, T]"""
        out = np.empty((len(self.views), int(columns.starts[-1])), dtype=self.dtype)
        for column, views in self.of_column.items():
            if len(columns):
                out[views] = self._column(columns, column, views, work, anew)
        return out

    def _column(self, columns: Columns, column: int, views: list[int], work: Work, anew: bool) -> NDArray[Any]:
        kept = self._kept.get(column)
        if kept is None or anew or len(kept) > KEPT:
            kept = self._kept[column] = {}
        strings = columns.columns[column]
        try:
            joined = b"".join(map(kept.__getitem__, strings))
        except (KeyError, TypeError):  # strings that are new, or no strings
            new = [text for text in distinct(strings) if text not in kept]
            rows = np.ascontiguousarray(work(views, new).T).tobytes()  # [W, V]
            width = len(views) * self.dtype.itemsize
            kept.update(zip(new, [rows[k : k + width] for k in range(0, len(rows), width)]))
            joined = b"".join(map(kept.__getitem__, strings))
        return np.frombuffer(joined, dtype=self.dtype).reshape(len(strings), len(views)).T


class HashedViews:
    """The hash of every view at every token, 0 where it has none."""

    def __init__(self, views: Sequence[tuple[str, int]], classes: Classes | None = None) -> None:
        self._views = Views(views, np.uint64)
        self._classes = classes

    def hashes(self, columns: Columns) -> Keys:
        """The same in every process. # [V, T]"""
        names = [name for name, _ in self._views.views]

        def work(which: list[int], strings: list[str]) -> Keys:
            return np.stack([string_hashes(names[view], strings, self._classes) for view in which])

        return self._views.numbers(columns, work)
