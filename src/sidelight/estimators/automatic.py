"""Estimators that choose their learner by the evidence: `learner="auto"` (see `sidelight.choice`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from sidelight.choice import ChoiceReport, Offer, Plan, choose
from sidelight.choice.auto import Question
from sidelight.choice.contradictions import Believable, BelievableEvidence, believable, believable_evidence, without
from sidelight.choice.plan import RULES, TEXT, classed_features, fixed_plan, offer_of
from sidelight.choice.race import FitAndPredict
from sidelight.core.progress import present
from sidelight.estimators.base_estimator import metric_of
from sidelight.estimators.ruled_estimator import RuledEstimator
from sidelight.evidence import Evidence, Gold, gold
from sidelight.models.model import Model
from sidelight.parallel import place_of
from sidelight.recipes import AUTO, recipe_of
from sidelight.rules import Domain
from sidelight.rules.rule import checked_rules
from sidelight.rules.taken import told
from sidelight.rules.unseen import read_unseen
from sidelight.specs.settings import Settings
from sidelight.structures import LabelSet
from sidelight.structures.labels.encoding import labels_in

Fitted = TypeVar("Fitted", bound="AutomaticEstimator")
TRIAL_ROUNDS = 30  # of the solver, where a plan is tried on a fold
TRIAL_COMPLETIONS, TRIAL_DECREASE = 3, 1e-3  # of what is latent, there


class Trials(NamedTuple):
    """What is to be chosen for, how a plan is tried, and the parameters that it sets."""

    question: Question
    fit_and_predict: FitAndPredict
    params: Callable[[Plan], dict[str, Any]]
    rules: Believable
    evidence: BelievableEvidence

    @property
    def notes(self) -> tuple[str, ...]:
        """What Gold contradicts, in words."""
        return (*self.rules.notes, *self.evidence.notes)


class AutomaticEstimator(RuledEstimator[Model]):
    """An estimator whose learner may be left to the evidence."""

    choice_: ChoiceReport  # what was chosen, and why
    features: Any
    labels: Any
    metric: str | None
    max_rounds: int | None
    max_completions: int | None
    decrease: float | None
    seed: int

    def fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None) -> Any:
        """Learn from evidence."""
        raise NotImplementedError

    def _settings(self, **others: Any) -> Settings:
        """The parameters, checked; `others` stand in the place of some."""
        parameters = {**self.get_params(), **others}
        return Settings(sequences=self._sequences, **{**parameters, "learner": recipe_of(parameters["learner"])})

    def _chosen(
        self, pieces: list[Evidence], validation: tuple[Any, Any] | None, before: Model | None
    ) -> tuple[list[Evidence], Settings]:
        """The evidence to learn from and how, as `learner="auto"` chooses; `choice_` says why."""
        if before is not None and hasattr(self, "choice_"):
            plan = self.choice_.chosen
            others: dict[str, Any] = {"learner": plan.learner, "prices": dict(plan.prices) or None}
            others["rules"] = self._rules_used
            wrong = {"candidates": self.choice_.wrong_candidates, "companions": self.choice_.wrong_companions}
            pieces = without(pieces, self.choice_.wrong_functions, **wrong)
        else:
            trials = self._trials(pieces, validation)
            report = choose(trials.question, trials.fit_and_predict, progress=_told)
            rules, kept = trials.rules, trials.evidence
            gone = {piece.kind for piece in pieces} - {piece.kind for piece in kept.evidence}
            self.choice_ = replace(
                report,
                left_out=(*sorted(gone), *report.left_out),
                reasons=(*trials.notes, *report.reasons),
                false_rules=rules.false,
                wrong_functions=kept.wrong_functions,
                doubtful_functions=kept.doubtful_functions,
                wrong_candidates=kept.wrong_candidates,
                wrong_companions=kept.wrong_companions,
            )
            plan, pieces = report.chosen, kept.evidence
            others = trials.params(plan)
            self._rules_given, self._rules_used = checked_rules(self.rules), others["rules"]
        return [piece for piece in pieces if plan.takes(piece.kind)], self._settings(**others)

    def _tell_of_rules(self) -> None:
        """Write to the model which rules were left out or taken as soft, for whoever gives them to its file again."""
        self.model_.about.update(told(self._rules_given, self._rules_used))

    def _trials(self, pieces: list[Evidence], validation: tuple[Any, Any] | None = None) -> Trials:
        """How plans are tried on this evidence; raises for parameters that are no good, before any work."""
        self._settings(learner="jlis")  # which takes all parameters
        kept = believable_evidence(pieces, sequences=self._sequences)
        pieces = kept.evidence
        known = [piece for piece in pieces if isinstance(piece, Gold)]
        names = self.labels if self.labels is not None else labels_in(pieces, sequences=self._sequences)
        asked = checked_rules(self.rules)
        read_unseen(asked, Domain(LabelSet.of(names).names))
        rules = believable(asked, known, sequences=self._sequences)
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

        return Trials(self._question(offer, pieces, validation), self._trial(params, pieces), params, rules, kept)

    def _question(self, offer: Offer, pieces: list[Evidence], validation: tuple[Any, Any] | None) -> Question:
        labels = self.labels if self.labels is not None else labels_in(pieces, sequences=self._sequences)
        return Question(
            offer,
            pieces,
            metric_of(self.metric, labels, sequences=self._sequences),
            self._sequences,
            self.seed,
            self.n_jobs,
            None if validation is None else gold(*validation),
            place_of(getattr(self, "place", None), self.n_jobs),
        )

    def _trial(self, params: Callable[[Plan], dict[str, Any]], pieces: list[Evidence]) -> FitAndPredict:
        """How a plan is tried: a fit of this estimator's kind to some of the evidence, in fewer rounds."""
        labels = self.labels if self.labels is not None else labels_in(pieces, sequences=self._sequences)
        rounds = TRIAL_ROUNDS if self.max_rounds is None else min(self.max_rounds, TRIAL_ROUNDS)
        completions = (
            TRIAL_COMPLETIONS if self.max_completions is None else min(self.max_completions, TRIAL_COMPLETIONS)
        )
        decrease = TRIAL_DECREASE if self.decrease is None else self.decrease
        own = {**self.get_params(deep=False), "labels": labels, "max_rounds": rounds}
        own |= {"max_completions": completions, "decrease": decrease}
        own |= {"n_jobs": 1, "callbacks": (), "checkpoint": None, "warm_start": False, "verbose": 0}
        own |= {"place": None} if "place" in own else {}

        make = type(self)  # workers that try plans get no estimator that is being fitted

        def trial(plan: Plan, evidence: Sequence[Evidence], xs: Sequence[Any]) -> list[Any]:
            estimator = make(**{**own, **params(plan)})
            guesses: list[Any] = estimator.fit(list(evidence)).predict(xs)
            return guesses

        return trial


def settled(estimator: Fitted) -> Fitted:
    """A copy that has not been fitted and does not choose: its learner is "jlis" where it was "auto"."""
    own = type(estimator)(**estimator.get_params())
    return own.set_params(learner="jlis") if own.get_params()["learner"] == AUTO else own


def _told(fits: int) -> None:
    """How far the choice has come, where work is shown."""
    shown = present()
    if shown is not None:
        shown.say(f"choosing how to learn: {fits} fits")
