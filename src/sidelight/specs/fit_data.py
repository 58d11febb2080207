"""The data of a fit (evidence as arrays, features, labels, settings), and the learner made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.errors import DataError, Intractable
from sidelight.evidence import Evidence, Unlabeled
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.inference.ruled_space import RuledSpace
from sidelight.objective.batch import Batch
from sidelight.objective.placed import placed
from sidelight.parallel import place_of
from sidelight.parallel.place import Held, Place
from sidelight.rounds import Learner
from sidelight.rounds.learner import Memory
from sidelight.spaces import Transitions
from sidelight.specs.learner import refuse_evidence
from sidelight.specs.settings import Settings
from sidelight.structures import LabelSet
from sidelight.structures.chain_structure import ChainStructure
from sidelight.structures.labels.encoding import Encoded
from sidelight.structures.structure import Structure


class StoredBlocks(Protocol):
    """The data of a fit in files: blocks of inputs of one kind each."""

    def of(self, *kinds: str) -> OneAtATime[FitData]:
        """The blocks of these kinds (by default all), one after another."""
        ...

    def held(self, place: Place, *kinds: str, lots: int | None = None) -> Held:
        """The blocks in a place, which opens them; with `lots`, grouped into that many sequences."""
        ...


@dataclass(frozen=True, slots=True)
class FitData:
    """One fit's data, checked and encoded."""

    settings: Settings
    evidence: Sequence[Evidence]
    rows: Any  # InputRows
    encoded: Encoded
    structure: Structure
    start: Floats | None = None  # weights of an earlier fit, in the current layout
    go_on: bool = False  # stay near them: `partial_fit`
    memory: Memory | None = None  # the memory of the learner of an earlier fit
    stored: StoredBlocks | None = None  # if the data stays in files

    @property
    def place(self) -> Place:
        """Where the data is held."""
        return place_of(self.settings.place, self.settings.n_jobs)

    @property
    def labels(self) -> LabelSet:
        """The names of choices."""
        return self.structure.labels

    def batch(self, which: Ints) -> Batch:
        """Some of the inputs, in any order, with the space of their outputs."""
        rows = self.rows if np.array_equal(which, np.arange(len(self.rows))) else self.rows.take(which)
        batch = self.structure.batch(rows, n_jobs=self.settings.n_jobs)
        if not self.settings.ruled_training:
            return placed(batch, self.place)
        inputs = self.ruled_inputs(which)
        ruled = batch.within(RuledSpace(batch.space, inputs, tuple(self.gold_penalties(inputs))))
        return placed(ruled, self.place)

    def ruled_inputs(self, which: Ints) -> Any:
        """Some inputs with the rules of the settings and their own rules."""
        pieces = [self.evidence[i] for i in which.tolist()]
        own = [piece.rules if isinstance(piece, Unlabeled) else () for piece in pieces]
        xs = [piece.x for piece in pieces]
        return self.structure.ruled(xs, self.settings.rules, own, places=which.tolist())

    def gold_penalties(self, inputs: AnyRuled) -> list[float]:
        """The penalties of all rules; learned ones are estimated on Gold. Raises `DataError` without Gold."""
        xs, ys = self.gold_outputs()
        if not xs and any(rule.learned for rule in inputs.rules):
            soft = next(rule.name for rule in inputs.rules if rule.learned)
            raise DataError(
                f"the penalty of {soft} is learned from Gold, and there is none", remedy="give soft(…) a number"
            )
        return self.structure.counted(inputs.rules, xs, ys)

    def gold_outputs(self) -> tuple[list[Any], list[Any]]:
        """The inputs that are Gold, and their outputs."""
        pieces: list[Any] = [self.evidence[i] for i in self.encoded.of_kind("gold").tolist()]
        return [piece.x for piece in pieces], [piece.y for piece in pieces]

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.structure.size

    @property
    def allowed(self) -> Transitions | None:
        """The allowed transitions, if not all are allowed."""
        return getattr(self.structure, "allowed", None)

    def chain(self) -> tuple[Rows, Layout]:
        """Features and layout of chains; raises `Intractable` for other structures."""
        assert isinstance(self.rows, Rows) or not isinstance(self.structure, ChainStructure)
        return self.rows, self.layout

    @property
    def layout(self) -> Layout:
        """The layout of chains; see `chain`."""
        if not isinstance(self.structure, ChainStructure):
            raise Intractable(f"{self.settings.learner.name} is for chains of labels; use jlis or partial_crf")
        return self.structure.layout

    def prices(self) -> Floats:
        """Weight times price of every input. # [N]"""
        kinds = np.array([self.settings.price(kind) for kind in self.encoded.kinds])
        return np.asarray(self.encoded.weights * kinds, dtype=np.float64)

    def to_complete(self) -> Ints:
        """The inputs that an E-step completes, by their places in the evidence."""
        hidden = self.encoded.gold()[1]
        return np.sort(np.concatenate([hidden, self.encoded.of_kind("partial", "candidates", "unlabeled")]))

    def costs(self) -> Floats:
        """The cost of predicting l instead of y; the cost of states is that of their labels. # [L, L]"""
        settings, labels = self.settings, LabelSet(self.labels.classes)
        size = len(labels)
        costs = 1.0 - np.eye(size)
        for (right, predicted), value in (settings.cost or {}).items():
            if right not in labels or predicted not in labels:
                raise DataError(f"cost names an unknown label in {(right, predicted)}", remedy=_among(labels))
            costs[labels.number[right], labels.number[predicted]] = value
        if np.any(np.diag(costs) != 0) or np.any(costs < 0):
            raise ValueError("a cost is negative, or a right label has a cost")
        weights = settings.class_weight
        if weights == "balanced":
            known = self._known()
            counts = np.bincount(known, minlength=size)
            costs *= np.where(counts > 0, len(known) / (size * np.maximum(counts, 1)), 1.0)[:, None]
        elif isinstance(weights, Mapping):
            for label, weight in weights.items():
                if label not in labels:
                    raise DataError(f"a class weight for the unknown label {label!r}", remedy=_among(labels))
                costs[labels.number[label]] *= weight
        elif weights is not None:
            raise ValueError(f"class_weight is {weights!r}; give a mapping or 'balanced'")
        of = self.labels.label_of
        return np.ascontiguousarray(costs[of[:, None], of]) if self.labels.hidden else costs

    def _known(self) -> Ints:
        """The known labels of tokens, by their positions in `classes`."""
        targets, admitted = self.encoded.targets, self.encoded.admitted
        if not self.labels.hidden or admitted is None:
            return np.asarray(targets[targets >= 0], dtype=np.int64)
        tokens = self.rows.tokens_of(self.encoded.of_kind("gold", "partial"))
        of = self.labels.label_of
        firsts = np.flatnonzero(np.diff(of, prepend=-1))
        labels = np.maximum.reduceat(admitted[tokens], firsts, axis=1)  # [T, K] labels with an admitted state
        known: Ints = np.argmax(labels, axis=1)[labels.sum(axis=1) == 1]
        return known

    def sizes(self) -> Floats:
        """κ(x). # [N]"""
        settings = self.settings
        if settings.size_by == "tokens":
            return np.asarray(getattr(self.rows, "sizes", self.rows.lengths), dtype=np.float64)
        if settings.size_by == "one":
            return np.ones(len(self.rows))
        assert callable(settings.size)
        sizes = np.array([float(settings.size(piece.x)) for piece in self.evidence])
        if not np.all(sizes > 0):
            raise ValueError("size gave a number that is not positive")
        return sizes


def _among(labels: LabelSet) -> str:
    shown = ", ".join(map(str, labels.classes[:12])) + (" …" if len(labels.classes) > 12 else "")
    return f"the labels are {shown}"


def learner_of(data: FitData) -> Learner:
    """A learner before its first round.

    Raises `DataError` for evidence that it cannot learn from, and `Infeasible` if no output has the labels of an input.
    """
    learner, encoded = data.settings.learner, data.encoded
    refuse_evidence(learner, data.evidence, encoded.kinds, chunks=bool(encoded.chunks), go_on=data.go_on)
    if data.stored is None:
        data.structure.check(data.evidence, data.rows, encoded, n_jobs=data.settings.n_jobs)
    return learner.make(data)
