"""Every learner under its name in the literature.

A recipe is a name with options; an estimator takes the name alone, `Tagger(learner="cllp")`, or the recipe,
`Tagger(learner=recipes.cllp(discount=3.0))`. `LEARNERS` lists them all with what they minimise, the inference they
need, whether a step size must be tuned, and how they stop.
"""

from __future__ import annotations

from sidelight.checks import shown
from sidelight.recipe_kinds import Recipe
from sidelight.recipes import candidates, constrained, generative, likelihoods, margins
from sidelight.recipes.candidates import cl_svm, cllp, cllp_as_printed, mms, naive
from sidelight.recipes.constrained import codl, codl_as_printed, posterior_regularization
from sidelight.recipes.entry import Entry
from sidelight.recipes.generative import em, hard_em, hmm, unified_em
from sidelight.recipes.likelihoods import contrastive, crf, naive_bayes, partial_crf, semi_crf
from sidelight.recipes.margins import (
    arow,
    jlis,
    latent_svm,
    mira,
    one_against_rest,
    passive_aggressive,
    perceptron,
    self_training,
    semi_svm,
    structural_svm,
    transductive_svm,
)

AUTO = "auto"  # the name that leaves the choice of a learner to the evidence (`sidelight.choice`)
LEARNERS: dict[str, Entry] = {
    **margins.ENTRIES,
    **candidates.ENTRIES,
    **likelihoods.ENTRIES,
    **generative.ENTRIES,
    **constrained.ENTRIES,
}


def table() -> list[str]:
    """The learners as lines of a Markdown table: what each minimises, needs, and how it stops (thesis Table 2.2).

    >>> table()[0].startswith("| learner | learns from | minimises | inference |")
    True
    """
    head = ("learner", "learns from", "minimises", "inference", "step size to tune", "stops by")
    lines = [head, ("---",) * len(head)]
    lines += [(f"`{name}`", *entry[1:]) for name, entry in LEARNERS.items()]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def recipe_of(learner: str | Recipe) -> Recipe:
    """The recipe itself, or that of a name with its default options.

    >>> recipe_of("mms").name
    'mms'
    """
    if isinstance(learner, Recipe):
        return learner
    if not isinstance(learner, str) or learner not in LEARNERS:
        raise ValueError(f"learner is {shown(learner)}; there are {AUTO}, {', '.join(LEARNERS)}")
    return LEARNERS[learner].make()


__all__ = [
    "AUTO",
    "LEARNERS",
    "Entry",
    "Recipe",
    "arow",
    "cl_svm",
    "cllp",
    "cllp_as_printed",
    "codl",
    "codl_as_printed",
    "contrastive",
    "crf",
    "em",
    "hard_em",
    "hmm",
    "jlis",
    "latent_svm",
    "mira",
    "mms",
    "naive",
    "naive_bayes",
    "one_against_rest",
    "partial_crf",
    "passive_aggressive",
    "perceptron",
    "posterior_regularization",
    "recipe_of",
    "self_training",
    "semi_crf",
    "semi_svm",
    "structural_svm",
    "table",
    "transductive_svm",
    "unified_em",
]
