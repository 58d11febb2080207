"""Co-training: two views of the same inputs teach each other (Blum and Mitchell 1998).

Two estimators with different features learn from the same labelled inputs. Then, round by round, each labels the
unlabelled inputs it is surest of (`objective.confidence`) for the other, and both learn again. If each view is
sufficient to predict the label, and the views are independent given the label, then a confident prediction of one view
is as good as a random example for the other. Brefeld and Scheffer (2006) extended this to structures, with a joint
objective J that is low if both views fit the labelled inputs and agree with a margin on the others (`view_objective`).
Here a round does not minimise J: it learns from the labels exchanged so far, which do not change. J judges the two
models by their current labels of all unlabelled inputs. J may rise, and a low J proves nothing: if the first models are
little better than guessing, the two views may come to agree on wrong labels.

Stops when neither view has labels to give, when J has not fallen for `patience` rounds, or after `max_rounds`. The
result is the pair of models with the lowest J. Learners without an objective of that kind (perceptron, naive_bayes,
hmm, …) have no J; the share of tokens that both label alike takes its place, and should rise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import amount, is_among, is_listed, shown, whole
from sidelight.core.file_contents import flag_of, list_of, reading
from sidelight.core.progress import FitLog, check_verbose, counted, in_words
from sidelight.data.checks import check_evidence, trouble
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.estimators.automatic_estimator import settled
from sidelight.estimators.base_estimator import Estimator, accuracy, labelled
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.evidence import Evidence, Gold, Unlabeled
from sidelight.features.rows import LinearScores
from sidelight.models.model import Model
from sidelight.models.model_file import load_pair, save_pair
from sidelight.objective.batch import Batch
from sidelight.objective.confidence import Measure, confidence
from sidelight.recipes import LEARNERS
from sidelight.spaces import Transitions, space_of
from sidelight.specs.settings import check_callbacks
from sidelight.view_objective import view_objective

Piece = TypeVar("Piece", bound=Evidence)
View = Callable[[Any], Any]  # the part of an input that an estimator sees
NO_LABELS = "neither view has labels to give"
NO_FALL = "the joint objective no longer improves"
NO_RISE = "the agreement no longer improves"
MAX_ROUNDS = "max_rounds"


@dataclass(frozen=True, slots=True)
class CoRound:
    """One round of training of both views."""

    number: int
    seconds: float  # since training began
    from_first: int  # inputs that the second view has learned so far with labels of the first
    from_second: int  # and vice versa
    agreement: float  # share of tokens of unlabelled inputs with the same label in both views
    last: bool = False
    stopped: str | None = None  # why training ends, in the last round
    objective: float | None = None  # the joint objective of both views, if their learners have one

    def __str__(self) -> str:
        taught = f"{self.from_first:,} labelled by the first view, {self.from_second:,} by the second"
        return f"round {self.number}, {taught}, {self.agreement:.1%} alike, {self.seconds:.1f} s"


class CoTraining(Estimator):
    """Two taggers, or two classifiers, with different features that label inputs for each other.

    Parameters:

    - first, second: the estimators, both `Tagger` or both `Classifier`; they are copied, not changed. The learner
      "auto" becomes "jlis".
    - views: two functions of an input that return what each estimator sees of it; None if only their features differ.
    - share: the maximum share of unlabelled inputs that a view labels for the other per round. Classifiers label that
      share of every class they predict, so that no class takes over.
    - measure: of confidence, "tokens" or "output"; "output" for taggers of order 2.
    - confidence: inputs with lower confidence are not labelled for the other view.
    - weight: the weight of an input labelled by the other view, relative to Gold; also in the joint objective.
    - max_rounds, patience: see above; callbacks: functions of a `CoRound`; verbose: as for `Tagger`.

    After `fit`: `first_` and `second_` are the fitted estimators, `rounds_` the rounds.

    >>> from operator import itemgetter
    >>> labelled = [Gold((["sun"], ["bright"]), "day"), Gold((["moon"], ["dark"]), "night")]
    >>> both = CoTraining(Classifier(), Classifier(), views=(itemgetter(0), itemgetter(1)))
    >>> both.fit([*labelled, Unlabeled((["sun"], ["blue"]))]).predict([(["stars"], ["blue"])])
    ['day']
    """

    def __init__(
        self,
        first: Tagger | Classifier,
        second: Tagger | Classifier,
        *,
        views: tuple[View, View] | None = None,
        share: float = 0.1,
        measure: Measure = "tokens",
        confidence: float = 0.0,
        weight: float = 0.3,
        max_rounds: int = 20,
        patience: int = 3,
        callbacks: Sequence[Callable[[CoRound], None]] = (),
        verbose: int = 0,
    ) -> None:
        self.first = first
        self.second = second
        self.views = views
        self.share = share
        self.measure = measure
        self.confidence = confidence
        self.weight = weight
        self.max_rounds = max_rounds
        self.patience = patience
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, evidence: Any, y: Any = None) -> Self:
        """Learn from Gold and Unlabeled evidence, or from inputs and outputs, where None marks an unlabelled input.

        Other kinds of evidence go to both estimators unchanged. Raises `DataError` if nothing is labelled or nothing is
        unlabelled.
        """
        self._check_parameters()
        known, pool = self._split(evidence, y)
        self.evidence_ = {**counted(known), Unlabeled.kind: len(pool)}
        with FitLog(
            "CoTraining",
            learner="co-training",
            source=in_words(self.evidence_),
            verbose=check_verbose(self.verbose),
            total=self.max_rounds,
        ) as log:
            self._learn(known, pool, log)
        return self

    def _learn(self, known: list[Evidence], pool: list[Any], log: FitLog) -> None:
        self.first_, self.second_ = (settled(one) for one in (self.first, self.second))
        self.rounds_: list[CoRound] = []
        began, best, idle = time.perf_counter(), -np.inf, 0
        lessons: tuple[dict[int, Any], dict[int, Any]] = {}, {}  # for the first and for the second view
        models: tuple[Model, Model] | None = None
        while not self.rounds_ or not self.rounds_[-1].last:
            number = len(self.rounds_) + 1
            for view, own in enumerate(lessons):
                taught = [Gold(pool[i], label, weight=self.weight) for i, label in own.items()]
                self._estimators[view].fit(self._seen(view, [*known, *taught]))
            self._check_labels()
            guesses = [self._label(view, pool) for view in (0, 1)]
            agreement = float(np.mean(guesses[0].labels == guesses[1].labels))
            objective = self._objective(known, pool, guesses)
            worth = agreement if objective is None else -objective
            idle = 0 if worth > best else idle + 1
            if worth >= best:  # of equal ones the later one, which has learned more
                best, models = worth, (self.first_.model_, self.second_.model_)
            counts = len(lessons[1]), len(lessons[0])
            stopped = None
            if idle >= self.patience:
                stopped = NO_RISE if objective is None else NO_FALL
            elif number >= self.max_rounds:
                stopped = MAX_ROUNDS
            elif not self._teach(guesses, lessons):
                stopped = NO_LABELS
            seconds = time.perf_counter() - began
            self.rounds_.append(CoRound(number, seconds, *counts, agreement, stopped is not None, stopped, objective))
            log.other_round(self.rounds_[-1], str(self.rounds_[-1]))
            for callback in self.callbacks:
                callback(self.rounds_[-1])
        assert models is not None
        self.first_.model_, self.second_.model_ = models

    def predict(self, xs: Any, *, view: str | None = None) -> list[Any]:
        """The best output of each input by the sum of both scores, or by one `view` alone, "first" or "second"."""
        if view not in (None, "first", "second"):
            raise ValueError(f"view is {shown(view)}; give 'first', 'second' or None for both")
        models = self._fitted()
        if view is not None:
            number = ("first", "second").index(view)
            return self._estimators[number].predict(self._inputs(number, xs))
        batches = [model.batch(self._inputs(i, xs), n_jobs=self.first.n_jobs) for i, model in enumerate(models)]
        if not len(batches[0]):
            return []
        return _decoded(models[0], _best_of_sum(batches, models), batches[0].starts)

    def score(self, xs: Any, y: Any = None, *, view: str | None = None) -> float:
        """Token accuracy between 0 and 1 (for classes: accuracy), of inputs and outputs or of the Gold in evidence."""
        xs, y = labelled(xs, y)
        return accuracy(self.predict(xs, view=view), y, sequences=self._sequences)

    def save(self, path: str | Path) -> None:
        """Write both models and the rounds to one file."""
        models = self._fitted()
        about = {"views": self.views is not None, "rounds": [asdict(record) for record in self.rounds_]}
        save_pair(models, path, spec=about)

    @classmethod
    def load(cls, path: str | Path, *, views: tuple[View, View] | None = None) -> Self:
        """Both models of a file, ready to predict; `views` are the functions used in training, if any.

        As with `Tagger.load`, a file contains no parameters and rules of the two estimators. Raises `ModelFileError` if
        the file is not such a model, and `DataError` if views are missing or unexpected.
        """
        models, about = load_pair(path)
        with reading(path):
            seen = flag_of(about, "views")
            rounds = [CoRound(**record) for record in list_of(about, "rounds")]
            if not rounds:
                raise ModelFileError("there are no rounds")
        if seen and views is None:
            raise DataError("the models see views of inputs", file=path, remedy="give the functions again: views=…")
        if views is not None and not seen:
            raise DataError("the models were trained without views", file=path, remedy="leave views out")
        one, other = (_estimator_of(model) for model in models)
        self = cls(one, other, views=views)
        self.first_, self.second_ = (type(own)(**own.get_params()) for own in (one, other))
        for own, model in zip(self._estimators, models):
            own.model_, own.penalties_ = model, []
        self.rounds_ = rounds
        return self

    @property
    def classes_(self) -> list[Any]:
        """The labels in their order."""
        return list(self._fitted()[0].labels.names)

    def __sklearn_tags__(self) -> Any:
        return self.first.__sklearn_tags__()

    @property
    def _sequences(self) -> bool:
        return isinstance(self.first, Tagger)

    @property
    def _estimators(self) -> tuple[Tagger | Classifier, Tagger | Classifier]:
        return self.first_, self.second_

    def _fit_in_words(self) -> list[tuple[str, str]]:
        return [("last round", str(self.rounds_[-1]))] if getattr(self, "rounds_", None) else []

    def _check_parameters(self) -> None:
        if type(self.first) is not type(self.second) or not isinstance(self.first, (Tagger, Classifier)):
            raise ValueError("first and second are of different types; give two Taggers or two Classifiers")
        if not is_among(self.measure, ("tokens", "output")):
            raise ValueError(f"measure is {shown(self.measure)}; give 'tokens' or 'output'")
        if not 0.0 < amount("share", self.share) <= 1.0:
            raise ValueError(f"share is {self.share}; give a number above 0 and up to 1")
        for name in ("confidence", "weight"):
            amount(name, getattr(self, name))
        for name in ("max_rounds", "patience"):
            whole(name, getattr(self, name), least=1)
        check_callbacks(self.callbacks)
        if self.views is not None and not (
            isinstance(self.views, list | tuple) and len(self.views) == 2 and all(map(callable, self.views))
        ):
            raise ValueError(f"views is {shown(self.views)}; give two functions of an input")

    def _split(self, evidence: Any, y: Any) -> tuple[list[Evidence], list[Any]]:
        """The known evidence, and the unlabelled inputs."""
        for name, argument in (("evidence", evidence), ("y", y if y is not None else [])):
            if not is_listed(argument) or not hasattr(argument, "__len__"):
                raise DataError(
                    f"{name} is {shown(argument)}", remedy="give a list of evidence, or of inputs and outputs"
                )
        if y is None:
            pieces = list(evidence)
        else:
            if len(evidence) != len(y):
                raise ValueError(f"{len(evidence)} inputs but {len(y)} outputs; give one output, or None, per input")
            pieces = [Unlabeled(x) if one is None else Gold(x, one) for x, one in zip(evidence, y)]
        known = [piece for piece in pieces if not isinstance(piece, Unlabeled)]
        pool = [piece.x for piece in pieces if isinstance(piece, Unlabeled)]
        for i, piece in enumerate(pieces):
            if isinstance(piece, Unlabeled) and piece.rules:
                names = ", ".join(rule.name for rule in piece.rules)
                raise trouble(
                    piece,
                    i,
                    problem=f"co-training does not look at the rules of an input ({names})",
                    remedy="leave them out, or learn with codl",
                )
        if not known or not pool:
            missing = "labelled" if not known else "unlabelled"
            raise DataError(f"nothing is {missing}", remedy="give Gold and Unlabeled to co-training")
        for view in (0, 1):
            check_evidence(self._seen(view, pieces), per_token=self._sequences)
        return known, pool

    def _seen(self, view: int, pieces: Sequence[Piece]) -> list[Piece]:
        """Evidence as one of the estimators sees it."""
        if self.views is None:
            return list(pieces)
        return [replace(piece, x=self.views[view](piece.x)) for piece in pieces]

    def _inputs(self, view: int, xs: Any) -> Any:
        return xs if self.views is None else [self.views[view](x) for x in xs]

    def _label(self, view: int, pool: list[Any]) -> _Guess:
        """The predictions of one view for the unlabelled inputs."""
        model = self._estimators[view].model_
        batch = model.batch(self._inputs(view, pool), n_jobs=self.first.n_jobs)
        best = batch.best(model.weights)
        sure = confidence(batch, model.weights, best, measure=self.measure)
        return _Guess(best.labels, _decoded(model, best.labels, batch.starts), sure)

    def _objective(self, known: list[Evidence], pool: list[Any], guesses: list[_Guess]) -> float | None:
        """J of the current models; None if a learner has no objective over whole outputs."""
        settings = [one._settings() for one in self._estimators]
        if not all(own.learner.sums_losses for own in settings):
            return None
        total = 0.0
        labelled = [piece for piece in known if isinstance(piece, Gold)]
        for view, own in enumerate(settings):
            others = [Gold(x, y, weight=self.weight) for x, y in zip(pool, guesses[1 - view].outputs)]
            seen = self._seen(view, [*labelled, *others])
            total += view_objective(self._estimators[view].model_, own, seen)
        return total

    def _teach(self, guesses: list[_Guess], lessons: tuple[dict[int, Any], dict[int, Any]]) -> bool:
        """Let each view label inputs for the other; returns whether there were any."""
        new = 0
        for teacher, guess in enumerate(guesses):
            learned = lessons[1 - teacher]
            for i in guess.surest(learned, self.share, self.confidence, by_class=not self._sequences):
                learned[i] = guess.outputs[i]
                new += 1
        return new > 0

    def _fitted(self) -> tuple[Model, Model]:
        if not getattr(self, "rounds_", None):
            raise NotFitted("this CoTraining has not been fitted; call fit first")
        return self.first_.model_, self.second_.model_

    def _check_labels(self) -> None:
        if self.first_.classes_ != self.second_.classes_:
            raise DataError("the two views have different labels", remedy="give both the same labels, or none")
        if self.first_.model_.labels.hidden or self.second_.model_.labels.hidden:
            raise ValueError("hidden states of two views have nothing in common; leave states out")


@dataclass(frozen=True, slots=True)
class _Guess:
    """The outputs that a view gives to the unlabelled inputs."""

    labels: Ids  # [T]
    outputs: list[Any]  # [N]
    sure: Floats  # [N]

    def surest(self, known: dict[int, Any], share: float, at_least: float, *, by_class: bool) -> list[int]:
        """The inputs with the highest confidence that are not labelled yet: a share of all, or of each class."""
        groups = self.labels if by_class else np.zeros(len(self.sure), dtype=np.int32)
        free = np.array([i not in known for i in range(len(self.sure))])
        inputs: list[int] = []
        for group in np.unique(groups):
            mine = np.flatnonzero((groups == group) & free & (self.sure >= at_least))
            count = int(np.ceil(share * np.count_nonzero(groups == group)))
            inputs += mine[np.argsort(-self.sure[mine], kind="stable")[:count]].tolist()
        return sorted(inputs)


def _estimator_of(model: Model) -> Tagger | Classifier:
    """An estimator that fits a model from a file."""
    name = str(model.about.get("learner"))
    learner = name if name in LEARNERS else "jlis"
    return Tagger(learner=learner, order=model.layout.order) if model.sequences else Classifier(learner=learner)


class _SummedScores:
    """The sum of the scores that two models give to the same outputs."""

    def __init__(self, parts: Sequence[LinearScores]) -> None:
        one, other = self.parts = tuple(parts)
        self.transition = one.transition + other.transition
        self.start = one.start + other.start
        self.end = one.end + other.end
        seconds = [part.second for part in parts if part.second.size]
        self.second = sum(seconds[1:], seconds[0]) if seconds else one.second

    def block(self, first: int, last: int) -> Floats:
        one, other = self.parts
        return one.block(first, last) + other.block(first, last)


def _best_of_sum(batches: Sequence[Batch], models: tuple[Model, Model]) -> Ids:
    """The best labels by the sum of both scores, among outputs that both allow. # [T]"""
    one, other = (model.layout for model in models)
    starts = batches[0].starts
    allowed = _both(models[0].allowed, models[1].allowed)
    space = space_of(starts, one.n_labels, order=max(one.order, other.order), allowed=allowed)
    parts = [batch.scores(model.weights) for batch, model in zip(batches, models)]
    return space.best(_SummedScores(parts), n_jobs=batches[0].n_jobs).labels


def _both(one: Transitions | None, other: Transitions | None) -> Transitions | None:
    if one is None or other is None:
        return other if one is None else one
    return Transitions(one.between & other.between, one.start & other.start, one.end & other.end)


def _decoded(model: Model, labels: Ids, starts: Ints) -> list[Any]:
    """Outputs from label numbers: lists of labels, or single labels."""
    names = model.labels.decode(labels)
    if not model.sequences:
        return names
    bounds = starts.tolist()
    return [names[a:b] for a, b in pairwise(bounds)]


__all__ = ["CoRound", "CoTraining"]
