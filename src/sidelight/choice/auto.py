"""The guard: the fixed choice stands unless another plan is better by `ERRORS` paired standard errors.

Plans are tried on the user's Gold by cross-validation; indirect evidence is in every training fold and never in the
held-out one. Moving away takes evidence, because the best of many noisy scores is often best by chance; standing still
is safe, because the fixed choice is good on the whole. After a move the neighbours of the new plan are tried in turn.
With validation data these are what plans are judged by, each with one fit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.choice.folds import FEWEST, Block, blocks
from sidelight.choice.plan import TEXT, WORDS, Offer, Plan, alternatives, fixed_plan, gold_alone, without
from sidelight.choice.race import FitAndPredict, Race, Told, tokens_in
from sidelight.choice.report import Candidate, Choice, KindVerdict
from sidelight.evidence import Evidence, Gold

ERRORS = 1.5  # paired standard errors that another plan must be ahead
LEVEL = 0.5  # standard errors within which fewer kinds of evidence are as good as more
MOVES = 3  # away from the fixed choice, at most
FITS = 20.0  # what the guard may cost, in fits of the fixed choice
FOLD_SHARE = 0.5  # what a fit of a fold costs of a whole one: fewer rounds
LARGE = 1000  # labelled inputs from which on the guard looks at a sample
LARGE_FITS = 0.4  # what it may cost then
FEWEST_SAMPLED = 60


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be chosen for."""

    offer: Offer
    evidence: Sequence[Evidence]
    metric: str
    sequences: bool
    seed: int
    n_jobs: int | None
    validation: Sequence[Gold] | None = None


def choose(question: Question, fit_and_predict: FitAndPredict, *, progress: Told | None = None) -> Choice:
    """The plan to learn by, with the reasons."""
    began = time.perf_counter()
    offer = question.offer
    fixed = fixed_plan(offer)
    gold = [piece for piece in question.evidence if isinstance(piece, Gold)]
    rest = [piece for piece in question.evidence if not isinstance(piece, Gold)]
    why_not = _why_not(question, fixed, len(gold))
    if why_not is not None:
        return Choice(fixed, fixed, question.metric, (why_not,), left_out=_left_out(offer, fixed))
    gold, rest, told = _sampled(gold, rest, question)
    race = Race(
        gold if question.validation is None else [*gold, *question.validation],
        rest,
        _blocks(question, len(gold)),
        fit_and_predict,
        question.metric,
        question.sequences,
        FITS / FOLD_SHARE * tokens_in([*gold, *rest]),
        question.n_jobs,
        progress,
    )
    present, moves = _search(race, offer, fixed)
    return _report(question, race, present, moves, [*told], began)


def _search(race: Race, offer: Offer, fixed: Plan) -> tuple[Plan, list[str]]:
    """From the fixed choice to a better one, as long as one is clearly better."""
    present, moves = fixed, []
    for _ in range(MOVES):
        challengers = alternatives(offer, present)
        race.run(present, challengers, always=gold_alone(offer))
        better = [plan for plan in challengers if _clearly_better(race, plan, present)]
        if not better:
            break
        best = _simplest(race, better)
        moves.append(_move(race, best, present))
        present = best
    return present, moves


def _clearly_better(race: Race, plan: Plan, present: Plan) -> bool:
    if not race.usable(plan):
        return False
    if not race.usable(present):
        return True
    ahead, error = race.ahead(plan, present)
    return ahead > 0.0 and ahead >= ERRORS * error


def _simplest(race: Race, plans: list[Plan]) -> Plan:
    """The plan with the highest score, or one from fewer kinds of evidence that is as good for all one can tell."""
    best = max(plans, key=lambda plan: race.results[plan].score()[0])
    for plan in sorted(plans, key=lambda plan: len(plan.kinds)):
        ahead, error = race.ahead(best, plan)
        if ahead <= LEVEL * error:
            return plan
    return best


