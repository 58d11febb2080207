"""What two models say together: outputs, or beliefs, on which both agree (`inference.methods.agreement`).

Outputs are compared slot by slot, by the names of choices: labels, those of variables with their kinds, and choices of
other structures by the names or numbers that these have for them. Choices with the same name must read the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import amount, whole
from sidelight.errors import DataError, NotProved
from sidelight.inference.methods.agreement import AgreedOutputs, Side, agreed_beliefs, agreed_outputs
from sidelight.models.model import Model, model_of
from sidelight.objective.batch import Batch
from sidelight.spaces import sums
from sidelight.structures.labels.token_labels import TokenLabels

DRAWN = 5  # outputs of every input, by which it shows whether choices mean the same


@dataclass(frozen=True, slots=True)
class Agreement:
    """The joint predictions of two models for some inputs."""

    outputs: list[Any]  # of every input, as the first model has them
    agreed: list[bool]  # whether both models came to agree on it; for γ = 0 the output is then proved to be the best
    values: Floats  # [N] no output, or pair of beliefs, has more: the sum of both scores, and γ times the entropies
    marginals: list[Any] | None  # for γ > 0, as `predict_marginals` of the first model has them


def agree(
    first: Any,
    second: Any,
    xs: Sequence[Any],
    *,
    gamma: float = 0.0,
    tolerance: float = 1e-3,
    max_rounds: int = 200,
    n_jobs: int | None = -1,
) -> Agreement:
    """Joint outputs of two fitted estimators, or of their models, whose outputs can be compared slot by slot.

    Two taggers or segmenters, two classifiers, two `Joint`, or two `Predictor` of structures whose choices mean the
    same, such as projective trees and others. Both must have the same labels. With `gamma` 0 the result is the output
    with the largest sum of both scores, found by dual decomposition: each model only sees a bonus for choices from the
    other, so orders and features may differ. With `gamma` above 0 it is a pair of distributions, each close to its
    model by entropies weighted with γ, whose marginals differ by at most `tolerance`; outputs then maximise the
    expected number of right slots, and both models need sums over outputs. Scores of likelihood models (crf, hmm, …)
    are log-probabilities; those of margin models have no common scale, which weights the two. If `max_rounds` were not
    enough, or agreement cannot be proved, it warns (`NotProved`) and returns the better of both models' outputs
    (Chang's thesis, Eq. 4.9, Algorithm 9).

    >>> import sidelight as sl
    >>> xs, ys = [["a", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    >>> one, other = (sl.Tagger(learner=name, order=order).fit(xs, ys) for name, order in (("crf", 1), ("jlis", 2)))
    >>> sl.agree(one, other, [["a", "cat"]]).outputs
    [['D', 'N']]
    """
    amount("gamma", gamma)
    amount("tolerance", tolerance)
    most = whole("max_rounds", max_rounds, least=1)
    models = model_of(first), model_of(second)
    _check_kinds(*models)
    xs = list(xs) if isinstance(xs, Iterator) else xs
    if isinstance(xs, Sized) and getattr(xs, "shape", None) != () and not len(xs):
        return Agreement([], [], np.zeros(0), None if gamma == 0 else [])
    sides = Voice.of(models[0], xs, n_jobs), Voice.of(models[1], xs, n_jobs)
    _check_choices(*sides)
    one, other = sides[0].side(sides[0], gamma), sides[1].side(sides[0], gamma)
    if gamma == 0:
        hard = agreed_outputs(one, other, max_rounds=most, n_jobs=n_jobs)
        _warn(hard.agreed)
        labels = _better(*sides, hard, n_jobs)
        return Agreement(sides[0].outputs(labels), hard.agreed.tolist(), hard.bounds, None)
    soft = agreed_beliefs(one, other, gamma=gamma, tolerance=tolerance, max_rounds=most, n_jobs=n_jobs)
    shares = 0.5 * (sides[0].by_class(sides[0], soft.first) + sides[1].by_class(sides[0], soft.second))
    near = soft.apart <= tolerance
    _warn(near)
    gains = np.ascontiguousarray(shares[:, sides[0].class_of])
    labels = sums.best_by_tokens(sides[0].batch.space, gains, n_jobs=n_jobs)
    beliefs = sides[0].model.structure.beliefs(sides[0].rows, shares)
    return Agreement(sides[0].outputs(labels), near.tolist(), soft.values, beliefs)


@dataclass(frozen=True, slots=True)
class Voice:
    """One model on the inputs, with the names of its choices."""

    model: Model
    rows: Any
    batch: Batch
    classes: tuple[Any, ...]  # K
    class_of: Ints  # [choices of the space], of labels with states by their label

    @classmethod
    def of(cls, model: Model, xs: Any, n_jobs: int | None) -> Voice:
        rows = model.prepare(xs, n_jobs=n_jobs)
        batch, labels = model.batch(rows, n_jobs=n_jobs), model.labels
        count = batch.space.n_labels
        if count == len(labels):
            return cls(model, rows, batch, tuple(labels.classes), np.asarray(labels.label_of, dtype=np.int64))
        return cls(model, rows, batch, tuple(range(count)), np.arange(count))  # numbers: as many as these inputs have

    def numbers(self, of: Voice) -> Ints:
        """The class of each choice, by its place among the classes of another model. # [choices]"""
        places = {name: k for k, name in enumerate(of.classes)}
        return np.array([places[name] for name in self.classes], dtype=np.int64)[self.class_of]

    def side(self, of: Voice, gamma: float) -> Side:
        """Its scores, with the link "slot t has class k" that each choice of each slot makes."""
        slots = np.arange(int(self.batch.starts[-1]), dtype=np.int64)
        links = slots[:, None] * len(of.classes) + self.numbers(of)[None]
        scale = 1.0 if gamma == 0 else 1.0 / gamma
        return Side(self.batch.space, self.batch.scores(scale * self.model.weights), links)

    def by_class(self, of: Voice, shares: Floats) -> Floats:
        """Beliefs of choices [T, L] added up for their classes. # [T, K]"""
        return np.asarray(shares @ np.eye(len(of.classes))[self.numbers(of)])

    def outputs(self, choices: Ids) -> list[Any]:
        """Outputs as users read them."""
        return self.model.structure.outputs(self.rows, choices)

    def value(self, choices: Ids, n_jobs: int | None) -> Floats:
        """The scores of outputs, −inf of those that it does not admit. # [N]"""
        value = self.batch.space.score(self.batch.scores(self.model.weights), choices, n_jobs=n_jobs)
        return np.where(self.batch.space.admits(choices) != 0, value, -np.inf)


def _check_kinds(first: Model, second: Model) -> None:
    if first.sequences != second.sequences:
        raise DataError("one model labels tokens and the other inputs", remedy="give two taggers or two classifiers")
    tokens = [isinstance(model.structure, TokenLabels) for model in (first, second)]
    kinds = [model.structure.outputs_are for model in (first, second)]
    if not all(tokens) and kinds[0] != kinds[1]:
        remedy = "give two models of the same kind of outputs"
        raise DataError(f"one model has {kinds[0]} and the other {kinds[1]}", remedy=remedy)


def _check_choices(first: Voice, second: Voice) -> None:
    """Raise `DataError` where slots or choices of the two are not the same, or do not mean the same."""
    if set(first.classes) != set(second.classes):
        odd = sorted(map(str, set(first.classes) ^ set(second.classes)))
        remedy = "fit both with the same labels=[…], or settings of the structure"
        raise DataError(f"the models have other labels: {', '.join(odd[:5])} is known to one alone", remedy=remedy)
    slots = [one.model.structure.slots(one.rows) for one in (first, second)]
    if not np.array_equal(first.batch.starts, second.batch.starts) or slots[0] != slots[1]:
        raise DataError("the models see other tokens or variables of an input", remedy="let both see the same")
    rng = np.random.default_rng(0)
    for one, other in ((first, second), (second, first)):
        for _ in range(DRAWN):
            drawn = one.batch.space.random(rng)
            if one.outputs(drawn) != other.outputs(_choices_of(other, one.numbers(first)[drawn], first)):
                remedy = "give both structures the same settings"
                raise DataError("the choices of the models mean other things", remedy=remedy)


def _choices_of(voice: Voice, classes: Ints, of: Voice) -> Ids:
    """A choice of every class, the first where it has several. # [T]"""
    numbers = voice.numbers(of)
    first = np.zeros(len(of.classes), dtype=np.int32)
    first[numbers[::-1]] = np.arange(len(numbers), dtype=np.int32)[::-1]
    return first[classes]


def _better(first: Voice, second: Voice, agreed: AgreedOutputs, n_jobs: int | None) -> Ids:
    """The choices, as the first model numbers them, that have the larger sum of scores. # [T]"""
    if agreed.agreed.all() or first.model.labels.hidden or second.model.labels.hidden:
        return agreed.first
    other = _choices_of(first, second.numbers(first)[agreed.second], first)
    own = agreed.first, other
    values = [
        first.value(one, n_jobs) + second.value(_choices_of(second, first.numbers(first)[one], first), n_jobs)
        for one in own
    ]
    return np.where(np.repeat(values[1] > values[0], first.batch.lengths), other, agreed.first).astype(np.int32)


def _warn(agreed: Any) -> None:
    missing = int(np.sum(~agreed))
    if missing:
        message = f"the models did not agree on {missing:,} of {len(agreed):,} inputs; give more max_rounds"
        warnings.warn(message, NotProved, stacklevel=3)
