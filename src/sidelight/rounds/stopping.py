"""Why training ends: the words that the last `Round` says."""

from __future__ import annotations

SMALL_GAP = "the duality gap is small enough"
NO_FALL = "the objective no longer improves"
NO_CHANGE = "a completion changes nothing"
NOTHING_LEFT = "nothing left to label"
NOTHING_SURE = "no label is sure enough to be taken"
NO_MISTAKES = "no mistakes"
NO_STEPS = "no example asked for a step"
FLAT = "the gradient is small enough"
NO_DESCENT = "no step leads further down"
NO_CUTS = "no constraint is violated by more than the setting violation"
PATIENCE = "the validation score no longer improves"
CLOSED_FORM = "solved in closed form"
MAX_COMPLETIONS = "max_completions"
MAX_ROUNDS = "max_rounds"
