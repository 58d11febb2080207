"""What a learner of segments is made from: evidence as arrays, features of tokens and segments, the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Evidence, Gold
from sidelight.features import Attributes, Extractor, FeatureSet, MatrixSequence, extractor_of, features_for
from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segment_rows import SegmentLayout
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.features.segments import SegmentExtractor
from sidelight.making.segments import KnownSegments
from sidelight.objective.batch import Batch
from sidelight.objective.segment_scorer import segment_batch
from sidelight.recipe_kinds import Driven
from sidelight.rules import Domain, Rule
from sidelight.rules.penalties import penalties_of
from sidelight.rules.probe import read_first
from sidelight.segment_settings import SegmentSettings
from sidelight.spaces.token_reading import Segments
from sidelight.structures.encoding import Encoded, encode, labels_in
from sidelight.structures.many_labels import check_label_count, check_memory
from sidelight.structures.segments import SegmentScheme, segment_scheme

MOST_LENGTH = 1000  # of segments, where no input is as long


@dataclass(frozen=True, slots=True)
class SegmentGiven:
    """One fit's data, checked and encoded; made by `prepare`."""

    settings: SegmentSettings
    evidence: Sequence[Evidence]
    scheme: SegmentScheme
    extractor: Extractor
    segments: SegmentExtractor
    encoded: Encoded
    batch: Batch  # all N inputs, with all their segmentations
    layout: SegmentLayout
    gold: Ints
    rest: Ints  # the inputs that are not Gold
    mask: Bytes | None  # [T of these, K] token labels that they admit
    penalties: list[float]  # of the rules of the settings, by Gold

    def known(self) -> KnownSegments:
        """All inputs, each at its weight times the price of its kind."""
        prices = self.encoded.weights * np.array([self.settings.price(kind) for kind in self.encoded.kinds])
        return KnownSegments(self.batch, prices, self.gold, self.encoded.targets, self.rest, self.mask)

    def segmented(self, which: Ints, targets: Ids, prices: Floats | float) -> KnownSegments:
        """Some inputs with the token labels [T] of these, each at its weight times a price."""
        everything = np.array_equal(which, np.arange(len(self.batch)))
        batch = self.batch if everything else self.batch.take(which)
        return KnownSegments.all_gold(batch, targets, self.encoded.weights[which] * prices)


def prepare(settings: SegmentSettings, evidence: Sequence[Evidence]) -> SegmentGiven:
    """Check and encode the evidence, and find its features; raises `DataError` where it cannot be used."""
    _check_kinds(settings, evidence)
    xs = [piece.x for piece in evidence]
    names = labels_in(evidence, sequences=True) if settings.labels is None else list(settings.labels)
    if not names:
        raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold or Candidates")
    if settings.labels is None:
        check_label_count(len(names), evidence, sequences=True)
    scheme = segment_scheme(names, settings.scheme)
    read_first(settings.rules, Domain(scheme.tokens.names), xs)
    penalties = gold_penalties(settings.rules, evidence)
    features = features_for(xs) if settings.features is None else settings.features
    extractor = extractor_of(features)
    rows = extractor.grow(xs, n_jobs=settings.n_jobs)
    encoded = encode(evidence, scheme.tokens, rows.starts, sequences=True)
    gold, rest = encoded.of_kind("gold"), encoded.of_kind("partial", "candidates", "unlabeled")
    starts, tokens = offsets_of(rows.lengths[gold]), rows.tokens_of(gold)
    right = encoded.targets[tokens]
    max_length = _max_length(settings, scheme, evidence, gold, starts, right)
    if max_length > max(MOST_LENGTH, int(rows.lengths.max(initial=0))):
        problem = f"max_length is {max_length}, and the longest input has {int(rows.lengths.max())} tokens"
        raise DataError(problem, remedy="give no more than that: memory grows with it")
    reading = scheme.reading(max_length)
    targets = Segments(np.full(rows.n_tokens, -1, dtype=np.int32), np.zeros(rows.n_tokens, dtype=np.uint8))
    targets.labels[tokens], targets.begins[tokens] = reading.cut(starts, right)[0]
    segments = _segment_extractor(settings, features, xs[0], max_length, has_gold=len(gold) > 0)
    counted = _gold_rows(rows.starts, targets, max_length)
    segment_rows = segments.grow(xs, gold=counted, n_jobs=settings.n_jobs)
    sizes = len(scheme.segments), extractor.n_attributes, extractor.n_dense
    layout = SegmentLayout(Layout(*sizes, extractor.transitions, settings.bias), segments.n_attributes)
    if settings.labels is None:
        check_memory(layout)
    batch = segment_batch(rows, segment_rows, layout, reading, n_jobs=settings.n_jobs)
    mask = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(rest)]
    _check_feasible(evidence, rest, batch.take(rest).inside(mask))
    return SegmentGiven(
        settings, evidence, scheme, extractor, segments, encoded, batch, layout, gold, rest, mask, penalties
    )


