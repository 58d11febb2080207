"""Estimators with a scikit-learn interface: `Tagger` for sequences, `Classifier` for single labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import flag, generator, is_among, is_listed, shown
from sidelight.core.progress import FitLog
from sidelight.core.records import PATIENCE, Callback, Round
from sidelight.data.stored import StoredCorpus
from sidelight.errors import DataError, ModelFileError
from sidelight.estimators.automatic_estimator import AutomaticEstimator
from sidelight.estimators.base_estimator import held_out, measured, metric_of
from sidelight.estimators.constrained import Constrained
from sidelight.estimators.placed_prediction import judge_in, predict_in, solve_in, spread
from sidelight.evaluate.schemes import SchemeName
from sidelight.features import FeatureSet
from sidelight.inference.problem import Solution
from sidelight.inference.proofs import warn_of_unproved
from sidelight.models import probabilities
from sidelight.parallel import place_of
from sidelight.parallel.place import Place
from sidelight.recipes import AUTO, LEARNERS, Recipe
from sidelight.rules import Rule
from sidelight.rules.rule import checked_rules
from sidelight.rules.taken import as_taken
from sidelight.specs.learner import IN_BLOCKS
from sidelight.specs.settings import DEFAULT_PRICES
from sidelight.structures.chain_structure import ChainStructure
from sidelight.structures.structure import InputRows
from sidelight.training import Training


class LearningEstimator(AutomaticEstimator):
    """The base of taggers, classifiers and segment taggers."""

    _chooses = True  # by learner="auto"
    size: str | Callable[[Any], float] | None
    warm_start: bool
    patience: int
    callbacks: Sequence[Callback]

    def __init__(
        self,
        *,
        features: FeatureSet | None = None,
        learner: str | Recipe = AUTO,
        loss: str = "squared_hinge",
        prices: Mapping[str, float] | None = None,
        cost: Mapping[tuple[Any, Any], float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        labels: Sequence[Any] | None = None,
        scheme: SchemeName | None = None,
        metric: str | None = None,
        allowed: Iterable[tuple[Any, Any]] | None = None,
        size: str | Callable[[Any], float] | None = None,
        bias: bool = True,
        order: int = 1,
        states: int | Mapping[Any, int] | None = None,
        tolerance: float = 0.01,
        violation: float = 1e-3,
        decrease: float | None = None,
        max_rounds: int | None = None,
        max_completions: int | None = None,
        patience: int = 5,
        random_ties: bool = False,
        warm_start: bool = False,
        freeze_vocabulary: bool = False,
        n_jobs: int | None = -1,
        place: Any = None,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        verbose: int = 0,
        checkpoint: str | Path | None = None,
        rules: Sequence[Rule] = (),
        rules_in: str = "prediction",
        inference: str = "auto",
    ) -> None:
        self._keep(locals())

    def fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None) -> Self:
        """Learn from evidence of any kind, or from inputs and outputs as in scikit-learn.

        `fit(evidence)` takes a list of evidence, or files that may be larger than memory (`sidelight.data.stored`,
        docs/scale.md); `fit(xs, ys)` is the same as `fit(gold(xs, ys))`. With `validation`, which is (inputs, outputs)
        or Gold, the model is the completion (for the perceptron: the epoch) that labels them best, and training stops
        after `patience` of these without improvement: with much indirect and little direct evidence, a fully converged
        model may have drifted from the labels (`last_model_` is the model at the end of training). Raises `DataError`
        if the evidence cannot be used.
        """
        if isinstance(evidence, StoredCorpus):
            return self._fit_stored(evidence, y, sample_weight, validation)
        pieces = self._evidence(evidence, y, sample_weight)
        if validation is not None:
            validation = held_out(validation, sequences=self._sequences)
        before = self.model_ if flag("warm_start", self.warm_start) and hasattr(self, "model_") else None
        with self._fit_log(pieces) as log:
            if self._chooses and is_among(self.learner, (AUTO,)):
                pieces, settings = self._chosen(pieces, validation, before)
                plan = str(self.choice_.chosen) if self.choice_.candidates else None
                log.chose(settings.learner.name, settings.learner.seconds_to_compile, plan)
            else:
                settings = self._settings()
                self._rules_given = self._rules_used = ()
            self._run(Training(settings, pieces, before=before), log, validation)
        return self

    def _fit_stored(self, corpus: StoredCorpus, y: Any, sample_weight: Any, validation: Any) -> Self:
        """Learn from files, block by block."""
        if y is not None or sample_weight is not None:
            raise ValueError("files have their own outputs and weights; leave y and sample_weight out")
        if self._chooses and is_among(self.learner, (AUTO,)):
            raise ValueError(f"learner='auto' tries learners on all data in memory; use {IN_BLOCKS}")
        validation = None if validation is None else held_out(validation, sequences=self._sequences)
        settings = self._settings()
        self._rules_given = self._rules_used = ()
        with self._fit_log([], source=str(corpus)) as log:
            training = Training(settings, corpus)
            self.evidence_ = training.counted()
            self._run(training, log, validation)
        return self

    def partial_fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Continue from the current weights with new evidence only.

        The perceptron makes one more epoch over it. Margin learners, and "auto" with the learner "jlis", minimise the
        loss of the new evidence plus the distance to the current weights. New features are added unless
        `freeze_vocabulary` is set. New labels are refused, so pass all `labels` to the constructor if the first batch
        does not have them all.
        """
        pieces = self._evidence(evidence, y, sample_weight)
        before = getattr(self, "model_", None)
        memory = getattr(self, "_perceptron", None)
        chooses = self._chooses and is_among(self.learner, (AUTO,))
        settings = self._settings(learner="jlis", rules=self._asked(None)) if chooses else self._settings()
        with self._fit_log(pieces) as log:
            self._run(Training(settings, pieces, before=before, go_on=True, memory=memory), log)
        return self

    def predict(
        self, xs: Any, *, by: str = "path", clamp: Any = None, rules: Sequence[Rule] | None = None
    ) -> list[Any]:
        """The best output of each input, or of each row of features that `prepare` made.

        `by` is "path" (the output with the highest score) or "marginals" (the most tokens right in expectation).
        `clamp` fixes labels: for each input one label or None per token (for classes: one label or None), or None for
        an input without known labels. `rules` replace those of the estimator; `rules=()` switches them off. Raises
        `Infeasible` if hard rules leave no output and `DataError` if the clamp does not fit, and warns
        (`sidelight.errors.NotProved`) if inference did not prove outputs optimal under rules.
        """
        if not is_among(by, ("path", "marginals")):
            raise ValueError(f"by is {shown(by)}; give 'path' or 'marginals'")
        model, inputs = self._asked_of(xs)
        clamp = self._clamped(clamp)
        if self._asked(rules):
            if by != "path":
                raise ValueError("rules are about the best path; give by='path', or rules=()")
            under = self._under(rules)
            if clamp is None and spread(self._place(), inputs):
                solved = solve_in(self._place(), under, inputs)
                warn_of_unproved(solved)
                return under.outputs(solved)
            return under.predict(inputs, clamp=clamp)
        if by == "path" and clamp is None:
            if spread(self._place(), inputs):
                return predict_in(self._place(), model, inputs)
            return model.predict(inputs, n_jobs=self.n_jobs)
        decode = probabilities.best if by == "path" else probabilities.posterior
        return decode(model, inputs, clamp=clamp, n_jobs=self.n_jobs)

    def predict_marginals(self, xs: Any, *, clamp: Any = None) -> list[Any]:
        """For every token (for classes: every input) a dict from label to probability.

        `clamp` is as for `predict`; a clamped label has probability 1. This method, `log_probability`, `log_partition`,
        `k_best` and `sample` ignore rules. See `sidelight.models.probabilities`.
        """
        model, inputs = self._asked_of(xs)
        return probabilities.named_marginals(model, inputs, clamp=self._clamped(clamp), n_jobs=self.n_jobs)

    def log_probability(self, xs: Any, ys: Any, *, clamp: Any = None) -> Any:
        """log p(y | x) of given outputs. # [N]"""
        return probabilities.log_probabilities(*self._asked_of(xs), ys, clamp=self._clamped(clamp), n_jobs=self.n_jobs)

    def log_partition(self, xs: Any, *, clamp: Any = None) -> Floats:
        """log Σ exp(score) over the outputs of each input, or over those that have the clamped labels. # [N]"""
        return probabilities.log_partitions(*self._asked_of(xs), clamp=self._clamped(clamp), n_jobs=self.n_jobs)

    def k_best(self, xs: Any, k: int, *, clamp: Any = None) -> list[list[tuple[Any, float]]]:
        """The k best outputs of each input with their scores, best first."""
        return probabilities.k_best(*self._asked_of(xs), k, clamp=self._clamped(clamp), n_jobs=self.n_jobs)

    def sample(self, xs: Any, *, seed: int | np.random.Generator = 0, clamp: Any = None) -> list[Any]:
        """One output of each input, drawn from p(y | x), or among those that have the clamped labels."""
        rng = generator(seed)
        return probabilities.samples(*self._asked_of(xs), rng, clamp=self._clamped(clamp), n_jobs=self.n_jobs)

    def solutions(self, xs: Any, *, clamp: Any = None, rules: Sequence[Rule] | None = None) -> list[Solution]:
        """The outputs of `predict` under rules, with the value of each, how it was found, and whether it is proved
        optimal.

        Labels are numbers, in the order of `classes_`. Options as for `predict`.

        >>> tagger = Tagger(max_rounds=5).fit([["light", "on"], ["light", "off"]], [["N", "P"], ["N", "P"]])
        >>> tagger.solutions([["light"]])[0].exact
        True
        """
        return self._under(rules).solutions(self._inputs(xs), clamp=self._clamped(clamp))

    def prepare(self, xs: Any) -> Any:
        """The features of inputs, to predict from them more than once."""
        model, inputs = self._asked_of(xs)
        return model.prepare(inputs, n_jobs=self.n_jobs)

    def judge(self, xs: Any) -> Any:
        """The companion decision for each input: above 0 means that it has a good structure."""
        model, inputs = self._asked_of(xs)
        if callable(self.size) and isinstance(inputs, InputRows):
            raise DataError("the size is a function of the input", remedy="give inputs, not prepared features")
        sizes = [self.size(x) for x in inputs] if callable(self.size) else None
        if spread(self._place(), inputs):
            return judge_in(self._place(), model, inputs, sizes)
        return model.judge(inputs, sizes=sizes, n_jobs=self.n_jobs)

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        from sidelight.models.model_file import save_model

        save_model(self._fitted(), path)

    @classmethod
    def load(cls, path: str | Path, *, rules: Sequence[Rule] = ()) -> Self:
        """An estimator with the model of a file, ready to predict.

        A file does not contain rules, only their names, learned penalties, and which of them the automatic choice left
        out or made soft: pass the rules again. It contains no parameters except the name of the learner and the allowed
        transitions. Raises `ModelFileError` if the file is not a model, or is one of another kind.
        """
        from sidelight.models.model_file import load_model

        model = load_model(path)
        if model.sequences is not cls._sequences or not isinstance(model.structure, ChainStructure):
            other = "Tagger" if model.sequences else "Classifier"
            other = other if isinstance(model.structure, ChainStructure) else "SegmentTagger"
            raise ModelFileError(f"not the model of a {cls.__name__}", file=path, remedy=f"use {other}.load")
        learner = str(model.about.get("learner"))
        rules_in_order = checked_rules(rules)
        self = cls(rules=rules_in_order, order=model.layout.order, learner=learner if learner in LEARNERS else "jlis")
        self.model_ = model
        self._rules_given, self._rules_used = rules_in_order, as_taken(rules_in_order, model.about)
        self._keep_penalties(Constrained(model, self._rules_used).prices() if self._rules_used else [])
        return self

    @property
    def classes_(self) -> list[Any]:
        """The labels in their order."""
        return list(self._fitted().labels.classes)

    def _place(self) -> Place:
        """The place of computation; by default the threads of this process."""
        return place_of(getattr(self, "place", None), self.n_jobs)

    def _clamped(self, clamp: Any) -> Any:
        """Labels to clamp, by token; the label of a class may be given alone or in a list."""
        if self._sequences or not isinstance(clamp, (list, tuple, np.ndarray)) or not is_listed(clamp):
            return clamp
        labels = self.classes_  # they may be tuples
        among = [type(one) in (list, np.ndarray) or (type(one) is tuple and one not in labels) for one in clamp]
        return [list(one) if listed else [one] for one, listed in zip(clamp, among)]

    def _measured(self, xs: Any, ys: Any) -> float:
        """The score of the current model on validation data."""
        metric = metric_of(self.metric, self.classes_, sequences=self._sequences)
        return measured(metric, self.predict(xs), ys, sequences=self._sequences)

    def _run(self, training: Training, log: FitLog, validation: tuple[Any, Any] | None = None) -> None:
        self.rounds_: list[Round] = []
        mark = None if validation is None else blake2b(repr(list(validation[1])).encode(), digest_size=8).hexdigest()
        for record in training.rounds(validating=mark):
            if validation is not None and training.has_result(record):
                self.model_ = training.snapshot()
                self._keep_penalties(training.penalties())
                score = self._measured(*validation)
                training.judge(score, self.model_.weights, self.penalties_)
                record = replace(record, validation=score)
                if training.idle >= self.patience and not record.last:
                    record = replace(record, last=True, stopped=PATIENCE)
            self.rounds_.append(record)
            log.round(record)
            for callback in self.callbacks:
                callback(record)
            if training.idle >= self.patience:
                break
        best = training.best_model()
        self._keep_penalties(training.penalties() if training.best is None else training.best.penalties)
        self.reliabilities_ = training.reliabilities()  # of labelling functions, if there were votes
        memory = training.memory()
        self.last_model_ = training.model()
        self.model_ = self.last_model_ if best is None else best
        self._tell_of_rules()
        self._perceptron = memory if best is None else None


