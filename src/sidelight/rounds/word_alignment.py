"""Rounds of word alignment: iterations of EM, first of model 1, then of the HMM (`alignment_em`).

A round is one iteration; its objective is −T(θ; γ) of the parameters that it began with. Between two rounds there are
the parameters, and the multipliers of agreement that the next E-step begins with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats32
from sidelight.core.file_contents import array_like, array_of, whole_of
from sidelight.core.records import ALL_ITERATIONS
from sidelight.generative.word_alignment.agreement import NO_TILTS, AgreementStep, Parameters
from sidelight.generative.word_alignment.alignment_em import AlignmentEM, with_jumps
from sidelight.generative.word_alignment.alignment_hmm import LEAST, REACH, Jumps
from sidelight.generative.word_alignment.translation import LOG_FLOOR, TranslationLexicon, finished
from sidelight.rounds.learner import State, Step, Stepwise

HMM = "hmm"
ROUNDED = 1e-9  # how far the logarithm of a probability may be above 0


class Stage(NamedTuple):
    """Iterations of one model."""

    name: str
    iterations: int
    step: AgreementStep


@dataclass(slots=True)
class AlignmentLearner(Stepwise):
    """EM of model 1 and the HMM, from parameters at which all translations are alike."""

    LIMIT: ClassVar[str] = ALL_ITERATIONS

    em: AlignmentEM
    stages: tuple[Stage, Stage]
    parameters: Parameters
    tilts: Floats32 = field(
        default_factory=lambda: NO_TILTS
    )  # multipliers of agreement, where they are not with the shards

    @property
    def name(self) -> str:
        """The model of the last iteration."""
        return self._of(self.rounds)[0].name

    def limit(self) -> int:
        return sum(stage.iterations for stage in self.stages)

    def step(self) -> Step:
        """One iteration."""
        stage, number = self._of(self.rounds)
        if number == 1:
            self.parameters = with_jumps(self.parameters) if stage.name == HMM else self.parameters
            self.tilts = self.em.tilts(stage.step)
        self.parameters, told = self.em.iterate(self.parameters, stage.step, tilts=self.tilts)
        return None, {"objective": -told.objective, "sweeps": round(told.sums), "disagreement": told.apart}

    def more_state(self) -> State:
        arrays = {f"words.{name}": values for name, values in self.parameters.lexicon._asdict().items()}
        for name, jumps in (("forward", self.parameters.forward), ("backward", self.parameters.backward)):
            if jumps is not None:
                arrays[f"jumps.{name}"] = jumps.weights
        if self._keeps_tilts(self.rounds):
            arrays["tilts"] = self.em.remembered(self.tilts)
        return {}, arrays

    def take_more(self, values: dict[str, object], arrays: dict[str, np.ndarray]) -> None:
        rounds = whole_of(values, "rounds", low=1, high=self.limit())
        fresh = self.parameters.lexicon._asdict()
        words = {
            name: array_of(arrays, f"words.{name}", np.float64, now.shape, low=LOG_FLOOR, high=ROUNDED)
            for name, now in fresh.items()
        }
        self.parameters = replace(self.parameters, lexicon=finished(TranslationLexicon(**words)))
        if self._of(rounds)[0].name == HMM:
            both = (
                Jumps(array_of(arrays, f"jumps.{name}", np.float64, [2 * REACH + 3], low=LEAST, high=1e9))
                for name in ("forward", "backward")
            )
            self.parameters = replace(self.parameters, forward=next(both), backward=next(both))
        if self._keeps_tilts(rounds):
            fresh_tilts = np.zeros(len(self.em.text.entries), dtype=np.float32)
            self.tilts = self.em.begun_at(array_like(arrays, "tilts", fresh_tilts), self.parameters)

    def _of(self, rounds: int) -> tuple[Stage, int]:
        """The stage of an iteration, and its number there from 1 on."""
        first = self.stages[0]
        return (first, rounds) if rounds <= first.iterations else (self.stages[1], rounds - first.iterations)

    def _keeps_tilts(self, rounds: int) -> bool:
        """Whether the iteration after so many begins where the multipliers of the last one ended."""
        stage, number = self._of(rounds)
        return stage.step.agreement and number < stage.iterations
