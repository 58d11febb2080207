"""Features of single choices of slots: a sparse row of each, for spaces of `spaces.slots`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import offsets_of, taken
from sidelight.objective.batch import LinearFeatures
from sidelight.spaces.slots import SlotScores


@dataclass(frozen=True, slots=True)
class SlotScorer(LinearFeatures):
    """The features of slot t with choice k are row t · K + k."""

    starts: Ints  # [N + 1]
    n_labels: int  # K
    rows: SparseRows  # [T · K], no feature twice in a row
    size: int  # the first weight is the threshold of companion decisions

    @property
    def is_binary(self) -> bool:
        return bool(np.all(self.rows.values == 1.0))

    def take(self, which: Ints) -> SlotScorer:
        starts, slots = taken(self.starts, which)
        choices = slots[:, None] * self.n_labels + np.arange(self.n_labels)
        return replace(self, starts=starts, rows=self.rows.take(choices.ravel()))

    def scores(self, weights: Floats) -> SlotScores:
        return SlotScores(self.rows.dot(weights).reshape(-1, self.n_labels))

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        which, plus, minus, scales, thresholds = differences
        rows = [self._difference(int(i), plus, minus, *pair) for i, *pair in zip(which, scales, thresholds)]
        lengths = offsets_of([len(indices) for indices, _ in rows])
        indices = np.concatenate([np.zeros(0, np.int32), *(indices for indices, _ in rows)]).astype(np.int32)
        return SparseRows(lengths, indices, np.concatenate([np.zeros(0), *(values for _, values in rows)]))

    def _difference(self, i: int, plus: Ids, minus: Ids, scale: float, threshold: float) -> tuple[Ints, Floats]:
        slots = np.arange(int(self.starts[i]), int(self.starts[i + 1]))
        more = self.rows.take(np.asarray(slots * self.n_labels + plus[slots], dtype=np.int64))
        places, amounts = np.append(0, more.indices), np.append(threshold, scale * more.values)
        if len(minus):
            less = self.rows.take(np.asarray(slots * self.n_labels + minus[slots], dtype=np.int64))
            places, amounts = np.append(places, less.indices), np.append(amounts, -scale * less.values)
        distinct, inverse = np.unique(places, return_inverse=True)
        sums = np.bincount(inverse, amounts, minlength=len(distinct)).astype(np.float64)
        return distinct[sums != 0], sums[sums != 0]

    def add_gradient(self, weights: Floats, parts: Any, gradient: Floats) -> None:
        """gradient += expected features, by the shares `parts.slots` [T, K] of choices."""
        shares = np.repeat(parts.slots.ravel(), np.diff(self.rows.indptr))
        gradient += np.bincount(self.rows.indices, self.rows.values * shares, minlength=self.size)


@dataclass(slots=True)
class FeatureNames:
    """A weight for every name of a feature that was met before `closed`; the first weight is the threshold."""

    places: dict[str, int] = field(default_factory=dict)
    closed: bool = False

    def scorer(self, inputs: Sequence[Iterable[Iterable[Mapping[str, float]]]], n_labels: int) -> SlotScorer:
        """The scorer of inputs whose slots have a dict of features for each of K choices."""
        starts, indptr = [0], [0]
        indices: list[int] = []
        values: list[float] = []
        for x in inputs:
            starts.append(starts[-1])
            for slot in x:
                starts[-1] += 1
                for choice in slot:
                    own = sorted((self.place(name), value) for name, value in choice.items())
                    own = [(place, value) for place, value in own if place]
                    indices += [place for place, _ in own]
                    values += [value for _, value in own]
                    indptr.append(len(indices))
                if (len(indptr) - 1) != starts[-1] * n_labels:
                    raise ValueError(f"a slot has features of other than {n_labels} choices")
        rows = SparseRows(np.array(indptr), np.array(indices, np.int32), np.array(values, np.float64))
        return SlotScorer(np.array(starts), n_labels, rows, len(self.places) + 1)

    def place(self, name: str) -> int:
        """The weight of a name; 0 for one that was not met before `closed`."""
        if self.closed:
            return self.places.get(name, 0)
        return self.places.setdefault(name, len(self.places) + 1)
