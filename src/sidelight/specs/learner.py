"""What a learner says of itself; names, refusals, the command line and the pages of the docs are made from it.

A learner is a subclass: its options are fields (`specs.options`), what else there is to know of it stands in the class.
Where options change that, `needed`, `heeded` and `taken` say so. `make` is the way from a fit's data to the loop that
learns.
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
    "cost",  # what a wrong label costs, and class weights
    "loss",  # the hinge or its square, as chosen
    "prices",  # of kinds of evidence
    "states",  # hidden ones of labels, which are completed
    "rules",  # in learning, and not in prediction alone
    "rules_in_training",  # rules limit the outputs that it looks for: it asks for best outputs alone
    "chunks",  # candidates of several tokens together
]
WORDS = {"votes": "Voted"}  # kinds of evidence that are not called as their class is


@dataclass(frozen=True, kw_only=True)
class LearnerSpec:
    """A learner with its options; the docstring of a learner says what it is and names the paper in its first line."""

    name: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ("gold",)  # kinds of evidence
    ignores: ClassVar[tuple[str, ...]] = ()  # kinds of evidence that it takes, and does not learn from
    and_takes: ClassVar[str] = ""  # what else the table tells of evidence
    needs: ClassVar[frozenset[Need]] = frozenset({Need.BEST})
    heeds: ClassVar[frozenset[Heed]] = frozenset({"cost", "prices"})
    kin: ClassVar[Mapping[str, str]] = MappingProxyType({})  # kind of evidence, or outputs, to learners for it
    minimises: ClassVar[str] = ""
    inference: ClassVar[str] = ""
    step_size: ClassVar[str] = "none"  # to be tuned
    stops: ClassVar[str] = ""
    no_partial_fit: ClassVar[str] = "use fit with warm_start"  # what to do instead; empty where there is one
    usual_prices: ClassVar[Mapping[str, float]] = MappingProxyType({})  # where they are not those of all learners
    sums_losses: ClassVar[bool] = False  # minimises losses of whole outputs, which another objective can add up
    soft_answers: ClassVar[bool] = False  # companion answers are judged by a soft maximum
    plain: ClassVar[str] = ""  # its `plain_form`
    beside: ClassVar[tuple[str, ...]] = ("unlabeled",)  # kinds of evidence that make it more than that
    blocks: ClassVar[bool] = False  # goes over data that stays in files, block by block
    about_rules: ClassVar[bool] = False  # without rules there is little reason to use it
    alone: ClassVar[str] = "has not been spread over workers"  # why it stays in one process, or nothing
    compile_seconds: ClassVar[float] = 5.0  # of CPU, of its kernels (benchmarks/compile_times.py)

    def __post_init__(self) -> None:
        check_options(self)
        self.check()

    def check(self) -> None:
        """Raise ValueError for options that do not go together."""

    def make(self, data: Any) -> Learner:
        """The loop that learns, before its first round, from a `FitData`."""
        raise NotImplementedError(f"no learner is made from {type(self).__name__}")

    def needed(self) -> Mapping[Need, str]:
        """What it asks of outputs, with these options; each with what to do without it, or nothing."""
        return dict.fromkeys(self.needs, "")

    def heeded(self) -> frozenset[Heed]:
        """What it heeds with these options."""
        return self.heeds

    def needs_memory(self) -> str | None:
        """Why it cannot go over data block by block with these options, though others can; else None."""
        return None

    def taken(self) -> tuple[str, ...]:
        """The kinds of evidence that it can be given, with these options."""
        return (*self.takes, *self.ignores)

    def relative(self, kind: str) -> str:
        """The nearest learners that take evidence of a kind."""
        return self.kin.get(kind, "jlis")

    def stays(self) -> str:
        """Why it cannot be spread over workers, or nothing where it can."""
        return self.alone

    @property
    def called(self) -> str:
        """It in words, with the learner that it drives."""
        return self.name

    @property
    def plain_form(self) -> str:
        """What it is where there is Gold alone, and no hidden states; nothing where it is itself."""
        return self.plain

    @property
    def emits(self) -> bool:
        """Whether it models the words of inputs, and wants no features but these."""
        return False

    @property
    def prices_gold_alone(self) -> bool:
        """Whether it weighs other evidence than Gold by a share of its own, and not by prices."""
        return False

    @property
    def longest(self) -> int | None:
        """The most tokens of a segment, if this is set."""
        return None

    def told(self) -> Mapping[str, Any]:
        """What a model of segments keeps of its options."""
        return {}

    @property
    def seconds_to_compile(self) -> float:
        """About how long its kernels take to compile, where only those of features and of decoding are there."""
        return self.compile_seconds

    @classmethod
    def line(cls) -> str:
        """What it is, in one line."""
        return (cls.__doc__ or "").split("\n")[0].rstrip(".")

    @classmethod
    def described(cls) -> str:
        """What it is and what its options do."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def paper(cls) -> str:
        """Where it is from, or nothing."""
        match = re.search(r" \(([^()]*)\)$", cls.line())
        return "" if match is None else match[1]

    @classmethod
    def learns_from(cls) -> str:
        """The evidence that it takes, in words."""
        said = ", ".join(in_words(kind) for kind in cls.takes) + cls.and_takes
        return said + "".join(f"; {in_words(kind)} is ignored" for kind in cls.ignores)

    @classmethod
    def entry(cls) -> tuple[str, ...]:
        """Its line in the table of learners (thesis Table 2.2)."""
        return cls.learns_from(), cls.minimises, cls.inference, cls.step_size, cls.stops


def in_words(kind: str) -> str:
    """A kind of evidence by the name of its class.

    >>> in_words("votes"), in_words("gold")
    ('Voted', 'Gold')
    """
    return WORDS.get(kind, kind.capitalize())


def refuse(spec: LearnerSpec, outputs: OutputKind, *, costs: bool, states: bool, ruled: bool) -> None:
    """Raise ValueError where a learner needs what these outputs do not have, or would not look at what is set: costs or
    class weights, several states of a label, rules that limit outputs in training."""
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
        problem = f"rules_in is 'training', and {name} asks for more than the best output"
        remedy = "use jlis, structural_svm, latent_svm or perceptron, or give rules_in='prediction'"
        raise ValueError(f"{problem}; {remedy}")


IN_BLOCKS = "crf, partial_crf, perceptron, hmm, em, hard_em or unified_em"


def refuse_stored(spec: LearnerSpec, kinds: Sequence[str], settings: Any) -> None:
    """Raise ValueError or `DataError` for what cannot go over data that stays in files, by its name."""
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
    """Raise `DataError` at the first piece that a learner cannot use: by its kind, its rules, or candidates of chunks;
    ValueError where it would forget what it knows, and is to go on."""
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
