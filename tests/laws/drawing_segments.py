"""Random segmentations with random clauses about the labels of their tokens."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.inference.problem import clauses_of
from sidelight.inference.segment_problem import SegmentProblem, TokenReading
from sidelight.structures.segments import segment_scheme

LABELS = (["B-X"], ["B-X", "O"], ["B-X", "B-Y"], ["B-X", "B-Y", "O"], ["A"], ["A", "B"], ["A", "B", "C"])
PENALTIES = (math.inf, 0.5, 1.0, 2.5, 0.0)


def reading_of(names: list[str], scheme: str | None, max_length: int) -> TokenReading:
    how = segment_scheme(names, scheme)
    return TokenReading(how.first, how.inside, how.segment_of, how.longest(max_length))


@st.composite
def segmentations(
    draw: st.DrawFn,
    *,
    most_rules: int = 3,
    most_outputs: int = 250,
    depth: int = 2,
    penalties: tuple[float, ...] = PENALTIES,
) -> SegmentProblem:
    """A small problem with BIO or with runs: some scores −inf, some ties, hard and soft rules."""
    names = draw(
        st.sampled_from([["B-X"], ["B-X", "O"], ["B-X", "B-Y"], ["B-X", "B-Y", "O"], ["A"], ["A", "B"], "ABC"])
    )
    max_length = draw(st.integers(1, 4))
    reading = reading_of(names, "BIO" if names[0] == "B-X" else None, max_length)
    length = draw(st.integers(1, 6))
    while reading.n_labels**length > most_outputs:
        length -= 1
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def scores(*shape: int) -> np.ndarray:
        found = np.round(rng.normal(size=shape), 1) if rng.random() < 0.3 else rng.normal(size=shape)
        if rng.random() < 0.2:
            found[rng.random(size=shape) < 0.15] = -np.inf
        return found

    size = len(reading.first)
    says = draw(st.lists(expressions(length, reading.n_labels, depth), max_size=most_rules))
    prices = [draw(st.sampled_from(penalties)) for _ in says]
    return SegmentProblem(
        scores(length, max_length, size),
        scores(size, size),
        scores(size),
        scores(size),
        reading,
        clauses_of(says, prices),
    )
