"""Tilings with labelled segments (Sarawagi and Cohen 2004), given as token labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import mapping_of, part_of, text_of, whole_of
from sidelight.data.checks import trouble
from sidelight.errors import DataError, ModelFileError
from sidelight.evidence import Evidence
from sidelight.features import Attributes, Extractor, FeatureSet, MatrixSequence
from sidelight.features.inputs import as_sequences
from sidelight.features.layout import LARGEST, Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segments.segment_features import SegmentExtractor, SegmentFunction
from sidelight.features.segments.segment_rows import SegmentedRows, SegmentLayout, Segments
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.segment_scorer import segment_batch
from sidelight.structures.labels.encoding import RESTRICTED, Encoded, encode
from sidelight.structures.labels.label_sets import LabelSet, check_memory, check_same, read_labels, written_labels
from sidelight.structures.labels.token_labels import TokenLabels, features_of, label_names_of, token_rows
from sidelight.structures.segments import SegmentScheme, segment_scheme
from sidelight.structures.structure import SEGMENTS, OutputKind, Prepared, State, Structure, unlike
from sidelight.structures.weight_names import TokenWeightNames

MOST_LENGTH = 1000  # of segments, also if no input is that long


@dataclass(frozen=True, slots=True, eq=False)
class SegmentStructure(TokenLabels):
    """Segments with features of tokens and of segments."""

    scheme: SegmentScheme
    extractor: Extractor
    segments: SegmentExtractor
    layout: SegmentLayout

    @property
    def outputs_are(self) -> str:
        return "segments"

    @property
    def labels(self) -> LabelSet:  # type: ignore[override]
        return self.scheme.tokens

    @property
    def sequences(self) -> bool:  # type: ignore[override]
        return True

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def max_length(self) -> int:
        """The most tokens of a segment."""
        return self.segments.max_length

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> SegmentedRows:
        xs = as_sequences(xs, sequences=True)
        return SegmentedRows(self.extractor.rows(xs, n_jobs=n_jobs), self.segments.rows(xs, n_jobs=n_jobs))

    def batch(self, rows: SegmentedRows, *, n_jobs: int | None = None) -> Batch:
        reading = self.scheme.reading(self.max_length)
        return segment_batch(rows.tokens, rows.segments, self.layout, reading, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: Structure) -> Floats:
        if not isinstance(before, SegmentStructure) or before.scheme.tokens != self.scheme.tokens:
            raise unlike()
        old, new = before.layout, self.layout
        if old.tokens.grown(new.tokens.n_attributes) != new.tokens or before.max_length != self.max_length:
            raise unlike()
        moved_weights = new.zeros()
        moved_weights[: old.tokens.size] = old.token_weights(weights)
        new.segment_weights(moved_weights)[: old.n_attributes] = old.segment_weights(weights)
        return moved_weights

    def check(self, evidence: Sequence[Evidence], rows: Any, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Raise `DataError` for the first input without a segmentation; Gold was checked before."""
        which = encoded.of_kind(*RESTRICTED, "unlabeled")
        admitted = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(which)]
        batch = self.batch(rows.take(which), n_jobs=n_jobs).inside(admitted)
        closed = np.flatnonzero(~batch.space.feasible(n_jobs=n_jobs))
        if len(closed):
            i = int(which[closed[0]])
            problem = "no segmentation has labels that all tokens admit"
            remedy = "correct the labels; with BIO, raise max_length or check that I-X can follow B-X"
            raise trouble(evidence[i], i, problem=problem, remedy=remedy)

    def facts(self) -> dict[str, Any]:
        """The most tokens of a segment."""
        return {"max_length": self.max_length}

    def weight_names(self) -> TokenWeightNames:
        return TokenWeightNames(self.scheme.segments, self.layout.tokens, self.extractor, True, self.segments)

    def state(self) -> State:
        spec, tensors = self.segments.state()
        values = {
            "labels": written_labels(self.labels.classes),
            "scheme": "BIO" if self.scheme.bio else None,
            "layout": asdict(self.layout.tokens),
            "n_segment_attributes": self.layout.n_attributes,
            "segments": spec,
        }
        return State(values, {f"segments.{name}": array for name, array in tensors.items()}, 5)


