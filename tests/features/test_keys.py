"""Keys of template features, against what they are defined as, token by token."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.kernels import stirred
from sidelight.features.words.keys import NO_KEY, SLOT_BITS, packed_keys, slot_values


@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5), offset=st.integers(-6, 6), skip_ends=st.booleans())
def test_slot_values_look_past_the_ends_of_their_own_sequence(lengths: list[int], offset: int, skip_ends: bool) -> None:
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    view = np.arange(100, 100 + starts[-1], dtype=np.int32)
    out = np.empty(len(view), dtype=np.int32)
    slot_values(starts, view, offset, skip_ends, out)
    for first, last in pairwise(starts):
        for t in range(first, last):
            where = t + offset
            mark = -1 if skip_ends else first - where - 1 if where < first else 8 + where - last
            assert out[t] == (view[where] if first <= where < last else mark)


@given(slots=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_keys_pack_what_slots_see(slots: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = rng.integers(-1, 1 << SLOT_BITS, size=(slots, 6)).astype(np.int32)
    parts[rng.random(parts.shape) < 0.3] = 1
    for column, key in zip(parts.T.tolist(), packed_keys(parts)):
        number = 0
        for value in column:
            if slots > 3:
                mixed = np.array([(number * 31 + value + 1) % 2**64], dtype=np.uint64)
                number = int(stirred(mixed)[0])
            else:
                number = number << SLOT_BITS | value
        assert int(key) == (int(NO_KEY) if min(column) < 0 else number)
