"""Evidence made ready for learning: labels, features and the structure of outputs, of chains or of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sidelight.arrays import Ids, Ints
from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Evidence
from sidelight.features import (
    Attributes,
    Extractor,
    FeatureSet,
    MatrixSequence,
    Templates,
    emissions,
    extractor_of,
    features_for,
)
from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segment_rows import SegmentedRows, SegmentLayout
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.features.segments import SegmentExtractor
from sidelight.model import Model
from sidelight.settings import Settings
from sidelight.spaces import Transitions
from sidelight.spaces.token_reading import Segments
from sidelight.structure import AnyRows, ChainStructure, FeaturedStructure, SegmentStructure
from sidelight.structures import LabelSet, allowed_transitions, scheme_transitions, with_states
from sidelight.structures.encoding import Encoded, encode, labels_in
from sidelight.structures.many_labels import check_label_count, check_memory
from sidelight.structures.segments import SegmentScheme, segment_scheme

MOST_LENGTH = 1000  # of segments, where no input is as long


class Prepared(NamedTuple):
    """One fit's data as arrays, and the structure of its outputs."""

    labels: LabelSet
    structure: FeaturedStructure
    rows: AnyRows
    encoded: Encoded


def prepared(settings: Settings, evidence: Sequence[Evidence], before: Model | None) -> Prepared:
    """Labels, features and layout, as the settings or an earlier model have them; raises `DataError` where they do not
    fit the evidence."""
    made = _segments if settings.segments is not None else _chain
    found = made(settings, evidence, before)
    if settings.labels is None and before is None:
        check_memory(found.structure.layout)
    return found


def _chain(settings: Settings, evidence: Sequence[Evidence], before: Model | None) -> Prepared:
    xs = _inputs(settings, evidence)
    states = settings.states
    if before is not None:
        if with_states(LabelSet(before.labels.classes), states) != before.labels:
            raise DataError("the labels of the model have other states", remedy="use the same states, or fit anew")
        labels = before.labels
    else:
        labels = with_states(LabelSet.of(_names(settings, evidence)), states)
        if settings.labels is not None:
            labels = with_states(LabelSet(tuple(settings.labels)), states)
    extractor, rows = _tokens(settings, xs, before)
    encoded = encode(evidence, labels, rows.starts, sequences=settings.sequences)
    if settings.order == 2 and not extractor.transitions:
        raise DataError("order is 2, and the features have no transitions", remedy="add a B template, or leave it")
    layout = Layout(
        len(labels),
        extractor.n_attributes,
        extractor.n_dense,
        chain=settings.sequences and extractor.transitions,
        bias=settings.bias,
        null_label=not settings.sequences and len(labels) == 2,
        order=settings.order,
    )
    allowed = _allowed(settings, labels, before)
    return Prepared(labels, ChainStructure(extractor, layout, settings.sequences, allowed), rows, encoded)


def _names(settings: Settings, evidence: Sequence[Evidence]) -> list[Any]:
    """The labels, as given or as the evidence shows them."""
    if settings.labels is not None:
        return list(settings.labels)
    names = list(labels_in(evidence, sequences=settings.sequences))
    if not names:
        raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold or Candidates")
    check_label_count(len(set(names)), evidence, sequences=settings.sequences)
    return names


def _inputs(settings: Settings, evidence: Sequence[Evidence]) -> Sequence[Any]:
    xs = [piece.x for piece in evidence]
    return xs if settings.sequences or isinstance(xs[0], MatrixSequence) else [[x] for x in xs]


def _tokens(settings: Settings, xs: Sequence[Any], before: Model | None) -> tuple[Extractor, Any]:
    """The features of tokens: the extractor, grown unless its vocabulary is frozen, and the rows of the inputs."""
    if before is not None:
        extractor = before.extractor.copy()
    else:
        extractor = extractor_of(_features(settings, xs))
    grow = before is None or not settings.freeze_vocabulary
    return extractor, (extractor.grow if grow else extractor.rows)(xs, n_jobs=settings.n_jobs)


def _features(settings: Settings, xs: Sequence[Any]) -> FeatureSet:
    features = settings.features
    if features is None and not settings.sequences and not isinstance(xs[0], MatrixSequence):
        features = Attributes()
    if features is None:
        features = features_for(xs)
        if settings.learner.emits and isinstance(features, Templates):
            features = emissions()
    return features


