"""Unified EM for word alignment: model 1, then the HMM, each by E-steps of `agreement` and M-steps that share counts.

T(θ; γ) = Σ over pairs of the E-step's optimum never falls from one iteration to the next (thesis, Theorem 2), up to how
exactly agreement was reached; with a prior on translations it is variational Bayes, whose bound is another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids
from sidelight.generative.word_alignment.agreement import NO_TILTS, AgreementStep, Parameters, Posteriors, added, expect
from sidelight.generative.word_alignment.alignment_hmm import level
from sidelight.generative.word_alignment.bitext import Bitext
from sidelight.generative.word_alignment.translation import (
    Slab,
    TranslationLexicon,
    TranslationTable,
    add_counts,
    no_counts,
    normalised,
    pairs_of,
    slabs_of,
    uniform,
)

JUMPS = ("forward_jumps", "backward_jumps")


@dataclass(frozen=True, slots=True)
class Told:
    """One iteration, in numbers."""

    model: str
    objective: float  # T(θ; γ) of the parameters that the iteration began with, in nats
    apart: float  # Σ |q₁ − q₂| over all cells, per target word
    sums: float  # how often the sums of a pair were made, on average
    in_logs: int


class AlignmentCounts(NamedTuple):
    """What an E-step expects of some pairs."""

    lexicon: TranslationLexicon
    forward_jumps: tuple[Floats, Floats]
    backward_jumps: tuple[Floats, Floats]
    objective: float
    apart: float  # Σ |q₁ − q₂|
    sums: int
    in_logs: int


@dataclass(frozen=True, slots=True)
class AlignmentEM:
    """A bitext to learn from."""

    table: TranslationTable
    text: Bitext
    prior: float
    n_jobs: int | None
    rows: Ids
    pair_of: Ids
    slabs: list[Slab]

    @classmethod
    def of(cls, table: TranslationTable, text: Bitext, *, prior: float = 0.0, n_jobs: int | None = None) -> AlignmentEM:
        """What every iteration needs, made once."""
        return cls(table, text, prior, n_jobs, table.rows(), pairs_of(text.source_starts), slabs_of(text))

    def tilts(self, step: AgreementStep) -> Floats32:
        """Where the search for agreement begins, in the first of several iterations with these steps."""
        return np.zeros(len(self.text.entries), dtype=np.float32) if step.agreement else NO_TILTS

    def start(self, *, null: float) -> Parameters:
        """Model 1 with all translations equally likely."""
        return Parameters(uniform(self.table), None, None, null)

    def iterate(
        self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS
    ) -> tuple[Parameters, Told]:
        """One iteration: the parameters after it, and what it came to."""
        return self.updated(parameters, self.counted(parameters, step, tilts=tilts))

    def counted(self, parameters: Parameters, step: AgreementStep, *, tilts: Floats32 = NO_TILTS) -> AlignmentCounts:
        """The E-step: what is expected of all pairs."""
        text, counts = self.text, no_counts(self.table)
        objective = apart = 0.0
        sums = in_logs = 0
        parts: list[Posteriors] = []
        for slab in self.slabs:
            pairs = (slab.first, slab.last)
            got = expect(text, parameters, step, pairs=pairs, counts=True, tilts=tilts, n_jobs=self.n_jobs)
            add_counts(slab, text, self.pair_of, got.forward, got.backward, counts, n_jobs=self.n_jobs)
            _add_nulls(counts, text, slab, got)
            objective, apart = objective + got.objective, apart + got.apart
            sums, in_logs = sums + got.sums, in_logs + got.in_logs
            parts.append(replace(got, forward=got.forward[:0], backward=got.backward[:0]))
        forward, backward = (added([getattr(part, name) for part in parts]) for name in JUMPS)
        return AlignmentCounts(counts, forward, backward, objective, apart, sums, in_logs)

    def updated(self, parameters: Parameters, found: AlignmentCounts) -> tuple[Parameters, Told]:
        """The M-step, which takes over the counts of words."""
        lexicon = normalised(self.table, self.rows, found.lexicon, prior=self.prior, n_jobs=self.n_jobs)
        after = replace(parameters, lexicon=lexicon)
        if parameters.forward is not None and parameters.backward is not None:
            one, other = parameters.forward, parameters.backward
            after = replace(
                after,
                forward=one.updated(*found.forward_jumps),
                backward=other.updated(*found.backward_jumps),
            )
        name = "model1" if parameters.forward is None else "hmm"
        words, pairs = len(self.text.targets), self.text.size
        return after, Told(name, found.objective, found.apart / words, found.sums / pairs, found.in_logs)


def with_jumps(parameters: Parameters) -> Parameters:
    """The HMM that begins where model 1 ended: its translations, and jumps of all distances alike."""
    return replace(parameters, forward=level(), backward=level())


def _add_nulls(counts: TranslationLexicon, text: Bitext, slab: Slab, got: Posteriors) -> None:
    targets = text.targets[text.target_starts[slab.first] : text.target_starts[slab.last]]
    sources = text.sources[text.source_starts[slab.first] : text.source_starts[slab.last]]
    counts.forward_null[:] += np.bincount(targets, weights=got.forward_null, minlength=len(counts.forward_null))
    counts.backward_null[:] += np.bincount(sources, weights=got.backward_null, minlength=len(counts.backward_null))
