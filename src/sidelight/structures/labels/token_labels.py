"""Shared code of chains, single classes and segments: an output is a label for every token, or one label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import by_position
from sidelight.errors import DataError
from sidelight.evidence import Evidence
from sidelight.features import Attributes, Extractor, FeatureSet, MatrixSequence, Templates, emissions, features_for
from sidelight.features import extractor_of as made_from
from sidelight.inference.ruled_inputs import RuledInputs
from sidelight.rules import Domain, Rule
from sidelight.rules.lowering.penalties import penalties_of
from sidelight.rules.trials import try_rules_on
from sidelight.structures.labels.encoding import labels_in
from sidelight.structures.labels.label_sets import LabelSet, check_label_count
from sidelight.structures.structure import Structure

Clamp = Sequence[Sequence[Any | None] | None]  # for each input and token a label, or None
CLAMP_FORM = "give every input a list with a label or None for every token, or None where no label is known"


def mask_of(labels: LabelSet, lengths: Sequence[int] | Ints, clamp: Clamp) -> Bytes:
    """The labels admitted by clamps for each token, for inputs of these lengths. # [T, L]"""
    if not is_list(clamp):
        raise DataError(f"clamp is of type {type(clamp).__name__}", remedy=CLAMP_FORM)
    if len(clamp) != len(lengths):
        problem = f"clamp does not fit the inputs: it has {len(clamp)} entries for {len(lengths)} inputs"
        raise DataError(problem, remedy=CLAMP_FORM)
    mask = np.ones((int(np.sum(lengths)), len(labels)), dtype=np.uint8)
    first = 0
    for i, (own, length) in enumerate(zip(clamp, lengths)):
        if own is not None:
            _check_clamp(labels, own, i, int(length))
            for t, label in enumerate(own, start=first):
                if label is not None:
                    mask[t] = labels.mask([label])
        first += int(length)
    return mask


def _check_clamp(labels: LabelSet, own: Any, i: int, length: int) -> None:
    if not is_list(own):
        raise DataError(f"clamp does not fit the inputs: that of input {i} is {own!r}", remedy=CLAMP_FORM)
    if len(own) != length:
        tokens = f"input {i} has {length} token{'' if length == 1 else 's'}"
        raise DataError(f"clamp does not fit the inputs: {tokens}, its clamp {len(own)}", remedy=CLAMP_FORM)
    for t, label in enumerate(own):
        try:
            known = label is None or label in labels
        except TypeError:
            problem = f"clamp has the {type(label).__name__} {label!r} for token {t} of input {i}, which is not a label"
            raise DataError(problem, remedy="give one label, or None; rules can leave a choice of labels") from None
        if not known:
            raise DataError(f"clamp names the unknown label {label!r}", remedy="use labels of the model")


def is_list(value: Any) -> bool:
    listed = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
    return listed and getattr(value, "shape", None) != ()


def label_names(labels: LabelSet, lengths: Sequence[int] | Ints, outputs: Sequence[Any]) -> list[Any]:
    """The labels of all tokens in a row; raises `DataError` if they are unknown or do not fit the inputs."""
    outputs = by_position(outputs)
    if (
        not is_list(outputs)
        or len(outputs) != len(lengths)
        or any(not is_list(y) or len(y) != n for y, n in zip(outputs, lengths))
    ):
        raise DataError("the outputs do not fit the inputs", remedy="give one label per token of every input")
    names = [label for y in outputs for label in y]
    for label in names:
        if label not in labels:
            raise DataError(f"unknown label {label!r}", remedy="use labels of the model")
    return names


class TokenLabels:
    """Outputs that are lists of labels, one per token; or single labels."""

    __slots__ = ()
    labels: LabelSet
    sequences: bool

    def outputs(self, rows: Any, choices: Ids) -> list[Any]:
        """Lists of labels, or labels."""
        return self._cut(rows, self.labels.decode(choices))

    def choices(self, rows: Any, ys: Any) -> Ids:
        """The numbers of labels (the first state if a label has several); raises `DataError` if they do not fit."""
        own = ys if self.sequences or not is_list(ys) else [[y] for y in ys]
        names = label_names(self.labels, rows.lengths, own)
        return np.array([self.labels.numbers(name)[0] for name in names], dtype=np.int32)

    def mask(self, rows: Any, clamp: Any) -> Bytes:
        """The labels admitted by clamps for each token. # [T, L]"""
        return mask_of(self.labels, rows.lengths, clamp)

    def slots(self, rows: Any) -> list[str]:
        """Tokens by their numbers."""
        return [str(t) for length in rows.lengths.tolist() for t in range(length)]

    def choice_words(self, rows: Any, choices: Ids) -> list[Any]:
        return self.labels.decode(choices)

    def beliefs(self, rows: Any, shares: Floats) -> list[Any]:
        """A dict from label to probability for every token, or for a single input."""
        return self._cut(rows, [dict(zip(self.labels.classes, row)) for row in shares.tolist()])

    def read_rules(self, rules: Sequence[Rule], xs: Sequence[Any]) -> None:
        """Read rules on made-up inputs and on the first ones; raises `DataError` for a mistake."""
        if rules:
            try_rules_on(rules, Domain(self.labels.names), self._sequences_of(xs))

    def ruled(
        self,
        xs: Sequence[Any],
        rules: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> RuledInputs:
        """Inputs with their rules; raises `DataError` if labels have hidden states."""
        if self.labels.hidden and (rules or any(own or ())):
            raise DataError("rules speak of labels, and the model has hidden states", remedy="train without states")
        return RuledInputs.of(self._sequences_of(xs), self.labels.names, rules, own, places=places)

    def counted(self, rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Any]) -> list[float]:
        """The penalties of rules: their own, or learned from right outputs."""
        return penalties_of(rules, self._sequences_of(xs), self._sequences_of(ys))

    def facts(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def _sequences_of(self, items: Sequence[Any]) -> Sequence[Any]:
        return items if self.sequences else [[item] for item in items]

    def _cut(self, rows: Any, items: list[Any]) -> list[Any]:
        """Values of tokens as a list for each input, or one value for each single input."""
        return [items[a:b] for a, b in pairwise(rows.starts.tolist())] if self.sequences else items


def label_names_of(settings: Any, evidence: Sequence[Evidence]) -> list[Any]:
    """The labels, as set or as found in the evidence."""
    if settings.labels is not None:
        return list(settings.labels)
    names = list(labels_in(evidence, sequences=settings.sequences))
    if not names:
        raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold or Candidates")
    check_label_count(len(set(names)), evidence, sequences=settings.sequences)
    return names


def token_rows(settings: Any, xs: Sequence[Any], before: Structure | None) -> tuple[Extractor, Any]:
    """The features of tokens: the extractor, grown unless its vocabulary is frozen, and the rows of the inputs."""
    extractor = made_from(features_of(settings, xs)) if before is None else before.extractor.copy()  # type: ignore[attr-defined]
    grow = before is None or not settings.freeze_vocabulary
    return extractor, (extractor.grow if grow else extractor.rows)(xs, n_jobs=settings.n_jobs)


def features_of(settings: Any, xs: Sequence[Any]) -> FeatureSet:
    """The features as set, or the default for the inputs."""
    features: FeatureSet | None = settings.features
    if features is None and not settings.sequences and not isinstance(xs[0], MatrixSequence):
        features = Attributes()
    if features is None:
        features = features_for(xs)
        if settings.learner.emits and isinstance(features, Templates):
            features = emissions()
    return features
