"""Messages between a driver and its workers: pickles that they made for each other; nothing of a file is among them.

Large arrays are beside the pickle (protocol 5): Ray puts them into its store as they are, where all processes of a
machine read them in one place. Whoever opens a message gets copies of its own, since kernels are compiled for arrays
that may be written to.
"""

from __future__ import annotations

import pickle
import sys
from collections import ChainMap
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.rules.files import FILE_MODULE
from sidelight.rules.rule import Rule

PROTOCOL = 5
ASIDE = 1 << 14  # bytes of an array that is beside the pickle
CHUNK = 1 << 20  # bytes that are compared at a time

Parcel = list[NDArray[np.uint8]]  # the pickle, and the arrays beside it, which may still be those that were packed


def packed(value: Any) -> Parcel:
    """A message; functions of a user's own script go along as they are, and so do rules."""
    aside: Parcel = []

    def beside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        small = raw.nbytes < ASIDE and not raw.readonly  # a pickle would bring it back as one that is not for writing
        if not small:
            aside.append(np.frombuffer(raw, dtype=np.uint8))
        return small

    with BytesIO() as file:
        _pickler()(file, protocol=PROTOCOL, buffer_callback=beside).dump(value)
        return [np.frombuffer(file.getvalue(), dtype=np.uint8), *aside]


def opened(parcel: Parcel) -> Any:
    """What was packed."""
    return pickle.loads(parcel[0].data, buffers=[array.copy() for array in parcel[1:]])


def size_of(parcel: Parcel) -> int:
    """Its bytes."""
    return sum(array.nbytes for array in parcel)


def alike(one: Parcel, other: Parcel) -> bool:
    """Whether two messages have the same bytes.

    >>> one, other = np.zeros(3, np.uint8), np.ones(3, np.uint8)
    >>> alike([one, other], [one, other.copy()]), alike([one], [other]), alike([one], [one, other])
    (True, False, False)
    """
    return list(map(len, one)) == list(map(len, other)) and all(
        np.array_equal(a[at : at + CHUNK], b[at : at + CHUNK])
        for a, b in zip(one, other)
        for at in range(0, len(a), CHUNK)
    )


@cache
def _pickler() -> Any:
    pickler: Any = _cloudpickle().Pickler
    table = ChainMap[Any, Any]({Rule: _parts_of_rule}, pickler.dispatch_table)
    return type("Pickler", (pickler,), {"dispatch_table": table})


def _cloudpickle() -> Any:
    from ray import cloudpickle

    return cloudpickle


def _parts_of_rule(rule: Rule) -> tuple[Any, ...]:
    """A rule with its function: workers may not have the module or the file that it comes from."""
    module = sys.modules.get(getattr(rule.says, "__module__", None) or "")
    if module is not None and module.__name__.startswith(FILE_MODULE):
        _cloudpickle().register_pickle_by_value(module)
    return Rule, rule.parts()