def _move(race: Race, plan: Plan, present: Plan) -> str:
    if not race.usable(present):
        return f"{present}: cannot be used ({race.results[present].failure})"
    ahead, error = race.ahead(plan, present)
    return f"{plan}: ahead by {100 * ahead:.1f} ± {100 * error:.1f} points of {present}"


def _why_not(question: Question, fixed: Plan, gold: int) -> str | None:
    """Why nothing is held out, if so."""
    if not gold:
        return "there is no Gold to judge by: the fixed choice for this evidence"
    if fixed == gold_alone(question.offer):
        others = [WORDS[kind] for kind in WORDS if kind in question.offer.kinds]
        said = f" ({', '.join(others)} say nothing to it)" if others else ""
        return f"Gold alone{said}: the fixed choice, one fit"
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
    """All evidence, or the same share of all kinds of it where Gold is large."""
    if len(gold) < LARGE:
        return gold, rest, []
    tries = 5 * (1 + len(alternatives(question.offer, fixed_plan(question.offer)))) / 2
    share = max(LARGE_FITS / (FOLD_SHARE * tries), FEWEST_SAMPLED / len(gold))
    rng = np.random.default_rng(question.seed)
    few = [gold[i] for i in sorted(rng.permutation(len(gold))[: max(1, round(share * len(gold)))].tolist())]
    kept = [rest[i] for i in sorted(rng.permutation(len(rest))[: round(share * len(rest))].tolist())]
    return few, kept, [f"judged by a sample: {len(few):,} of {len(gold):,} labelled inputs, and as much of the rest"]


def _report(question: Question, race: Race, chosen: Plan, moves: list[str], told: list[str], began: float) -> Choice:
    fixed = fixed_plan(question.offer)
    verdicts = [_verdict(race, question.offer, fixed, chosen, kind) for kind in WORDS if kind in fixed.kinds]
    reasons = [*told]
    if moves:
        reasons += [f"moved to {move}" for move in moves]
    elif race.usable(fixed):
        reasons.append(f"the fixed choice: nothing else was better by {ERRORS} standard errors")
    else:
        reasons.append(f"the fixed choice cannot be judged ({race.results[fixed].failure})")
    reasons += [str(verdict) for verdict in verdicts]
    return Choice(
        chosen,
        fixed,
        question.metric,
        tuple(reasons),
        tuple(_candidate(race, plan, fixed) for plan in race.results),
        tuple(verdicts),
        _left_out(question.offer, chosen),
        len(race.gold) if question.validation is None else len(question.validation),
        len(race.blocks),
        race.fits,
        time.perf_counter() - began,
    )


def _candidate(race: Race, plan: Plan, fixed: Plan) -> Candidate:
    result = race.results[plan]
    if not race.usable(plan):
        return Candidate(plan, None, None, None, None, len(result.folds), result.seconds, result.failure)
    score, spread = result.score()
    ahead, error = race.ahead(plan, fixed) if race.usable(fixed) else (float("nan"), float("nan"))
    numbers = (100 * score, 100 * spread, 100 * ahead, 100 * error)
    return Candidate(plan, *numbers, len(result.folds), result.seconds)


def _verdict(race: Race, offer: Offer, fixed: Plan, chosen: Plan, kind: str) -> KindVerdict:
    """What a kind did, by the plan with it and the plan without it."""
    less = without(offer, fixed, kind)
    if not (race.usable(fixed) and race.usable(less)):
        return KindVerdict(kind, "not tried" if chosen.takes(kind) else "harms")
    gain, error = race.ahead(fixed, less)
    verdict = "helps" if gain > error else "no difference"
    if not chosen.takes(kind):
        verdict = "harms" if gain < 0 else "no difference"
    return KindVerdict(kind, verdict, 100 * gain, 100 * error)


def _left_out(offer: Offer, plan: Plan) -> tuple[str, ...]:
    used = plan.kinds | (
        {"unlabeled"} if TEXT in plan.kinds else set()
    )  # the text of unlabelled inputs is what they say
    return tuple(kind for kind in WORDS if kind in offer.kinds and kind not in used)
