"""A segment tagger's parameters, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidelight.evaluate.schemes import SCHEMES
from sidelight.features import FeatureSet
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.fit_log import check_verbose
from sidelight.inference.choose import check_method
from sidelight.learners.margin import MarginOptions
from sidelight.objective.cuts import POWERS
from sidelight.recipe_kinds import Driven, Recipe, SemiMarkov
from sidelight.recipes import codl, recipe_of
from sidelight.recipes.checks import amount, flag
from sidelight.rules import Rule
from sidelight.rules.given import checked_rules
from sidelight.settings import check_amounts, check_seed, check_whole, checked_labels
from sidelight.stored import number_of, text_of, whole_of

DEFAULT_PRICES: dict[str, float] = {"gold": 1.0, "partial": 1.0, "candidates": 1.0, "unlabeled": 0.1}


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """A segment tagger's parameters, checked."""

    features: FeatureSet | None
    segment_features: SegmentFeatures | None
    max_length: int | None
    learner: str | Recipe
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
    verbose: int
    rules: Sequence[Rule]
    inference: str

    def __post_init__(self) -> None:
        both = self.max_length, self.base.max_length
        if None not in both and both[0] != both[1]:
            raise ValueError(f"max_length is {both[0]}, and {both[1]} in the learner; give one of them")
        if not isinstance(self.loss, str) or self.loss not in POWERS:
            raise ValueError(f"loss is {self.loss!r}; give 'squared_hinge', 'hinge' or 'logistic'")
        if self.scheme in SCHEMES and self.scheme != "BIO":
            remedy = "give scheme='BIO' and labels as sidelight.evaluate.convert(labels, to='BIO') makes them"
            raise ValueError(f"scheme is {self.scheme!r}, and segments are learned from BIO labels; {remedy}")
        if self.scheme not in (None, "BIO"):
            raise ValueError(f"scheme is {self.scheme!r}; give 'BIO' or None")
        check_method(self.inference)
        object.__setattr__(self, "rules", checked_rules(self.rules))
        check_amounts(
            self.prices, DEFAULT_PRICES, tolerance=self.tolerance, violation=self.violation, decrease=self.decrease
        )
        amount("decrease", self.decrease)
        flag("bias", self.bias)
        object.__setattr__(self, "labels", checked_labels(self.labels))
        check_whole("max_completions", self.max_completions)
        check_seed(self.seed)
        check_verbose(self.verbose)
        for name in ("max_length", "max_rounds", "n_jobs"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name))
        for name, value in (("max_length", self.longest), ("max_rounds", self.max_rounds)):
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; give 1 or more, or None")

    @property
    def recipe(self) -> SemiMarkov | Driven:
        """The learner with its options; raises ValueError for one that does not label segments."""
        if self.learner in ("codl", "codl_as_printed"):
            raise ValueError(f"{self.learner} drives no segments unless told so; give recipes.codl(base='semi_crf')")
        recipe = recipe_of(self.learner)
        if isinstance(recipe, SemiMarkov) or (isinstance(recipe, Driven) and isinstance(recipe.base, SemiMarkov)):
            return recipe
        raise ValueError(f"learner is {recipe.name!r}; there are semi_crf, semi_svm, and codl with one of them as base")

    @property
    def base(self) -> SemiMarkov:
        """The learner itself, or the one that it drives."""
        recipe = self.recipe
        base = recipe.base if isinstance(recipe, Driven) else recipe
        assert isinstance(base, SemiMarkov)
        return base

    @property
    def longest(self) -> int | None:
        """The most tokens of a segment, where it is given."""
        return self.base.max_length if self.max_length is None else self.max_length

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of evidence that the learner learns from."""
        known = ("gold", "partial", "candidates")
        return (*known, "unlabeled") if isinstance(self.recipe, Driven) else known

    def price(self, kind: str) -> float:
        return {**DEFAULT_PRICES, **(self.prices or {})}[kind]

    @property
    def options(self) -> MarginOptions:
        return MarginOptions(
            tolerance=self.tolerance,
            max_rounds=1000 if self.max_rounds is None else self.max_rounds,
            power=POWERS[self.loss],
            violation=self.violation,
            decrease=self.decrease,
            max_completions=self.max_completions,
            seed=self.seed,
        )

    def about(self) -> dict[str, Any]:
        """The learner as a model file keeps it."""
        recipe = self.recipe
        if isinstance(recipe, Driven):
            return {"learner": recipe.name, "base": recipe.base.name, "beta": recipe.beta, "cycles": recipe.cycles}
        return {"learner": recipe.name}


def learner_in(about: Mapping[str, Any]) -> str | Recipe:
    """The learner that a model file tells of.

    >>> learner_in({"learner": "codl", "base": "semi_crf", "beta": 0.5, "cycles": 3}).cycles
    3
    """
    if "base" not in about:
        return text_of(about, "learner", among=("semi_crf", "semi_svm"))
    base = text_of(about, "base", among=("semi_crf", "semi_svm"))
    return codl(base=base, beta=number_of(about, "beta"), cycles=whole_of(about, "cycles", low=1))
