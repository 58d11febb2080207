"""Gold as single labelled tokens, for learners that do not look at sequences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.features.rows import Rows
from sidelight.learners.token_weights import as_tokens, check_constants
from sidelight.making.given import Given


@dataclass(frozen=True, slots=True)
class GoldTokens:
    """Every token of Gold as an input of its own; for classes these are the inputs."""

    rows: Rows
    labels: Ids  # [T]
    weights: Floats  # [T] of the evidence
    prices: Floats  # [T] weight times price

    @classmethod
    def of(cls, given: Given) -> GoldTokens:
        """Raises for evidence and settings that such learners have no use for."""
        settings, name = given.settings, given.settings.recipe.name
        given.only(("gold",))
        if given.go_on and given.start is not None:
            raise ValueError(f"{name} does not go on from weights; fit it on all evidence at once")
        if settings.cost is not None or settings.class_weight is not None:
            raise ValueError(f"{name} knows no cost and no class_weight; give weights to the evidence")
        rows, layout = given.chain()
        check_constants(layout, rows.lengths, name)
        lengths = rows.lengths
        weights, prices = (np.repeat(part, lengths) for part in (given.encoded.weights, given.prices()))
        return cls(as_tokens(rows), given.encoded.targets, weights, prices)
