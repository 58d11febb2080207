"""Which learners can learn over variables."""

from __future__ import annotations

from sidelight.errors import Intractable
from sidelight.recipe_kinds import (
    AllLabelings,
    Believed,
    Contrastive,
    Driven,
    Generative,
    NaiveBayes,
    OneAgainstRest,
    OnlineMargins,
    Recipe,
    SemiMarkov,
)

MISSING: dict[type[Recipe], str] = {  # what these learners need, and variables do not have
    AllLabelings: "labelings that follow each other",
    OnlineMargins: "an epoch in one kernel",
    OneAgainstRest: "tokens that are decided one by one",
    NaiveBayes: "tokens that are counted one by one",
    Contrastive: "neighbours of an input",
    Generative: "a generative model",
    Driven: "completion under rules",
    Believed: "beliefs under rules",
    SemiMarkov: "segments",
}


def check_learner(recipe: Recipe) -> None:
    """Raise `Intractable`, naming what is missing, for learners that are not for variables."""
    for kind, missing in MISSING.items():
        if isinstance(recipe, kind):
            raise Intractable(
                f"the learner {recipe.name} needs {missing}, which variables do not have; use jlis, structural_svm, "
                "latent_svm, transductive_svm, cllp, mms, perceptron, crf or partial_crf"
            )
