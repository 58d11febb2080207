"""From evidence and settings to a learner, and from the learner to a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import NO_FLOATS, Floats, Floats32, Ints
from sidelight.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Evidence
from sidelight.features import Extractor, FeatureSet, extractor_of, features_for
from sidelight.features.attributes import Attributes
from sidelight.features.inputs import MatrixSequence
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.learners import Learner
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.learners.perceptron import PerceptronLearner
from sidelight.model import Model
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.margin import ChainBatch, NegativeTerms, TargetTerms
from sidelight.records import Round
from sidelight.solvers.perceptron import Perceptron
from sidelight.spaces import ChainSpace, Cost, Transitions
from sidelight.structures import LabelSet, allowed_transitions, bio_transitions
from sidelight.structures.encoding import encode, labels_in

DEFAULT_PRICES: dict[str, float] = {"gold": 1.0, "partial": 1.0, "candidates": 1.0, "companion": 1.0, "unlabeled": 0.1}
LEARNERS = {
    "jlis": "margin learning from every kind of evidence; with Gold alone it is the structural SVM",
    "structural_svm": "the structural SVM: Gold only",
    "perceptron": "the averaged structured perceptron: Gold only, fastest",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """An estimator's parameters, checked."""

    sequences: bool
    features: FeatureSet | None
    learner: str
    loss: str
    prices: Mapping[str, float] | None
    cost: Mapping[tuple[Any, Any], float] | None
    class_weight: Mapping[Any, float] | str | None
    labels: Sequence[Any] | None
    scheme: str | None
    allowed: Iterable[tuple[Any, Any]] | None
    size: str | Callable[[Any], float] | None
    bias: bool
    tolerance: float
    violation: float
    decrease: float
    max_rounds: int | None
    max_completions: int
    patience: int
    random_ties: bool
    warm_start: bool
    freeze_vocabulary: bool
    n_jobs: int | None
    seed: int
    callbacks: Sequence[Any]
    checkpoint: str | Path | None

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner is {self.learner!r}; there are {', '.join(LEARNERS)}")
        if self.loss not in ("squared_hinge", "hinge"):
            raise ValueError(f"loss is {self.loss!r}; give 'squared_hinge' or 'hinge'")
        if self.scheme not in (None, "BIO"):
            raise ValueError(f"scheme is {self.scheme!r}; give 'BIO' or None")
        for kind, price in (self.prices or {}).items():
            if kind not in DEFAULT_PRICES:
                raise ValueError(f"prices has {kind!r}; there are {', '.join(DEFAULT_PRICES)}")
            if not (price >= 0 and np.isfinite(price)):
                raise ValueError(f"the price of {kind} is {price}; give a number that is not negative")
        for name in ("tolerance", "violation", "decrease"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        if self.patience < 1:
            raise ValueError(f"patience is {self.patience}; give 1 or more")
        if self.max_rounds is not None and self.max_rounds < 1:
            raise ValueError(f"max_rounds is {self.max_rounds}; give 1 or more")

    def price(self, kind: str) -> float:
        return {**DEFAULT_PRICES, **(self.prices or {})}[kind]

    @property
    def size_by(self) -> str:
        if self.size is None:
            return "tokens" if self.sequences else "one"
        return self.size if isinstance(self.size, str) else "function"


class PerceptronMemory(NamedTuple):
    """The last weights of a perceptron, and its clock."""

    weights: Floats32
    clock: float


class Training:
    """One fit: features, problem and learner, made when it begins."""

    def __init__(
        self,
        settings: Settings,
        evidence: Sequence[Evidence],
        *,
        before: Model | None = None,
        go_on: bool = False,
        perceptron: PerceptronMemory | None = None,
    ) -> None:
        self.settings = settings
        xs = self._inputs(evidence)
        self.extractor = self._extractor(xs, before)
        grow = before is None or not settings.freeze_vocabulary
        self.rows = (self.extractor.grow if grow else self.extractor.rows)(xs, n_jobs=settings.n_jobs)
        self.labels = self._labels(evidence, before)
        self.encoded = encode(evidence, self.labels, self.rows.starts, sequences=settings.sequences)
        two_classes = not settings.sequences and len(self.labels) == 2
        self.layout = Layout(
            len(self.labels),
            self.extractor.n_attributes,
            self.extractor.n_dense,
            chain=settings.sequences and self.extractor.transitions,
            bias=settings.bias,
            null_label=two_classes,
        )
        self.allowed = self._allowed()
        self._check_allowed(evidence)
        self.learner = self._learner(evidence, before, go_on, perceptron)

    def rounds(self) -> Iterator[Round]:
        """Train, saving a checkpoint after each round if one is asked for."""
        path = self.settings.checkpoint
        if path is None:
            yield from self.learner.run()
            return
        mark = self._fingerprint()
        state = load_checkpoint(path, mark)
        if state is not None:
            self.learner.resume(state)
        for record in self.learner.run():
            save_checkpoint(path, mark, self.learner.state())
            yield record

    def has_result(self, record: Round) -> bool:
        """Whether the weights after this round are worth trying on validation data."""
        return self.learner.has_result(record)

    def snapshot(self) -> Model:
        """The model of the moment; training can go on."""
        return self._model(self.learner.weights.copy())

    def model(self) -> Model:
        """The model that the learner has come to; it takes over the learner's memory."""
        return self._model(self.learner.finish())

    def _model(self, weights: Floats) -> Model:
        about = {"learner": self.settings.learner, "rounds": self.learner.rounds}
        return Model(
            self.labels,
            self.extractor,
            self.layout,
            weights,
            self.settings.sequences,
            self.allowed,
            self.settings.size_by,
            about,
        )

    def perceptron_memory(self) -> PerceptronMemory | None:
        """What a later `partial_fit` of the perceptron goes on from, besides the model's weights."""
        if not isinstance(self.learner, PerceptronLearner):
            return None
        return PerceptronMemory(self.learner.perceptron.weights, self.learner.perceptron.clock)

    def _inputs(self, evidence: Sequence[Evidence]) -> Sequence[Any]:
        xs = [piece.x for piece in evidence]
        if self.settings.sequences or isinstance(xs[0], MatrixSequence):
            return xs
        return [[x] for x in xs]

    def _extractor(self, xs: Sequence[Any], before: Model | None) -> Extractor:
        if before is not None:
            return before.extractor.copy()
        features = self.settings.features
        if features is None and not self.settings.sequences and not isinstance(xs[0], MatrixSequence):
            features = Attributes()
        if features is None:
            features = features_for(xs[0])
        return extractor_of(features)

    def _labels(self, evidence: Sequence[Evidence], before: Model | None) -> LabelSet:
        if before is not None:
            return before.labels
        if self.settings.labels is not None:
            return LabelSet(tuple(self.settings.labels))
        labels = LabelSet.of(labels_in(evidence, sequences=self.settings.sequences))
        if len(labels) == 0:
            raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold or Candidates")
        return labels

    def _allowed(self) -> Transitions | None:
        if not self.settings.sequences:
            return None
        if self.settings.allowed is not None:
            return allowed_transitions(self.labels, self.settings.allowed)
        return bio_transitions(self.labels) if self.settings.scheme == "BIO" else None

    def _check_allowed(self, evidence: Sequence[Evidence]) -> None:
        """Gold must obey the transitions that are allowed."""
        if self.allowed is None:
            return
        gold = self.encoded.of_kind("gold")
        tokens = self.rows.tokens_of(gold)
        rows = self.rows.take(gold)
        space = ChainSpace(rows.starts, len(self.labels), self.allowed)
        bad = np.flatnonzero(space.admits(self.encoded.targets[tokens]) == 0)
        if len(bad):
            i = int(gold[bad[0]])
            remedy = "correct the labels, or leave scheme and allowed out"
            raise trouble(evidence[i], i, problem="its labels use a transition that is not allowed", remedy=remedy)

    def _learner(
        self, evidence: Sequence[Evidence], before: Model | None, go_on: bool, perceptron: PerceptronMemory | None
    ) -> Learner:
        settings, encoded = self.settings, self.encoded
        if settings.learner in ("perceptron", "structural_svm"):
            for i, kind in enumerate(encoded.kinds):
                if kind != "gold":
                    problem = f"the learner {settings.learner} learns from Gold only"
                    raise trouble(evidence[i], i, problem=problem, remedy="use the learner jlis, or leave it out")
        weights = None if before is None else _grown(before, self.layout)
        if settings.learner == "perceptron":
            return self._perceptron(weights, go_on, perceptron)
        options = MarginOptions(
            2 if settings.loss == "squared_hinge" else 1,
            settings.tolerance,
            settings.violation,
            settings.decrease,
            settings.max_completions,
            1000 if settings.max_rounds is None else settings.max_rounds,
            settings.random_ties,
            settings.seed,
        )
        return MarginLearner.fresh(
            self._problem(evidence),
            options,
            size=self.layout.size,
            start=weights,
            origin=weights if go_on else None,
            name=settings.learner,
        )

    def _perceptron(self, weights: Floats | None, go_on: bool, memory: PerceptronMemory | None) -> PerceptronLearner:
        gold = self.encoded.of_kind("gold")
        fresh = Perceptron.fresh(self.layout.size)
        if go_on and memory is not None and weights is not None:
            fresh.weights[: len(memory.weights)] = memory.weights
            fresh = Perceptron.going_on(fresh.weights, weights, memory.clock)
        elif weights is not None:
            fresh.weights[:] = weights
        rounds = 1 if go_on else 10 if self.settings.max_rounds is None else self.settings.max_rounds
        rng = np.random.default_rng([self.settings.seed, int(fresh.clock)])
        targets = self.encoded.targets[self.rows.tokens_of(gold)]
        return PerceptronLearner(self._batch(gold), targets, self.encoded.weights[gold], fresh, rng, rounds)

    def _batch(self, which: Ints) -> ChainBatch:
        rows = self.rows if len(which) == len(self.rows) else self.rows.take(which)
        space = ChainSpace(rows.starts, len(self.labels), self.allowed)
        return ChainBatch(rows, space, self.layout, self.settings.n_jobs)

    def _problem(self, evidence: Sequence[Evidence]) -> LatentProblem:
        encoded = self.encoded
        costs = self._costs()
        gold = encoded.of_kind("gold")
        latent = encoded.of_kind("partial", "candidates", "unlabeled")
        negative = np.flatnonzero(encoded.answers == -1)
        positive = np.flatnonzero(encoded.answers == 1)
        prices = encoded.weights * np.array([self.settings.price(kind) for kind in encoded.kinds])
        gold_cost = Cost(encoded.targets[self.rows.tokens_of(gold)], costs, NO_FLOATS)
        latent_tokens = self.rows.tokens_of(latent)
        latent_cost = Cost(np.zeros(len(latent_tokens), dtype=np.int32), costs, NO_FLOATS)
        admitted = None if encoded.admitted is None else encoded.admitted[latent_tokens]
        sizes = self._sizes(evidence)
        return LatentProblem(
            TargetTerms(self._batch(gold), gold_cost, prices[gold]),
            Latent(TargetTerms(self._batch(latent), latent_cost, prices[latent]), admitted),
            NegativeTerms(self._batch(negative), sizes[negative], prices[negative]),
            Positive(self._batch(positive), sizes[positive], prices[positive]),
        )

    def _costs(self) -> Floats:
        """The cost of predicting l where y is right. # [L, L]"""
        size = len(self.labels)
        costs = 1.0 - np.eye(size)
        for (right, predicted), value in (self.settings.cost or {}).items():
            if right not in self.labels or predicted not in self.labels:
                raise DataError(f"cost names an unknown label in {(right, predicted)}", remedy="use known labels")
            costs[self.labels.number[right], self.labels.number[predicted]] = value
        if np.any(np.diag(costs) != 0) or np.any(costs < 0):
            raise ValueError("a cost is negative, or a right label has a cost")
        weights = self.settings.class_weight
        if weights == "balanced":
            known = self.encoded.targets[self.encoded.targets >= 0]
            counts = np.bincount(known, minlength=size)
            costs *= np.where(counts > 0, len(known) / (size * np.maximum(counts, 1)), 1.0)[:, None]
        elif isinstance(weights, Mapping):
            for label, weight in weights.items():
                if label not in self.labels:
                    raise DataError(f"class_weight names the unknown label {label!r}", remedy="use known labels")
                costs[self.labels.number[label]] *= weight
        elif weights is not None:
            raise ValueError(f"class_weight is {weights!r}; give a mapping or 'balanced'")
        return costs

    def _sizes(self, evidence: Sequence[Evidence]) -> Floats:
        """κ(x). # [N]"""
        if self.settings.size_by == "tokens":
            return self.rows.lengths.astype(np.float64)
        if self.settings.size_by == "one":
            return np.ones(len(self.rows))
        if not callable(self.settings.size):
            raise ValueError(f"size is {self.settings.size!r}; give 'tokens', 'one' or a function")
        sizes = np.array([float(self.settings.size(piece.x)) for piece in evidence])
        if not np.all(sizes > 0):
            raise ValueError("size gave a number that is not positive")
        return sizes

    def _fingerprint(self) -> str:
        ignored = ("callbacks", "checkpoint", "n_jobs", "max_rounds", "features", "sequences", "patience")
        names = [name for name in Settings.__slots__ if name not in ignored]
        settings = {name: _stable(getattr(self.settings, name)) for name in names}
        rows: Rows = self.rows
        arrays: list[NDArray[Any]] = [
            rows.starts,
            rows.indptr,
            rows.indices,
            rows.values,
            rows.dense,
            self.encoded.targets,
        ]
        arrays += [self.encoded.weights, self.encoded.answers]
        if self.encoded.admitted is not None:
            arrays.append(self.encoded.admitted)
        return fingerprint(settings, [str(name) for name in self.labels.names], arrays)


def _stable(value: Any) -> str:
    """A text for a setting that is the same in every process."""
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(repr, value)))
    if isinstance(value, Mapping):
        return repr(sorted((repr(key), repr(item)) for key, item in value.items()))
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)


def _grown(before: Model, layout: Layout) -> Floats:
    """The weights of an earlier model in a layout with as many attributes or more."""
    if before.layout.grown(layout.n_attributes) != layout:
        raise DataError("the new evidence does not fit the model", remedy="use the same labels and kind of features")
    weights = np.zeros(layout.size)
    weights[: len(before.weights)] = before.weights
    return weights
