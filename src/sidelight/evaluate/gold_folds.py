"""Cross-validation over mixed evidence: only Gold is held out, and all other evidence is always used for training.

Folds of all evidence would hold out evidence that cannot be scored, and evaluate a fit that lacks part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.core.checks import whole
from sidelight.errors import DataError
from sidelight.evidence import Evidence


@dataclass(frozen=True, slots=True)
class GoldFolds:
    """A splitter for the `cv=` of scikit-learn's searches, for `fit(evidence)`.

    Gold is split at random into `n_splits` folds of equal size, as far as possible. Each fold is held out once, while
    the rest of Gold and all other evidence is used for training; `repeats` does this several times with different
    folds. The same seed gives the same folds. Raises `DataError` if there is less Gold than folds.

    >>> from sidelight.evidence import Gold, Unlabeled
    >>> evidence = [Gold(["a"], ["A"]), Unlabeled(["b"]), Gold(["c"], ["A"])]
    >>> [(train.tolist(), test.tolist()) for train, test in GoldFolds(2).split(evidence)]
    [([1, 2], [0]), ([0, 1], [2])]
    """

    n_splits: int = 5
    seed: int = 0
    repeats: int = 1

    def __post_init__(self) -> None:
        for name, least in (("n_splits", 2), ("seed", 0), ("repeats", 1)):
            whole(name, getattr(self, name), least=least)

    def get_n_splits(self, evidence: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of train/test splits."""
        return self.n_splits * self.repeats

    def split(self, evidence: Sequence[Any], y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """For each fold, the indices of the training evidence and of the held-out Gold, both ascending.

        With `y`, as in `fit(xs, ys)`, every input is Gold; `groups` are ignored.
        """
        gold = _places(evidence, y)
        if len(gold) < self.n_splits:
            remedy = f"give {self.n_splits} pieces of Gold or more, or fewer folds (n_splits)"
            raise DataError(f"{len(gold)} pieces of Gold for {self.n_splits} folds", remedy=remedy)
        everything = np.arange(len(evidence), dtype=np.int64)
        for repeat in range(self.repeats):
            dealt = np.random.default_rng([self.seed, repeat]).permutation(gold)
            for fold in range(self.n_splits):
                held = np.sort(dealt[fold :: self.n_splits])
                yield np.delete(everything, held), held


def _places(evidence: Sequence[Any], y: Any) -> Ints:
    """The indices of Gold."""
    if y is not None:
        return np.arange(len(evidence), dtype=np.int64)
    if isinstance(evidence, str) or not hasattr(evidence, "__len__") or getattr(evidence, "shape", None) == ():
        raise DataError(f"{type(evidence).__name__} instead of a list of evidence", remedy="give a list")
    for i, piece in enumerate(evidence):
        if not isinstance(piece, Evidence):
            problem = f"{type(piece).__name__} instead of evidence {i}"
            raise DataError(problem, remedy="give a list of evidence, or inputs and outputs")
    return np.array([i for i, piece in enumerate(evidence) if piece.kind == "gold"], dtype=np.int64)
