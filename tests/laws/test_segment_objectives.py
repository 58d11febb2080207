"""The likelihood of segmentations has the same bits whatever the threads and shards."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law, random_mask
from hypothesis import given
from hypothesis import strategies as st
from segmenting import (
    segment_batches,
)

from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.spaces.segments import segment_space as spaces


@st.composite
def likelihoods(draw):
    """Some inputs with gold segmentations, others with masks that leave at least one, or with soft labels."""
    batch = draw(segment_batches())
    rng = draw(generators())
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels  # in the space
    mask = random_mask(rng, (len(targets), batch.space.n_labels), 0.4)
    mask[np.arange(len(mask)), targets] = 1
    bonus = rng.normal(size=mask.shape) if draw(st.booleans()) else None
    prices = rng.uniform(0.1, 2.0, (2, len(batch)))
    gold = LikelihoodTerms(batch.scorer, batch.space, prices[0], targets=targets)
    rest = LikelihoodTerms(batch.scorer, batch.space, prices[1], admitted=mask, bonus=bonus)
    return batch, gold, rest


@law(6)
@given(likelihoods(), generators())
def test_threads_and_shards_do_not_change_bits(case, rng):
    weights = rng.normal(size=case[0].scorer.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "SHARD_SEGMENTS", 1)
        patch.setattr(spaces, "shards", lambda starts, tokens: [(i, i + 1) for i in range(len(starts) - 1)])
        found = []
        for n_jobs in (1, 2, 3):
            gradient = np.empty(len(weights))
            problem = LikelihoodProblem(case[1:], n_jobs=n_jobs)
            found.append((problem.value_and_gradient(weights, gradient), gradient))
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])