def restored_segments(
    spec: Any, arrays: Any, extractor: Extractor, function: SegmentFunction | None
) -> SegmentStructure:
    """The structure in a file; raises `ModelFileError` if its parts do not fit each other."""
    tokens = Layout.stored(spec, "layout")
    layout = SegmentLayout(tokens, whole_of(spec, "n_segment_attributes", high=LARGEST))
    scheme = segment_scheme(read_labels(spec), None if spec.get("scheme", "") is None else text_of(spec, "scheme"))
    own = mapping_of(spec, "segments")
    segments = SegmentExtractor.restored(own, part_of(arrays, "segments."), function=function)
    check_same("segment labels", len(scheme.segments), layout.n_labels)
    check_same("features", extractor.n_attributes, tokens.n_attributes)
    check_same("dense features", extractor.n_dense, tokens.n_dense)
    check_same("segment features", segments.n_attributes, layout.n_attributes)
    if tokens.null_label or tokens.order != 1:
        raise ModelFileError("the layout of its weights is not that of segments")
    return SegmentStructure(scheme, extractor, segments, layout)


@dataclass(frozen=True, slots=True)
class Segmenting:
    """Segments, in the form for `SegmentTagger`."""

    features: SegmentFeatures | None  # None: the default for the inputs
    max_length: int | None  # None: the length of the longest gold segment

    def kind(self, settings: Any) -> OutputKind:
        return SEGMENTS

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        xs = [piece.x for piece in evidence]
        if before is not None and not isinstance(before, SegmentStructure):
            raise unlike()
        if before is None:
            scheme = segment_scheme(label_names_of(settings, evidence), settings.scheme)
        else:
            scheme = before.scheme
        extractor, tokens = token_rows(settings, xs, before)
        encoded = encode(evidence, scheme.tokens, tokens.starts, sequences=True)
        gold = encoded.of_kind("gold")
        starts, which = offsets_of(tokens.lengths[gold]), tokens.tokens_of(gold)
        right = encoded.targets[which]
        most = settings.longest if before is None else before.max_length
        max_length = _max_length(scheme, most, evidence, gold, starts, right)
        if max_length > max(MOST_LENGTH, int(tokens.lengths.max(initial=0))):
            problem = f"max_length is {max_length}, and the longest input has {int(tokens.lengths.max())} tokens"
            raise DataError(problem, remedy="give no more than that: memory grows with it")
        if before is None:
            segments = self._extractor(settings, xs, max_length, has_gold=len(gold) > 0)
        else:
            segments = before.segments.copy()
        if before is None or not settings.freeze_vocabulary:
            gold_segments = Segments(
                np.full(tokens.n_tokens, -1, dtype=np.int32), np.zeros(tokens.n_tokens, dtype=np.uint8)
            )
            gold_segments.labels[which], gold_segments.begins[which] = scheme.reading(max_length).cut(starts, right)[0]
            rows = segments.grow(xs, gold=_gold_rows(tokens.starts, gold_segments, max_length), n_jobs=settings.n_jobs)
        else:
            rows = segments.rows(xs, n_jobs=settings.n_jobs)
        sizes = len(scheme.segments), extractor.n_attributes, extractor.n_dense
        layout = SegmentLayout(Layout(*sizes, extractor.transitions, settings.bias), segments.n_attributes)
        if settings.labels is None and before is None:
            check_memory(layout.size, layout.n_labels, layout.n_attributes + layout.tokens.n_attributes)
        return Prepared(SegmentStructure(scheme, extractor, segments, layout), SegmentedRows(tokens, rows), encoded)

    def _extractor(self, settings: Any, xs: Sequence[Any], max_length: int, *, has_gold: bool) -> SegmentExtractor:
        features = self.features
        if features is None:
            features = segment_features_for(features_of(settings, xs), xs[0])
            if not has_gold:
                features = replace(features, counted="all")
        if not has_gold and features.counted == "gold" and features.hash_bits is None:
            raise DataError(
                "there is no Gold to take segment features from",
                remedy='give segment_features=SegmentFeatures(counted="all"), or hash_bits in place of counted',
            )
        return SegmentExtractor(features, max_length)


def segment_features_for(features: FeatureSet, x: Any) -> SegmentFeatures:
    """The default segment features for an input: all families, or, without words, only the length."""
    wordless = isinstance(x, MatrixSequence) or (
        isinstance(features, Attributes) and len(x) > 0 and not isinstance(x[0], str)
    )
    return SegmentFeatures(families=("length",)) if wordless else SegmentFeatures()


def _max_length(
    scheme: SegmentScheme, most: int | None, evidence: Sequence[Evidence], gold: Ints, starts: Ints, right: Ids
) -> int:
    """The maximum length of a segment: as set, or that of the longest gold segment; checks the gold labels."""
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
    """The rows of `SegmentRows` for gold segments."""
    ends = np.zeros(len(targets.begins) + 1, dtype=bool)
    ends[:-1] = targets.begins != 0
    ends[starts] = True
    is_gold = targets.labels >= 0
    firsts = np.flatnonzero((targets.begins != 0) & is_gold)
    lasts = np.flatnonzero(ends[1:] & is_gold)
    rows: Ints = lasts * max_length + lasts - firsts
    return rows
