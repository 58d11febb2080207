"""Lists of strings as two arrays, for model files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sidelight.arrays import Bytes, Ints
from sidelight.features.rows import offsets_of


def pack_strings(strings: Sequence[str]) -> tuple[Bytes, Ints]:
    """UTF-8 text and the offsets of its pieces.

    >>> unpack_strings(*pack_strings(["a", "", "bé"]))
    ['a', '', 'bé']
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
    text = np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()
    return text, offsets_of([len(piece) for piece in encoded])


def unpack_strings(text: Bytes, offsets: Ints) -> list[str]:
    """The strings again."""
    raw = text.tobytes()
    bounds = offsets.tolist()
    return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
