"""All that a learner refuses: outputs that lack what it needs, settings and evidence that mean nothing to it."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.data.checks import trouble
from sidelight.evidence import Evidence, Unlabeled
from sidelight.specs.learner import LearnerSpec, in_words
from sidelight.structures.output_kind import OutputKind


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


def refuse_evidence(
    spec: LearnerSpec, evidence: Sequence[Evidence], kinds: Sequence[str], *, chunks: bool, go_on: bool
) -> None:
    """Raise `DataError` at the first piece that a learner cannot use: by its kind, its rules, or candidates of chunks;
    ValueError where it would forget what it knows, and is to go on."""
    name, taken, heeded = spec.name, spec.taken(), spec.heeded()
    for i, (piece, kind) in enumerate(zip(evidence, kinds if "rules" not in heeded else ())):
        if kind == "unlabeled" and isinstance(piece, Unlabeled) and piece.rules:
            names = ", ".join(rule.name for rule in piece.rules)
            problem = f"the learner {name} does not look at the rules of an input ({names})"
            remedy = "use codl, posterior_regularization or unified_em, or give the rules to predict"
            raise trouble(piece, i, problem=problem, remedy=remedy)
    for i, (piece, kind) in enumerate(zip(evidence, kinds)):
        if kind not in taken:
            *first, last = map(in_words, taken)
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
