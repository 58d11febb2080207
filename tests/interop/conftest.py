"""Sentences with names, which the tests of this folder learn from."""

from __future__ import annotations

import pytest

FIRST = ("Ann", "Bob", "Eve", "Carl", "Dora")
LAST = ("Holt", "Lind", "Berg", "Moe")
PLACES = ("Oslo", "Rome", "Lima", "Bern")


@pytest.fixture(scope="session")
def sentences() -> tuple[list[list[str]], list[list[str]]]:
    """Words and BIO labels."""
    xs, ys = [], []
    for i in range(24):
        first, last, place = FIRST[i % 5], LAST[i % 4], PLACES[(i // 2) % 4]
        xs.append([first, last, "lives", "in", place, "."])
        ys.append(["B-PER", "I-PER", "O", "O", "B-LOC", "O"])
        xs.append(["in", place, first, "met", "a", "friend"])
        ys.append(["O", "B-LOC", "B-PER", "O", "O", "O"])
    return xs, ys
