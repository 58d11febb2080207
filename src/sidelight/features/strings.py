"""Lists of strings as two arrays, for model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.file_contents import offsets_of as stored_offsets
from sidelight.errors import ModelFileError
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


def stored_strings(arrays: Mapping[str, NDArray[Any]], name: str, *, distinct: bool = True) -> list[str]:
    """The strings that a file holds under a name; raises `ModelFileError` if it holds none, or one twice."""
    text = array_of(arrays, f"{name}.text", np.uint8, [None])
    offsets = stored_offsets(arrays, f"{name}.offsets", count=None, total=len(text))
    try:
        strings = unpack_strings(text, offsets)
    except UnicodeDecodeError:
        raise ModelFileError(f"the text {name!r} is not UTF-8") from None
    if distinct and len(set(strings)) < len(strings):
        raise ModelFileError(f"the texts of {name!r} have one twice")
    return strings
