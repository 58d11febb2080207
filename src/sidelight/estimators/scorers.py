"""What gives scores to labels: a trained model, or scores that a user hands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import is_hashable, is_listed, real_numbers, shown
from sidelight.errors import DataError
from sidelight.inference.batches import BatchScores, ChainBatchScores, batch_scores
from sidelight.models.model import Model
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain import GivenScores
from sidelight.structures import LabelSet
from sidelight.structures.labels.token_labels import Clamp, mask_of


class SequenceScorer(Protocol):
    """Gives labels, and the scores of some inputs."""

    @property
    def names(self) -> Sequence[Any]: ...

    @property
    def sequences(self) -> bool:
        """Whether an output is a list of labels; else it is one label, `y[0]` to a rule, and `x[0]` the input."""
        ...

    @property
    def learned(self) -> Mapping[str, float]:
        """The penalties that training left, by the names of rules."""
        ...

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> BatchScores: ...


@dataclass(frozen=True, slots=True)
class ModelScorer:
    """A trained model as a scorer."""

    model: Model

    @property
    def names(self) -> Sequence[Any]:
        if self.model.labels.hidden:
            raise DataError("rules speak of labels, and the model has hidden states", remedy="train without states")
        return self.model.labels.names

    @property
    def sequences(self) -> bool:
        return self.model.sequences

    @property
    def learned(self) -> Mapping[str, float]:
        return _penalties_in(self.model.about)

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> BatchScores:
        rows = self.model.prepare(xs, n_jobs=n_jobs)
        batch = self.model.batch(rows, n_jobs=n_jobs)
        if clamp is not None:
            batch = batch.inside(self.model.structure.mask(rows, clamp))
        scores: BatchScores = batch_scores(batch.scores(self.model.weights), batch.space)
        return scores


@dataclass(frozen=True, slots=True)
class HandedScores:
    """Scores from elsewhere: a function of an input returns the scores of its tokens.

    −inf forbids a label or a transition. Raises `DataError` for scores of the wrong shape, NaN or +inf, and for
    duplicate labels.

    >>> from sidelight.estimators.constrained import Constrained
    >>> from sidelight.rules import gallery
    >>> flat = HandedScores(["A", "B"], lambda x: np.array([[0.0, 1.0]] * len(x)))
    >>> Constrained(flat, [gallery.at_most(1, "B")]).predict([["x", "y"]])
    [['A', 'B']]
    """

    labels: Sequence[Any]
    tokens: Any  # a function of an input: [T, L]
    transition: Floats | None = None  # [L, L], 0 if left out
    start: Floats | None = None  # [L]
    end: Floats | None = None  # [L]

    def __post_init__(self) -> None:
        listed = isinstance(self.labels, str) or is_listed(self.labels)
        if not listed or not all(map(is_hashable, self.labels)):
            raise DataError(
                f"labels is {shown(self.labels)}", remedy="give a list of labels, in the order of their scores"
            )
        twice = [label for label in dict.fromkeys(self.labels) if list(self.labels).count(label) > 1]
        if twice:
            raise DataError(f"the label {twice[0]!r} is listed twice", remedy="give every label once")
        if not len(self.labels):
            raise DataError("there are no labels to score", remedy="give the labels in the order of their scores")
        if not callable(self.tokens):
            problem = f"the scores of tokens are a {type(self.tokens).__name__}"
            raise DataError(problem, remedy="give a function of an input: lambda x: …")
        self._shared()

    @property
    def names(self) -> Sequence[Any]:
        return self.labels

    @property
    def sequences(self) -> bool:
        return True

    @property
    def learned(self) -> Mapping[str, float]:
        return {}

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> ChainBatchScores:
        size = len(self.labels)
        blocks = [
            _numbers(self.tokens(x), (len(x), size), f"the scores of input {i}", f"{len(x)} tokens and {size} labels")
            for i, x in enumerate(xs)
        ]
        lengths = [len(block) for block in blocks]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = np.concatenate([np.zeros((0, size)), *blocks])
        if clamp is not None:
            tokens[mask_of(LabelSet(tuple(self.labels)), lengths, clamp) == 0] = -np.inf
        return ChainBatchScores.of(GivenScores(tokens, *self._shared()), ChainSpace(starts, size, None))

    def _shared(self) -> list[Floats]:
        """Scores of transitions, of the first label and of the last."""
        size = len(self.labels)
        parts = (
            (self.transition, (size, size), "the scores of transitions", f"{size} labels and the next"),
            (self.start, (size,), "the scores of first labels", f"{size} labels"),
            (self.end, (size,), "the scores of last labels", f"{size} labels"),
        )
        return [np.zeros(shape) if own is None else _numbers(own, shape, *said) for own, shape, *said in parts]


def _numbers(given: Any, shape: tuple[int, ...], what: str, wanted: str) -> Floats:
    """Scores as an array of this shape."""
    remedy = f"give one number for each of {wanted}"
    try:
        array = real_numbers(what, given)
    except (TypeError, ValueError):
        raise DataError(f"{what} are not numbers in rows of one length", remedy=remedy) from None
    if array.shape != shape:
        raise DataError(f"{what} have the shape {array.shape} and not {shape}", remedy=remedy)
    if np.isnan(array).any() or np.isposinf(array).any():
        raise DataError(f"{what} have nan or inf among them", remedy="give finite numbers, or -inf for what cannot be")
    return array


def scorer_of(scorer: Any) -> SequenceScorer:
    """A fitted estimator, a model or handed scores as a scorer; raises `DataError` for anything else."""
    model = getattr(scorer, "model_", scorer)
    match model:
        case Model():
            return ModelScorer(model)
        case ModelScorer() | HandedScores():
            return model
    raise DataError(
        f"{type(scorer).__name__} does not score labels of tokens",
        remedy="give a fitted Tagger or SegmentTagger, a Model or HandedScores",
    )


def _penalties_in(about: Mapping[str, Any]) -> Mapping[str, float]:
    penalties: Mapping[str, float] = about.get("penalties", {})
    return penalties
