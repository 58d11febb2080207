"""From evidence and settings to a segmenter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Evidence, Gold
from sidelight.features import FeatureSet, MatrixSequence, extractor_of, features_for
from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.segment_rows import SegmentLayout
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.features.segments import SegmentExtractor
from sidelight.learners.segments import OpenSegments, SegmentOptions, learn_semi_crf, learn_semi_svm
from sidelight.objective.segment_likelihood import SegmentLikelihood
from sidelight.objective.segments import SegmentBatch, SegmentTerms
from sidelight.records import Callback
from sidelight.rules import Domain, Rule
from sidelight.rules.penalties import penalties_of
from sidelight.rules.probe import read_first
from sidelight.segment_model import SegmentModel, segment_space
from sidelight.settings import check_rules
from sidelight.spaces.segments import SegmentCost, Segments
from sidelight.structures.encoding import encode, labels_in
from sidelight.structures.segments import SegmentScheme, segment_scheme

DEFAULT_PRICES: dict[str, float] = {"gold": 1.0, "partial": 1.0, "candidates": 1.0}
LEARNERS = {
    "semi_crf": "the semi-Markov conditional random field",
    "semi_svm": "the semi-Markov tagger with a margin: a structural SVM over segmentations",
}


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """A segment tagger's parameters, checked."""

    features: FeatureSet | None
    segment_features: SegmentFeatures | None
    max_length: int | None
    learner: str
    loss: str
    prices: Mapping[str, float] | None
    labels: Sequence[Any] | None
    scheme: str | None
    bias: bool
    tolerance: float
    violation: float
    decrease: float
    max_rounds: int | None
    max_completions: int
    n_jobs: int | None
    seed: int
    rules: Sequence[Rule]
    inference: str

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner is {self.learner!r}; there are {', '.join(LEARNERS)}")
        if self.loss not in ("squared_hinge", "hinge"):
            raise ValueError(f"loss is {self.loss!r}; give 'squared_hinge' or 'hinge'")
        if self.scheme not in (None, "BIO"):
            raise ValueError(f"scheme is {self.scheme!r}; give 'BIO' or None")
        check_rules(self.rules, self.inference)
        for kind, price in (self.prices or {}).items():
            if kind not in DEFAULT_PRICES:
                raise ValueError(f"prices has {kind!r}; there are {', '.join(DEFAULT_PRICES)}")
            if not (price >= 0 and np.isfinite(price)):
                raise ValueError(f"the price of {kind} is {price}; give a number that is not negative")
        for name in ("tolerance", "violation", "decrease"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        for name in ("max_length", "max_rounds"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; give 1 or more, or None")

    def price(self, kind: str) -> float:
        return {**DEFAULT_PRICES, **(self.prices or {})}[kind]

    @property
    def options(self) -> SegmentOptions:
        return SegmentOptions(
            tolerance=self.tolerance,
            max_rounds=1000 if self.max_rounds is None else self.max_rounds,
            power=2 if self.loss == "squared_hinge" else 1,
            violation=self.violation,
            decrease=self.decrease,
            max_completions=self.max_completions,
            seed=self.seed,
        )


def train_segmenter(settings: SegmentSettings, evidence: Sequence[Evidence], report: Callback) -> SegmentModel:
    """Learn from Gold, Partial and Candidates; raises `DataError` where the evidence cannot be used."""
    for i, piece in enumerate(evidence):
        if piece.kind not in DEFAULT_PRICES:
            problem = f"a segment tagger does not learn from {type(piece).__name__}"
            raise trouble(piece, i, problem=problem, remedy="give Gold, Partial or Candidates, or use Tagger")
    xs = [piece.x for piece in evidence]
    names = labels_in(evidence, sequences=True) if settings.labels is None else list(settings.labels)
    if not names:
        raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold or Candidates")
    scheme = segment_scheme(names, settings.scheme)
    read_first(settings.rules, Domain(scheme.tokens.names), xs)
    penalties = gold_penalties(settings.rules, evidence)
    extractor = extractor_of(features_for(xs[0]) if settings.features is None else settings.features)
    rows = extractor.grow(xs, n_jobs=settings.n_jobs)
    encoded = encode(evidence, scheme.tokens, rows.starts, sequences=True)
    gold, rest = encoded.of_kind("gold"), encoded.of_kind("partial", "candidates")
    gold_starts, gold_tokens = offsets_of(rows.lengths[gold]), rows.tokens_of(gold)
    right = encoded.targets[gold_tokens]
    max_length = _max_length(settings, scheme, evidence, gold, gold_starts, right)
    targets = Segments(np.full(rows.n_tokens, -1, dtype=np.int32), np.zeros(rows.n_tokens, dtype=np.uint8))
    known = scheme.encode(gold_starts, right, max_length=max_length)
    targets.labels[gold_tokens], targets.begins[gold_tokens] = known.labels, known.begins
    features = segment_features_for(xs[0]) if settings.segment_features is None else settings.segment_features
    segment_extractor = SegmentExtractor(features, max_length)
    counted = _gold_rows(rows.starts, targets, max_length)
    if len(gold) == 0 and features.counted == "gold" and features.hash_bits is None:
        raise DataError("there is no Gold to take segment features from", remedy='give counted="all" or hash_bits')
    segments = segment_extractor.grow(xs, gold=counted, n_jobs=settings.n_jobs)
    tokens = Layout(
        len(scheme.segments), extractor.n_attributes, extractor.n_dense, extractor.transitions, settings.bias
    )
    layout = SegmentLayout(tokens, segment_extractor.n_attributes)
    space = segment_space(rows.starts, scheme, max_length)
    batch = SegmentBatch(rows, segments, space, layout, settings.n_jobs)
    admitted = batch.take(rest)
    if encoded.admitted is not None:
        admitted = admitted.inside(*scheme.masks(encoded.admitted[rows.tokens_of(rest)]))
    _check_feasible(evidence, rest, admitted)
    prices = encoded.weights * np.array([settings.price(kind) for kind in encoded.kinds])
    if settings.learner == "semi_crf":
        likelihood = SegmentLikelihood.of(batch, prices, gold, targets, rest, admitted)
        weights = learn_semi_crf(likelihood, settings.options, report)
    else:
        weights = _margin(settings, batch, scheme, prices, gold, targets, rest, admitted, report)
    about: dict[str, Any] = {"learner": settings.learner, "max_length": max_length}
    learned = {rule.name: price for rule, price in zip(settings.rules, penalties) if rule.learned}
    if learned:
        about["penalties"] = learned
    return SegmentModel(scheme, extractor, segment_extractor, layout, weights, about)


def gold_penalties(rules: Sequence[Rule], evidence: Sequence[Evidence]) -> list[float]:
    """What breaking each rule costs, as given or as counted on Gold; raises `DataError` where there is none."""
    known = [piece for piece in evidence if isinstance(piece, Gold)]
    if not known and any(rule.learned for rule in rules):
        raise DataError("a penalty is to be learned from Gold, and there is none", remedy="give soft(…) a number")
    return penalties_of(rules, [piece.x for piece in known], [piece.y for piece in known])


def segment_features_for(x: Any) -> SegmentFeatures:
    """The segment features that suit an input when none were chosen: all families, or without words the length."""
    wordless = isinstance(x, MatrixSequence) or (len(x) > 0 and isinstance(x[0], Mapping))
    return SegmentFeatures(families=("length",)) if wordless else SegmentFeatures()


def _max_length(
    settings: SegmentSettings, scheme: SegmentScheme, evidence: Sequence[Evidence], gold: Ints, starts: Ints, right: Ids
) -> int:
    """The greatest length of a segment: as given, or that of the longest gold one; checks the gold labels."""
    fault = scheme.fault(starts, right, max_length=settings.max_length)
    if fault is not None:
        i = int(gold[fault.sequence])
        raise trouble(evidence[i], i, problem=fault.problem, remedy=fault.remedy, token=fault.token)
    if settings.max_length is not None:
        return settings.max_length
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


def _check_feasible(evidence: Sequence[Evidence], rest: Ints, admitted: SegmentBatch) -> None:
    closed = np.flatnonzero(~admitted.space.feasible(n_jobs=admitted.n_jobs))
    if len(closed):
        i = int(rest[closed[0]])
        problem = "no segmentation has labels that all tokens admit"
        remedy = "correct the labels; with BIO, raise max_length or check that I-X can follow B-X"
        raise trouble(evidence[i], i, problem=problem, remedy=remedy)


def _margin(
    settings: SegmentSettings,
    batch: SegmentBatch,
    scheme: SegmentScheme,
    prices: Floats,
    gold: Ints,
    targets: Segments,
    rest: Ints,
    admitted: SegmentBatch,
    report: Callback,
) -> Floats:
    first, inside = scheme.costs(1.0 - np.eye(len(scheme.tokens)))
    chosen = batch.rows.tokens_of(gold)
    right = Segments(targets.labels[chosen], targets.begins[chosen])
    cost = SegmentCost(right, scheme.decode(right), first, inside)
    blank = np.zeros(admitted.rows.n_tokens, dtype=np.int32)
    unknown = SegmentCost(Segments(blank, np.ones(len(blank), dtype=np.uint8)), blank, first, inside)
    latent = OpenSegments(SegmentTerms(batch.take(rest), unknown, prices[rest]), admitted, scheme.decode)
    terms = SegmentTerms(batch if len(rest) == 0 else batch.take(gold), cost, prices[gold])
    return learn_semi_svm(terms, latent, settings.options, report)
