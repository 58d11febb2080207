"""The learner of a fit, and what it has learned besides weights."""

from __future__ import annotations

from sidelight.inference.ruled_inputs import AnyRuled, Ruled
from sidelight.rounds import Learner
from sidelight.rounds.codl import DrivenLearner
from sidelight.rounds.hmm import HmmLearner
from sidelight.specs.fit_data import FitData
from sidelight.specs.refusals import refuse_evidence


def learner_of(data: FitData) -> Learner:
    """A learner before its first round.

    Raises `DataError` for evidence that it cannot learn from, and `Infeasible` where no output has the labels of an
    input.
    """
    learner, encoded = data.settings.learner, data.encoded
    refuse_evidence(learner, data.evidence, encoded.kinds, chunks=bool(encoded.chunks), go_on=data.go_on)
    data.structure.check(data.evidence, data.rows, encoded, n_jobs=data.settings.n_jobs)
    return learner.make(data)


def learned_penalties(learner: Learner) -> tuple[AnyRuled | None, list[float]]:
    """The penalties that a learner has come to, with the rules that they belong to, where it has any."""
    if isinstance(learner, HmmLearner) and isinstance(learner.completion, Ruled):
        return learner.completion.inputs, learner.completion.of_weights
    if isinstance(learner, DrivenLearner):
        return learner.inputs, learner.penalties
    return None, []
