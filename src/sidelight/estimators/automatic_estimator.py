"""The base of all estimators with a learner; with `learner="auto"` the evidence chooses it (see `sidelight.choice`).

It checks inputs and evidence, and predicts with a model under rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight.choice import ChoiceReport, Offer, Plan, choose
from sidelight.choice.auto import Question
from sidelight.choice.contradictions import Believable, BelievableEvidence, believable, believable_evidence, without
from sidelight.choice.plan import RULES, TEXT, classed_features, fixed_plan, offer_of
from sidelight.choice.race import FitAndPredict
from sidelight.core.checks import by_position, is_among, is_table
from sidelight.core.progress import FitLog, check_verbose, counted, in_words, present, round_line
from sidelight.core.records import Round
from sidelight.data.checks import as_read, check_evidence, trouble
from sidelight.errors import DataError, NotFitted
from sidelight.estimators.base_estimator import Estimator, accuracy, labelled, metric_of
from sidelight.estimators.constrained import Constrained
from sidelight.evidence import TABLE_REMEDY, Evidence, Gold, gold
from sidelight.features import Matrix
from sidelight.features.inputs import TOKENS, as_sequences, first_without_tokens, matrix_of
from sidelight.inference.explanation import RuleExplanation
from sidelight.models.model import Model
from sidelight.parallel import place_of
from sidelight.recipes import AUTO, Recipe, recipe_of
from sidelight.rules import Domain, Rule
from sidelight.rules.rule import checked_rules
from sidelight.rules.taken import record_of
from sidelight.rules.trials import try_rules
from sidelight.specs.settings import Settings
from sidelight.structures import LabelSet
from sidelight.structures.labels.token_labels import label_names_of
from sidelight.structures.structure import InputRows

LABELS_SHOWN = 20  # in a notebook


def _called(learner: str | Recipe) -> tuple[str, float]:
    """A description of a learner, and the approximate compilation time of its kernels in seconds.

    >>> _called("auto"), _called("jlis")
    (('auto', 10.0), ('jlis', 6.0))
    """
    if is_among(learner, (AUTO,)):
        return AUTO, Recipe.compile_seconds
    recipe = recipe_of(learner)
    return recipe.called, recipe.seconds_to_compile


Fitted = TypeVar("Fitted", bound="AutomaticEstimator")
TRIAL_ROUNDS = 30  # maximum rounds of the solver when a plan is tried on a fold
TRIAL_COMPLETIONS, TRIAL_DECREASE = 3, 1e-3  # limits of completions in such a trial


class Trials(NamedTuple):
    """The data for a choice, the way a plan is tried, and the parameters that it sets."""

    question: Question
    fit_and_predict: FitAndPredict
    params: Callable[[Plan], dict[str, Any]]
    rules: Believable
    evidence: BelievableEvidence

    @property
    def notes(self) -> tuple[str, ...]:
        """Descriptions of evidence that Gold contradicts."""
        return (*self.rules.notes, *self.evidence.notes)


class AutomaticEstimator(Estimator):
    """An estimator that can choose its learner by the evidence, and predict under rules."""

    _sequences = True  # False for single labels
    model_: Model
    penalties_: list[float]  # penalties of the rules of the fit, as learned
    _penalised: tuple[Rule, ...] = ()  # those rules
    _rules_given: tuple[Rule, ...] = ()  # when it was fitted
    _rules_used: tuple[Rule, ...] = ()  # the rules that the automatic choice used, as it used them
    rules: Sequence[Rule]
    inference: str
    n_jobs: int | None
    learner: str | Recipe
    verbose: int
    max_rounds: int | None
    rounds_: list[Round]  # of the last fit; a model loaded from a file has none
    evidence_: dict[str, int]  # number of pieces of each kind in the last fit
    choice_: ChoiceReport  # the choice, and its reasons
    features: Any
    labels: Any
    metric: str | None
    max_completions: int | None
    decrease: float | None
    seed: int

    def predict(self, xs: Any) -> list[Any]:
        """The best output of each input."""
        raise NotImplementedError

    @property
    def classes_(self) -> list[Any]:
        """The labels in their order."""
        raise NotImplementedError

    def explain_rules(self, x: Any, *, rules: Sequence[Rule] | None = None) -> RuleExplanation:
        """How each rule was lowered for an input, whether the output without rules breaks it, and what it changed."""
        return self._under(rules).explain_rules(self._inputs([x])[0])

    def score(self, xs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Token accuracy between 0 and 1 (for classes: accuracy), of inputs and outputs or of the Gold in evidence."""
        xs, y = labelled(xs, y)
        return accuracy(self.predict(xs), y, sequences=self._sequences, sample_weight=sample_weight)

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFitted(f"this {type(self).__name__} has not been fitted; call fit first")
        return self.model_

    def _fit_log(self, pieces: Sequence[Evidence], *, source: str = "") -> FitLog:
        """The log of a fit to these pieces, or to the data described by `source`; stores the number of pieces of each
        kind.
        """
        self.evidence_ = counted(pieces)
        rules = len(self._asked(None))
        name, seconds = _called(self.learner)
        return FitLog(
            type(self).__name__,
            learner=name,
            seconds=seconds,
            source=(source or in_words(self.evidence_)) + (f" and {rules} rule{'s' * (rules != 1)}" if rules else ""),
            verbose=check_verbose(self.verbose),
            total=self.max_rounds,
        )

    def _fit_in_words(self) -> list[tuple[str, str]]:
        if not hasattr(self, "model_"):
            return []
        model: Any = self.model_
        classes: list[Any] = self.classes_
        shown = ", ".join(map(str, classes[:LABELS_SHOWN])) + (", …" if len(classes) > LABELS_SHOWN else "")
        rows = [("learned by", str(model.about.get("learner", ""))), ("labels", f"{len(classes):,}: {shown}")]
        if (extractor := getattr(model.structure, "extractor", None)) is not None:
            rows.append(("features", f"{extractor.n_attributes + extractor.n_dense:,}"))
        if hasattr(self, "evidence_"):
            rows.append(("evidence", in_words(self.evidence_)))
        if rounds := getattr(self, "rounds_", None):
            last = rounds[-1]
            rows.append(("last round", round_line(last)))
            rows += [("stopped", last.stopped)] if last.stopped else []
        return rows

    def _under(self, rules: Sequence[Rule] | None) -> Constrained:
        """The model under the estimator's rules with their learned penalties, or under other rules."""
        model, requested = self._fitted(), self._asked(rules)
        return Constrained(
            model,
            requested,
            penalties=self.penalties_ if rules is None and requested == self._penalised else None,
            method=self.inference,
            n_jobs=self.n_jobs,
        )

    def _keep_penalties(self, penalties: list[float]) -> None:
        """Store the penalties of the estimator's rules; rules that are set later have their own penalties."""
        self.penalties_, self._penalised = penalties, self._asked(None)

    def _asked(self, rules: Sequence[Rule] | None) -> tuple[Rule, ...]:
        requested = checked_rules(self.rules if rules is None else rules)
        return self._rules_used if rules is None and requested == self._rules_given else requested

    def _asked_of(self, xs: Any) -> tuple[Model, Any]:
        """The model and its inputs."""
        return self._fitted(), self._inputs(xs)

    def _inputs(self, xs: Any) -> Any:
        """Inputs to predict; raises `DataError` for an input that should be a sequence of tokens but is not."""
        if isinstance(xs, InputRows) or (
            not self._sequences and isinstance(xs, Iterable) and getattr(xs, "shape", None) != ()
        ):
            return xs
        return as_sequences(xs, sequences=self._sequences)

    def _evidence(self, evidence: Any, y: Any, sample_weight: Any) -> list[Evidence]:
        """The arguments of `fit` as a list of evidence; raises `DataError` if it cannot be used."""
        if y is None and is_table(evidence):
            raise DataError(f"a table ({type(evidence).__name__}) instead of a list of evidence", remedy=TABLE_REMEDY)
        if not isinstance(evidence, Matrix) and getattr(evidence, "shape", ()) == ():
            if isinstance(evidence, Evidence | np.ndarray) or not isinstance(evidence, Iterable):
                raise DataError(f"{type(evidence).__name__} instead of a list of evidence", remedy="give a list")
            evidence = list(evidence)
        if y is not None:
            if isinstance(evidence, list) and any(isinstance(x, Evidence) for x in evidence[:1]):
                raise DataError("evidence has its own outputs, and others are given", remedy="leave one of them out")
            if isinstance(y, str) or not isinstance(y, Iterable) or getattr(y, "shape", None) == ():
                raise DataError(
                    f"the outputs are a {type(y).__name__}", remedy="give a list, one output for each input"
                )
            xs = self._inputs(evidence) if self._sequences else as_sequences(evidence, sequences=False)
            if not self._sequences and not isinstance(xs, Matrix):
                xs = evidence
            pieces: list[Evidence] = list(
                gold(xs, list(by_position(y)), weight=1.0 if sample_weight is None else sample_weight)
            )
        else:
            if sample_weight is not None:
                raise ValueError("sample_weight goes with fit(xs, ys); evidence has its own weights")
            pieces = list(evidence)
        if not pieces:
            raise DataError("no evidence", remedy="give at least one example")
        if not self._sequences and (matrix := matrix_of([getattr(piece, "x", None) for piece in pieces])) is not None:
            pieces = [replace(piece, x=row) for piece, row in zip(pieces, matrix)]
        pieces = as_read(pieces, sequences=self._sequences)
        check_evidence(pieces, per_token=self._sequences)
        if self._sequences and (i := first_without_tokens([piece.x for piece in pieces])) is not None:
            problem = f"the input is not a sequence of tokens ({type(pieces[i].x).__name__})"
            raise trouble(pieces[i], i, problem=problem, remedy=TOKENS)
        return pieces

    def fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None) -> Any:
        """Learn from evidence."""
        raise NotImplementedError

    def _settings(self, **others: Any) -> Settings:
        """The parameters, checked; `others` replace some."""
        parameters = {**self.get_params(), **others}
        return Settings(sequences=self._sequences, **{**parameters, "learner": recipe_of(parameters["learner"])})

    def _chosen(
        self, pieces: list[Evidence], validation: tuple[Any, Any] | None, before: Model | None
    ) -> tuple[list[Evidence], Settings]:
        """The evidence and the settings that `learner="auto"` chooses; `choice_` has the reasons."""
        if before is not None and hasattr(self, "choice_"):
            plan = self.choice_.chosen
            others: dict[str, Any] = {"learner": plan.learner, "prices": dict(plan.prices) or None}
            others["rules"] = self._rules_used
            wrong = {"candidates": self.choice_.wrong_candidates, "companions": self.choice_.wrong_companions}
            pieces = without(pieces, self.choice_.wrong_functions, **wrong)
        else:
            trials = self._trials(pieces, validation)
            report = choose(trials.question, trials.fit_and_predict, progress=_told)
            rules, evidence = trials.rules, trials.evidence
            gone = {piece.kind for piece in pieces} - {piece.kind for piece in evidence.evidence}
            self.choice_ = replace(
                report,
                left_out=(*sorted(gone), *report.left_out),
                reasons=(*trials.notes, *report.reasons),
                false_rules=rules.false,
                wrong_functions=evidence.wrong_functions,
                doubtful_functions=evidence.doubtful_functions,
                wrong_candidates=evidence.wrong_candidates,
                wrong_companions=evidence.wrong_companions,
            )
            plan, pieces = report.chosen, evidence.evidence
            others = trials.params(plan)
            self._rules_given, self._rules_used = checked_rules(self.rules), others["rules"]
        return [piece for piece in pieces if plan.takes(piece.kind)], self._settings(**others)

    def _tell_of_rules(self) -> None:
        """Store in the model which rules were left out or made soft, for later use of the rules with its file."""
        if self._rules_given:
            self.model_.about.update(record_of(self._rules_given, self._rules_used))

    def _trials(self, pieces: list[Evidence], validation: tuple[Any, Any] | None = None) -> Trials:
        """How plans are tried on this evidence; raises errors for invalid parameters before any work."""
        settings = self._settings(learner="jlis")  # it accepts all parameters
        believed = believable_evidence(pieces, sequences=self._sequences)
        pieces = believed.evidence
        known = [piece for piece in pieces if isinstance(piece, Gold)]
        names = label_names_of(settings, pieces)
        requested = checked_rules(self.rules)
        try_rules(requested, Domain(LabelSet.of(names).names))
        rules = believable(requested, known, sequences=self._sequences)
        own = {**self.get_params(deep=False), "rules": rules.rules}
        offer = offer_of(pieces, own, sequences=self._sequences)
        self._settings(learner=fixed_plan(offer).learner)
        features = self.features
        classed = classed_features(pieces, seed=self.seed) if TEXT in offer.kinds else None

        def params(plan: Plan) -> dict[str, Any]:
            return {
                "learner": plan.learner,
                "prices": dict(plan.prices) or None,
                "rules": rules.rules if RULES in plan.kinds else (),
                "features": classed if TEXT in plan.kinds else features,
            }

        metric = metric_of(self.metric, names, sequences=self._sequences)
        question = self._question(offer, pieces, metric, validation)
        return Trials(question, self._trial(params, names), params, rules, believed)

    def _question(
        self, offer: Offer, pieces: list[Evidence], metric: str, validation: tuple[Any, Any] | None
    ) -> Question:
        return Question(
            offer,
            pieces,
            metric,
            self._sequences,
            self.seed,
            self.n_jobs,
            None if validation is None else gold(*validation),
            place_of(getattr(self, "place", None), self.n_jobs),
        )

    def _trial(self, params: Callable[[Plan], dict[str, Any]], labels: Sequence[Any]) -> FitAndPredict:
        """A function that tries a plan: it fits this kind of estimator to part of the evidence, in fewer rounds."""
        rounds = TRIAL_ROUNDS if self.max_rounds is None else min(self.max_rounds, TRIAL_ROUNDS)
        completions = (
            TRIAL_COMPLETIONS if self.max_completions is None else min(self.max_completions, TRIAL_COMPLETIONS)
        )
        decrease = TRIAL_DECREASE if self.decrease is None else self.decrease
        own = {**self.get_params(deep=False), "labels": labels, "max_rounds": rounds}
        own |= {"max_completions": completions, "decrease": decrease}
        own |= {"n_jobs": 1, "callbacks": (), "checkpoint": None, "warm_start": False, "verbose": 0}
        own |= {"place": None} if "place" in own else {}

        make = type(self)  # do not send the estimator that is being fitted to workers

        def trial(plan: Plan, evidence: Sequence[Evidence], xs: Sequence[Any]) -> list[Any]:
            estimator = make(**{**own, **params(plan)})
            guesses: list[Any] = estimator.fit(list(evidence)).predict(xs)
            return guesses

        return trial


def settled(estimator: Fitted) -> Fitted:
    """An unfitted copy with a fixed learner: "jlis" instead of "auto"."""
    own = type(estimator)(**estimator.get_params())
    return own.set_params(learner="jlis") if own.get_params()["learner"] == AUTO else own


def _told(fits: int) -> None:
    """Show the progress of the choice."""
    shown = present()
    if shown is not None:
        shown.say(f"choosing how to learn: {fits} fits")
