"""An estimator's parameters, checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.checks import amount, file_name, flag, is_among, is_number, shown
from sidelight.evaluate.schemes import SCHEMES, SchemeName
from sidelight.features import FeatureSet
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.fit_log import check_verbose
from sidelight.inference.choose import check_method
from sidelight.objective.cuts import POWERS
from sidelight.recipe_kinds import (
    AllLabelings,
    AveragedPerceptron,
    Believed,
    CandidateMargins,
    Contrastive,
    ConvexMargins,
    Driven,
    Generative,
    LatentMargins,
    LogLinear,
    NaiveBayes,
    OneAgainstRest,
    OnlineMargins,
    Picked,
    Recipe,
    SelfTraining,
    SemiMarkov,
)
from sidelight.recipes import recipe_of
from sidelight.rules import Rule
from sidelight.rules.given import checked_rules
from sidelight.structures.chain_structure import Chains
from sidelight.structures.segment_structure import Segmenting
from sidelight.structures.structure import Declared

DECREASE, MAX_COMPLETIONS = 1e-5, 50  # where an estimator was asked for none, and its learner has none of its own
MOST_STATES = 1000  # of a label
DEFAULT_PRICES: dict[str, float] = {
    "gold": 1.0,
    "partial": 1.0,
    "candidates": 1.0,
    "companion": 1.0,
    "unlabeled": 0.1,
    "votes": 1.0,
}
LIKELIHOOD_PRICES = {**DEFAULT_PRICES, "companion": 0.05}  # of CRFs; chosen on development data, see docs/learners.md
CHAINS = Chains()
METRICS = ("accuracy", "span_f1")
RULES_IN = ("prediction", "training")
SECOND_ORDER = (
    LatentMargins,
    ConvexMargins,
    OnlineMargins,
    AveragedPerceptron,
    CandidateMargins,
    Picked,
    AllLabelings,
    Generative,
    LogLinear,
    ConvexMargins,
)  # recipes that learn second-order weights


OTHERS = "jlis, structural_svm, latent_svm, transductive_svm, cllp, mms, perceptron, crf or partial_crf"
NEEDS: tuple[tuple[type[Recipe], str], ...] = (  # what learners ask of outputs, and chains alone have
    (Contrastive, "neighbours of an output"),
    (NaiveBayes, "labels of single tokens"),
    (OneAgainstRest, "labels of single tokens"),
    (Generative, "a generative model"),
    (Believed, "beliefs under rules"),
    (AllLabelings, "a list of all candidate outputs"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """An estimator's parameters, checked."""

    sequences: bool
    features: FeatureSet | None
    learner: str | Recipe
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

    def __post_init__(self) -> None:
        _ = self.recipe
        self._check_types()
        self._check_outputs()
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
        if self.order == 2 and isinstance(self.recipe, Contrastive) and self.recipe.neighbours == "swaps":
            raise ValueError("order is 2, and neighbours 'swaps' are for order 1; give neighbours='transpose'")
        if self.order == 2 and not has_second_order(self.recipe):
            raise ValueError(f"order is 2, and {self.recipe.name} is for order 1; use jlis or structural_svm")
        if (self.class_weight is not None or self.cost is not None) and _knows_no_cost(self.recipe):
            name = self.recipe.name
            raise ValueError(f"{name} knows no cost and no class_weight; give weights to the evidence, or use jlis")
        self._check_states()
        check_method(self.inference)
        object.__setattr__(self, "rules", checked_rules(self.rules))
        self._check_rules_in()
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
        """Raises ValueError for what would fail far from here."""
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

    def _check_rules_in(self) -> None:
        """Raises ValueError where rules cannot limit the outputs that a learner looks for."""
        if not is_among(self.rules_in, RULES_IN):
            raise ValueError(f"rules_in is {shown(self.rules_in)}; give {' or '.join(map(repr, RULES_IN))}")
        if self.ruled_training and not asks_for_the_best(self.recipe):
            problem = f"rules_in is 'training', and {self.recipe.name} asks for more than the best output"
            remedy = "use jlis, structural_svm, latent_svm or perceptron, or give rules_in='prediction'"
            raise ValueError(f"{problem}; {remedy}")

    @property
    def ruled_training(self) -> bool:
        """Whether rules limit the outputs that the learner looks for."""
        return bool(self.rules) and self.rules_in == "training"

    def _check_states(self) -> None:
        if self.states is None:
            return
        given = list(self.states.values()) if isinstance(self.states, Mapping) else [self.states]
        for count in given:
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                remedy = "give a whole number from 1 on, or one for each label"
                raise ValueError(f"states is {shown(self.states)}; {remedy}")
            if count > MOST_STATES:
                raise ValueError(f"states is {shown(self.states)}; a label has at most {MOST_STATES}")
        if max(given, default=1) > 1 and not _takes_states(self.recipe):
            raise ValueError(f"the {self.recipe.name} has no hidden states; use latent_svm or partial_crf")

    @property
    def segments(self) -> Segmenting | None:
        """What `SegmentTagger` has besides."""
        return self.outputs if isinstance(self.outputs, Segmenting) else None

    @property
    def generative(self) -> bool:
        """Whether the learner is a generative model."""
        return isinstance(self.recipe, Generative)

    def _check_outputs(self) -> None:
        """Raises ValueError for learners that need what outputs do not have, and for schemes that make no segments."""
        if isinstance(self.outputs, Chains):
            return
        recipe = self.recipe
        base = recipe.base if isinstance(recipe, Driven) else recipe
        if self.segments is None:
            check_needs(base, self.outputs.outputs_are, OTHERS, ((SemiMarkov, "segments"),))
            return
        check_needs(base, "segments", "semi_crf or semi_svm")
        if isinstance(base, LatentMargins) and base.restarts > 1:
            raise ValueError(f"restarts of {base.name} need random ties, which segments do not have; leave them at 1")
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
        """The most tokens of a segment, where it is given, to the estimator or to its learner."""
        recipe = recipe_of(self.learner)
        base = recipe.base if isinstance(recipe, Driven) else recipe
        own = base.max_length if isinstance(base, SemiMarkov) else None
        given = None if self.segments is None else self.segments.max_length
        if own is not None and given is not None and own != given:
            raise ValueError(f"max_length is {given}, and {own} in the learner; give one of them")
        return own if given is None else given

    @property
    def told_of_segments(self) -> dict[str, Any]:
        """What a model of segments keeps of its learner, besides the name."""
        recipe = recipe_of(self.learner)
        if self.segments is None or not isinstance(recipe, Driven):
            return {}
        return {"base": recipe.base.name, "beta": recipe.beta, "cycles": recipe.cycles}

    @property
    def recipe(self) -> Recipe:
        """The learner with its options; raises ValueError for an unknown name.

        Over segments `semi_crf` is `partial_crf` and `semi_svm` is `latent_svm`.
        """
        recipe = recipe_of(self.learner)
        if self.segments is None:
            return recipe
        if isinstance(recipe, Driven):
            return replace(recipe, base=_over_segments(recipe.base))
        return _over_segments(recipe)

    @property
    def fall(self) -> float:
        """The relative decrease at which completions end, for learners that have no usual one of their own."""
        return DECREASE if self.decrease is None else self.decrease

    @property
    def completions(self) -> int:
        """How many completions there may be, for learners that have no usual number of their own."""
        return MAX_COMPLETIONS if self.max_completions is None else self.max_completions

    def price(self, kind: str) -> float:
        """What a unit of loss of this kind of evidence costs: as given, or as is usual with the learner."""
        usual = LIKELIHOOD_PRICES if isinstance(self.recipe, (LogLinear, Believed)) else DEFAULT_PRICES
        return {**usual, **(self.prices or {})}[kind]

    @property
    def size_by(self) -> str:
        if self.size is None:
            return "tokens" if self.sequences else "one"
        return self.size if isinstance(self.size, str) else "function"


