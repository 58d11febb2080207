"""Monotone alignments of segments of two strings, for transliteration, letters and sounds, spelling.

    x   (left, right): two sequences of symbols, such as strings
    y   pairs of spans ((first, last), (first, last)), from the left to the right, ends not included

A pair covers up to 3 × 3 symbols (`longest`), and pairs do not cross. A symbol that no pair covers is aligned with
nothing, if this is allowed on its side (`left_nulls`, `right_nulls`). So a slot is a left symbol, and its choice is the
pair that covers it, or nothing. Unaligned right symbols need no slots: they follow from the pairs, and their scores are
part of the scores of the surrounding pairs (`features.structured.pair_features`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.core.checks import check_fields, is_listed, is_whole, shown
from sidelight.errors import DataError
from sidelight.features.rows import offsets_of
from sidelight.features.structured import pair_features
from sidelight.features.words.lexicon import check_bits, each_hashed
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.pair_scorer import PairScorer
from sidelight.spaces.alignments.alignment_space import AlignmentSpace, choices_of

Strings = tuple[Sequence[str], Sequence[str]]
Pair = tuple[tuple[int, int], tuple[int, int]]
PAIRS = "give pairs of spans, such as [((0, 2), (0, 1))]; `pairs_of` makes them of links"


class OfStrings:
    """Shared code of structures over two strings: a slot is a left symbol."""

    def sizes(self, xs: Sequence[Strings]) -> Floats:
        """The mean length of the two strings: with the left length alone, long right strings would score too high. #
        [N]
        """
        return np.array([0.5 * (len(left) + len(right)) for left, right in xs])

    def slot_words(self, x: Strings) -> list[str]:
        """Left symbols with their numbers."""
        return [f"{i} {symbol}" for i, symbol in enumerate(x[0])]


@dataclass(frozen=True)
class SegmentAlignment(OfStrings):
    """Alignments of segments of two strings."""

    longest: tuple[int, int] = (3, 3)
    left_nulls: bool = True
    right_nulls: bool = True
    bits: int = 18  # features are hashed into 2**bits weights
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_bits(self.bits)
        longest: Any = self.longest
        if not _is_span(longest) or not all(1 <= most <= 15 for most in longest):
            raise ValueError(f"longest is {shown(longest)}; give two numbers from 1 to 15")
        object.__setattr__(self, "longest", tuple(longest))

    def batch(self, xs: Sequence[Strings]) -> Batch:
        """A batch of pairs of strings with all their alignments; raises `DataError` for an empty string."""
        starts, ends, one, two = symbols_of(xs)
        choices = choices_of(self.longest, int(np.diff(ends).max(initial=0)))
        what = *self.longest, pair_features.SEGMENTS, self.right_nulls, self.bits
        scorer = PairScorer(pair_features.Strings(starts, ends, one, two, *what), choices, self.n_jobs)
        nulls = self.left_nulls, self.right_nulls
        return Batch(scorer, AlignmentSpace(starts, choices, None, np.diff(ends), self.longest, *nulls), self.n_jobs)

    def encode(self, x: Strings, y: Sequence[Pair]) -> Ids:
        """The choice of every left symbol; raises `DataError` for pairs that cross, or that are too long."""
        if not is_listed(y):
            raise DataError(f"the output is {shown(y)}", remedy=PAIRS)
        choices, after = np.zeros(len(x[0]), dtype=np.int32), (0, 0)
        for pair in y:
            self._check(x, pair)
            (i, last), (j, end) = pair
            if i < after[0] or j < after[1]:
                problem = f"the pair {pair} begins before the end of the one before it"
                raise DataError(problem, remedy="give pairs from left to right, without crossing")
            choices[i:last] = self._code(pair) + np.arange(last - i)
            after = last, end
        return choices

    def decode(self, x: Strings, choices: Ids) -> list[Pair]:
        """The pairs of an alignment."""
        wide, forms = self.longest[1], self._forms
        pairs: list[Pair] = []
        for i, choice in enumerate(choices.tolist()):
            form = (choice - 1) % forms
            n = int((1 + np.sqrt(1 + 8 * form)) // 2)
            if choice > 0 and form == n * (n - 1) // 2:  # the first symbol of its pair
                j, m = (choice - 1) // forms // wide, (choice - 1) // forms % wide + 1
                pairs.append(((i, i + n), (j, j + m)))
        return pairs

    def admitted(self, x: Strings, y: Sequence[Pair | Collection[Pair] | None]) -> Bytes:
        """The choices admitted by Partial and Candidates: for every left symbol a pair, several pairs, () for nothing,
        or None for any.
        """
        check_count(x, y)
        mask = np.zeros((len(x[0]), choices_of(self.longest, len(x[1]))), dtype=np.uint8)
        for i, value in enumerate(y):
            if value is None:
                mask[i] = 1
                continue
            if not is_listed(value) or not hasattr(value, "__len__"):
                remedy = "give a pair of spans, a list of them, () for nothing, or None for any"
                raise DataError(f"left symbol {i} has {shown(value)}", remedy=remedy)
            one = _is_pair(value)
            for pair in [value] if one or not len(value) else value:
                mask[i, 0 if pair in ((), []) else self._code_at(x, pair, i)] = 1  # type: ignore[arg-type]
        return mask

    def first_weights(self) -> Floats:
        """Initial weights that prefer pairs of single symbols."""
        weights = np.zeros((1 << self.bits) + 1)
        weights[pair_features.single_place(self.bits)] = 1.0
        return weights

    def choice_words(self, x: Strings, choices: Ids) -> list[str]:
        """The pairs that cover left symbols."""
        words = ["nothing"] * len(x[0])
        for (a, b), (c, d) in self.decode(x, choices):
            words[a:b] = [f"{''.join(x[0][a:b])} – {''.join(x[1][c:d])}"] * (b - a)
        return words

    @property
    def _forms(self) -> int:
        return self.longest[0] * (self.longest[0] + 1) // 2

    def _code(self, pair: Pair) -> int:
        """The choice of the first symbol of a pair; the choices of its other symbols follow."""
        (i, last), (j, end) = pair
        n = last - i
        return 1 + (j * self.longest[1] + end - j - 1) * self._forms + n * (n - 1) // 2

    def _code_at(self, x: Strings, pair: Pair, i: int) -> int:
        self._check(x, pair)
        if not pair[0][0] <= i < pair[0][1]:
            raise DataError(f"the pair {pair} does not cover left symbol {i}", remedy="give one that does")
        return self._code(pair) + i - pair[0][0]

    def _check(self, x: Strings, pair: Pair) -> None:
        if not _is_pair(pair):
            raise DataError(f"a pair of spans is {shown(pair)}", remedy=PAIRS)
        for (first, last), string, most, side in zip(pair, x, self.longest, ("left", "right")):
            if not 0 <= first < last <= len(string):
                problem = f"the pair {pair} has no span of the {side} string, which has {len(string)} symbols"
                raise DataError(problem, remedy="give (first, last), the end not included")
            if last - first > most:
                problem = f"the pair {pair} covers {last - first} {side} symbols"
                raise DataError(problem, remedy=f"cover {most} at most, or give a larger `longest`")


def symbols_of(xs: Sequence[Strings]) -> tuple[Ints, Ints, Keys, Keys]:
    """For both strings of all inputs: offsets, and a hash of every symbol; raises `DataError` for an empty string."""
    for i, x in enumerate(xs):
        if not isinstance(x, list | tuple) or len(x) != 2 or not all(map(_is_string, x)):
            remedy = "give (left, right), each a text or a list of symbols"
            raise DataError(f"input {i} is {shown(x)}", remedy=remedy)
    sides: list[tuple[Ints, Keys]] = []
    for side, name in enumerate(("left", "right")):
        strings = [x[side] for x in xs]
        for i, string in enumerate(strings):
            if not len(string):
                raise DataError(f"input {i}: the {name} string is empty", remedy="leave the pair out")
        hashes = each_hashed([symbol for string in strings for symbol in string])
        sides.append((offsets_of([len(string) for string in strings]), hashes))
    (starts, one), (ends, two) = sides
    return starts, ends, one, two


def check_count(x: Strings, y: Any) -> None:
    """Raise `DataError` if an output does not have one element for every left symbol."""
    remedy = "give every left symbol what it is aligned with"
    if not is_listed(y) or not hasattr(y, "__len__"):
        raise DataError(f"the output is {shown(y)}", remedy=remedy)
    if len(y) != len(x[0]):
        raise DataError(f"a left string of {len(x[0])} symbols has {len(y)} targets", remedy=remedy)


def _is_string(side: Any) -> bool:
    if isinstance(side, str):
        return True
    return is_listed(side) and hasattr(side, "__len__") and all(isinstance(symbol, str) for symbol in side)


def _is_pair(value: Any) -> bool:
    """Whether this is ((first, last), (first, last))."""
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_span, value))


def _is_span(value: Any) -> bool:
    """Whether this is (first, last)."""
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(is_whole, value))


def links_of(pairs: Sequence[Pair]) -> set[tuple[int, int]]:
    """The links between symbols for pairs of spans.

    >>> sorted(links_of([((0, 2), (0, 1))]))
    [(0, 0), (1, 0)]
    """
    return {(i, j) for (a, b), (c, d) in pairs for i in range(a, b) for j in range(c, d)}


def pairs_of(links: Iterable[tuple[int, int]]) -> list[Pair]:
    """The pairs of spans for links, from left to right: the inverse of `links_of`.

    Raises `DataError` if links do not connect every symbol of a span with every symbol of another.

    >>> pairs_of([(0, 0), (1, 0), (2, 1)])
    [((0, 2), (0, 1)), ((2, 3), (1, 2))]
    """
    rights: dict[int, list[int]] = {}
    for i, j in sorted(set(links)):
        rights.setdefault(i, []).append(j)
    pairs: list[Pair] = []
    for i, own in rights.items():
        span = own[0], own[-1] + 1
        if len(own) != span[1] - span[0]:
            problem = f"left symbol {i} is linked with {', '.join(map(str, own))}, which do not follow each other"
            raise DataError(problem, remedy="link it with right symbols that do")
        if pairs and pairs[-1] == ((pairs[-1][0][0], i), span):
            pairs[-1] = (pairs[-1][0][0], i + 1), span
            continue
        for (first, last), (begin, end) in pairs:
            if begin < span[1] and span[0] < end:
                problem = f"left symbols {first} to {last - 1} and {i} share right symbols, and no pair of spans"
                raise DataError(problem, remedy="link every symbol of a span with every symbol of the other one")
        pairs.append(((i, i + 1), span))
    return pairs
