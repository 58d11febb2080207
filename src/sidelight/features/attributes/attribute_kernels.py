"""Entries of tokens, an attribute's number and its value: written by tables, and those that are known kept."""

from __future__ import annotations

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel


@kernel
def place_table(begins: Ints, numbers: Ids, amounts: Floats, attributes: Ids, values: Floats) -> None:
    """Write a table [tokens, names] where its tokens begin."""
    for t in range(numbers.shape[0]):
        for k in range(numbers.shape[1]):
            attributes[begins[t] + k] = numbers[t, k]
            values[begins[t] + k] = amounts[t, k]


@kernel
def keep_known(attributes: Ids, values: Floats, indptr: Ints) -> bool:
    """Move the entries that have a number to the front, in order; whether all of their values are 1."""
    size, ones, last = 0, True, 0
    for t in range(indptr.shape[0] - 1):
        first, last = last, indptr[t + 1]
        for k in range(first, last):
            if attributes[k] >= 0:
                attributes[size] = attributes[k]
                values[size] = values[k]
                ones &= values[k] == 1.0
                size += 1
        indptr[t + 1] = size
    return ones
