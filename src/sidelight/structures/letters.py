"""One-to-one alignments of the characters of two strings, as LCLR uses for names (thesis 5.4.1, Table 5.1).

    x   (left, right): two sequences of symbols, such as strings
    y   for every left symbol the number of its right symbol, or None

A right symbol is aligned at most once. Alignments without crossing are found by dynamic programming, with sums;
alignments with crossing are matchings, without sums. Features are those of Table 5.1; an unaligned symbol has no
features.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.core.checks import check_fields, is_listed, is_whole, shown
from sidelight.errors import DataError
from sidelight.features.structured import pair_features
from sidelight.features.words.lexicon import check_bits
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.pair_scorer import PairScorer
from sidelight.spaces.alignments.alignment_space import AlignmentSpace
from sidelight.spaces.alignments.matching_space import MatchingSpace
from sidelight.spaces.space import Space
from sidelight.structures.alignments import OfStrings, Strings, check_count, symbols_of

Target = int | None


@dataclass(frozen=True)
class CharacterAlignment(OfStrings):
    """One-to-one alignments of characters."""

    crossing: bool = False
    bits: int = 18  # features are hashed into 2**bits weights
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_bits(self.bits)

    def batch(self, xs: Sequence[Strings]) -> Batch:
        """A batch of pairs of strings with all their alignments; raises `DataError` for an empty string."""
        starts, ends, one, two = symbols_of(xs)
        rights = np.diff(ends)
        choices = 1 + int(rights.max(initial=0))
        strings = pair_features.Strings(starts, ends, one, two, 1, 1, pair_features.LETTERS, False, self.bits)
        scorer = PairScorer(strings, choices, self.n_jobs)
        space: Space = AlignmentSpace(starts, choices, None, rights, (1, 1))
        if self.crossing:
            there = np.arange(choices) <= np.repeat(rights, np.diff(starts))[:, None]
            space = MatchingSpace(starts, choices, there.astype(np.uint8))
        return Batch(scorer, space, self.n_jobs)

    def encode(self, x: Strings, y: Sequence[Target]) -> Ids:
        """The choice of every left symbol; raises `DataError` for a symbol that does not exist."""
        check_count(x, y)
        return np.array([self._choice(x, target) for target in y], dtype=np.int32)

    def decode(self, x: Strings, choices: Ids) -> list[Target]:
        """The right symbol of every left one."""
        return [choice - 1 if choice else None for choice in choices.tolist()]

    def admitted(self, x: Strings, y: Sequence[int | Collection[Target] | None]) -> Bytes:
        """The choices admitted by Partial and Candidates: for every left symbol a target, several targets, or None for
        any. # [slots, K]
        """
        check_count(x, y)
        mask = np.zeros((len(x[0]), 1 + len(x[1])), dtype=np.uint8)
        for i, value in enumerate(y):
            targets: Any = value if is_listed(value) else [value]
            mask[i, slice(None) if value is None else [self._choice(x, target) for target in targets]] = 1
        return mask

    def weights(self, table: Mapping[tuple[str, str], float], *, distance: float = 0.0) -> Floats:
        """Initial weights from prior knowledge: the weights of pairs of letters in any context, and of the distance.

        For example, the thesis starts LCLR and its two-stage baseline from a romanisation table.
        """
        vector = np.zeros((1 << self.bits) + 1)
        _, _, one, two = symbols_of(list(table) or [("a", "a")])  # the distance has one weight, for all letters
        places, near = pair_features.letter_places(one, two, self.bits)
        vector[places] = list(table.values()) or 0.0
        vector[near] = distance
        return vector

    @property
    def legal(self) -> str:
        """The condition that links satisfy."""
        once = "link every right symbol once at most"
        return once if self.crossing else f"{once}, and without crossing links (crossing=True allows them)"

    def choice_words(self, x: Strings, choices: Ids) -> list[str]:
        """Right symbols with their numbers."""
        return ["nothing" if j is None else f"{j} {x[1][j]}" for j in self.decode(x, choices)]

    def first_weights(self) -> Floats:
        """Initial weights that link letters at the same positions."""
        return self.weights({}, distance=1.0)

    def _choice(self, x: Strings, target: Target) -> int:
        if target is None:
            return 0
        if not is_whole(target) or not 0 <= target < len(x[1]):
            problem = f"a left symbol is aligned with the right symbol {shown(target)}"
            raise DataError(problem, remedy=f"give a number from 0 to {len(x[1]) - 1}, or None")
        return target + 1


def targets_of(links: Iterable[tuple[int, int]], length: int) -> list[Target]:
    """The right symbol of each of `length` left ones; raises `DataError` if a symbol has two links.

    >>> targets_of([(0, 0), (2, 1)], 3)
    [0, None, 1]
    """
    targets: list[Target] = [None] * length
    for i, j in links:
        if targets[i] is not None or j in targets:
            side, symbol = ("left", i) if targets[i] is not None else ("right", j)
            problem = f"{side} symbol {symbol} is linked twice"
            raise DataError(problem, remedy="link symbols one to one, or take alignments of segments")
        targets[i] = j
    return targets
