"""Segmentations as token labels: the problem that rules see is the space that models learn with."""

from __future__ import annotations

import math

import numpy as np
from drawing import generators, law
from drawing_segments import longer_segmentations, segmentations
from hypothesis import given
from hypothesis import strategies as st
from segmenting import random_segment_scores

from expressions import outputs
from sidelight.inference.batches import SegmentBatchScores
from sidelight.inference.folding import lattice
from sidelight.inference.lattices.searches import best_first, best_under, search, tight_guide
from sidelight.inference.methods.choose import solve
from sidelight.inference.problem import SegmentProblem
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.structures.segments import segment_scheme


@law(100)
@given(segmentations())
def test_the_lattice_scores_every_labeling_as_the_problem_does(problem: SegmentProblem) -> None:
    free = problem.with_clauses(())
    chain = lattice(free)
    best = -math.inf
    for labels in outputs([problem.n_labels] * problem.length):
        worth = free.score(labels)
        found = chain.folded(np.array(labels, np.int32))
        assert close(found, worth)
        best = max(best, worth)
    assert close(chain.plain()[1], best)


@law(60)
@given(generators(), st.sampled_from([("B-X", "B-Y", "O"), ("A", "B", "C")]), st.integers(1, 4), st.booleans())
def test_without_rules_it_is_the_best_of_the_space(
    rng: np.random.Generator, names: tuple[str, ...], max_length: int, masked: bool
) -> None:
    scheme = segment_scheme(names, "BIO" if "O" in names else None)
    starts = np.array([0, 3, 4, 9])
    space = SegmentSpace(starts, scheme.reading(max_length), max_length)
    if masked:
        admitted = (rng.random((9, len(scheme.tokens))) < 0.9).astype(np.uint8)
        space = space.inside(admitted)
    scores = random_segment_scores(rng, space, tied=False)
    batch = SegmentBatchScores(scores, space)
    legal = space.feasible()
    for i in np.flatnonzero(legal):
        one = space.take(np.array([i]))
        part = scores_of_part(scores, int(starts[i]), int(starts[i + 1]))
        best = one.best(part)
        found = solve(batch.shared.problem(batch.own(int(i))))
        assert close(found.value, best.values[0])
        assert found.labels == tuple(best.labels.tolist())


@law(150)
@given(longer_segmentations(), st.integers(1, 60), st.integers(1, 16))
def test_tight_completions_drop_nothing_that_is_best(problem: SegmentProblem, steps: int, width: int) -> None:
    chain = lattice(problem)
    taken = chain.take(chain.counters)
    best = search(chain, taken).value
    assert close(best_under(chain, taken, width=width).value, best)
    guide = tight_guide(chain, taken, floor=best, steps=steps)
    assert guide.bound >= best - 1e-9
    assert close(search(chain, taken, guide=guide, floor=best).value, best)
    assert close(best_first(chain, taken, guide=guide)[0].value, best)


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) < 1e-9 * (1 + abs(b))


def scores_of_part(scores, first: int, last: int):
    """The scores of one sequence."""
    return type(scores)(
        scores.tokens[first:last], scores.lasts[first:last], scores.transition, scores.start, scores.end
    )
