"""What a person brings to a fit, read off the evidence and the parameters of the estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.choice.plan import RULES, TEXT, WITH_LOSS, Offer
from sidelight.evidence import Companion, Evidence, Gold, Unlabeled
from sidelight.features import Templates, features_for, with_classes, word_classes

LEAST_TEXT = 1000  # tokens without full labels from which on classes of words are learned


def offer_of(evidence: Sequence[Evidence], params: Mapping[str, Any], *, sequences: bool) -> Offer:
    """The offer of evidence to an estimator with these parameters."""
    kinds = {piece.kind for piece in evidence if not isinstance(piece, Gold)}
    if params["rules"]:
        kinds.add(RULES)
    if params["features"] is None and sequences and _has_text(evidence):
        kinds.add(TEXT)
    usual = {"loss": "squared_hinge", "cost": None, "class_weight": None, "random_ties": False}
    ruled = bool(params["rules"]) and params["rules_in"] == "training"
    return Offer(
        frozenset(kinds),
        gold=any(isinstance(piece, Gold) for piece in evidence),
        input_rules=any(isinstance(piece, Unlabeled) and piece.rules for piece in evidence),
        margins=ruled or any(params[name] != value for name, value in usual.items()),
        hidden=params["states"] is not None,
        sequences=sequences,
        prices=tuple((params["prices"] or {}).items()),
    )


def classed_features(evidence: Sequence[Evidence], *, seed: int) -> Templates:
    """The usual features of words, with classes learned from the text of all inputs that are as they should be."""
    sentences = [piece.x for piece in evidence if not (isinstance(piece, Companion) and piece.z < 0)]
    usual = features_for(sentences)
    assert isinstance(usual, Templates)
    return with_classes(usual, word_classes(sentences, seed=seed))


def _has_text(evidence: Sequence[Evidence]) -> bool:
    """Whether there is text enough beside Gold, and tokens are strings or columns of them."""
    if not isinstance(features_for([evidence[0].x]), Templates):
        return False
    kinds = (*WITH_LOSS, "unlabeled")
    good = (piece for piece in evidence if piece.kind in kinds and not (isinstance(piece, Companion) and piece.z < 0))
    return sum(len(piece.x) for piece in good) >= LEAST_TEXT
