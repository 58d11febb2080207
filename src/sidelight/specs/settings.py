"""An estimator's parameters, checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.core.checks import amount, file_name, flag, is_among, is_number, shown
from sidelight.core.progress import check_verbose
from sidelight.evaluate.schemes import SCHEMES, SchemeName
from sidelight.features import FeatureSet
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.inference.methods.choose import check_method
from sidelight.objective.cuts import POWERS
from sidelight.parallel import place_of
from sidelight.rules import Rule
from sidelight.rules.rule import checked_rules
from sidelight.specs import LearnerSpec
from sidelight.specs.learner import refuse
from sidelight.structures.chain_structure import Chains
from sidelight.structures.segment_structure import Segmenting
from sidelight.structures.structure import Declared, OutputKind

DECREASE, MAX_COMPLETIONS = 1e-5, 50  # defaults if neither the user nor the learner sets a value
MOST_STATES = 1000  # of a label
DEFAULT_PRICES: dict[str, float] = {
    "gold": 1.0,
    "partial": 1.0,
    "candidates": 1.0,
    "companion": 1.0,
    "unlabeled": 0.1,
    "votes": 1.0,
}
CHAINS = Chains()
METRICS = ("accuracy", "span_f1")
RULES_IN = ("prediction", "training")


@dataclass(frozen=True, slots=True)
class Settings:
    """An estimator's parameters, checked."""

    sequences: bool
    features: FeatureSet | None
    learner: LearnerSpec
    loss: str
    prices: Mapping[str, float] | None
    cost: Mapping[tuple[Any, Any], float] | None
    class_weight: Mapping[Any, float] | str | None
    labels: Sequence[Any] | None
    scheme: SchemeName | None
    metric: str | None
    allowed: Iterable[tuple[Any, Any]] | None
    size: str | Callable[[Any], float] | None
    bias: bool
    order: int
    states: int | Mapping[Any, int] | None
    tolerance: float
    violation: float
    decrease: float | None
    max_rounds: int | None
    max_completions: int | None
    patience: int
    random_ties: bool
    warm_start: bool
    freeze_vocabulary: bool
    n_jobs: int | None
    seed: int
    callbacks: Sequence[Any]
    verbose: int
    checkpoint: str | Path | None
    rules: Sequence[Rule]
    rules_in: str
    inference: str
    outputs: Declared = CHAINS  # which are learned
    place: Any = None  # where a fit runs: see `parallel.place_of`

    def __post_init__(self) -> None:
        self._check_types()
        self._check_segments()
        if not isinstance(self.loss, str) or self.loss not in POWERS:
            raise ValueError(f"loss is {shown(self.loss)}; give 'squared_hinge', 'hinge' or 'logistic'")
        if self.scheme is not None and not is_among(self.scheme, SCHEMES):
            raise ValueError(f"scheme is {shown(self.scheme)}; give one of {', '.join(map(repr, SCHEMES))}, or None")
        if self.metric is not None and not is_among(self.metric, METRICS):
            raise ValueError(f"metric is {shown(self.metric)}; give 'accuracy', 'span_f1' or None")
        if self.metric == "span_f1" and not self.sequences:
            raise ValueError("metric is 'span_f1', and single labels make no spans; give 'accuracy' or None")
        if not is_number(self.order) or self.order not in (1, 2):
            raise ValueError(f"order is {shown(self.order)}; give 1 or 2")
        if self.order == 2 and not self.sequences:
            raise ValueError("order is 2, and single labels have no order; leave it out")
        check_method(self.inference)
        self._check_place()
        object.__setattr__(self, "rules", checked_rules(self.rules))
        if not is_among(self.rules_in, RULES_IN):
            raise ValueError(f"rules_in is {shown(self.rules_in)}; give {' or '.join(map(repr, RULES_IN))}")
        refuse(
            self.learner,
            self.output_kind,
            costs=self.class_weight is not None or self.cost is not None,
            states=self._has_states(),
            ruled=self.ruled_training,
        )
        if self.rules and self.states is not None:
            raise ValueError("rules speak of labels, and states are given; leave one of them out")
        check_amounts(
            self.prices, DEFAULT_PRICES, tolerance=self.tolerance, violation=self.violation, decrease=self.decrease
        )
        if self.size is not None and not callable(self.size) and not is_among(self.size, ("tokens", "one")):
            raise ValueError(f"size is {shown(self.size)}; give 'tokens', 'one' or a function")
        if self.patience < 1:
            raise ValueError(f"patience is {self.patience}; give 1 or more")
        if self.max_rounds is not None and self.max_rounds < 1:
            raise ValueError(f"max_rounds is {self.max_rounds}; give 1 or more")

    def _check_types(self) -> None:
        """Raises ValueError for values that would fail later, far from their origin."""
        for name in ("max_rounds", "max_completions", "n_jobs"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name))
        check_whole("patience", self.patience)
        check_seed(self.seed)
        pairs = self.cost if isinstance(self.cost, Mapping) else [] if self.cost is None else [None]
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"cost is {shown(self.cost)}; give {{(right, predicted): cost}}")
        for pair, value in (self.cost or {}).items():
            amount(f"the cost of {pair}", value)
        if isinstance(self.class_weight, Mapping):
            for label, value in self.class_weight.items():
                amount(f"class_weight of {label!r}", value)
        elif self.class_weight is not None and not (
            isinstance(self.class_weight, str) and self.class_weight == "balanced"
        ):
            raise ValueError(f"class_weight is {shown(self.class_weight)}; give a mapping or 'balanced'")
        for name in ("bias", "random_ties", "warm_start", "freeze_vocabulary"):
            flag(name, getattr(self, name))
        object.__setattr__(self, "labels", checked_labels(self.labels))
        if self.allowed is not None:
            object.__setattr__(self, "allowed", _checked_pairs(self.allowed))
        check_callbacks(self.callbacks)
        check_verbose(self.verbose)
        check_features(self.features)
        if self.checkpoint is not None:
            file_name(self.checkpoint, name="checkpoint")

    def _check_place(self) -> None:
        """Raises ValueError if a sequential learner should run on workers."""
        if place_of(self.place, self.n_jobs).remote and (why := self.learner.stays()):
            raise ValueError(f"place is {shown(self.place)}, and {self.learner.called} {why}; leave place out")

    @property
    def ruled_training(self) -> bool:
        """Whether rules limit the outputs that the learner searches in training."""
        return bool(self.rules) and self.rules_in == "training"

    def _has_states(self) -> bool:
        """Whether a label has several states; raises ValueError for invalid numbers of states."""
        if self.states is None:
            return False
        counts = list(self.states.values()) if isinstance(self.states, Mapping) else [self.states]
        for count in counts:
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                remedy = "give a whole number from 1 on, or one for each label"
                raise ValueError(f"states is {shown(self.states)}; {remedy}")
            if count > MOST_STATES:
                raise ValueError(f"states is {shown(self.states)}; a label has at most {MOST_STATES}")
        return bool(max(counts, default=1) > 1)

    @property
    def output_kind(self) -> OutputKind:
        """The kind of outputs, with the operations that learners may need."""
        return self.outputs.kind(self)

    @property
    def segments(self) -> Segmenting | None:
        """The further settings of `SegmentTagger`."""
        return self.outputs if isinstance(self.outputs, Segmenting) else None

    def _check_segments(self) -> None:
        """Raises ValueError for schemes that do not define segments, and for invalid lengths."""
        if self.segments is None:
            return
        features = None if self.segments is None else self.segments.features
        if features is not None and not isinstance(features, SegmentFeatures):
            raise ValueError(f"segment_features is {shown(features)}; give SegmentFeatures(…)")
        if is_among(self.scheme, SCHEMES) and self.scheme != "BIO":
            remedy = "give scheme='BIO' and labels as sidelight.evaluate.convert(labels, to='BIO') makes them"
            raise ValueError(f"scheme is {self.scheme!r}, and segments are learned from BIO labels; {remedy}")
        if self.longest is not None:
            check_whole("max_length", self.longest)
            if self.longest < 1:
                raise ValueError(f"max_length is {self.longest}; give 1 or more, or None")

    @property
    def longest(self) -> int | None:
        """The maximum tokens of a segment, if it is set for the estimator or its learner."""
        own = self.learner.longest
        own_length = None if self.segments is None else self.segments.max_length
        if own is not None and own_length is not None and own != own_length:
            raise ValueError(f"max_length is {own_length}, and {own} in the learner; give one of them")
        return own if own_length is None else own_length

    @property
    def segment_facts(self) -> dict[str, Any]:
        """What a model of segments stores about its learner, besides the name."""
        return {} if self.segments is None else dict(self.learner.stored_options())

    @property
    def fall(self) -> float:
        """The relative decrease at which completions end, for learners without their own default."""
        return DECREASE if self.decrease is None else self.decrease

    @property
    def completions(self) -> int:
        """The maximum number of completions, for learners without their own default."""
        return MAX_COMPLETIONS if self.max_completions is None else self.max_completions

    def price(self, kind: str) -> float:
        """The price of a unit of loss of this kind of evidence: as set, or the learner's default."""
        return {**DEFAULT_PRICES, **self.learner.usual_prices, **(self.prices or {})}[kind]

    @property
    def size_by(self) -> str:
        if self.size is None:
            return "tokens" if self.sequences else "one"
        return self.size if isinstance(self.size, str) else "function"


