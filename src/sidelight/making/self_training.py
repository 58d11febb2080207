"""Self-training and the transductive structural SVM: Gold, and a pool that is labelled on the way."""

from __future__ import annotations

from dataclasses import replace

from sidelight.errors import DataError
from sidelight.learners.margin import MarginLearner
from sidelight.learners.self_training import SelfTrainingLearner
from sidelight.making import margin
from sidelight.making.given import Given
from sidelight.recipe_kinds import SelfTraining, TransductiveMargins
from sidelight.structures.chain_structure import ChainStructure

KINDS = ("gold", "partial", "candidates", "unlabeled")


def make(given: Given, recipe: SelfTraining) -> SelfTrainingLearner:
    """The learner for `self_training`."""
    given.only(KINDS)
    _needs_gold(given)
    first_order = isinstance(given.structure, ChainStructure) and given.structure.layout.order == 1
    if not first_order and recipe.options.measure == "tokens":
        what = (
            "order is 2" if isinstance(given.structure, ChainStructure) else f"these are {given.structure.outputs_are}"
        )
        raise ValueError(f"{what}, where confidence has the measure 'output'; leave measure out")
    measure = recipe.options.measure or ("tokens" if first_order else "output")
    options = replace(recipe.options, margin=margin.options_of(given), measure=measure)
    return SelfTrainingLearner.fresh(
        margin.problem_of(given),
        options,
        size=given.size,
        start=given.start,
        origin=given.start if given.go_on else None,
        name=recipe.name,
    )


def make_transductive(given: Given, recipe: TransductiveMargins) -> MarginLearner:
    """The learner for `transductive_svm`."""
    given.only(KINDS)
    options = margin.options_of(given)
    if recipe.anneal >= options.max_completions:
        raise ValueError(
            f"anneal is {recipe.anneal} and max_completions {options.max_completions}; the full price comes too late"
        )
    return MarginLearner.fresh(
        margin.problem_of(given),
        replace(options, anneal=recipe.anneal),
        size=given.size,
        start=given.start,
        origin=given.start if given.go_on else None,
        name=recipe.name,
    )


def _needs_gold(given: Given) -> None:
    if given.start is None and len(given.encoded.of_kind("gold")) == 0:
        raise DataError(
            "self_training begins with Gold, and there is none", remedy="give some, or use transductive_svm"
        )
