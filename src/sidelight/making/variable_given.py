"""What a learner over variables is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sidelight.arrays import Ints
from sidelight.errors import Intractable
from sidelight.features.variables import VariableLayout, Variables
from sidelight.making.given import Given
from sidelight.objective.batch import Batch
from sidelight.objective.variable_scorer import variable_batch
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


@dataclass(frozen=True, slots=True)
class VariableGiven(Given):
    """One fit's data, with the variables of inputs; features are rows of variables."""

    layout: VariableLayout  # type: ignore[assignment]
    variables: Variables = field(kw_only=True)

    def batch(self, which: Ints) -> Batch:
        """Some of the inputs, in any order, with the space of their outputs."""
        chosen = np.asarray(which, dtype=np.int64)
        rows, variables = self.rows.take(chosen), self.variables.take(chosen)
        return variable_batch(rows, variables, self.layout, n_jobs=self.settings.n_jobs)


def check_learner(recipe: Recipe) -> None:
    """Raise `Intractable`, naming what is missing, for learners that are not for variables."""
    for kind, missing in MISSING.items():
        if isinstance(recipe, kind):
            raise Intractable(
                f"the learner {recipe.name} needs {missing}, which variables do not have; use jlis, structural_svm, "
                "latent_svm, transductive_svm, cllp, mms, perceptron, crf or partial_crf"
            )