def price_when_completed(prices: Mapping[str, float] | None, kind: str) -> float:
    """The price of a completed input that is used besides Gold: that of its own kind if set, else that of an unlabelled
    input.

    >>> price_when_completed({"unlabeled": 0.5, "candidates": 2.0}, "candidates"), price_when_completed(None, "partial")
    (2.0, 0.1)
    """
    by_kind = prices or {}
    return by_kind.get(kind, by_kind.get("unlabeled", DEFAULT_PRICES["unlabeled"]))


def check_amounts(
    prices: Mapping[str, float] | None,
    known: Collection[str],
    *,
    tolerance: float,
    violation: float,
    decrease: float | None,
) -> None:
    """Raises ValueError for the price of an unknown kind of evidence, and for negative values or values that are not
    numbers.
    """
    if not isinstance(prices, Mapping | None):
        raise ValueError(f"prices is {shown(prices)}; give a price for each kind of evidence, as {{'gold': 1.0}}")
    for kind, price in (prices or {}).items():
        if kind not in known:
            raise ValueError(f"prices has {shown(kind)}; there are {', '.join(known)}")
        amount(f"the price of {kind}", price)
    for name, value in (("tolerance", tolerance), ("violation", violation), ("decrease", decrease)):
        if value is not None or name != "decrease":
            amount(name, value)