class Tagger(LearningEstimator):
    """Labels every token of a sequence with a chain of first or second order.

    All parameters are keywords:

    - features: templates, attributes or matrix rows. None chooses by the inputs (`features.features_for`): `standard()`
      for words and columns (`emissions()` for HMMs), attributes for dicts, rows of a matrix.
    - learner: "auto", a name from docs/learners.md, or a recipe with options (`sidelight.recipes`). "auto" maximises
      one likelihood over all the evidence, applies rules in prediction and makes classes of words from the text; if
      there is Gold, it drops evidence when held-out Gold shows that this is clearly better (`choice_` says what was
      chosen and why). "jlis" is a margin learner for all kinds of evidence; with Gold alone it is a structural SVM.
    - loss: "squared_hinge", "hinge" or "logistic", for margin learners; "cllp" and "mms" always use the hinge.
    - prices: the cost of a unit of loss for each kind of evidence: C1 is prices["gold"], C2 is prices["companion"].
    - cost: {(right, predicted): cost}, where it differs from 1 for wrong and 0 for right labels.
    - class_weight: {label: weight} multiplies the cost of errors on a label; "balanced" uses inverse frequencies.
      docs/learners.md says which learners use costs; the others refuse them.
    - labels: all labels, in case some are missing from the evidence; any other label is an error.
    - scheme: "BIO" forbids I-X except after B-X and I-X, in training and prediction. "IOB1", "BIOES" and "BILOU"
      likewise allow only what these schemes allow, also at the beginning and end of a sentence.
    - metric: the score for validation: "accuracy" (of tokens), "span_f1", or None: span F1 if the labels follow a
      scheme (`sidelight.evaluate.scheme_of`), accuracy otherwise. `score` is always token accuracy.
    - allowed: the only (label, next label) pairs that may occur.
    - size: κ(x) of companion evidence: "tokens" (for sequences), "one" (for classes), or a function of the input.
    - bias: weights for first labels (for classes: one weight per class).
    - order: 2 adds weights for three labels in a row. Time grows with the cube of the number of labels, or of
      candidates if inference is among these. docs/learners.md says which learners support it.
    - states: the number of hidden states per label, or {label: number}. Weights are over states, costs and outputs over
      labels. For "jlis", "latent_svm", "transductive_svm", "cllp", "mms", "partial_crf" and EM. States start at random,
      so consider the `restarts` of `recipes.latent_svm`.
    - tolerance: the relative duality gap at which a convex problem counts as solved; violation: ε of new cuts. "cllp"
      and "mms" have their own precision, see `recipes.cllp`.
    - decrease: ν, the relative decrease of the objective at which completions stop, by default 1e-5 (1e-4 for "cllp"
      and "mms"); max_completions: their maximum number, by default 50 (30 for these two); max_rounds: the maximum
      number of solver rounds.
    - patience: see the `validation` of `fit`.
    - random_ties: break ties between completions at random instead of towards the first label.
    - warm_start: start `fit` from the weights of the previous fit, for learners that work in rounds; freeze_vocabulary:
      add no features after the first fit.
    - n_jobs: the number of threads, -1 for all cores; the same seed gives the same bits for any number.
    - place: "threads" (this process), "ray" (workers on this machine), the address of a Ray cluster, or a `RayPlace`;
      results are bit-identical in all of them (docs/scale.md).
    - callbacks: functions of a `Round`; checkpoint: a file from which an interrupted fit resumes.
    - verbose: 0 is silent; 1 shows progress on stderr, as a bar on terminals and in notebooks; 2 writes a line per
      round. The loggers "sidelight.fit" and "sidelight.core.kernels" report the same.
    - rules: what outputs must or should obey (`sidelight.rules`). All learners apply them in prediction; "codl",
      "unified_em" and "posterior_regularization" also in training. Penalties marked as learned are estimated by
      counting on Gold.
    - rules_in: "prediction", or "training": margin learners and the perceptron then also search for outputs under the
      rules during training (docs/rules.md says when this helps).
    - inference: how to find the best output under rules: "auto", or "dynamic", "a_star", "beam", "ilp", "lp",
      "lagrangian" (see docs/rules.md).

    >>> tagger = Tagger(max_rounds=5)
    >>> tagger.fit([["light", "on"], ["light", "off"]], [["N", "P"], ["N", "P"]]).predict([["light"]])
    [['N']]
    """


