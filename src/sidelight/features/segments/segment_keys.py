"""Keys of segment features: one 64-bit number per family and segment, made of the hashes of strings.

A key depends only on the family and on the segment's contents, never on the process or on earlier segments, so a
vocabulary is a list of keys. Two of a million features share a key with probability below 1e-7.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.kernels import kernel, mix
from sidelight.features.words.keys import NO_KEY

LENGTH, FIRST, LAST, BEFORE, AFTER, SHAPE, TEXT = range(7)
_EDGE = np.uint64(2)  # represents the word beyond an end; hashes of strings are odd


@kernel
def segment_keys(
    starts: Ints, lo: int, hi: int, max_length: int, kind: int, salt: np.uint64, values: Keys, out: Keys
) -> None:
    """The key of every segment of the sequences lo..hi, by (last token, length); NO_KEY where there is no segment.

    `values` are hashes of the tokens' strings [T], or for LENGTH of the lengths [M].
    """
    base = starts[lo]
    out[:] = NO_KEY
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        for s in range(first, last):
            rolling = salt
            for t in range(s, min(s + max_length, last)):
                length = t - s + 1
                value = np.uint64(0)
                if kind == LENGTH:
                    value = values[length - 1]
                elif kind == FIRST:
                    value = values[s]
                elif kind == LAST:
                    value = values[t]
                elif kind == BEFORE:
                    value = values[s - 1] if s > first else _EDGE
                elif kind == AFTER:
                    value = values[t + 1] if t + 1 < last else _EDGE
                elif kind == TEXT or t == s or values[t] != values[t - 1]:  # a shape that repeats counts once
                    rolling = mix(rolling * np.uint64(31) + values[t])
                    value = rolling
                else:
                    value = rolling
                out[(t - base) * max_length + length - 1] = mix(salt * np.uint64(31) + value)


@kernel
def keep_known(keys: Keys, bits: int, table_keys: Keys, table_ids: Ids, key: np.uint64, out: Keys) -> None:
    """out[r]: the one key where keys[r] is in the table, NO_KEY elsewhere."""
    mask = np.uint64((1 << bits) - 1)
    for r in range(keys.shape[0]):
        out[r] = NO_KEY
        if keys[r] == NO_KEY:
            continue
        place = mix(keys[r]) & mask
        while table_ids[place] >= 0 and table_keys[place] != keys[r]:
            place = (place + np.uint64(1)) & mask
        if table_ids[place] >= 0:
            out[r] = key


@kernel
def resolve(
    keys: Keys,  # [F, R]
    more_indptr: Ints,  # [R + 1], keys that some rows have besides, or empty
    more: Keys,
    hash_bits: int,  # > 0: the attribute is a hash of the key, and there is no table
    bits: int,
    table_keys: Keys,
    table_ids: Ids,
    indptr: Ints,  # out [R + 1]
    indices: Ids,  # out, long enough
) -> None:
    """Rows of attributes from keys; unknown keys are left out."""
    size = 0
    hash_mask = np.uint64((1 << hash_bits) - 1)
    mask = np.uint64((1 << bits) - 1)
    families = keys.shape[0]
    for r in range(keys.shape[1]):
        extra = more_indptr[r + 1] - more_indptr[r] if more_indptr.shape[0] > 0 else 0
        for f in range(families + extra):
            key = keys[f, r] if f < families else more[more_indptr[r] + f - families]
            if key == NO_KEY:
                continue
            if hash_bits > 0:
                indices[size] = np.int32(mix(key) & hash_mask)
                size += 1
                continue
            place = mix(key) & mask
            while table_ids[place] >= 0 and table_keys[place] != key:
                place = (place + np.uint64(1)) & mask
            if table_ids[place] >= 0:
                indices[size] = table_ids[place]
                size += 1
        indptr[r + 1] = size
