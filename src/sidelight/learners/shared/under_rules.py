"""How E-steps complete under rules."""

from __future__ import annotations

from sidelight.errors import Intractable
from sidelight.inference.methods.choose import check_method
from sidelight.inference.ruled_inputs import Ruled
from sidelight.specs.fit_data import FitData


def completion_under_rules(data: FitData, *, beta: float | None, gamma: float) -> Ruled | None:
    """How the E-steps of an HMM complete, or None where there are no rules.

    Raises `Intractable` where beliefs (gamma 0 and more) are asked for in second order.
    """
    inputs = data.ruled_inputs(data.to_complete())
    if not inputs.rules:
        return None
    if data.layout.order == 2 and gamma >= 0.0:
        name = data.settings.learner.name
        problem = f"{name} has rules and a gamma of {gamma:g}, and beliefs under rules are for chains of first order"
        raise Intractable(f"{problem}; use codl over an HMM, a gamma of -inf, or leave order out")
    return Ruled(inputs, data.gold_penalties(inputs), beta, check_method(data.settings.inference))