def gold_penalties(rules: Sequence[Rule], evidence: Sequence[Evidence]) -> list[float]:
    """What breaking each rule costs, as given or as counted on Gold; raises `DataError` where there is none."""
    known = [piece for piece in evidence if isinstance(piece, Gold)]
    if not known and any(rule.learned for rule in rules):
        raise DataError("a penalty is to be learned from Gold, and there is none", remedy="give soft(…) a number")
    return penalties_of(rules, [piece.x for piece in known], [piece.y for piece in known])


def segment_features_for(features: FeatureSet, x: Any) -> SegmentFeatures:
    """The segment features that suit an input when none were chosen: all families, or without words the length."""
    wordless = isinstance(x, MatrixSequence) or (
        isinstance(features, Attributes) and len(x) > 0 and not isinstance(x[0], str)
    )
    return SegmentFeatures(families=("length",)) if wordless else SegmentFeatures()


def _check_kinds(settings: SegmentSettings, evidence: Sequence[Evidence]) -> None:
    for i, piece in enumerate(evidence):
        if piece.kind not in settings.kinds:
            name = settings.recipe.name
            problem = f"a segment tagger does not learn from {type(piece).__name__} by {name}"
            remedy = "leave it out, or use the learner jlis, of Tagger"
            if piece.kind == "votes":
                remedy = (
                    "give majority() or candidates() of the votes instead, or use the learner partial_crf, of Tagger"
                )
            if piece.kind == "unlabeled":
                remedy = f"use codl with base={name!r}, or leave it out"
            raise trouble(piece, i, problem=problem, remedy=remedy)
        if getattr(piece, "chunks", ()):
            problem = "a segment tagger takes candidates of single tokens, and these are of several"
            raise trouble(piece, i, problem=problem, remedy="use Tagger(learner='cllp'), or leave chunks out")
    if isinstance(settings.recipe, Driven) and not any(piece.kind == "gold" for piece in evidence):
        raise DataError("codl begins with a model of Gold, and there is none", remedy="give some labelled inputs")


def _segment_extractor(
    settings: SegmentSettings, of_tokens: FeatureSet, x: Any, max_length: int, *, has_gold: bool
) -> SegmentExtractor:
    features = segment_features_for(of_tokens, x) if settings.segment_features is None else settings.segment_features
    if not has_gold and features.counted == "gold" and features.hash_bits is None:
        raise DataError("there is no Gold to take segment features from", remedy='give counted="all" or hash_bits')
    return SegmentExtractor(features, max_length)


def _max_length(
    settings: SegmentSettings, scheme: SegmentScheme, evidence: Sequence[Evidence], gold: Ints, starts: Ints, right: Ids
) -> int:
    """The greatest length of a segment: as given, or that of the longest gold one; checks the gold labels."""
    fault = scheme.fault(starts, right, max_length=settings.longest)
    if fault is not None:
        i = int(gold[fault.sequence])
        raise trouble(evidence[i], i, problem=fault.problem, remedy=fault.remedy, token=fault.token)
    if settings.longest is not None:
        return settings.longest
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


def _check_feasible(evidence: Sequence[Evidence], rest: Ints, admitted: Batch) -> None:
    closed = np.flatnonzero(~admitted.space.feasible(n_jobs=admitted.n_jobs))
    if len(closed):
        i = int(rest[closed[0]])
        problem = "no segmentation has labels that all tokens admit"
        remedy = "correct the labels; with BIO, raise max_length or check that I-X can follow B-X"
        raise trouble(evidence[i], i, problem=problem, remedy=remedy)
