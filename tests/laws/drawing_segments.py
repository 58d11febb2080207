"""Random segmentations with random clauses about the labels of their tokens."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from expressions import expressions
from sidelight.inference.problem import SegmentProblem, clauses_of
from sidelight.rules import Domain, Sentence, gallery
from sidelight.spaces.segments.token_reading import TokenReading
from sidelight.structures.segments import segment_scheme

LABELS = (["B-X"], ["B-X", "O"], ["B-X", "B-Y"], ["B-X", "B-Y", "O"], ["A"], ["A", "B"], ["A", "B", "C"])
PENALTIES = (math.inf, 0.5, 1.0, 2.5, 0.0)


def reading_of(names: list[str], scheme: str | None, max_length: int) -> TokenReading:
    return segment_scheme(names, scheme).reading(max_length)


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


@st.composite
def longer_segmentations(draw: st.DrawFn) -> SegmentProblem:
    """Too long to enumerate, under the sort of rules that people write."""
    names = draw(st.sampled_from([["B-X", "B-Y", "O"], ["A", "B"], ["A", "B", "C"]]))
    scheme = "BIO" if names[0] == "B-X" else None
    length, max_length = draw(st.integers(6, 12)), draw(st.integers(2, 5))
    reading, labels = reading_of(names, scheme, max_length), segment_scheme(names, scheme).tokens.names
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    one, other = st.sampled_from(labels), st.sampled_from(labels)
    sorts = (
        st.just(gallery.appears_once(labels)),
        st.builds(gallery.at_most, st.integers(0, 4), one),
        st.builds(gallery.at_least, st.integers(1, 3), one),
        st.builds(gallery.few_changes, st.integers(1, 5)),
        st.builds(gallery.requires, one, other),
        st.builds(gallery.excludes, one, other),
    )
    rules = draw(st.lists(st.one_of(*sorts), min_size=1, max_size=4))
    prices = [draw(st.sampled_from([math.inf, 0.5, 1.0, 3.0])) for _ in rules]
    says = [rule.on_labels(Sentence(["w"] * length), Domain(labels)) for rule in rules]
    size, scale = len(reading.first), draw(st.sampled_from([1.0, 3.0]))
    totals = scale * rng.normal(size=(length, max_length, size))
    edges = rng.normal(size=(size, size)), rng.normal(size=size), rng.normal(size=size)
    return SegmentProblem(totals, *edges, reading, clauses_of(says, prices))
