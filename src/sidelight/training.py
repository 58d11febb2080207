"""From evidence and settings to a learner, and from the learner to a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_of, mapping_of, number_of, numbers_of, whole_of
from sidelight.core.records import Round
from sidelight.data.single import single_labels
from sidelight.data.stored import StoredCorpus
from sidelight.errors import DataError, ModelFileError
from sidelight.evidence import Evidence
from sidelight.learners.votes import reliabilities_of
from sidelight.models.files import fingerprint
from sidelight.models.model import HEAVIEST, Model, Point, history_in, point_of, thinned
from sidelight.objective.companion_likelihood import TEMPERATURE
from sidelight.rounds.checkpoint import Checkpoint, rounds_in
from sidelight.rounds.learner import Memory, Penalised, Remembering, State
from sidelight.rules import Rule
from sidelight.specs.fit_data import FitData, learner_of
from sidelight.specs.settings import Settings
from sidelight.specs.stored_fit import stored_fit
from sidelight.structures import LabelSet
from sidelight.voting.table import Reliability


@dataclass(frozen=True, slots=True)
class Best:
    """The best result on validation data so far."""

    weights: Floats
    penalties: list[float]  # of rules
    score: float
    rounds: int


class Training:
    """One fit: features, problem and learner, created at its start."""

    def __init__(
        self,
        settings: Settings,
        evidence: Sequence[Evidence] | StoredCorpus,
        *,
        before: Model | None = None,
        go_on: bool = False,
        memory: Memory | None = None,
    ) -> None:
        self.settings = settings
        if isinstance(evidence, StoredCorpus):
            data = stored_fit(settings, evidence)
            data.structure.read_rules(settings.rules, [])
        else:
            data = _in_memory(settings, evidence, before, go_on, memory)
        self.data, self.structure, self.rows, self.encoded = data, data.structure, data.rows, data.encoded
        self.learner = learner_of(data)
        self.best: Best | None = None
        self.idle = 0  # results since the best one
        self.history: list[Point] = []

    @property
    def labels(self) -> LabelSet:
        """The names of choices."""
        return self.structure.labels

    def rounds(self, *, validating: str | None = None) -> Iterator[Round]:
        """Train, saving a checkpoint after each round if `checkpoint` is set; rounds are recorded for the model file.

        `validating` identifies the validation data if the caller judges the rounds on it (`judge`). Then the last round
        of a checkpoint is repeated, so that it can be judged. Otherwise it is repeated only if training had already
        ended.
        """
        rounds, path = rounds_in(self.data.place, self.learner), self.settings.checkpoint
        if path is not None:
            mark, limit = self._fingerprint(validating), self.settings.max_rounds
            checkpoint = Checkpoint(path, mark, limit, self._state, self._take_up)
            rounds = checkpoint.rounds(self.learner, rounds, again=validating is not None)
        for record in rounds:
            if not self.history or self.history[-1][0] != record.number:
                self.history.append(point_of(record))
            yield record

    def _state(self, record: Round) -> State:
        """The contents of a checkpoint besides the learner's state."""
        judged: dict[str, Any] = {}
        best: dict[str, Floats] = {}
        if self.best is not None:
            one = self.best
            judged = {"penalties": one.penalties, "score": one.score, "rounds": one.rounds, "idle": self.idle}
            best = {"validation.weights": one.weights}
        return {"validation": judged, "history": [*self.history, point_of(record)]}, best

    def _take_up(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        if judged := mapping_of(values, "validation"):
            self.idle = whole_of(judged, "idle")
            self.best = Best(
                array_of(arrays, "validation.weights", np.float64, [self.structure.size]),
                numbers_of(judged, "penalties", finite=False),
                number_of(judged, "score"),
                whole_of(judged, "rounds"),
            )
            if len(self.best.penalties) not in (0, len(self.settings.rules)):
                raise ModelFileError("there are not as many penalties as rules")
        self.history = history_in(values)

    def judge(self, score: float, weights: Floats, penalties: list[float]) -> None:
        """Keep the current weights if no earlier weights have a better validation score."""
        self.idle += 1
        if self.best is None or score > self.best.score:
            self.best, self.idle = Best(weights, penalties, score, self.learner.rounds), 0

    def best_model(self) -> Model | None:
        """The model with the best validation score, if there is validation data."""
        return None if self.best is None else self._model(self.best.weights, self.best)

    def has_result(self, record: Round) -> bool:
        """Whether the weights after this round are worth trying on validation data."""
        return self.learner.has_result(record)

    def snapshot(self) -> Model:
        """The current model; training can continue."""
        return self._model(self.learner.weights.copy())

    def model(self) -> Model:
        """The final model of the learner; it takes over the learner's memory."""
        return self._model(self.learner.finish())

    def _model(self, weights: Floats, then: Best | None = None) -> Model:
        """The model with these weights, with the current or an earlier state; raises `DataError` if they cannot be
        stored in a file.
        """
        if not np.all(np.abs(weights) <= HEAVIEST):
            remedy = "scale feature values, prices and weights of evidence, so that they are about 1"
            raise DataError("the weights that were learned are too large, or no numbers", remedy=remedy)
        rounds = self.learner.rounds if then is None else then.rounds
        about: dict[str, Any] = {"learner": self.settings.learner.name, "rounds": rounds}
        about |= {"history": thinned(self.history), "evidence": self.counted()}
        about |= self.settings.segment_facts | self.structure.facts()
        if self.settings.rules:
            about["rules"] = [rule.name for rule in self.settings.rules]
        if any(rule.learned for rule in self.settings.rules):
            prices = zip(self.settings.rules, self.penalties() if then is None else then.penalties)
            about["penalties"] = {rule.name: price for rule, price in prices if rule.learned}
        finding = getattr(self.learner, "finding", None)
        return Model(
            self.structure,
            weights if finding is None else finding,
            self.settings.size_by,
            about,
            TEMPERATURE if self.settings.learner.soft_answers and self._answered else 0.0,
            None if finding is None else weights,
        )

    def counted(self) -> dict[str, int]:
        """The number of inputs of each kind of evidence."""
        return dict(Counter(self.encoded.kinds))

    @property
    def _answered(self) -> bool:
        return "companion" in self.encoded.kinds

    def reliabilities(self) -> list[Reliability]:
        """The learner's estimate of how often each labelling function was right."""
        return [] if self.encoded.votes is None else reliabilities_of(self.data, self.learner)

    def memory(self) -> Memory | None:
        """What a later `partial_fit` needs besides the model's weights."""
        return self.learner.memory if isinstance(self.learner, Remembering) else None

    def penalties(self) -> list[float]:
        """The penalty of each rule of the settings: as set, as counted on Gold, or as learned by the learner."""
        rules = self.settings.rules
        if not rules:
            return []
        own = self.learner
        inputs, prices = own.learned_penalties() if isinstance(own, Penalised) else (None, [])
        if inputs is not None:
            return [prices[inputs.rules.index(rule)] for rule in rules]
        xs, ys = self.data.gold_outputs()
        if not xs and any(rule.learned for rule in rules):
            raise DataError("a penalty is to be learned from Gold, and there is none", remedy="give soft(…) a number")
        return self.structure.counted(rules, xs, ys)

    def _fingerprint(self, validating: str | None) -> str:
        ignored = {"callbacks", "verbose", "checkpoint", "n_jobs", "max_rounds", "features", "sequences", "patience"}
        ignored |= {"place", "outputs"}  # shown in the rows
        names = [name for name in Settings.__slots__ if name not in ignored]
        settings = {name: _stable(getattr(self.settings, name)) for name in names}
        if validating is not None:
            settings["validation"] = validating
        arrays: list[NDArray[Any]] = [*self.rows.arrays(), self.encoded.targets]
        arrays += [self.encoded.weights, self.encoded.answers]
        if self.encoded.admitted is not None:
            arrays.append(self.encoded.admitted)
        if np.any(self.encoded.initial >= 0):
            arrays.append(self.encoded.initial)
        if self.encoded.votes is not None:
            votes = self.encoded.votes
            arrays += [votes.function_of, votes.admits, votes.starts, votes.votes]
        for first, labels in self.encoded.chunks:
            arrays += [np.array([first]), labels]
        return fingerprint(settings, [str(name) for name in self.labels.names], arrays)


def _in_memory(
    settings: Settings, evidence: Sequence[Evidence], before: Model | None, go_on: bool, memory: Memory | None
) -> FitData:
    """The data of a fit whose evidence is in memory."""
    evidence = evidence if settings.sequences else single_labels(evidence)
    old = None if before is None else before.structure
    structure, rows, encoded = settings.outputs.prepare(settings, evidence, old)
    structure.read_rules(settings.rules, [piece.x for piece in evidence])
    weights = None if before is None else structure.moved(before.weights, before.structure)
    return FitData(settings, evidence, rows, encoded, structure, weights, go_on, memory)


def _stable(value: Any) -> str:
    """A text for a setting that is equal in all processes."""
    if isinstance(value, Rule):
        return str(value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, Rule) for item in value):
        return repr([_stable(item) for item in value])
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(repr, value)))
    if isinstance(value, Mapping):
        return repr(sorted((repr(key), repr(item)) for key, item in value.items()))
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)
