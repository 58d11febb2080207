"""Trials of several plans, fold by fold; plans that are clearly not better drop out early.

All plans of a fold are fitted to the same evidence without the held-out Gold. A plan drops out if it is not ahead of
the current choice after `FEWEST_BLOCKS` folds, or ahead by less than half a standard error after one more fold. Gold
alone stays, as the baseline. Folds are repeated as long as another plan may be better. The cost of a fit is counted in
tokens, not in seconds, so that the same seed makes the same choice on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidelight.choice.held_out import Block, Counted, HeldOut
from sidelight.choice.plan import Plan
from sidelight.core.arrays import Floats
from sidelight.describe import content_key
from sidelight.errors import Infeasible, Intractable
from sidelight.evidence import Evidence, Gold
from sidelight.parallel import threads
from sidelight.parallel.place import Place

FEWEST_BLOCKS = 2
HALF = 0.5  # standard errors by which a plan must be ahead to stay after another fold
FitAndPredict = Callable[[Plan, Sequence[Evidence], Sequence[Any]], list[Any]]
Told = Callable[[int], None]  # called with the number of finished fits


@dataclass(slots=True)
class Race:
    """Evidence, folds, and the results of every plan so far."""

    gold: Sequence[Gold]
    rest: Sequence[Evidence]
    blocks: Sequence[Block]
    fit_and_predict: FitAndPredict
    counted: Counted
    budget: float  # in training tokens
    n_jobs: int | None
    folds: int  # number of folds that together hold out every sentence once
    progress: Told | None = None
    place: Place | None = None  # its workers run whole fits; None: threads
    results: dict[Plan, HeldOut] = field(default_factory=dict)
    spent: float = 0.0
    fits: int = 0

    def run(self, champion: Plan, challengers: Sequence[Plan], *, always: Plan) -> None:
        """Try folds with the champion and `always`, and challengers as long as they are promising.

        It ends when all folds were tried, when every sentence was held out and no challenger is promising, or when the
        budget is spent.
        """
        racing = [plan for plan in challengers if plan not in (champion, always)]
        for count, block in enumerate(self.blocks, start=1):
            self.try_all(block, list(dict.fromkeys([champion, always, *racing])))
            if self.results[champion].failure is not None:
                return
            if count >= FEWEST_BLOCKS:
                least = 0.0 if count == FEWEST_BLOCKS else HALF
                racing = [plan for plan in racing if self._promising(plan, champion, least)]
            if count >= self.folds and not racing and not self._promising(always, champion, HALF):
                return
            if self.spent > self.budget:
                return

    def ahead(self, a: Plan, b: Plan) -> tuple[float, float]:
        """The lead of a over b on common folds, and its standard error."""
        return self.results[a].ahead_of(self.results[b])

    def usable(self, plan: Plan) -> bool:
        """Whether a plan was tried and could be fitted."""
        return plan in self.results and self.results[plan].failure is None and bool(self.results[plan].folds)

    def _promising(self, plan: Plan, champion: Plan, least: float) -> bool:
        if not self.usable(plan):
            return False
        ahead, error = self.ahead(plan, champion)
        return ahead > 0.0 and ahead >= least * error

    def try_all(self, block: Block, plans: Sequence[Plan]) -> None:
        """Fit and score plans that have not been tried on this fold."""
        for plan in plans:
            self.results.setdefault(plan, HeldOut())
        todo = [plan for plan in plans if self._open(plan, block.number)]
        out = set(block.held_out)
        known = [piece for i, piece in enumerate(self.gold) if i not in out]
        held_out = [self.gold[i] for i in block.held_out]
        hidden = {content_key(piece.x) for piece in held_out}
        # no evidence about held-out inputs
        rest = [piece for piece in self.rest if content_key(piece.x) not in hidden]

        def one(plan: Plan) -> tuple[Floats | None, float, str | None]:
            began = time.perf_counter()
            try:
                guesses = self.fit_and_predict(plan, _taken(plan, known, rest), [piece.x for piece in held_out])
            except (Infeasible, Intractable) as error:
                return None, time.perf_counter() - began, str(error)
            return self.counted(guesses, held_out), time.perf_counter() - began, None

        for plan, (counts, seconds, failure) in zip(todo, self._abreast(one, todo)):
            result = self.results[plan]
            result.seconds += seconds
            result.failure = failure
            if counts is not None:
                result.folds[block.number] = (block.held_out, counts)
            self.spent += tokens_in(_taken(plan, known, rest))
            self.fits += 1
        if self.progress is not None:
            self.progress(self.fits)

    def _abreast(self, one: Callable[[Plan], Any], plans: Sequence[Plan]) -> list[Any]:
        """The results of a function for each plan, in parallel."""
        if self.place is None or not self.place.remote or len(plans) < 2:
            return threads(one, plans, n_jobs=self.n_jobs)
        results = dict(self.place.each_done(_of_plan, plans, one))
        return [results[number] for number in range(len(plans))]

    def _open(self, plan: Plan, block: int) -> bool:
        result = self.results[plan]
        return result.failure is None and block not in result.folds


def _of_plan(plan: Plan, one: Callable[[Plan], Any]) -> Any:
    return one(plan)


def _taken(plan: Plan, gold: Sequence[Evidence], rest: Sequence[Evidence]) -> list[Evidence]:
    """Gold and the other evidence that a plan uses."""
    return [*gold, *(piece for piece in rest if plan.takes(piece.kind))]


def tokens_in(evidence: Sequence[Evidence]) -> int:
    """The number of tokens; an input that is not a sequence counts as one."""
    return sum(len(piece.x) if isinstance(piece.x, list | tuple) else 1 for piece in evidence)
