"""The learner of a recipe, made by the file of its family."""

from __future__ import annotations

from sidelight.inference.ruled import AnyRuled, Ruled
from sidelight.learners import Learner
from sidelight.learners.driven import DrivenLearner
from sidelight.learners.hmm import HmmLearner
from sidelight.making import (
    all_labelings,
    candidates,
    contrastive,
    convex,
    hmm,
    likelihood,
    margin,
    naive_bayes,
    one_against_rest,
    perceptron,
    ruled,
    self_training,
)
from sidelight.making.given import Given
from sidelight.making.perceptron import PerceptronMemory
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
    SelfTraining,
    SemiMarkov,
    TransductiveMargins,
)


def learner_of(given: Given, *, memory: PerceptronMemory | None = None) -> Learner:
    """A learner before its first round; `memory` is what an earlier perceptron goes on from.

    Raises `DataError` for rules of the evidence that it would not look at, and `Infeasible` where no output has the
    labels of an input.
    """
    ruled.check_rules_are_used(given)
    given.structure.check(given.evidence, given.rows, given.encoded, n_jobs=given.settings.n_jobs)
    match given.settings.recipe:
        case AveragedPerceptron():
            return perceptron.make(given, memory)
        case CandidateMargins() as recipe:
            return candidates.make(given, recipe)
        case Picked() as recipe:
            return candidates.make_naive(given, recipe)
        case AllLabelings() as recipe:
            return all_labelings.make(given, recipe)
        case NaiveBayes() as recipe:
            return naive_bayes.make(given, recipe)
        case OneAgainstRest():
            return one_against_rest.make(given)
        case SelfTraining() as recipe:
            return self_training.make(given, recipe)
        case TransductiveMargins() as recipe:
            return self_training.make_transductive(given, recipe)
        case ConvexMargins() as recipe:
            return convex.make(given, recipe)
        case OnlineMargins() as recipe:
            return convex.make_online(given, recipe)
        case Contrastive() as recipe:
            return contrastive.make(given, recipe)
        case LogLinear() | Believed() as recipe:
            return likelihood.make(given, recipe)
        case Generative() as recipe:
            gamma = recipe.options.gamma
            under = ruled.completion(given, beta=recipe.beta, gamma=gamma) if recipe.ruled else None
            return hmm.make(given, recipe, completion=under)
        case Driven(base=SemiMarkov(name=base)) as recipe:
            raise ValueError(
                f"{recipe.name} over {base} labels segments; "
                f"use SegmentTagger(learner=recipes.{recipe.name}(base={base!r}))"
            )
        case Driven() as recipe:
            return ruled.make_driven(given, recipe, learner_of)
        case LatentMargins() as recipe:
            if recipe.gold_only:
                given.only(("gold",))
            return margin.make(given, recipe)
        case SemiMarkov() as recipe:
            raise ValueError(f"{recipe.name} labels segments; use SegmentTagger(learner={recipe.name!r})")
        case recipe:
            raise TypeError(f"no learner is made from {type(recipe).__name__}")


def learned_penalties(learner: Learner) -> tuple[AnyRuled | None, list[float]]:
    """The penalties that a learner has come to, with the rules that they belong to, where it has any."""
    if isinstance(learner, HmmLearner) and isinstance(learner.completion, Ruled):
        return learner.completion.inputs, learner.completion.of_weights
    if isinstance(learner, DrivenLearner):
        return learner.inputs, learner.penalties
    return None, []