class Classifier(LearningEstimator):
    """Labels single inputs: dicts of features, lists of words, or rows of a matrix.

    Two classes are learned asymmetrically (the second class has the weights, the first scores 0), more classes jointly.
    Parameters are those of `Tagger`; `scheme` and `allowed` do not apply, and `order` is 1.

    >>> Classifier().fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"]).predict([{"b": 1.0}])
    ['y']
    """

    _sequences = False

    def predict_proba(self, xs: Any) -> Floats:
        """The probability of every class, in the order of `classes_`; see `sidelight.models.probabilities`. # [N, K]

        >>> tagger = Classifier(learner="crf").fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
        >>> tagger.predict_proba([{"b": 1.0}]).argmax(axis=1)
        array([1])
        """
        return np.exp(self.predict_log_proba(xs))

    def predict_log_proba(self, xs: Any) -> Floats:
        """The logarithms of `predict_proba`. # [N, K]"""
        scores = probabilities.class_scores(self._fitted(), xs, n_jobs=self.n_jobs)
        scores -= scores.max(axis=1, keepdims=True, initial=-np.inf)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def decision_function(self, xs: Any) -> Floats:
        """The score of every class; for two classes, the second minus the first. # [N, K], or [N]"""
        scores = probabilities.class_scores(self._fitted(), xs, n_jobs=self.n_jobs)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


__all__ = ["DEFAULT_PRICES", "Classifier", "Tagger"]
