"""Features of pairs of segments of two strings, hashed, and of symbols that are aligned with nothing.

Two kinds: SEGMENTS has the strings of both sides, together, alone with the size of the other, and beside the symbols
around them; LETTERS is Table 5.1 of the thesis, for pairs of 1 × 1: a bias, the distance 1 / (|i − j| + 1), the two
symbols, and each with the next symbol of one side.

A right symbol with nothing is scored where it is covered instead: the score of a pair is less that of its right symbols
with nothing, and the first slot has that of all of them, whatever its choice. So scores are sums over left symbols.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import A, B, C, inline_kernel, inner_kernel, kernel, mix
from sidelight.features.counts import (
    Differences,
    RowRoom,
    SparseRows,
    add_entry,
    begin_row,
    end_row,
    filled_rows,
)

SEGMENTS, LETTERS = 0, 1
MOST = 8  # features of a pair, or of a symbol with nothing
BOUND = np.uint64(0xA0761D6478BD642F)  # beyond the ends of a string


class Strings(NamedTuple):
    """The strings of a batch as hashes of their symbols, and what their pairs are; as kernels take them."""

    starts: Ints  # [N + 1] of left symbols
    ends: Ints  # [N + 1] of right symbols
    one: Keys  # [T]
    two: Keys  # [right symbols]
    tall: int  # most left symbols of a pair
    wide: int  # most right ones
    kind: int  # SEGMENTS or LETTERS
    right_nulls: bool
    bits: int


@inline_kernel
def _at(symbols: Keys, first: int, last: int, t: int) -> Any:
    return symbols[t] if first <= t < last else BOUND


@inline_kernel
def _joined(symbols: Keys, first: int, count: int) -> Any:
    """A hash of a segment."""
    key = np.uint64(count)
    for t in range(first, first + count):
        key = mix(key * A + symbols[t])
    return key


@inner_kernel
def _all_joined(symbols: Keys, first: int, last: int, wide: int) -> Any:
    """The hash of every segment. # [symbols, wide]"""
    joined = np.empty((last - first, wide), np.uint64)
    for t in range(first, last):
        for m in range(1, min(wide, last - t) + 1):
            joined[t - first, m - 1] = _joined(symbols, t, m)
    return joined


@inline_kernel
def _place(key: Any, bits: int) -> Any:
    """The weight of a feature; the first is the threshold."""
    return np.int64(((key ^ (key >> np.uint64(32))) * A) >> np.uint64(64 - bits)) + 1


@inline_kernel
def _pair(
    kind: int, i: int, n: int, j: int, m: int, x: Any, y: Any, around: Keys, bits: int, places: Ints, values: Floats
) -> int:
    """The features of n left symbols from i on with m right ones from j on; returns how many.

    x and y are hashes of these segments, `around` has the symbols before and after them, left and right.
    """
    both = x * A + y * B
    if kind == LETTERS:
        places[0] = _place(np.uint64(1), bits)
        places[1] = _place(np.uint64(2), bits)
        places[2] = _place(np.uint64(3) + both, bits)
        places[3] = _place(np.uint64(4) + both + around[1] * C, bits)
        places[4] = _place(np.uint64(5) + both + around[3] * C, bits)
        values[:5] = 1.0
        values[1] = 1.0 / (abs(i - j) + 1.0)
        return 5
    places[0] = _size_place(n, m, bits)
    places[1] = _left_place(x, m, bits)
    places[2] = _right_place(y, n, bits)
    places[3] = _both_place(both, bits)
    for k in range(4):
        places[4 + k] = _around_place(both, k, around[k], bits)
    values[:] = 1.0
    return 8


@inline_kernel
def _size_place(n: int, m: int, bits: int) -> Any:
    return _place(np.uint64(10 + n * 16 + m), bits)


@inline_kernel
def _left_place(x: Any, m: int, bits: int) -> Any:
    """A left segment, and how many right symbols it has."""
    return _place(np.uint64(2) + x * A + np.uint64(m), bits)


@inline_kernel
def _right_place(y: Any, n: int, bits: int) -> Any:
    return _place(np.uint64(3) + y * B + np.uint64(n), bits)


@inline_kernel
def _both_place(both: Any, bits: int) -> Any:
    return _place(np.uint64(1) + both, bits)


@inline_kernel
def _around_place(both: Any, k: int, symbol: Any, bits: int) -> Any:
    """Both segments, and number k of the symbols around them."""
    return _place(np.uint64(4 + k) + both + symbol * C, bits)


@inner_kernel
def _nothing(
    kind: int, side: int, symbols: Keys, a: int, b: int, t: int, bits: int, places: Ints, values: Floats
) -> int:
    """The features of a symbol of symbols[a:b] that is aligned with nothing; returns how many."""
    if kind == LETTERS:
        return 0
    values[:MOST] = 1.0
    salt, x = np.uint64(300 + 8 * side), symbols[t]
    places[0] = _place(salt, bits)
    places[1] = _place(salt + np.uint64(1) + x * A, bits)
    places[2] = _place(salt + np.uint64(2) + x * A + _at(symbols, a, b, t - 1) * C, bits)
    places[3] = _place(salt + np.uint64(3) + x * A + _at(symbols, a, b, t + 1) * C, bits)
    return 4