def _over_segments(recipe: Recipe) -> Recipe:
    if not isinstance(recipe, SemiMarkov):
        return recipe
    return replace(recipe_of({"semi_crf": "partial_crf", "semi_svm": "latent_svm"}[recipe.name]), name=recipe.name)


def check_needs(recipe: Recipe, outputs: str, instead: str, more: Sequence[tuple[type[Recipe], str]] = ()) -> None:
    """Raises ValueError, naming what is missing, for learners of chains alone; `more` are others and their needs."""
    for kind, need in (*NEEDS, *more):
        if isinstance(recipe, kind):
            raise ValueError(f"{recipe.name} needs {need}, which {outputs} do not have; use {instead}")


def price_when_completed(prices: Mapping[str, float] | None, kind: str) -> float:
    """What an input costs that is learned from beside Gold once it is completed: as an unlabelled one, unless a price
    is given for its own kind.

    >>> price_when_completed({"unlabeled": 0.5, "candidates": 2.0}, "candidates"), price_when_completed(None, "partial")
    (2.0, 0.1)
    """
    given = prices or {}
    return given.get(kind, given.get("unlabeled", DEFAULT_PRICES["unlabeled"]))


def asks_for_the_best(recipe: Recipe) -> bool:
    """Whether a learner asks for best outputs alone, which there are under rules too."""
    if isinstance(recipe, ConvexMargins):
        return recipe.solver != "exponentiated_gradient"
    kinds = (LatentMargins, OnlineMargins, AveragedPerceptron)
    return isinstance(recipe, kinds) and not isinstance(recipe, SelfTraining)


