"""Records of training rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.core.file_contents import flag_of, number_of, text_of, whole_of


@dataclass(frozen=True, slots=True)
class PlaceFigures:
    """Figures about workers in other processes in a round."""

    workers: int
    shards: int
    bytes: int  # sent and received
    inference: float  # seconds of the slowest worker, summed over requests
    transit: float  # remaining seconds of the requests
    solving: float = 0.0  # seconds of the round spent in the driver
    restarts: int = 0  # of workers that died


@dataclass(frozen=True, slots=True)
class Round:
    """One round of training.

    For margin learners `objective` is the joint objective (over weights and completed outputs) of the best weights so
    far: it never rises from completion 1 on; completion 0 has that of Gold alone. With `cllp` and `mms` it belongs to
    the current completion, and at the end is the lowest among those solved to full precision. `primal`, `dual` and
    their `gap` belong to the convex problem of the current completion. The perceptron has only `mistakes` (the number
    of sequences that caused an update).
    """

    number: int
    learner: str
    seconds: float  # since training began
    completion: int = 0  # number of completions of latent outputs so far
    changed: int = 0  # number of outputs changed by the last completion
    objective: float | None = None
    primal: float | None = None
    dual: float | None = None
    gap: float | None = None  # objective − dual, absolute
    own_precision: bool = False  # whether the learner uses its own precision for gaps, at first a rough one
    new_cuts: int = 0
    working_set: int = 0
    sweeps: int = 0
    mistakes: int | None = None
    disagreement: float | None = None  # of models that must agree: Σ |q₁ − q₂| over all links, per target word
    validation: float | None = None  # accuracy on validation examples, at the end of a completion or an epoch
    last: bool = False  # training ends with this round
    restart: int | None = None  # the restart that this round belongs to; the last round is of the best one
    stopped: str | None = None  # why training ends, in the last round
    place: PlaceFigures | None = None  # of workers, if there are any

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> Round:
        """The round stored in a file as such values; raises `ModelFileError` if they are invalid."""
        counts = ("number", "completion", "changed", "new_cuts", "working_set", "sweeps")
        amounts = ("objective", "primal", "dual", "gap", "disagreement", "validation")
        there = {name: values.get(name) is not None for name in (*amounts, "mistakes", "restart", "stopped")}
        fields: dict[str, Any] = {name: whole_of(values, name) for name in counts}
        fields |= {name: number_of(values, name, finite=False, nan=True) for name in amounts if there[name]}
        fields |= {name: whole_of(values, name) for name in ("mistakes", "restart") if there[name]}
        fields |= {"stopped": text_of(values, "stopped")} if there["stopped"] else {}
        seconds = number_of(values, "seconds", low=0.0)
        own = flag_of(values, "own_precision")
        return cls(
            learner=text_of(values, "learner"),
            seconds=seconds,
            last=flag_of(values, "last"),
            own_precision=own,
            **fields,
        )


Callback = Callable[[Round], None]


SMALL_GAP = "the duality gap is small enough"
NO_FALL = "the objective no longer improves"
NO_CHANGE = "a completion changes nothing"
NOTHING_LEFT = "nothing left to label"
NOTHING_SURE = "no label is certain enough to be used"
NO_MISTAKES = "no mistakes"
NO_STEPS = "no example required a step"
FLAT = "the gradient is small enough"
NO_DESCENT = "no step lowers the objective"
NO_CUTS = "no constraint is violated by more than the setting violation"
PATIENCE = "the validation score no longer improves"
CLOSED_FORM = "solved in closed form"
ALL_ITERATIONS = "all iterations are made"
MAX_COMPLETIONS = "max_completions"
MAX_ROUNDS = "max_rounds"
