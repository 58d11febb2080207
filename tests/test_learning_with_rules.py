"""Learners that rules drive: what they take, what they refuse, and what they say of it."""

from __future__ import annotations

import math

import pytest

from sidelight import recipes

LABELS = ["N", "V", "A"]
XS = [s.split() for s in ("light shines", "dogs bark loud", "red light shines", "dogs shine", "loud dogs bark")]
YS = [list(s) for s in ("NV", "NVA", "ANV", "NV", "ANV")]
POOL = [s.split() for s in ("light bark", "red dogs shine loud", "dogs", "loud red light", "bark shines")]


@pytest.mark.parametrize("beta", [7, -0.1, math.nan])
@pytest.mark.parametrize("recipe", [recipes.codl, recipes.posterior_regularization, recipes.em, recipes.unified_em])
def test_beta_is_a_share(recipe, beta: float) -> None:
    with pytest.raises(ValueError, match="give a number from 0 to 1"):
        recipe(beta=beta)