@inline_kernel
def _look_around(
    one: Keys, a: int, b: int, i: int, n: int, two: Keys, c: int, d: int, j: int, m: int, around: Keys
) -> None:
    """The symbols before and after n left symbols of one[a:b] from i on, and m right ones of two[c:d] from j on."""
    around[0], around[1] = _at(one, a, b, i - 1), _at(one, a, b, i + n)
    around[2], around[3] = _at(two, c, d, j - 1), _at(two, c, d, j + m)


@inline_kernel
def _dot(places: Ints, values: Floats, count: int, weights: Floats) -> float:
    total = 0.0
    for k in range(count):
        total += values[k] * weights[places[k]]
    return total


def letter_places(one: Keys, two: Keys, bits: int) -> tuple[Ints, int]:
    """The weights of pairs of symbols among the features of LETTERS [pairs], and that of the distance."""
    places = np.empty(len(one), dtype=np.int64)
    return places, _letter_places(one, two, bits, places)


def single_place(bits: int) -> int:
    """The weight of the size of pairs of one symbol with one, among the features of SEGMENTS."""
    return int(_single_place(bits))


@kernel
def _single_place(bits: int) -> Any:
    return _size_place(1, 1, bits)


@kernel
def _letter_places(one: Keys, two: Keys, bits: int, keys_of_places: Ints) -> Any:
    places, values, around = np.empty(MOST, np.int64), np.empty(MOST), np.zeros(4, np.uint64)
    for k in range(keys_of_places.shape[0]):
        x, y = _joined(one, k, 1), _joined(two, k, 1)
        _pair(LETTERS, 0, 1, 0, 1, x, y, around, bits, places, values)
        keys_of_places[k] = places[2]
    return places[1]


@kernel
def pair_scores(strings: Strings, lo: int, hi: int, weights: Floats, out: Floats) -> None:
    """The score of every choice of the left symbols of lo..hi. # out: [T, K], of zeros"""
    starts, ends, one, two = strings.starts, strings.ends, strings.one, strings.two
    kind, free, bits = strings.kind, strings.right_nulls, strings.bits
    places, values = np.empty(MOST, np.int64), np.empty(MOST)
    for number in range(lo, hi):
        a, b, c, d = starts[number], starts[number + 1], ends[number], ends[number + 1]
        alone = np.zeros(d - c + 1)  # cumulated scores of unaligned right symbols
        for j in range(c, d):
            count = _nothing(kind, 1, two, c, d, j, bits, places, values) if free else 0
            alone[j - c + 1] = alone[j - c] + _dot(places, values, count, weights)
        for i in range(a, b):
            if alone[d - c] != 0.0 and i == a:
                out[i] += alone[d - c]
            out[i, 0] += _dot(places, values, _nothing(kind, 0, one, a, b, i, bits, places, values), weights)
        if kind == LETTERS:
            _add_letters(strings, number, weights, out)
        else:
            _add_segments(strings, number, alone, weights, out[a:b])


@inner_kernel
def _add_letters(strings: Strings, number: int, weights: Floats, out: Floats) -> None:
    """Scores of pairs of one symbol with one."""
    a, b, c, d = strings.starts[number], strings.starts[number + 1], strings.ends[number], strings.ends[number + 1]
    places, values, around = np.empty(MOST, np.int64), np.empty(MOST), np.empty(4, np.uint64)
    for i in range(a, b):
        x = _joined(strings.one, i, 1)
        for j in range(c, d):
            y = _joined(strings.two, j, 1)
            _look_around(strings.one, a, b, i, 1, strings.two, c, d, j, 1, around)
            count = _pair(LETTERS, i - a, 1, j - c, 1, x, y, around, strings.bits, places, values)
            out[i, 1 + j - c] += _dot(places, values, count, weights)


@inner_kernel
def _add_segments(strings: Strings, number: int, alone: Floats, weights: Floats, out: Floats) -> None:
    """Scores of pairs of segments, less those of their right symbols with nothing. # out: [left symbols, K]

    What depends on one side is looked up once for it.
    """
    one, two, tall, wide, bits = strings.one, strings.two, strings.tall, strings.wide, strings.bits
    a, b, c, d = strings.starts[number], strings.starts[number + 1], strings.ends[number], strings.ends[number + 1]
    forms = tall * (tall + 1) // 2
    joined = _all_joined(two, c, d, wide)
    rights, lefts = np.empty((tall, d - c, wide)), np.empty(wide)  # of a left segment of each size
    for n in range(1, tall + 1):
        for j in range(d - c):
            for m in range(1, min(wide, d - c - j) + 1):
                size = weights[_size_place(n, m, bits)] - (alone[j + m] - alone[j])
                rights[n - 1, j, m - 1] = size + weights[_right_place(joined[j, m - 1], n, bits)]
    for i in range(a, b):
        before = _at(one, a, b, i - 1)
        for n in range(1, min(tall, b - i) + 1):
            x, after = _joined(one, i, n), _at(one, a, b, i + n)
            for m in range(1, wide + 1):
                lefts[m - 1] = weights[_left_place(x, m, bits)]
            for j in range(c, d):
                left_of, code = _at(two, c, d, j - 1), 1 + (j - c) * wide * forms + n * (n - 1) // 2
                for m in range(1, min(wide, d - j) + 1):
                    both = x * A + joined[j - c, m - 1] * B
                    total = lefts[m - 1] + rights[n - 1, j - c, m - 1] + weights[_both_place(both, bits)]
                    total += weights[_around_place(both, 0, before, bits)]
                    total += weights[_around_place(both, 1, after, bits)]
                    total += weights[_around_place(both, 2, left_of, bits)]
                    total += weights[_around_place(both, 3, _at(two, c, d, j + m), bits)]
                    out[i - a, code] += total
                    code += forms