def check_features(features: Any) -> None:
    """Raises ValueError for values that are not features."""
    if features is not None and not isinstance(features, FeatureSet):
        raise ValueError(f"features is {shown(features)}; give what sidelight.features makes, as features.words()")


def check_whole(name: str, value: Any) -> None:
    """Raises ValueError if it is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} is {shown(value)}; give a whole number")


def check_seed(seed: Any) -> None:
    """Raises ValueError if it is not a whole number from 0 on."""
    check_whole("seed", seed)
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; give a number that is not negative, and below 2**63")


def checked_labels(labels: Any) -> list[Any] | None:
    """Labels as a list, if given; raises ValueError for values that contain no labels."""
    if labels is None:
        return None
    try:
        distinct = list(labels)
        set(distinct)
    except TypeError:
        raise ValueError(f"labels is {shown(labels)}; give a list of labels") from None
    return distinct


def _checked_pairs(allowed: Any) -> list[tuple[Any, Any]]:
    try:
        pairs = [tuple(pair) for pair in allowed]
        set(pairs)
    except TypeError:
        pairs = [()]
    if not all(len(pair) == 2 for pair in pairs) or isinstance(allowed, str):
        raise ValueError(f"allowed is {shown(allowed)}; give pairs of labels: the one before, and the one after")
    return pairs


def check_callbacks(callbacks: Any) -> None:
    """Raises ValueError for values that are not a list of functions."""
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        raise ValueError(f"callbacks is {shown(callbacks)}; give a list of functions of a Round")
