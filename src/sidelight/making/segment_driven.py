"""Constraint-driven learning of segments (Chang 2011, Algorithm 8), over a semi-Markov model.

    w_0, ρ_0 = learn(Gold)
    repeat N times:
        ŷ = argmax_y w·Φ(x, y) − Σ_k ρ_k d_k(x, y)  over the segmentations y that x admits, for every x but Gold
        (w, ρ) = β (w_0, ρ_0) + (1 − β) learn(all (x, ŷ));  with β none, learn(Gold and all (x, ŷ))

Rules speak of the labels of tokens, and so do completions: a labeling of tokens is one segmentation. `learn` is that of
`semi_crf` or `semi_svm` on inputs that all have a segmentation; `learners.driven` has the loop. What is completed costs
as much as Gold, and with β none the price of "unlabeled", or that of its own kind where one is given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.evidence import Unlabeled
from sidelight.inference.batches import batch_scores
from sidelight.inference.choose import check_method
from sidelight.inference.ruled import RuledInputs
from sidelight.learners.driven import DrivenLearner
from sidelight.making.segment_given import SegmentGiven, gold_penalties
from sidelight.making.segments import KnownSegments, learn
from sidelight.recipe_kinds import Driven
from sidelight.records import Round
from sidelight.settings import price_when_completed


def make(given: SegmentGiven, recipe: Driven) -> DrivenLearner:
    """The learner for `codl` over `semi_crf` or `semi_svm`."""
    inputs = ruled_inputs(given)
    first = gold_penalties(inputs.rules, given.evidence)
    settings, open_batch = given.settings, given.batch.take(given.rest).inside(given.mask)
    starts = open_batch.starts
    method = check_method(settings.inference)

    def learn_weights(labels: Ids | None) -> Floats:
        known = _known(given, labels, together=recipe.beta is None)
        return learn(settings.base, known, options=settings.options, report=_ignore)

    def complete(weights: Floats, penalties: Sequence[float]) -> Ids:
        scores = batch_scores(open_batch.scores(weights), open_batch.space)
        solutions = inputs.solutions(scores, penalties, method=method)
        return np.array([label for solution in solutions for label in solution.labels], dtype=np.int32)

    def count(labels: Ids | None) -> list[float]:
        return first if labels is None else inputs.counted(labels, starts)

    size = open_batch.scorer.size
    return DrivenLearner(learn_weights, complete, count, inputs, starts, recipe.cycles, recipe.beta, size)


def ruled_inputs(given: SegmentGiven) -> RuledInputs:
    """The inputs that are not Gold, with the rules of the settings and their own."""
    places = given.rest.tolist()
    pieces = [given.evidence[i] for i in places]
    own = [piece.rules if isinstance(piece, Unlabeled) else () for piece in pieces]
    names = given.scheme.tokens.names
    return RuledInputs.of([piece.x for piece in pieces], names, given.settings.rules, own, places=places)


def _known(given: SegmentGiven, labels: Ids | None, *, together: bool) -> KnownSegments:
    """What one `learn` sees: Gold, or what was completed to these labels, or both."""
    price = given.settings.price("gold")
    targets = given.encoded.targets
    if labels is None:
        return given.segmented(given.gold, targets[given.batch.slots_of(given.gold)], price)
    if not together:
        return given.segmented(given.rest, labels, price)
    targets = targets.copy()
    targets[given.batch.slots_of(given.rest)] = labels
    prices = np.full(len(given.batch), price)
    kinds = given.encoded.kinds
    prices[given.rest] = [price_when_completed(given.settings.prices, kinds[i]) for i in given.rest]
    return given.segmented(np.arange(len(given.batch)), targets, prices)


def _ignore(record: Round) -> None:
    """The rounds within a cycle are not told."""