@kernel
def add_pairs(strings: Strings, slopes: Floats, gradient: Floats) -> None:
    """gradient += Σ slope of a choice · its features, as they are scored. # slopes: [T, K]"""
    starts, ends, one, two, tall, wide, kind, free, bits = strings
    forms = tall * (tall + 1) // 2
    places, values, around = np.empty(MOST, np.int64), np.empty(MOST), np.empty(4, np.uint64)
    for number in range(starts.shape[0] - 1):
        a, b, c, d = starts[number], starts[number + 1], ends[number], ends[number + 1]
        alone = np.zeros(d - c)  # how much of each right symbol has nothing
        if b > a:
            alone += np.sum(slopes[a])
        for i in range(a, b):
            count = _nothing(kind, 0, one, a, b, i, bits, places, values)
            for k in range(count):
                gradient[places[k]] += values[k] * slopes[i, 0]
            for n in range(1, min(tall, b - i) + 1):
                for j in range(c, d):
                    for m in range(1, min(wide, d - j) + 1):
                        slope = slopes[i, 1 + ((j - c) * wide + m - 1) * forms + n * (n - 1) // 2]
                        if slope == 0.0:
                            continue
                        alone[j - c : j - c + m] -= slope
                        _look_around(one, a, b, i, n, two, c, d, j, m, around)
                        x, y = _joined(one, i, n), _joined(two, j, m)
                        count = _pair(kind, i - a, n, j - c, m, x, y, around, bits, places, values)
                        for k in range(count):
                            gradient[places[k]] += values[k] * slope
        for j in range(c, d):
            count = _nothing(kind, 1, two, c, d, j, bits, places, values) if free else 0
            for k in range(count):
                gradient[places[k]] += values[k] * alone[j - c]


def pair_differences(strings: Strings, differences: Differences) -> SparseRows:
    """The rows wanted; outputs are choices of left symbols [T]."""
    symbols = np.diff(strings.starts) + np.diff(strings.ends)

    def fill(part: Differences, room: RowRoom) -> None:
        _fill(strings, part, room)

    return filled_rows(differences, lambda part: 1 + 2 * MOST * symbols[part.which], fill)


@kernel
def _fill(strings: Strings, differences: Differences, room: RowRoom) -> None:
    for r, i in enumerate(differences.which):
        count = begin_row(room, differences.thresholds[r])
        count = _add_output(strings, i, differences.plus, differences.scales[r], room, count)
        if differences.minus.shape[0] > 0:
            count = _add_output(strings, i, differences.minus, -differences.scales[r], room, count)
        end_row(room, r, count)


@inner_kernel
def _add_output(strings: Strings, number: int, choices: Ids, scale: float, room: RowRoom, count: int) -> int:
    """Append the features of an alignment."""
    starts, ends, one, two, tall, wide, kind, free, bits = strings
    a, b, c, d = starts[number], starts[number + 1], ends[number], ends[number + 1]
    forms = tall * (tall + 1) // 2
    places, values, around = np.empty(MOST, np.int64), np.empty(MOST), np.empty(4, np.uint64)
    covered = np.zeros(d - c, np.uint8)
    for i in range(a, b):
        if choices[i] == 0:
            length = _nothing(kind, 0, one, a, b, i, bits, places, values)
        else:
            form = (choices[i] - 1) % forms
            j, m = (choices[i] - 1) // forms // wide, (choices[i] - 1) // forms % wide + 1
            n = 1
            while n * (n + 1) // 2 <= form:
                n += 1
            covered[j : j + m] = 1
            if form != n * (n - 1) // 2:  # not the first of its pair
                continue
            _look_around(one, a, b, i, n, two, c, d, c + j, m, around)
            x, y = _joined(one, i, n), _joined(two, c + j, m)
            length = _pair(kind, i - a, n, j, m, x, y, around, bits, places, values)
        for k in range(length):
            count = add_entry(room, count, places[k], scale * values[k])
    for j in range(c, d):
        if free and not covered[j - c]:
            length = _nothing(kind, 1, two, c, d, j, bits, places, values)
            for k in range(length):
                count = add_entry(room, count, places[k], scale * values[k])
    return count