def has_second_order(recipe: Recipe) -> bool:
    """Whether a learner has weights of three labels in a row."""
    if isinstance(recipe, Contrastive):
        return recipe.neighbours != "swaps"  # which are summed as one lattice of order 1
    return isinstance(recipe.base if isinstance(recipe, Driven) else recipe, SECOND_ORDER)


def _knows_no_cost(recipe: Recipe) -> bool:
    """Whether the cost of a wrong label means nothing to a learner."""
    kinds = (LogLinear, Contrastive, AveragedPerceptron, OneAgainstRest, NaiveBayes, Generative, Believed)
    return isinstance(recipe, kinds)


def heeds_loss(recipe: Recipe) -> bool:
    """Whether a learner can minimise the hinge or the squared hinge, as it is told."""
    if isinstance(recipe, Driven):
        return heeds_loss(recipe.base)
    kinds = (LatentMargins, ConvexMargins, OneAgainstRest, Picked, AllLabelings)
    return isinstance(recipe, kinds) or (isinstance(recipe, SemiMarkov) and recipe.name == "semi_svm")


def _takes_states(recipe: Recipe) -> bool:
    """Whether a learner completes the states of labels; the others must know all of a target."""
    if isinstance(recipe, LatentMargins):
        return not recipe.gold_only and not isinstance(recipe, SelfTraining)
    if isinstance(recipe, Generative):
        return recipe.options.iterations > 0
    return isinstance(recipe, CandidateMargins) or (isinstance(recipe, LogLinear) and not recipe.gold_only)


def check_amounts(
    prices: Mapping[str, float] | None,
    known: Collection[str],
    *,
    tolerance: float,
    violation: float,
    decrease: float | None,
) -> None:
    """Raises ValueError for the price of an unknown kind of evidence, and for what is negative or no number."""
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
    """Raises ValueError for what are no features."""
    if features is not None and not isinstance(features, FeatureSet):
        raise ValueError(f"features is {shown(features)}; give what sidelight.features makes, as features.words()")


def check_whole(name: str, value: Any) -> None:
    """Raises ValueError for what is no whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} is {shown(value)}; give a whole number")


def check_seed(seed: Any) -> None:
    """Raises ValueError for what is no whole number from 0 on."""
    check_whole("seed", seed)
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; give a number that is not negative, and below 2**63")


def checked_labels(labels: Any) -> list[Any] | None:
    """Labels as a list, if any are given; raises ValueError for what has none."""
    if labels is None:
        return None
    try:
        found = list(labels)
        set(found)
    except TypeError:
        raise ValueError(f"labels is {shown(labels)}; give a list of labels") from None
    return found


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
    """Raises ValueError for what is no list of functions."""
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        raise ValueError(f"callbacks is {shown(callbacks)}; give a list of functions of a Round")
