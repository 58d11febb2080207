"""Features of an arc from a head to a dependent, hashed: nothing is stored for an arc, and nothing has a name.

Forms and tags of both, of their neighbours, tags between them, direction and distance (after McDonald, Crammer and
Pereira 2005). Strings are 64-bit hashes, 0 if there is none; a feature is the hash of a template and its values. All
kernels process the sentences of a batch, whose tokens are consecutive; node 0 of a sentence is the root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
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

PLAIN = 36  # features of an arc at most, beside those of the tags between

D = np.uint64(0xD6E8FEB86659FD93)
ROOT_FORM = np.uint64(0xA0761D6478BD642F)
ROOT_TAG = np.uint64(0xE7037ED1A0B428DB)
FAR = np.uint64(0x8EBC6AF09C88C6E3)


class ArcTokens(NamedTuple):
    """The tokens of a batch, and what their arcs have."""

    starts: Ints  # [N + 1]
    forms: Keys  # [T]
    tags: Keys  # [T]
    before: Ints  # [T] the token before of the same tag, or −1
    relations: int
    bits: int


def tag_before(starts: Ints, tags: Keys) -> Ints:
    """The token before each one in its sentence that has the same tag, or −1. # [T]"""
    before = np.full(len(tags), -1, dtype=np.int64)
    _tag_before(starts, tags, before)
    return before


@kernel
def _tag_before(starts: Ints, tags: Keys, places: Ints) -> None:
    for i in range(starts.shape[0] - 1):
        for t in range(starts[i], starts[i + 1]):
            for u in range(t - 1, starts[i] - 1, -1):
                if tags[u] == tags[t]:
                    places[t] = u
                    break


@inline_kernel
def _tag(tags: Keys, first: int, last: int, t: int) -> Any:
    return tags[t] if first <= t < last else np.uint64(0)


@inline_kernel
def _put(keys: Keys, count: int, key: Any, far: Any) -> int:
    """A feature without and with direction and distance."""
    keys[count] = key
    keys[count + 1] = key + far
    return count + 2


@inner_kernel
def arc_keys(first: int, last: int, head: int, t: int, forms: Keys, tags: Keys, before: Ints, keys: Keys) -> int:
    """The keys of the features of the arc from node `head` to the token in row t; returns how many."""
    h = first + head - 1  # its row, that before the first for the root
    hw = ROOT_FORM if head == 0 else forms[h]
    hp = ROOT_TAG if head == 0 else tags[h]
    mw, mp = forms[t], tags[t]
    distance = abs(t - h)
    bucket = distance if distance <= 5 else 6 if distance <= 10 else 7
    far = mix(np.uint64(bucket * 2 + (1 if h > t else 0) + 1) * FAR)
    h_next = np.uint64(0) if head == 0 else _tag(tags, first, last, h + 1)
    h_last = np.uint64(0) if head == 0 else _tag(tags, first, last, h - 1)
    m_next, m_last = _tag(tags, first, last, t + 1), _tag(tags, first, last, t - 1)
    count = 0
    count = _put(keys, count, np.uint64(1) + hw * A, far)
    count = _put(keys, count, np.uint64(2) + hp * A, far)
    count = _put(keys, count, np.uint64(3) + hw * A + hp * B, far)
    count = _put(keys, count, np.uint64(4) + mw * A, far)
    count = _put(keys, count, np.uint64(5) + mp * A, far)
    count = _put(keys, count, np.uint64(6) + mw * A + mp * B, far)
    count = _put(keys, count, np.uint64(7) + hw * A + hp * B + mw * C + mp * D, far)
    count = _put(keys, count, np.uint64(8) + hp * B + mw * C + mp * D, far)
    count = _put(keys, count, np.uint64(9) + hw * A + mw * C + mp * D, far)
    count = _put(keys, count, np.uint64(10) + hw * A + hp * B + mp * D, far)
    count = _put(keys, count, np.uint64(11) + hw * A + hp * B + mw * C, far)
    count = _put(keys, count, np.uint64(12) + hw * A + mw * C, far)
    count = _put(keys, count, np.uint64(13) + hp * B + mp * D, far)
    count = _put(keys, count, np.uint64(14) + hp * A + h_next * B + m_last * C + mp * D, far)
    count = _put(keys, count, np.uint64(15) + h_last * A + hp * B + m_last * C + mp * D, far)
    count = _put(keys, count, np.uint64(16) + hp * A + h_next * B + mp * C + m_next * D, far)
    count = _put(keys, count, np.uint64(17) + h_last * A + hp * B + mp * C + m_next * D, far)
    keys[count] = far
    count += 1
    low, high = min(h, t), max(h, t)
    between = np.uint64(18 if h < t else 19) + hp * A + mp * C
    for u in range(max(low + 1, first), high):
        if before[u] <= low:  # the first of its tag between them
            keys[count] = between + tags[u] * B
            count += 1
    return count


