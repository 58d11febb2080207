"""Plans for learning: the fixed choice for the available kinds of evidence, and its alternatives.

The fixed choice is one likelihood over all evidence with a loss (Gold, partial and candidate labels, votes, companion
answers), rules in prediction, and word classes from all text (`features.word_classes`). The alternatives use less: a
kind is left out, indirect evidence gets lower prices, or Gold is used alone. With rules and unlabelled inputs,
constraint-driven learning over the same CRF is a further alternative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidelight import recipes
from sidelight.evidence import Companion, Evidence, Gold, Unlabeled
from sidelight.features import Templates, features_for, with_classes, word_classes
from sidelight.recipes import Recipe
from sidelight.specs.settings import DEFAULT_PRICES

RULES, TEXT = "rules", "text"
WITH_LOSS = ("partial", "candidates", "votes", "companion")  # kinds of evidence that a likelihood has terms for
WORDS = {
    "partial": "partial labels",
    "candidates": "candidate labels",
    "votes": "votes",
    "companion": "companion answers",
    "unlabeled": "unlabelled inputs",
    RULES: "rules",
    TEXT: "word classes from the text",
}
LOWER = 0.1  # factor of the usual price of indirect evidence
GOLD = 10.0  # price of Gold in a likelihood: better than 1 on all corpora tried, most of all with few labels


@dataclass(frozen=True, slots=True)
class Offer:
    """The evidence and parameters of a fit on which the choice of a learner depends."""

    kinds: frozenset[str]  # other than Gold, with `RULES` of the estimator, and `TEXT` for word classes
    gold: bool = True
    input_rules: bool = False  # unlabelled inputs have their own rules
    margins: bool = False  # costs or a loss are set, which only margin learners use
    hidden: bool = False  # labels have states
    sequences: bool = True
    prices: tuple[tuple[str, float], ...] = ()  # as set by the user


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to learn: a learner, the kinds of evidence besides Gold, and their prices."""

    learner: Recipe
    kinds: frozenset[str]
    prices: tuple[tuple[str, float], ...] = ()
    gold: bool = True  # whether there is any

    def takes(self, kind: str) -> bool:
        """Whether the plan learns from a kind of evidence."""
        return kind == "gold" or kind in self.kinds

    def __str__(self) -> str:
        """The plan in words.

        >>> print(Plan(recipes.crf(), frozenset({"text", "rules"})))
        crf from gold, rules, word classes from the text
        """
        parts = ["gold"] * self.gold + [WORDS[kind] for kind in WORDS if kind in self.kinds]
        prices = [f"{kind} {price:g}" for kind, price in self.prices if (kind, price) != ("gold", GOLD)]
        return f"{self.learner.name} from {', '.join(parts)}" + (f" (prices: {', '.join(prices)})" if prices else "")


def in_brief(plan: Plan, first: Plan) -> str:
    """How a plan differs from the first one, in words.

    >>> first = fixed_plan(Offer(frozenset({"candidates", "rules"})))
    >>> for one in (first, *alternatives(Offer(first.kinds), first)):
    ...     print(in_brief(one, first))
    the first: partial_crf
    gold alone, by crf
    without candidate labels, by crf
    without rules
    candidate labels at a price of 0.1
    """
    if plan == first:
        return f"the first: {first.learner.name}"
    gone, more = first.kinds - plan.kinds, plan.kinds - first.kinds
    parts = [f"without {_listed(gone)}"] if gone else []
    parts = ["gold alone"] if plan.gold and not plan.kinds else parts
    parts += [f"with {_listed(more)}"] if more else []
    before = dict(first.prices)
    others = [(kind, price) for kind, price in plan.prices if before.get(kind) != price]
    parts += [f"{WORDS.get(kind, kind)} at a price of {price:g}" for kind, price in others]
    parts += [f"by {plan.learner.name}"] if plan.learner.name != first.learner.name else []
    return ", ".join(parts) or str(plan)


def _listed(kinds: frozenset[str]) -> str:
    return " and ".join(WORDS[kind] for kind in WORDS if kind in kinds)


def fixed_plan(offer: Offer) -> Plan:
    """The plan that is chosen unless another one is clearly better.

    >>> print(fixed_plan(Offer(frozenset({"candidates", "text"}))))
    partial_crf from gold, candidate labels, word classes from the text
    >>> print(fixed_plan(Offer(frozenset())))
    crf from gold
    """
    return _plan(offer, offer.kinds, offer.prices)


def alternatives(offer: Offer, plan: Plan) -> list[Plan]:
    """Plans that differ from this one in a single respect, and Gold alone.

    >>> offer = Offer(frozenset({"candidates", "rules"}))
    >>> for one in alternatives(offer, fixed_plan(offer)):
    ...     print(one)
    crf from gold
    crf from gold, rules
    partial_crf from gold, candidate labels
    partial_crf from gold, candidate labels, rules (prices: candidates 0.1)
    """
    plans = [gold_alone(offer)]
    plans += [without(offer, plan, kind) for kind in WORDS if kind in plan.kinds]
    plans += _cheaper(plan)
    if RULES in plan.kinds and "unlabeled" in offer.kinds and not plan.kinds & {"votes", "companion"}:
        base = recipes.crf() if plan.learner.name == "crf" else plan.learner
        if base.name in ("crf", "partial_crf"):
            codl = recipes.codl(base=recipes.crf(), beta=None)
            plans.append(replace(plan, learner=codl, kinds=plan.kinds | {"unlabeled"}))
    seen = {plan}
    return [one for one in plans if not (one in seen or seen.add(one))]  # type: ignore[func-returns-value]


