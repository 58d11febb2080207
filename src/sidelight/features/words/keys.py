"""Feature keys from integers: compiled evaluation of templates and the tables that number their features.

A key packs the numbers in a template's slots, 21 bits each; a template with more than three slots mixes them into 64
bits instead (two of a million features then share a key with probability below 1e-7). Where the slots can take few
values, a template has a table addressed by those values directly; otherwise an open-addressing hash table.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.kernels import kernel, mix

SLOT_BITS = 21
NO_KEY = np.uint64(0xFFFFFFFFFFFFFFFF)
_FARTHEST = 8  # as in templates; a plain constant for the compiler


@kernel
def slot_values(starts: Ints, lo: int, hi: int, view: Ids, offset: int, skip_ends: bool, out: Ids) -> None:
    """The number at `offset` tokens from each token of sequences lo..hi; a mark, or -1, beyond the ends."""
    base = starts[lo]
    for i in range(lo, hi):
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            where = t + offset
            if where < first:
                out[t - base] = -1 if skip_ends else first - where - 1
            elif where >= last:
                out[t - base] = -1 if skip_ends else _FARTHEST + where - last
            else:
                out[t - base] = view[where]


@kernel
def pack_keys(parts: Ids, mixed: bool, keys: Keys) -> None:
    """keys[t] of the slot values parts[s, t]; NO_KEY where a slot is absent."""
    slots = parts.shape[0]
    for t in range(keys.shape[0]):
        key = np.uint64(0)
        for s in range(slots):
            value = parts[s, t]
            if value < 0:
                key = NO_KEY
                break
            if mixed:
                key = mix(key * np.uint64(31) + np.uint64(value) + np.uint64(1))
            else:
                key = (key << np.uint64(SLOT_BITS)) | np.uint64(value)
        keys[t] = key


@kernel
def collect(keys: Keys, bits: int, table_keys: Keys, table_ids: Ids, ids: Ids, first: Ints, counts: Ints) -> int:
    """Number distinct keys in order of appearance; returns how many there are. The tables have 2**bits places."""
    size = 0
    mask = np.uint64((1 << bits) - 1)
    for t in range(keys.shape[0]):
        key = keys[t]
        if key == NO_KEY:
            ids[t] = -1
            continue
        place = mix(key) & mask
        while table_ids[place] >= 0 and table_keys[place] != key:
            place = (place + np.uint64(1)) & mask
        number = table_ids[place]
        if number < 0:
            number = size
            table_ids[place] = size
            table_keys[place] = key
            first[size] = t
            counts[size] = 0
            size += 1
        counts[number] += 1
        ids[t] = number
    return size


@kernel
def insert(keys: Keys, ids: Ids, bits: int, table_keys: Keys, table_ids: Ids) -> None:
    """Fill an open-addressing table with known keys."""
    mask = np.uint64((1 << bits) - 1)
    for k in range(keys.shape[0]):
        place = mix(keys[k]) & mask
        while table_ids[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table_keys[place] = keys[k]
        table_ids[place] = ids[k]


@kernel
def look_up(
    starts: Ints,
    lo: int,
    hi: int,
    views: Ids,  # [V, T]
    slot_ptr: Ints,  # [M + 1] slots of each template
    slot_view: Ints,  # [slots]
    slot_offset: Ints,  # [slots]
    slot_size: Ints,  # [slots] how many numbers the view has, for direct tables
    kinds: Ints,  # [M] 0 direct, 1 hash of packed keys, 2 hash of mixed keys
    table_at: Ints,  # [M] where the template's table begins
    table_bits: Ints,  # [M] of hash tables
    direct: Ids,
    hash_keys: Keys,
    hash_ids: Ids,
    skip_ends: bool,
    out: Ids,  # [tokens of the shard, M]
) -> tuple[int, int]:
    """The attribute of every template at every token of sequences lo..hi, -1 if it has none.

    Returns how many features are known, and how many are not; those that look at no token are not counted.
    """
    base = starts[lo]
    n_known, n_unknown = 0, 0
    for m in range(slot_ptr.shape[0] - 1):
        kind = kinds[m]
        at = table_at[m]
        mask = np.uint64((1 << table_bits[m]) - 1)
        from_slot, to_slot = slot_ptr[m], slot_ptr[m + 1]
        for i in range(lo, hi):
            first, last = starts[i], starts[i + 1]
            for t in range(first, last):
                key = np.uint64(0)
                absent, unknown, looks = False, False, False
                for s in range(from_slot, to_slot):
                    where = t + slot_offset[s]
                    if first <= where < last:
                        value = np.int64(views[slot_view[s], where])
                        looks = True
                    elif skip_ends:
                        value = np.int64(-1)
                    elif where < first:
                        value = first - where - 1
                    else:
                        value = _FARTHEST + where - last
                    if value == -1:
                        absent = True
                        break
                    if value < 0:
                        unknown = True
                    elif kind == 0:
                        key = key * np.uint64(slot_size[s]) + np.uint64(value)
                    elif kind == 1:
                        key = (key << np.uint64(SLOT_BITS)) | np.uint64(value)
                    else:
                        key = mix(key * np.uint64(31) + np.uint64(value) + np.uint64(1))
                number = np.int32(-1)
                if absent or unknown:
                    pass
                elif kind == 0:
                    number = direct[at + np.int64(key)]
                else:
                    place = mix(key) & mask
                    while hash_ids[at + np.int64(place)] >= 0 and hash_keys[at + np.int64(place)] != key:
                        place = (place + np.uint64(1)) & mask
                    number = hash_ids[at + np.int64(place)]
                out[t - base, m] = number
                if looks and number >= 0:
                    n_known += 1
                elif looks and not absent:
                    n_unknown += 1
    return n_known, n_unknown


@kernel
def hashed(
    starts: Ints,
    lo: int,
    hi: int,
    views: Keys,  # [V, T] string hashes, 0 where absent
    slot_ptr: Ints,
    slot_view: Ints,
    slot_offset: Ints,
    salts: Keys,  # [M]
    bits: int,
    skip_ends: bool,
    out: Ids,
) -> None:
    """As `look_up` without a vocabulary: the attribute is the hash of the feature."""
    base = starts[lo]
    mask = np.uint64((1 << bits) - 1)
    for m in range(slot_ptr.shape[0] - 1):
        for i in range(lo, hi):
            first, last = starts[i], starts[i + 1]
            for t in range(first, last):
                key = salts[m]
                absent = False
                for s in range(slot_ptr[m], slot_ptr[m + 1]):
                    where = t + slot_offset[s]
                    if first <= where < last:
                        value = views[slot_view[s], where]
                    elif skip_ends:
                        value = np.uint64(0)
                    elif where < first:
                        value = np.uint64(2 * (first - where))
                    else:
                        value = np.uint64(2 * (_FARTHEST + where - last + 1))
                    if value == 0:
                        absent = True
                        break
                    key = mix(key * np.uint64(31) + value)
                out[t - base, m] = -1 if absent else np.int32(mix(key) & mask)


@kernel
def compress(attributes: Ids, indptr: Ints, indices: Ids) -> None:
    """Rows of the non-negative entries of attributes [T, M]; indptr is filled, indices must be long enough."""
    size = indptr[0]
    for t in range(attributes.shape[0]):
        for m in range(attributes.shape[1]):
            if attributes[t, m] >= 0:
                indices[size] = attributes[t, m]
                size += 1
        indptr[t + 1] = size