def _allowed(settings: Settings, labels: LabelSet, before: Model | None) -> Transitions | None:
    """As the settings say; where they say nothing, as the model has it that is gone on from."""
    if not settings.sequences:
        return None
    silent = settings.allowed is None and settings.scheme is None
    if silent and before is not None and before.labels.names == labels.names:
        return before.allowed
    if settings.allowed is not None:
        return allowed_transitions(labels, settings.allowed)
    return None if settings.scheme is None else scheme_transitions(labels, settings.scheme)


def _segments(settings: Settings, evidence: Sequence[Evidence], before: Model | None) -> Prepared:
    xs = [piece.x for piece in evidence]
    old = None if before is None else before.segmental
    scheme = segment_scheme(_names(settings, evidence), settings.scheme) if old is None else old.scheme
    extractor, tokens = _tokens(settings, xs, before)
    encoded = encode(evidence, scheme.tokens, tokens.starts, sequences=True)
    gold = encoded.of_kind("gold")
    starts, which = offsets_of(tokens.lengths[gold]), tokens.tokens_of(gold)
    right = encoded.targets[which]
    most = settings.longest if old is None else old.max_length
    max_length = _max_length(scheme, most, evidence, gold, starts, right)
    if max_length > max(MOST_LENGTH, int(tokens.lengths.max(initial=0))):
        problem = f"max_length is {max_length}, and the longest input has {int(tokens.lengths.max())} tokens"
        raise DataError(problem, remedy="give no more than that: memory grows with it")
    if old is None:
        segments = _segment_extractor(settings, xs, max_length, has_gold=len(gold) > 0)
    else:
        segments = old.segments.copy()
    if old is None or not settings.freeze_vocabulary:
        found = Segments(np.full(tokens.n_tokens, -1, dtype=np.int32), np.zeros(tokens.n_tokens, dtype=np.uint8))
        found.labels[which], found.begins[which] = scheme.reading(max_length).cut(starts, right)[0]
        rows = segments.grow(xs, gold=_gold_rows(tokens.starts, found, max_length), n_jobs=settings.n_jobs)
    else:
        rows = segments.rows(xs, n_jobs=settings.n_jobs)
    sizes = len(scheme.segments), extractor.n_attributes, extractor.n_dense
    layout = SegmentLayout(Layout(*sizes, extractor.transitions, settings.bias), segments.n_attributes)
    structure = SegmentStructure(scheme, extractor, segments, layout)
    return Prepared(scheme.tokens, structure, SegmentedRows(tokens, rows), encoded)


def _segment_extractor(settings: Settings, xs: Sequence[Any], max_length: int, *, has_gold: bool) -> SegmentExtractor:
    assert settings.segments is not None
    features = settings.segments.features
    if features is None:
        features = segment_features_for(_features(settings, xs), xs[0])
    if not has_gold and features.counted == "gold" and features.hash_bits is None:
        raise DataError("there is no Gold to take segment features from", remedy='give counted="all" or hash_bits')
    return SegmentExtractor(features, max_length)


def segment_features_for(features: FeatureSet, x: Any) -> SegmentFeatures:
    """The segment features that suit an input when none were chosen: all families, or without words the length."""
    wordless = isinstance(x, MatrixSequence) or (
        isinstance(features, Attributes) and len(x) > 0 and not isinstance(x[0], str)
    )
    return SegmentFeatures(families=("length",)) if wordless else SegmentFeatures()


def _max_length(
    scheme: SegmentScheme, most: int | None, evidence: Sequence[Evidence], gold: Ints, starts: Ints, right: Ids
) -> int:
    """The greatest length of a segment: as given, or that of the longest gold one; checks the gold labels."""
    fault = scheme.fault(starts, right, max_length=most)
    if fault is not None:
        i = int(gold[fault.sequence])
        raise trouble(evidence[i], i, problem=fault.problem, remedy=fault.remedy, token=fault.token)
    if most is not None:
        return most
    if len(gold) == 0:
        raise DataError("there is no Gold to see from how long segments may be", remedy="give max_length")
    return scheme.longest_in(starts, right)


def _gold_rows(starts: Ints, targets: Segments, max_length: int) -> Ints:
    """The rows of `SegmentRows` that gold segments are."""
    ends = np.zeros(len(targets.begins) + 1, dtype=bool)
    ends[:-1] = targets.begins != 0
    ends[starts] = True
    is_gold = targets.labels >= 0
    firsts = np.flatnonzero((targets.begins != 0) & is_gold)
    lasts = np.flatnonzero(ends[1:] & is_gold)
    rows: Ints = lasts * max_length + lasts - firsts
    return rows
