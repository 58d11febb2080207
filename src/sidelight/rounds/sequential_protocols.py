"""LO and L+I, IBT, and SL: in which order, and with what known, sub-problems are learned.

(Roth, Small and Titov, AISTATS 2009, Figures 1 and 2.) How one of them is learned is `rounds.sequential_learning`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import mapping_of, number_of, text_of, whole_of
from sidelight.errors import DataError
from sidelight.rounds.sequential_learning import Learned, TiedExamples


class SubProblem(NamedTuple):
    """The choices of a sub-problem, and the kind of variable that they are of."""

    choices: Ints
    kind: str


Parts = Mapping[str, SubProblem]


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """One step of sequential learning: which sub-problem was taken, and how hard each that was left seemed."""

    chosen: str
    errors: Mapping[str, float]  # updates per instance, or wrong held-out ones per instance; empty in a given order
    updates: int
    passes: int


class Learn(Protocol):
    """Learns the sub-problems of some names at once."""

    def __call__(
        self, data: TiedExamples, names: Sequence[str], earlier: Floats, done: Sequence[str], *, tied: bool
    ) -> Learned: ...


def learned_alone(data: TiedExamples, parts: Parts, learn: Learn) -> Floats:
    """Every sub-problem by itself (LO, L+I)."""
    nothing = np.zeros((len(data.targets), data.space.n_labels))
    return np.asarray(sum(learn(data, [name], nothing, [], tied=False).weights for name in parts))


def learned_together(data: TiedExamples, parts: Parts, learn: Learn) -> Floats:
    """All sub-problems at once, tied (IBT)."""
    nothing = np.zeros((len(data.targets), data.space.n_labels))
    return learn(data, list(parts), nothing, [], tied=True).weights


def learned_in_sequence(
    data: TiedExamples,
    parts: Parts,
    learn: Learn,
    *,
    order: Sequence[str] | None = None,
    validation: TiedExamples | None = None,
) -> tuple[Floats, list[LearnedPart]]:
    """One sub-problem after another (SL): in an order, or at each step the one that seems easiest of those left.

    Which is the one with the smallest error on validation examples (Figure 1), where there are any, else with the
    fewest updates for its instances (Figure 2, with the scale of footnote 2); of equals the first.
    """
    weights = data.layout.zeros()
    steps: list[LearnedPart] = []
    while len(steps) < len(parts):
        done = [step.chosen for step in steps]
        names = [order[len(done)]] if order is not None else [name for name in parts if name not in done]
        earlier = data.scores(weights)
        tried = {name: learn(data, [name], earlier, done, tied=True) for name in names}
        errors: dict[str, float] = {}
        for name, one in tried.items() if order is None else ():
            choices = parts[name].choices
            if validation is None:
                errors[name] = one.updates / max(data.instances(choices), 1)
            else:
                errors[name] = validation.error(weights + one.weights, choices)
        chosen = min(tried, key=lambda name: errors.get(name, 0.0))
        steps.append(LearnedPart(chosen, errors, tried[chosen].updates, tried[chosen].passes))
        weights = weights + tried[chosen].weights
    return weights, steps


def set_aside(data: TiedExamples, share: float, *, seed: int) -> tuple[TiedExamples, TiedExamples]:
    """Examples to learn from, and a share of them to look at; raises `DataError` where there are too few."""
    mixed = np.random.default_rng(seed).permutation(len(data.rows))
    cut = max(1, round(share * len(mixed)))
    if cut >= len(mixed):
        raise DataError(f"{len(mixed)} examples, of which some are held out", remedy="give more, or an order")
    return data.take(np.sort(mixed[cut:])), data.take(np.sort(mixed[:cut]))


def stored_step(values: Any) -> LearnedPart:
    """The step that a file holds; raises `ModelFileError` where it holds none."""
    errors = mapping_of(values, "errors")
    return LearnedPart(
        text_of(values, "chosen"),
        {name: number_of(errors, name, low=0.0) for name in errors},
        whole_of(values, "updates"),
        whole_of(values, "passes"),
    )
