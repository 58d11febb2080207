"""The learners of segments: from inputs, what is known of their segmentations, and prices, to weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.learners.segments import OpenSegments, SegmentOptions, learn_semi_crf, learn_semi_svm
from sidelight.objective.segment_likelihood import SegmentLikelihood
from sidelight.objective.segments import SegmentBatch, SegmentTerms
from sidelight.recipe_kinds import SemiMarkov
from sidelight.records import Callback
from sidelight.spaces.segments import SegmentCost, Segments
from sidelight.structures.segments import SegmentScheme


@dataclass(frozen=True, slots=True)
class KnownSegments:
    """Inputs that have a segmentation, and inputs that have what they admit."""

    batch: SegmentBatch  # all N of them, with all their segmentations
    prices: Floats  # [N]
    gold: Ints  # those that have a segmentation
    targets: Segments  # [T] read at the tokens of `gold`
    rest: Ints  # the others
    admitted: SegmentBatch  # the others, with the segmentations that they admit

    @classmethod
    def all_gold(cls, batch: SegmentBatch, targets: Segments, prices: Floats) -> KnownSegments:
        """Inputs that all have a segmentation."""
        none = np.zeros(0, dtype=np.int64)
        return cls(batch, prices, np.arange(len(batch), dtype=np.int64), targets, none, batch.take(none))


def learn(
    base: SemiMarkov, known: KnownSegments, *, scheme: SegmentScheme, options: SegmentOptions, report: Callback
) -> Floats:
    """The weights of `semi_crf` or `semi_svm`."""
    if base.name == "semi_crf":
        likelihood = SegmentLikelihood.of(
            known.batch, known.prices, known.gold, known.targets, known.rest, known.admitted
        )
        return learn_semi_crf(likelihood, options, report)
    return _margin(known, scheme, options, report)


def _margin(known: KnownSegments, scheme: SegmentScheme, options: SegmentOptions, report: Callback) -> Floats:
    batch, gold, rest = known.batch, known.gold, known.rest
    first, inside = scheme.costs(1.0 - np.eye(len(scheme.tokens)))
    chosen = batch.rows.tokens_of(gold)
    right = Segments(known.targets.labels[chosen], known.targets.begins[chosen])
    cost = SegmentCost(right, scheme.decode(right), first, inside)
    blank = np.zeros(known.admitted.rows.n_tokens, dtype=np.int32)
    unknown = SegmentCost(Segments(blank, np.ones(len(blank), dtype=np.uint8)), blank, first, inside)
    latent = OpenSegments(SegmentTerms(batch.take(rest), unknown, known.prices[rest]), known.admitted, scheme.decode)
    terms = SegmentTerms(batch if len(rest) == 0 else batch.take(gold), cost, known.prices[gold])
    return learn_semi_svm(terms, latent, options, report)
