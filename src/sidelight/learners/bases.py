"""Learners that others can drive, by their names: all that are not about rules themselves."""

from __future__ import annotations

from typing import Any

from sidelight.learners.all_labelings import ClSvm
from sidelight.learners.candidates import Cllp, CllpAsPrinted, Mms, Naive
from sidelight.learners.contrastive import Contrastive
from sidelight.learners.hmm import Em, HardEm, HiddenMarkov, HmmSpec, UnifiedEm
from sidelight.learners.lclr import Lclr
from sidelight.learners.likelihood import Crf, PartialCrf, SemiCrf
from sidelight.learners.margin import Jlis, LatentSvm, SemiSvm, TransductiveSvm
from sidelight.learners.naive_bayes import NaiveBayes
from sidelight.learners.one_against_rest import OneAgainstRest
from sidelight.learners.online import OnlineArow, OnlineMira, PassiveAggressive
from sidelight.learners.perceptron import AveragedPerceptron
from sidelight.learners.self_training import SelfTraining
from sidelight.learners.structural_svm import StructuralSvm
from sidelight.specs import LearnerSpec

_MARGINS = Jlis, StructuralSvm, LatentSvm, TransductiveSvm, SelfTraining, OneAgainstRest, SemiSvm, Lclr
_ONLINE = OnlineMira, PassiveAggressive, OnlineArow, AveragedPerceptron
_CANDIDATES = Cllp, CllpAsPrinted, Mms, Naive, ClSvm
_PROBABILITIES = Crf, PartialCrf, Contrastive, SemiCrf, NaiveBayes, HiddenMarkov, Em, HardEm, UnifiedEm
BASES: dict[str, type[LearnerSpec]] = {one.name: one for one in (*_MARGINS, *_ONLINE, *_CANDIDATES, *_PROBABILITIES)}


def base_of(base: Any, name: str) -> LearnerSpec:
    """A base with its options; raises ValueError if it has a beta, which is that of the learner over it."""
    if isinstance(base, LearnerSpec):
        own = base.em().beta if isinstance(base, HmmSpec) else None
        if own is not None:
            raise ValueError(f"the base {base.name} has a beta of {own}; give beta to {name} instead")
        return base
    if not isinstance(base, str) or base not in BASES:
        raise ValueError(f"the base is {base!r}; there are {', '.join(BASES)}")
    return BASES[base]()
