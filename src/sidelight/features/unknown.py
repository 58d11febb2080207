"""Whether a model knows anything of the inputs that it is given."""

from __future__ import annotations

import warnings

from sidelight.errors import UnknownFeatures

TOKENS = 20  # fewer say little
SHARE = 0.05


def warn_where_unknown(known: int, unknown: int, *, tokens: int) -> None:
    """Warn where the model knows nearly none of the features of a batch, constant ones left out of both numbers."""
    total = known + unknown
    if tokens >= TOKENS and total >= tokens and known < SHARE * total:
        warnings.warn(
            f"the model knows {known:,} of the {total:,} features of the inputs, so its answers mean little; give "
            "inputs that are written as those it was trained on",
            UnknownFeatures,
            stacklevel=4,
        )
