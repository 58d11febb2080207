"""What learners may ask of the outputs of a structure, and what each structure has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Need(Enum):
    """Something that a learner asks for, in words."""

    BEST = "the best output"
    SUMS = "sums over outputs"
    TIES = "random ties"
    TOKENS = "labels of single tokens"
    TOKEN_MARGINS = "the best outputs of every label of a token"
    LISTS = "a list of all candidate outputs"
    NEIGHBOURS = "neighbours of an output"
    SWAPS = "sums over swapped tokens"
    GENERATIVE = "a generative model"
    COMPLETION = "completion under rules"
    BELIEFS = "beliefs under rules"
    SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class OutputKind:
    """The outputs of a structure, in words, with what they have."""

    name: str  # plural
    has: frozenset[Need]
    instead: str  # learners that they have all for


_ALL = frozenset(Need) - {Need.SEGMENTS}
_FEW = frozenset({Need.BEST, Need.SUMS})

CHAINS = OutputKind("chains", _ALL, "crf or jlis")
SECOND_ORDER = OutputKind(
    "chains of order 2",
    _ALL - {Need.TOKENS, Need.TOKEN_MARGINS, Need.SWAPS, Need.BELIEFS},
    "jlis or structural_svm",
)
CLASSES = OutputKind("classes", _ALL - {Need.GENERATIVE}, "crf or jlis")
SEGMENTS = OutputKind("segments", _FEW | {Need.COMPLETION, Need.SEGMENTS}, "semi_crf or semi_svm")
VARIABLES = OutputKind(
    "variables",
    _FEW | {Need.TIES, Need.COMPLETION},
    "jlis, structural_svm, latent_svm, transductive_svm, cllp, mms, perceptron, crf or partial_crf",
)
