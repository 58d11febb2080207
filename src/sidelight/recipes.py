"""Every learner under its name in the literature.

A recipe is a learner with options; an estimator takes the name alone, `Tagger(learner="cllp")`, or the recipe,
`Tagger(learner=recipes.cllp(discount=3.0))`. `LEARNERS` lists them all. The class of a learner (`specs.learner`)
declares what it minimises, the inference it needs, whether a step size must be tuned, and how it stops.
"""

from __future__ import annotations

from sidelight.core.checks import shown
from sidelight.learners.all_labelings import ClSvm
from sidelight.learners.bases import BASES
from sidelight.learners.candidates import Cllp, CllpAsPrinted, Mms, Naive
from sidelight.learners.codl import Codl, CodlAsPrinted
from sidelight.learners.contrastive import Contrastive
from sidelight.learners.hmm import Em, HardEm, HiddenMarkov, UnifiedEm
from sidelight.learners.lclr import Lclr
from sidelight.learners.likelihood import Crf, PartialCrf, SemiCrf
from sidelight.learners.margin import Jlis, LatentSvm, SemiSvm, TransductiveSvm
from sidelight.learners.naive_bayes import NaiveBayes
from sidelight.learners.one_against_rest import OneAgainstRest
from sidelight.learners.online import OnlineArow, OnlineMira, PassiveAggressive
from sidelight.learners.perceptron import AveragedPerceptron
from sidelight.learners.posterior_regularization import PosteriorRegularization
from sidelight.learners.self_training import SelfTraining
from sidelight.learners.structural_svm import StructuralSvm
from sidelight.specs import LearnerSpec

AUTO = "auto"  # the learner is chosen by the evidence (`sidelight.choice`)
Recipe = LearnerSpec

jlis, lclr, structural_svm, latent_svm, transductive_svm = Jlis, Lclr, StructuralSvm, LatentSvm, TransductiveSvm
self_training, one_against_rest, semi_svm = SelfTraining, OneAgainstRest, SemiSvm
mira, passive_aggressive, arow, perceptron = OnlineMira, PassiveAggressive, OnlineArow, AveragedPerceptron
cllp, cllp_as_printed, mms, naive, cl_svm = Cllp, CllpAsPrinted, Mms, Naive, ClSvm
crf, partial_crf, contrastive, semi_crf, naive_bayes = Crf, PartialCrf, Contrastive, SemiCrf, NaiveBayes
hmm, em, hard_em, unified_em = HiddenMarkov, Em, HardEm, UnifiedEm
codl, codl_as_printed, posterior_regularization = Codl, CodlAsPrinted, PosteriorRegularization

LEARNERS: dict[str, type[LearnerSpec]] = {
    **BASES,
    **{one.name: one for one in (Codl, CodlAsPrinted, PosteriorRegularization)},
}


def table() -> list[str]:
    """The learners as rows of a Markdown table: objective, needs, and how each stops (thesis Table 2.2).

    >>> table()[0].startswith("| learner | learns from | minimises | inference |")
    True
    """
    head = ("learner", "learns from", "minimises", "inference", "step size to tune", "stops by")
    lines = [head, ("---",) * len(head)]
    lines += [(f"`{name}`", *learner.entry()) for name, learner in LEARNERS.items()]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def recipe_of(learner: str | LearnerSpec) -> LearnerSpec:
    """The recipe itself, or the recipe of a name with default options.

    >>> recipe_of("mms").name
    'mms'
    """
    if isinstance(learner, LearnerSpec):
        return learner
    if not isinstance(learner, str) or learner not in LEARNERS:
        raise ValueError(f"learner is {shown(learner)}; there are {AUTO}, {', '.join(LEARNERS)}")
    return LEARNERS[learner]()


__all__ = ["AUTO", "LEARNERS", "Recipe", "recipe_of", "table", *LEARNERS]
