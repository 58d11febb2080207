"""The report of an automatic choice, and each plan that it tried as a separate estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Evidence

DOUBTFUL = "helps, some doubtful"  # votes that help, with functions named that seem wrong
USELESS = ("harms", "no difference", "left out", DOUBTFUL)
KIND_OF = {"dictionary": "candidates", "companions": "companion", "rules": "rules", "votes": "votes"}


def chosen(tagger: Tagger) -> str:
    """The plan that was chosen, in words."""
    return str(tagger.choice_.chosen)


def verdicts(tagger: Tagger) -> dict[str, str]:
    """The report's verdict on every kind of evidence; a kind that was left out without a verdict is "left out"."""
    verdict_of = {verdict.kind: verdict.verdict for verdict in tagger.choice_.kinds}
    if tagger.choice_.false_rules:
        verdict_of["rules"] = "left out"
    if tagger.choice_.wrong_functions:
        verdict_of["votes"] = "left out"
    if tagger.choice_.wrong_candidates:
        verdict_of["candidates"] = "left out"
    if tagger.choice_.wrong_companions:
        verdict_of["companion"] = "left out"
    if tagger.choice_.doubtful_functions and verdict_of.get("votes") == "helps":
        verdict_of["votes"] = DOUBTFUL
    return {**dict.fromkeys(tagger.choice_.left_out, "left out"), **verdict_of}


def names_as_useless(verdict_of: dict[str, str], kind: str) -> bool:
    """Whether a report says that a kind of evidence, or part of it, does not help, or harms.

    >>> names_as_useless({"candidates": "harms"}, "dictionary"), names_as_useless({"rules": "helps"}, "rules")
    (True, False)
    """
    return verdict_of.get(KIND_OF[kind], "helps") in USELESS


def alternatives(tagger: Tagger, evidence: Sequence[Evidence]) -> Iterator[tuple[str, Tagger, list[Evidence]]]:
    """Every plan that was tried and not chosen: its name, an unfitted estimator, and the evidence that it takes."""
    choice = tagger.choice_
    plans = [one.plan for one in choice.candidates if one.failure is None and one.plan != choice.chosen]
    if not plans:
        return
    trials = tagger._trials(list(evidence))
    for plan in plans:
        other = Tagger(**{**tagger.get_params(deep=False), **trials.params(plan)})
        yield str(plan), other, [piece for piece in trials.evidence.evidence if plan.takes(piece.kind)]