def gold_alone(offer: Offer) -> Plan:
    """The plan that uses only Gold."""
    return _plan(offer, frozenset(), offer.prices)


def of_kinds(offer: Offer, kinds: frozenset[str]) -> Plan:
    """The plan that uses Gold and these other kinds of evidence."""
    return _plan(offer, kinds, offer.prices)


def without(offer: Offer, plan: Plan, kind: str) -> Plan:
    """The same plan without a kind of evidence."""
    return _plan(offer, plan.kinds - {kind}, plan.prices)


def left_out(offer: Offer, plan: Plan) -> tuple[str, ...]:
    """The offered kinds that the plan does not learn from; unlabelled inputs are used if their text is.

    >>> left_out(Offer(frozenset({"unlabeled", "votes"})), fixed_plan(Offer(frozenset({"votes"}))))
    ('unlabeled',)
    """
    used = plan.kinds | ({"unlabeled"} if TEXT in plan.kinds else set())
    return tuple(kind for kind in WORDS if kind in offer.kinds and kind not in used)


def unheard(offer: Offer, choice: Plan) -> list[str]:
    """Descriptions of evidence that neither the learner of the fixed choice nor the chosen one can use.

    >>> offer = Offer(frozenset({"unlabeled", "votes"}))
    >>> unheard(offer, fixed_plan(offer))
    ['left out: partial_crf does not learn from unlabelled inputs']
    """
    fixed = fixed_plan(offer)
    kinds = frozenset(left_out(offer, fixed)) & frozenset(left_out(offer, choice))
    return [f"left out: {fixed.learner.name} does not learn from {_listed(kinds)}"] if kinds else []


def _cheaper(plan: Plan) -> list[Plan]:
    """Lower prices for kinds with a loss, if the user set none."""
    prices = dict(plan.prices)
    open_prices = [kind for kind in WITH_LOSS if kind in plan.kinds and kind not in prices]
    if not open_prices:
        return []
    usual = {**DEFAULT_PRICES, **recipes.crf.usual_prices}
    lower = {kind: LOWER * usual[kind] for kind in open_prices}
    return [replace(plan, prices=tuple(sorted({**prices, **lower}.items())))]


def _plan(offer: Offer, kinds: frozenset[str], prices: tuple[tuple[str, float], ...]) -> Plan:
    """The plan for these kinds, restricted to those that its learner can use, at their prices."""
    kinds = _heard(offer, kinds)
    learner = _learner(offer, kinds)
    kept_prices = {kind: price for kind, price in prices if kind == "gold" or kind in kinds}
    if offer.gold and learner.name != "jlis":
        kept_prices.setdefault("gold", GOLD)
    return Plan(learner, kinds, tuple(sorted(kept_prices.items())), offer.gold)


def _heard(offer: Offer, kinds: frozenset[str]) -> frozenset[str]:
    """The kinds that their learner can use."""
    if not offer.gold and not offer.margins and not kinds & set(WITH_LOSS):
        kinds = kinds - {TEXT}  # HMMs emit words
    if offer.margins or not offer.gold or offer.input_rules:
        return kinds
    return kinds - {"unlabeled"}


def _learner(offer: Offer, kinds: frozenset[str]) -> Recipe:
    """The learner for kinds of evidence."""
    losses = kinds & set(WITH_LOSS)
    if offer.margins:
        return recipes.jlis()
    if offer.input_rules and "unlabeled" in kinds:
        if losses & {"votes", "companion"}:
            return recipes.posterior_regularization(base="crf")
        return recipes.codl(base="crf", beta=None)
    if not offer.gold and not losses:
        return recipes.posterior_regularization() if RULES in kinds else recipes.em()
    if not offer.gold and losses == {"companion"}:
        return recipes.jlis()
    return recipes.partial_crf() if losses or offer.hidden else recipes.crf()


LEAST_TEXT = 1000  # number of tokens without full labels from which word classes are learned


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
    """The standard features of words, with classes learned from the text of all valid inputs."""
    sentences = [piece.x for piece in evidence if not (isinstance(piece, Companion) and piece.z < 0)]
    usual = features_for(sentences)
    assert isinstance(usual, Templates)
    return with_classes(usual, word_classes(sentences, seed=seed))


def _has_text(evidence: Sequence[Evidence]) -> bool:
    """Whether there is enough text besides Gold, and all tokens are of one kind: strings, or columns of strings."""
    if not isinstance(features_for([piece.x for piece in evidence]), Templates):
        return False
    kinds = (*WITH_LOSS, "unlabeled")
    good = (piece for piece in evidence if piece.kind in kinds and not (isinstance(piece, Companion) and piece.z < 0))
    return sum(len(piece.x) for piece in good) >= LEAST_TEXT
