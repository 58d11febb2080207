"""The guard: the fixed choice is used unless another plan is clearly better, by `ERRORS` paired standard errors.

Plans are tried on the user's Gold by cross-validation; indirect evidence is in every training fold and never in the
held-out one. The guard is strict because the best of many noisy scores is often best by chance, and because the fixed
choice is usually good. After a move, the neighbours of the new plan are tried. With validation data, each plan is
fitted once and scored on it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sidelight.choice.held_out import FEWEST, FOLDS, Block, blocks, label_counts
from sidelight.choice.plan import (
    WORDS,
    Offer,
    Plan,
    alternatives,
    fixed_plan,
    gold_alone,
    in_brief,
    left_out,
    unheard,
    without,
)
from sidelight.choice.race import FitAndPredict, Race, Told, tokens_in
from sidelight.choice.report import Candidate, ChoiceReport, KindVerdict
from sidelight.evidence import Evidence, Gold
from sidelight.parallel.place import Place

ERRORS = 1.5  # paired standard errors by which another plan must be ahead
MANY, MANY_ERRORS = 5, 2.0  # with this many alternatives: the best of many is more often ahead by chance
PRICE_ERRORS = 1.0  # the same for lower prices of the same evidence, which are less risky
LEVEL = 0.5  # standard errors within which fewer kinds of evidence are as good as more
MOVES = 3  # maximum number of moves away from the fixed choice
FITS = 20.0  # budget of the guard, in fits of the fixed choice
FOLD_SHARE = 0.5  # cost of a fit on a fold relative to a full fit: fewer rounds
LARGE = 1000  # number of labelled inputs from which the guard uses a sample
LARGE_FITS = 0.35  # its budget then
FEWEST_SAMPLED = 60
MOST_INDIRECT = 12_000  # maximum tokens of evidence other than Gold in a fold

Piece = TypeVar("Piece", bound=Evidence)


@dataclass(frozen=True, slots=True)
class Question:
    """The data for a choice."""

    offer: Offer
    evidence: Sequence[Evidence]
    metric: str
    sequences: bool
    seed: int
    n_jobs: int | None
    validation: Sequence[Gold] | None = None
    place: Place | None = None


def choose(question: Question, fit_and_predict: FitAndPredict, *, progress: Told | None = None) -> ChoiceReport:
    """The chosen plan, with the reasons."""
    began = time.perf_counter()
    offer = question.offer
    fixed = fixed_plan(offer)
    gold = [piece for piece in question.evidence if isinstance(piece, Gold)]
    rest = [piece for piece in question.evidence if not isinstance(piece, Gold)]
    why_not = _why_not(question, fixed, len(gold))
    if why_not is not None:
        return ChoiceReport(fixed, fixed, question.metric, (why_not,), left_out=left_out(offer, fixed))
    gold, rest, notes = _sampled(gold, rest, question)
    race = Race(
        gold if question.validation is None else [*gold, *question.validation],
        rest,
        _blocks(question, len(gold)),
        fit_and_predict,
        label_counts(question.metric, sequences=question.sequences),
        FITS / FOLD_SHARE * tokens_in([*gold, *rest]),
        question.n_jobs,
        FOLDS,
        progress,
        question.place,
    )
    present, moves = _search(race, offer, fixed)
    return _report(question, race, present, moves, [*notes], began)


def _search(race: Race, offer: Offer, fixed: Plan) -> tuple[Plan, list[str]]:
    """Move from the fixed choice to better plans, as long as one is clearly better."""
    present, moves = fixed, []
    for _ in range(MOVES):
        challengers = alternatives(offer, present)
        race.run(present, challengers, always=gold_alone(offer))
        errors = ERRORS if len(challengers) < MANY else MANY_ERRORS
        better = [
            plan
            for plan in challengers
            if _clearly_better(race, plan, present, PRICE_ERRORS if plan.kinds == present.kinds else errors)
        ]
        if not better:
            break
        best = _simplest(race, better)
        moves.append(_move(race, best, present, fixed))
        present = best
    return present, moves


def _clearly_better(race: Race, plan: Plan, present: Plan, errors: float) -> bool:
    if not race.usable(plan):
        return False
    if not race.usable(present):
        return True
    ahead, error = race.ahead(plan, present)
    return ahead > 0.0 and ahead >= errors * error


def _simplest(race: Race, plans: list[Plan]) -> Plan:
    """The plan with the highest score, or one with fewer kinds of evidence that is not measurably worse."""
    best = max(plans, key=lambda plan: race.results[plan].score()[0])
    for plan in sorted(plans, key=lambda plan: len(plan.kinds)):
        ahead, error = race.ahead(best, plan)
        if ahead <= LEVEL * error:
            return plan
    return best


def _move(race: Race, plan: Plan, present: Plan, fixed: Plan) -> str:
    if not race.usable(present):
        return f"{in_brief(plan, fixed)}: {in_brief(present, fixed)} cannot be used ({race.results[present].failure})"
    ahead, error = race.ahead(plan, present)
    gain = f"{100 * ahead:.1f} ± {100 * error:.1f} points"
    return f"{in_brief(plan, fixed)}: {gain} better than {in_brief(present, fixed)}"


def _why_not(question: Question, fixed: Plan, gold: int) -> str | None:
    """The reason why nothing is held out, if so."""
    if not gold:
        return "there is no Gold to judge by: the fixed choice for this evidence"
    if fixed == gold_alone(question.offer):
        others = [WORDS[kind] for kind in WORDS if kind in question.offer.kinds]
        reason = f" (it does not learn from {', '.join(others)})" if others else ""
        return f"Gold alone{reason}: the fixed choice, one fit"
    if question.validation is None and gold < FEWEST:
        return f"{gold} labelled inputs are too few to judge by: the fixed choice for this evidence"
    return None


def _blocks(question: Question, gold: int) -> list[Block]:
    if question.validation is None:
        return blocks(gold, question.seed)
    return [Block(0, list(range(gold, gold + len(question.validation))))]


def _sampled(
    gold: list[Gold], rest: list[Evidence], question: Question
) -> tuple[list[Gold], list[Evidence], list[str]]:
    """All evidence, or the same share of each kind if Gold is large; other evidence up to a maximum."""
    rng = np.random.default_rng(question.seed)
    few, share = gold, 1.0
    if len(gold) >= LARGE:
        tries = 2 * FOLDS + 3 * len(alternatives(question.offer, fixed_plan(question.offer)))
        share = max(LARGE_FITS / (FOLD_SHARE * tries), FEWEST_SAMPLED / len(gold))
        few = _some(gold, share, rng)
    sample = _some(rest, min(share, MOST_INDIRECT / max(1, tokens_in(rest))), rng)
    if len(few) == len(gold) and len(sample) == len(rest):
        return gold, rest, []
    counts = f"{len(few):,} of {len(gold):,} labelled inputs, {len(sample):,} of {len(rest):,} others"
    return few, sample, [f"judged by a sample: {counts}"]


def _some(pieces: list[Piece], share: float, rng: np.random.Generator) -> list[Piece]:
    """A random share of the pieces, in their order."""
    if share >= 1.0:
        return pieces
    return [pieces[i] for i in sorted(rng.permutation(len(pieces))[: max(1, round(share * len(pieces)))].tolist())]


def _report(
    question: Question, race: Race, choice: Plan, moves: list[str], notes: list[str], began: float
) -> ChoiceReport:
    fixed = fixed_plan(question.offer)
    verdicts = [_verdict(race, question.offer, fixed, choice, kind) for kind in WORDS if kind in fixed.kinds]
    labelled = len(race.gold) if question.validation is None else len(question.validation)
    held_out = "held out in turn" if question.validation is None else "for validation"
    reasons = [*notes, f"judged on {labelled:,} labelled inputs, {held_out}, by {race.fits:,} fits"]
    if moves:
        reasons += [f"moved to {move}" for move in moves]
    elif race.usable(fixed):
        reasons.append("the fixed choice: nothing else was clearly better")
    else:
        reasons.append(f"the fixed choice cannot be judged ({race.results[fixed].failure})")
    reasons += [str(verdict) for verdict in verdicts] + unheard(question.offer, choice)
    return ChoiceReport(
        choice,
        fixed,
        question.metric,
        tuple(reasons),
        tuple(_candidate(race, plan, fixed) for plan in race.results),
        tuple(verdicts),
        left_out(question.offer, choice),
        labelled=labelled,
        folds=len(race.blocks),
        fits=race.fits,
        seconds=time.perf_counter() - began,
    )


def _candidate(race: Race, plan: Plan, fixed: Plan) -> Candidate:
    result = race.results[plan]
    if not race.usable(plan):
        return Candidate(plan, None, None, None, None, len(result.folds), result.seconds, result.failure)
    score, spread = result.score()
    ahead, error = race.ahead(plan, fixed) if race.usable(fixed) else (float("nan"), float("nan"))
    numbers = (100 * score, 100 * spread, 100 * ahead, 100 * error)
    return Candidate(plan, *numbers, len(result.folds), result.seconds)


def _verdict(race: Race, offer: Offer, fixed: Plan, choice: Plan, kind: str) -> KindVerdict:
    """The effect of a kind of evidence: the plan with it compared with the plan without it."""
    less, takes_kind = without(offer, fixed, kind), choice.takes(kind)
    if not (race.usable(fixed) and race.usable(less)):
        return KindVerdict(kind, "not tried", kept=takes_kind)
    gain, error = race.ahead(fixed, less)
    verdict = "no difference"
    if abs(gain) > error and (gain > 0) == takes_kind:
        verdict = "helps" if takes_kind else "harms"
    return KindVerdict(kind, verdict, 100 * gain, 100 * error, takes_kind)
