"""A segment tagger's parameters, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidelight.features import FeatureSet
from sidelight.features.segment_sources import SegmentFeatures
from sidelight.inference.choose import check_method
from sidelight.learners.segments import SegmentOptions
from sidelight.recipe_kinds import Driven, Recipe, SemiMarkov
from sidelight.recipes import codl, recipe_of
from sidelight.rules import Rule
from sidelight.rules.given import checked_rules
from sidelight.settings import check_amounts, check_seed, check_whole

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
    rules: Sequence[Rule]
    inference: str

    def __post_init__(self) -> None:
        both = self.max_length, self.base.max_length
        if None not in both and both[0] != both[1]:
            raise ValueError(f"max_length is {both[0]}, and {both[1]} in the learner; give one of them")
        if self.loss not in ("squared_hinge", "hinge"):
            raise ValueError(f"loss is {self.loss!r}; give 'squared_hinge' or 'hinge'")
        if self.scheme not in (None, "BIO"):
            raise ValueError(f"scheme is {self.scheme!r}; give 'BIO' or None")
        check_method(self.inference)
        object.__setattr__(self, "rules", checked_rules(self.rules))
        check_amounts(
            self.prices, DEFAULT_PRICES, tolerance=self.tolerance, violation=self.violation, decrease=self.decrease
        )
        check_whole("max_completions", self.max_completions)
        check_seed(self.seed)
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
        return str(about["learner"])
    return codl(base=about["base"], beta=about["beta"], cycles=about["cycles"])