@inline_kernel
def _place(key: Any, relation: int, bits: int) -> Any:
    """The weight of a feature with a relation; the first weight is the threshold."""
    return np.int64(mix(key + np.uint64(relation) * D) >> np.uint64(64 - bits)) + 1


@kernel
def arc_scores(tokens: ArcTokens, lo: int, hi: int, weights: Floats, out: Floats) -> None:
    """The score of every head and relation of the tokens of sentences lo..hi. # out: [T, H · R], of zeros"""
    relations, starts = tokens.relations, tokens.starts
    keys = np.empty(PLAIN + out.shape[1], np.uint64)
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            for head in range(last - first + 1):
                if head == t - first + 1:
                    continue
                count = arc_keys(first, last, head, t, tokens.forms, tokens.tags, tokens.before, keys)
                for relation in range(relations):
                    total = 0.0
                    for k in range(count):
                        total += weights[_place(keys[k], relation, tokens.bits)]
                    out[t, head * relations + relation] = total


@kernel
def add_arcs(tokens: ArcTokens, slopes: Floats, gradient: Floats) -> None:
    """gradient += Σ slope of an arc · its features. # slopes: [T, H · R]"""
    relations, starts = tokens.relations, tokens.starts
    keys = np.empty(PLAIN + slopes.shape[1], np.uint64)
    for i in range(starts.shape[0] - 1):
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            for head in range(last - first + 1):
                own = slopes[t, head * relations : (head + 1) * relations]
                if head == t - first + 1 or not np.any(own != 0.0):
                    continue
                count = arc_keys(first, last, head, t, tokens.forms, tokens.tags, tokens.before, keys)
                for relation in range(relations):
                    for k in range(count):
                        gradient[_place(keys[k], relation, tokens.bits)] += own[relation]


def tree_differences(tokens: ArcTokens, differences: Differences) -> SparseRows:
    """The rows wanted; outputs are heads and relations [T]."""
    lengths = np.diff(tokens.starts)

    def fill(part: Differences, room: RowRoom) -> None:
        _fill(tokens, part, np.empty(PLAIN + int(lengths.max(initial=0)), np.uint64), room)

    return filled_rows(differences, lambda part: 1 + 2 * lengths[part.which] * (PLAIN + lengths[part.which]), fill)


@kernel
def _fill(tokens: ArcTokens, differences: Differences, keys: Keys, room: RowRoom) -> None:
    plus, minus, relations = differences.plus, differences.minus, tokens.relations
    for r, i in enumerate(differences.which):
        first, last = tokens.starts[i], tokens.starts[i + 1]
        count = begin_row(room, differences.thresholds[r])
        for t in range(first, last):
            if minus.shape[0] > 0 and plus[t] == minus[t]:
                continue
            for sign in range(1 if minus.shape[0] == 0 else 2):
                choice = plus[t] if sign == 0 else minus[t]
                amount = differences.scales[r] if sign == 0 else -differences.scales[r]
                length = arc_keys(first, last, choice // relations, t, tokens.forms, tokens.tags, tokens.before, keys)
                for k in range(length):
                    count = add_entry(room, count, _place(keys[k], choice % relations, tokens.bits), amount)
        end_row(room, r, count)
