"""Every structure keeps every law, against the list of all its outputs and their scores by definition."""

from __future__ import annotations

import pytest
from drawing import law, seeds
from drawing_structures import CASES
from hypothesis import given

from sidelight.testing import check_structure


@pytest.mark.parametrize("name", CASES)
def test_structure(name):
    """Costs, bonuses, clamps, candidates, parts, cuts, k best, sums, samples and likelihoods."""
    seen = []

    @law(100)
    @given(CASES[name](), seeds)
    def check(case, seed):
        seen.append(check_structure(case.batch, seed=seed, weights=case.weights, score=case.score, admits=case.admits))

    check()
    assert any(one.k_best and one.sums and one.likelihood for one in seen)
