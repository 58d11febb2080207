"""Joint predictions of two models: outputs, or beliefs, on which both agree (`inference.methods.agreement`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import amount, whole
from sidelight.errors import DataError, NotProved
from sidelight.inference.methods.agreement import AgreedOutputs, Side, agreed_beliefs, agreed_outputs
from sidelight.models.model import Model, model_of
from sidelight.objective.batch import Batch
from sidelight.spaces import sums


@dataclass(frozen=True, slots=True)
class Agreement:
    """The joint predictions of two models for some inputs."""

    outputs: list[Any]  # of every input: labels of its tokens, or its class
    agreed: list[bool]  # whether both models agree on it; for γ = 0 the output is then proved optimal
    values: Floats  # [N] no output, or pair of beliefs, has more: the sum of both scores, and γ times the entropies
    # for γ > 0, as in `predict_marginals`: for every token a dict from label to probability
    marginals: list[Any] | None


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
    """Joint outputs of two fitted taggers, segmenters or classifiers, or of their models.

    Both must have the same labels, of tokens or of inputs. With `gamma` 0 the result is the output with the largest sum
    of both scores, found by dual decomposition: each model only sees a bonus for token labels from the other, so orders
    and features may differ. With `gamma` above 0 it is a pair of distributions, each close to its model by entropies
    weighted with γ, whose marginals differ by at most `tolerance`; outputs then maximise the expected number of right
    tokens. Scores of likelihood models (crf, hmm, …) are log-probabilities; those of margin models have no common
    scale, which weights the two. If `max_rounds` were not enough, or agreement cannot be proved, it warns (`NotProved`)
    and returns the better of both models' outputs (Chang's thesis, Eq. 4.9, Algorithm 9).

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
    _check_labels(*models)
    xs = list(xs) if isinstance(xs, Iterator) else xs
    if isinstance(xs, Sized) and getattr(xs, "shape", None) != () and not len(xs):
        return Agreement([], [], np.zeros(0), None if gamma == 0 else [])
    batches = models[0].batch(xs, n_jobs=n_jobs), models[1].batch(xs, n_jobs=n_jobs)
    _check_tokens(*batches)
    links = _links(models[0], models[0], batches[0]), _links(models[1], models[0], batches[1])
    scale = 1.0 if gamma == 0 else 1.0 / gamma
    scored = [batch.scores(scale * model.weights) for batch, model in zip(batches, models)]
    one, other = (Side(batch.space, scores, link) for batch, scores, link in zip(batches, scored, links))
    if gamma == 0:
        hard = agreed_outputs(one, other, max_rounds=most, n_jobs=n_jobs)
        labels = _better(models, batches, hard, n_jobs)
        _warn(hard.agreed)
        return Agreement(_decoded(models[0], batches[0], labels), hard.agreed.tolist(), hard.bounds, None)
    soft = agreed_beliefs(one, other, gamma=gamma, tolerance=tolerance, max_rounds=most, n_jobs=n_jobs)
    shares = 0.5 * (_by_class(models[0], models[0], soft.first) + _by_class(models[1], models[0], soft.second))
    near = soft.apart <= tolerance
    _warn(near)
    gains = np.ascontiguousarray(shares[:, models[0].labels.label_of])
    labels = sums.best_by_tokens(batches[0].space, gains, n_jobs=n_jobs)
    rows = [dict(zip(models[0].labels.classes, row)) for row in shares.tolist()]
    objective = _cut(models[0], batches[0], rows)
    return Agreement(_decoded(models[0], batches[0], labels), near.tolist(), soft.values, objective)


def _check_labels(first: Model, second: Model) -> None:
    if first.sequences != second.sequences:
        raise DataError("one model labels tokens and the other inputs", remedy="give two taggers or two classifiers")
    if set(first.labels.classes) != set(second.labels.classes):
        odd = sorted(map(str, set(first.labels.classes) ^ set(second.labels.classes)))
        remedy = "fit both with the same labels=[…]"
        raise DataError(f"the models have other labels: {', '.join(odd[:5])} is known to one alone", remedy=remedy)


def _check_tokens(first: Batch, second: Batch) -> None:
    if not np.array_equal(first.starts, second.starts):
        raise DataError("the models see other tokens of an input", remedy="give features that keep all tokens")


def _numbers(model: Model, of: Model) -> Ints:
    """The class of each of the model's states, by its number in another model. # [L]"""
    places = {name: k for k, name in enumerate(of.labels.classes)}
    return np.array([places[name] for name in model.labels.classes], dtype=np.int64)[model.labels.label_of]


def _links(model: Model, of: Model, batch: Batch) -> Ints:
    """The link "token t has class k" that each state of each token makes. # [T, L]"""
    tokens = np.arange(int(batch.starts[-1]), dtype=np.int64)
    return tokens[:, None] * len(of.labels.classes) + _numbers(model, of)[None]


def _by_class(model: Model, of: Model, shares: Floats) -> Floats:
    """Beliefs of states [T, L] added up for their classes. # [T, K]"""
    which = np.eye(len(of.labels.classes))[_numbers(model, of)]  # [L, K]
    return np.asarray(shares @ which)


def _better(
    models: tuple[Model, Model], batches: tuple[Batch, Batch], agreed: AgreedOutputs, n_jobs: int | None
) -> Ids:
    """The labels with the larger sum of scores, in the numbering of the first model. # [T]"""
    if agreed.agreed.all() or models[0].labels.hidden or models[1].labels.hidden:
        return agreed.first
    back = np.argsort(_numbers(models[1], models[0]))  # from the classes of the first to those of the second
    outputs = agreed.first, _numbers(models[1], models[0])[agreed.second].astype(np.int32)
    values = []
    for labels in outputs:
        own = labels, back[labels].astype(np.int32)
        total = np.zeros(len(batches[0]))
        for batch, model, one in zip(batches, models, own):
            value = batch.space.score(batch.scores(model.weights), one, n_jobs=n_jobs)
            total += np.where(batch.space.admits(one) != 0, value, -np.inf)
        values.append(total)
    second = np.repeat(values[1] > values[0], batches[0].lengths)
    return np.where(second, outputs[1], outputs[0]).astype(np.int32)


def _decoded(model: Model, batch: Batch, labels: Ids) -> list[Any]:
    return _cut(model, batch, model.labels.decode(labels))


def _cut(model: Model, batch: Batch, items: list[Any]) -> list[Any]:
    """Values of tokens, split by input; those of classes are unchanged."""
    return [items[a:b] for a, b in pairwise(batch.starts.tolist())] if model.sequences else items


def _warn(agreed: Any) -> None:
    missing = int(np.sum(~agreed))
    if missing:
        message = f"the models did not agree on {missing:,} of {len(agreed):,} inputs; give more max_rounds"
        warnings.warn(message, NotProved, stacklevel=3)
