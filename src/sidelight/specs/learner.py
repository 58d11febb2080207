"""Declarations of learners, from which names, refusals, the command line and the documentation are derived.

A learner is a subclass: its options are fields (`specs.options`), and class attributes declare everything else. If
options change a declaration, override `needed`, `heeded` or `taken`. `make` turns the data of a fit into the training
loop.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Evidence, Unlabeled
from sidelight.rounds import Learner
from sidelight.specs.options import check_options
from sidelight.structures.structure import Need, OutputKind

Heed = Literal[
    "cost",  # costs of wrong labels, and class weights
    "loss",  # the kind of loss
    "prices",  # of kinds of evidence
    "states",  # hidden states of labels, which are completed
    "rules",  # in training, not only in prediction
    "rules_in_training",  # rules limit the outputs that it searches: it needs only best outputs
    "chunks",  # joint candidates of several tokens
]
WORDS = {"votes": "Voted"}  # kinds of evidence whose name differs from their class


@dataclass(frozen=True, kw_only=True)
class LearnerSpec:
    """A learner with its options; the first line of a learner's docstring describes it and names the paper."""

    name: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ("gold",)  # kinds of evidence
    ignores: ClassVar[tuple[str, ...]] = ()  # kinds of evidence that it accepts but does not learn from
    and_takes: ClassVar[str] = ""  # further text about evidence in the table
    needs: ClassVar[frozenset[Need]] = frozenset({Need.BEST})
    heeds: ClassVar[frozenset[Heed]] = frozenset({"cost", "prices"})
    kin: ClassVar[Mapping[str, str]] = MappingProxyType({})  # kind of evidence, or outputs -> learners for it
    minimises: ClassVar[str] = ""
    inference: ClassVar[str] = ""
    step_size: ClassVar[str] = "none"  # to be tuned
    stops: ClassVar[str] = ""
    no_partial_fit: ClassVar[str] = "use fit with warm_start"  # what to do instead; empty if it supports partial_fit
    usual_prices: ClassVar[Mapping[str, float]] = MappingProxyType({})  # unlike those of other learners
    sums_losses: ClassVar[bool] = False  # minimises losses of whole outputs, which other objectives can add up
    soft_answers: ClassVar[bool] = False  # companion decisions use a soft maximum
    plain: ClassVar[str] = ""  # its `plain_form`
    beside: ClassVar[tuple[str, ...]] = ("unlabeled",)  # kinds of evidence with which it is more than its plain form
    blocks: ClassVar[bool] = False  # can process data in files, block by block
    about_rules: ClassVar[bool] = False  # it is rarely useful without rules
    alone: ClassVar[str] = "has not been spread over workers"  # why it runs in one process only; empty if it does not
    compile_seconds: ClassVar[float] = 10.0  # CPU seconds to compile its kernels (benchmarks/compile_times.py)

    def __post_init__(self) -> None:
        check_options(self)
        self.check()

    def check(self) -> None:
        """Raise ValueError for options that cannot be combined."""

    def make(self, data: Any) -> Learner:
        """The training loop for a `FitData`, before its first round."""
        raise NotImplementedError(f"no learner is made from {type(self).__name__}")

    def needed(self) -> Mapping[Need, str]:
        """What it needs of outputs with these options; each with an alternative, if there is one."""
        return dict.fromkeys(self.needs, "")

    def heeded(self) -> frozenset[Heed]:
        """The settings that it uses with these options."""
        return self.heeds

    def needs_memory(self) -> str | None:
        """Why it cannot process data block by block with these options, although it can with others; else None."""
        return None

    def taken(self) -> tuple[str, ...]:
        """The kinds of evidence that it accepts with these options."""
        return (*self.takes, *self.ignores)

    def relative(self, kind: str) -> str:
        """The nearest learners that take evidence of a kind."""
        return self.kin.get(kind, "jlis")

    def stays(self) -> str:
        """Why it cannot run on workers; empty if it can."""
        return self.alone

    @property
    def called(self) -> str:
        """Its name for messages, with the learner that it drives."""
        return self.name

    @property
    def plain_form(self) -> str:
        """Its name with Gold alone and without hidden states; empty if this is its own name."""
        return self.plain

    @property
    def emits(self) -> bool:
        """Whether it models the words of inputs, and needs no other features."""
        return False

    @property
    def prices_gold_alone(self) -> bool:
        """Whether it weights evidence other than Gold by an option of its own, and not by prices."""
        return False

    @property
    def longest(self) -> int | None:
        """The maximum tokens of a segment, if set."""
        return None

    def stored_options(self) -> Mapping[str, Any]:
        """The options that a model of segments stores."""
        return {}

    @property
    def seconds_to_compile(self) -> float:
        """The approximate time to compile its kernels, if those of features and of decoding are already compiled."""
        return self.compile_seconds

    @classmethod
    def line(cls) -> str:
        """The first line of its description."""
        return (cls.__doc__ or "").split("\n")[0].rstrip(".")

    @classmethod
    def described(cls) -> str:
        """Its description and its options."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def paper(cls) -> str:
        """Its paper; empty if there is none."""
        match = re.search(r" \(([^()]*)\)$", cls.line())
        return "" if match is None else match[1]

    @classmethod
    def learns_from(cls) -> str:
        """A description of the evidence that it takes."""
        text = ", ".join(in_words(kind) for kind in cls.takes) + cls.and_takes
        return text + "".join(f"; {in_words(kind)} is ignored" for kind in cls.ignores)

    @classmethod
    def entry(cls) -> tuple[str, ...]:
        """Its row in the table of learners (thesis Table 2.2)."""
        return cls.learns_from(), cls.minimises, cls.inference, cls.step_size, cls.stops


def in_words(kind: str) -> str:
    """A kind of evidence by the name of its class.

    >>> in_words("votes"), in_words("gold")
    ('Voted', 'Gold')
    """
    return WORDS.get(kind, kind.capitalize())


def refuse(spec: LearnerSpec, outputs: OutputKind, *, costs: bool, states: bool, ruled: bool) -> None:
    """Raise ValueError if a learner needs something that these outputs do not have, or would ignore a setting: costs or
    class weights, several states of a label, rules in training.
    """
    name = spec.name
    for need, remedy in spec.needed().items():
        if need not in outputs.has:
            instead = remedy or f"use {spec.kin.get(outputs.name, outputs.instead)}"
            raise ValueError(f"{spec.called} needs {need.value}, which {outputs.name} do not have; {instead}")
    heeded = spec.heeded()
    if costs and "cost" not in heeded:
        raise ValueError(f"{spec.called} knows no cost and no class_weight; give weights to the evidence, or use jlis")
    if states and "states" not in heeded:
        raise ValueError(f"the {name} has no hidden states; use latent_svm or partial_crf")
    if ruled and "rules_in_training" not in heeded:
        problem = f"rules_in is 'training', and {name} needs more than the best output"
        remedy = "use jlis, structural_svm, latent_svm or perceptron, or give rules_in='prediction'"
        raise ValueError(f"{problem}; {remedy}")


IN_BLOCKS = "crf, partial_crf, perceptron, hmm, em, hard_em or unified_em"


def refuse_stored(spec: LearnerSpec, kinds: Sequence[str], settings: Any) -> None:
    """Raise ValueError or `DataError`, by name, for what cannot be used with data in files."""
    if not spec.blocks:
        raise ValueError(f"{spec.called} needs all data in memory; use {IN_BLOCKS}, or train in memory")
    if (why := spec.needs_memory()) is not None:
        raise ValueError(why)
    for kind in kinds:
        if kind not in spec.taken():
            remedy = f"use the learner {spec.relative(kind)} in memory, or leave it out"
            raise DataError(f"the learner {spec.name} does not learn from {in_words(kind)}", remedy=remedy)
    for name, there in (
        ("states", settings.states is not None),
        ("rules_in='training'", settings.ruled_training),
        ("learning with rules", bool(settings.rules) and "rules" in spec.heeded()),
        ("warm_start", settings.warm_start),
        ("order=2", settings.order == 2),
    ):
        if there:
            raise ValueError(f"{name} needs all data in memory; leave it out, or train in memory")
    if settings.output_kind.name not in ("chains", "classes"):
        raise ValueError("segments and other structures need all data in memory; use a Tagger or a Classifier")


def refuse_evidence(
    spec: LearnerSpec, evidence: Sequence[Evidence], kinds: Sequence[str], *, chunks: bool, go_on: bool
) -> None:
    """Raise `DataError` for the first piece that a learner cannot use: its kind, its rules, or candidates of chunks.
    Raise ValueError if training should continue, but the learner would forget its earlier state.
    """
    name, accepted, heeded = spec.name, spec.taken(), spec.heeded()
    for i, (piece, kind) in enumerate(zip(evidence, kinds if "rules" not in heeded else ())):
        if kind == "unlabeled" and isinstance(piece, Unlabeled) and piece.rules:
            names = ", ".join(rule.name for rule in piece.rules)
            problem = f"the learner {name} does not look at the rules of an input ({names})"
            remedy = "use codl, posterior_regularization or unified_em, or give the rules to predict"
            raise trouble(piece, i, problem=problem, remedy=remedy)
    for i, (piece, kind) in enumerate(zip(evidence, kinds)):
        if kind not in accepted:
            *first, last = map(in_words, accepted)
            known = f"{', '.join(first)} and {last}" if first else last
            remedy = f"use the learner {spec.relative(kind)}, or leave it out"
            if kind == "votes":
                remedy = "use the learner partial_crf, or give majority() or candidates() of the votes instead"
            raise trouble(piece, i, problem=f"the learner {name} learns from {known} only", remedy=remedy)
        if chunks and getattr(piece, "chunks", None) and "chunks" not in heeded:
            problem = f"{name} takes candidates of single tokens, and here are some of chunks"
            raise trouble(piece, i, problem=problem, remedy="use cllp or mms, or leave chunks out")
    if go_on and spec.no_partial_fit:
        raise ValueError(f"{name} has no partial_fit; {spec.no_partial_fit}")
