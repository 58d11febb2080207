"""The evidence of one draw, by kind: labelled sentences, and the other evidence that a user may have.

Labelled sentences and raw inputs are disjoint; every kind has its own raw inputs, and "all" uses all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.evidence import Evidence, Gold, candidates, companion, gold, shuffled, unlabeled
from sidelight.experiments.strangers.corpora import StrangersCorpus
from sidelight.experiments.strangers.dictionaries import candidate_sets, dictionary_of
from sidelight.experiments.strangers.knowledge import functions_of, rules_of
from sidelight.experiments.strangers.spoiled import false_rule, half_random, half_wrong
from sidelight.rules import Rule
from sidelight.voting import votes

INDIRECT = 300  # raw inputs of each kind, where a corpus has as many
PLACES = ("dictionary", "companions", "votes", "unlabelled")  # whose raw inputs come in this order
GOLD = "gold"  # labelled sentences alone
KINDS = ("dictionary", "companions", "rules", "unlabelled", "votes", "all")
SPOILED = ("spoiled dictionary", "spoiled companions", "spoiled rules", "spoiled votes")


@dataclass(frozen=True)
class EvidenceOfKind:
    """The evidence and rules for an estimator."""

    evidence: list[Evidence]
    rules: tuple[Rule, ...] = ()
    labelled: list[Gold] = field(default_factory=list)


def given(corpus: StrangersCorpus, kind: str, *, size: int, draw: int, indirect: int = INDIRECT) -> EvidenceOfKind:
    """Labelled sentences of a draw with one kind of evidence, or all of them, or a spoiled one."""
    labelled = labelled_of(corpus, size=size, draw=draw)
    if kind == GOLD:
        return EvidenceOfKind(list(labelled), labelled=labelled)
    spoiled = kind.startswith("spoiled ")
    bare = kind.removeprefix("spoiled ")
    kinds = tuple(k for k in KINDS if k != "all") if bare == "all" else (bare,)
    raw = raw_inputs(corpus, draw=draw, indirect=indirect)
    evidence: list[Evidence] = list(labelled)
    rules: tuple[Rule, ...] = ()
    for each in kinds:
        if each == "rules":
            rules = rules_of(corpus.name)
            if spoiled:
                rules = (*rules, false_rule(corpus.labels, commonest(corpus, labelled)))
        else:
            evidence += indirect_evidence(corpus, each, raw[each], labelled, draw=draw, spoiled=spoiled)
    return EvidenceOfKind(evidence, rules, labelled)


def indirect_evidence(
    corpus: StrangersCorpus, kind: str, xs: list[Any], labelled: Sequence[Gold], *, draw: int, spoiled: bool = False
) -> Iterable[Evidence]:
    """One kind of evidence about raw inputs; labelling functions are tried on the labelled ones too."""
    if kind == "dictionary":
        dictionary = dictionary_of(corpus)
        if spoiled:
            dictionary = half_wrong(dictionary, seed=draw)
        return candidates(xs, candidate_sets(xs, dictionary))
    if kind == "companions":
        good, bad = (-1, +1) if spoiled else (+1, -1)
        return [*companion(xs, good), *companion(shuffled(xs, seed=draw), bad)]
    if kind == "unlabelled":
        return unlabeled(xs)
    functions = functions_of(corpus.name)
    if spoiled:
        functions = half_random(functions, corpus.labels, seed=draw)
    return votes(xs, functions, gold=labelled)


def labelled_of(corpus: StrangersCorpus, *, size: int, draw: int) -> list[Gold]:
    """So many labelled sentences; draws of the same number are nested."""
    order = np.random.default_rng([draw, 1]).permutation(len(corpus.pool.xs))[:size]
    return gold([corpus.pool.xs[i] for i in order], [corpus.pool.ys[i] for i in order])


def raw_inputs(corpus: StrangersCorpus, *, draw: int, indirect: int = INDIRECT) -> dict[str, list[Any]]:
    """Raw inputs for every kind, disjoint; fewer if the corpus has not as many."""
    count = min(indirect, len(corpus.raw) // len(PLACES))
    order = np.random.default_rng([draw, 2]).permutation(len(corpus.raw))
    return {
        kind: [corpus.raw[i] for i in order[place * count : (place + 1) * count]] for place, kind in enumerate(PLACES)
    }


def commonest(corpus: StrangersCorpus, labelled: Sequence[Gold]) -> str:
    """The label that most labelled tokens have."""
    labels = [label for piece in labelled for label in piece.y]
    return max(corpus.labels, key=labels.count)
