"""`SegmentTagger`: labels segments instead of tokens, with scikit-learn manners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight import segment_probabilities
from sidelight.arrays import Floats
from sidelight.checks import generator
from sidelight.constrained import Constrained
from sidelight.features import FeatureSet
from sidelight.features.segment_sources import SegmentFeatures, SegmentFunction
from sidelight.inference.problem import Solution
from sidelight.recipe_kinds import Recipe
from sidelight.records import Callback, Round
from sidelight.ruled_estimator import RuledEstimator
from sidelight.rules import Rule
from sidelight.rules.given import checked_rules
from sidelight.segment_model import SegmentModel, load_segment_model, save_segment_model
from sidelight.segment_settings import SegmentSettings, learner_in
from sidelight.segment_training import train_segmenter
from sidelight.settings import check_callbacks
from sidelight.stored import reading
from sidelight.structures.segments import Span


class SegmentTagger(RuledEstimator[SegmentModel]):
    """Cuts a sequence into labelled segments with a semi-Markov model (Sarawagi and Cohen 2004).

    A segmentation scores the features of its tokens and of its segments, and the transitions between the labels of
    neighbouring segments. Parameters, all by keyword:

    - features: of tokens, as for `Tagger`; None chooses by the inputs.
    - segment_features: of segments (`SegmentFeatures`); None takes all ready families, or the length alone for inputs
      without words.
    - max_length: the most tokens of a segment; None is that of the longest gold segment. Time grows with it.
    - learner: "semi_crf" (the conditional random field: likelihood) or "semi_svm" (margin; Hamming cost per token), or
      `recipes.codl(base="semi_crf")`, which learns from rules and inputs without labels; a round is then a cycle.
    - loss: of semi_svm, "squared_hinge", "hinge" or "logistic".
    - prices: what a unit of loss costs, per kind of evidence: "gold", "partial", "candidates", "unlabeled".
    - labels: all token labels, if the evidence may not show them all; a label outside them is an error.
    - scheme: "BIO": B-X begins a segment X and I-X goes on with it, O is a segment of one token; longer segments than
      max_length are refused in training and never predicted. None: a segment is a run of one label; a run longer than
      max_length counts as pieces of max_length tokens and a rest, and comes back as one segment.
    - bias: start weights.
    - tolerance: relative duality gap at which semi_svm stops; for semi_crf half the squared gradient, which bounds the
      gap, over the objective. violation: ε of new cuts.
    - decrease: relative fall of the objective at which completions of semi_svm end; max_completions, max_rounds:
      limits.
    - n_jobs: threads, -1 for all cores; the same seed gives the same bits for any number.
    - callbacks: functions of a `Round`; verbose: as for `Tagger`.
    - rules: what predictions must or should obey (`sidelight.rules`); they speak of the labels of tokens. Penalties
      that are to be learned are counted on Gold; with codl they follow what is completed.
    - inference: how the best segmentation under rules is found: "auto", or "dynamic", "a_star", "beam", "ilp", "lp",
      "lagrangian" (see docs/rules.md).

    Learns from Gold, Partial and Candidates; semi_crf sums over the segmentations that token labels leave open,
    semi_svm completes to the best of them. codl learns from Gold and completes all else, Unlabeled too, to the best
    segmentation under rules. Costs, class weights, validation and checkpoints are refused: `Tagger` has them.

    >>> tagger = SegmentTagger(max_rounds=20)
    >>> xs, ys = [["ed", "holt", "1994"], ["al", "1995"]], [["name", "name", "year"], ["name", "year"]]
    >>> tagger.fit(xs, ys).predict_segments([["al", "holt", "1994"]])
    [[(0, 1, 'name'), (2, 2, 'year')]]
    """

    def __init__(
        self,
        *,
        features: FeatureSet | None = None,
        segment_features: SegmentFeatures | None = None,
        max_length: int | None = None,
        learner: str | Recipe = "semi_crf",
        loss: str = "squared_hinge",
        prices: Mapping[str, float] | None = None,
        labels: Sequence[Any] | None = None,
        scheme: str | None = None,
        bias: bool = True,
        tolerance: float = 0.01,
        violation: float = 1e-3,
        decrease: float = 1e-5,
        max_rounds: int | None = None,
        max_completions: int = 50,
        n_jobs: int | None = -1,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        verbose: int = 0,
        rules: Sequence[Rule] = (),
        inference: str = "auto",
    ) -> None:
        self.features = features
        self.segment_features = segment_features
        self.max_length = max_length
        self.learner = learner
        self.loss = loss
        self.prices = prices
        self.labels = labels
        self.scheme = scheme
        self.bias = bias
        self.tolerance = tolerance
        self.violation = violation
        self.decrease = decrease
        self.max_rounds = max_rounds
        self.max_completions = max_completions
        self.n_jobs = n_jobs
        self.seed = seed
        self.callbacks = callbacks
        self.verbose = verbose
        self.rules = rules
        self.inference = inference

    def fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn from a list of evidence, or from inputs and their token labels.

        Raises `DataError` where the evidence cannot be used.
        """
        settings = SegmentSettings(**{name: value for name, value in self.get_params().items() if name != "callbacks"})
        check_callbacks(self.callbacks)
        pieces = self._evidence(evidence, y, sample_weight)
        rounds: list[Round] = []
        with self._fit_log(pieces) as log:

            def report(record: Round) -> None:
                rounds.append(record)
                log.round(record)
                for callback in self.callbacks:
                    callback(record)

            self.model_, penalties = train_segmenter(settings, pieces, report)
        self._keep_penalties(penalties)
        self.rounds_ = rounds
        return self

    def predict(self, xs: Any, *, clamp: Any = None, rules: Sequence[Rule] | None = None) -> list[list[Any]]:
        """The token labels of each input's best segmentation.

        `clamp` fixes token labels: for every input one label or None per token. `rules` are those of the tagger unless
        others, or none (`rules=()`), are given. Raises `Infeasible` where hard rules leave no segmentation.
        """
        model, inputs = self._asked_of(xs)
        if clamp is not None or self._asked(rules):
            return self._under(rules).predict(inputs, clamp=clamp)
        return model.predict(inputs, n_jobs=self.n_jobs)

    def predict_segments(self, xs: Any, *, clamp: Any = None, rules: Sequence[Rule] | None = None) -> list[list[Span]]:
        """The segments of each input as (first token, last token, label), the last token included; they tile it.

        Options as for `predict`.
        """
        model, inputs = self._asked_of(xs)
        if clamp is not None or self._asked(rules):
            return model.scheme.spans_of(self._under(rules).predict(inputs, clamp=clamp))
        return model.predict_segments(inputs, n_jobs=self.n_jobs)

    def solutions(self, xs: Any, *, clamp: Any = None, rules: Sequence[Rule] | None = None) -> list[Solution]:
        """What `predict` gives under rules, with what each output is worth, how it was found, and whether it is proved.

        Labels are numbers of token labels, in the order of `classes_`. Options as for `predict`.
        """
        return self._under(rules).solutions(self._inputs(xs), clamp=clamp)

    def predict_marginals(self, xs: Any, *, clamp: Any = None) -> list[list[dict[Any, float]]]:
        """For every token of every input a dict from token label to probability.

        They are those of the model exp(score) / sum; for semi_svm scores were not trained to be log-probabilities.
        `clamp` has for every input one label or None per token; what is clamped has probability 1. These, `k_best`,
        `sample`, `log_probability` and `log_partition` are of the model without rules. Raises `DataError` for a clamp
        that does not fit and `Infeasible` where no segmentation has the clamped labels.

        >>> xs, ys = [["ed", "holt", "1994"], ["al", "1995"]], [["name", "name", "year"], ["name", "year"]]
        >>> tagger = SegmentTagger(max_rounds=20).fit(xs, ys)
        >>> row = tagger.predict_marginals([["al", "1994"]], clamp=[["name", None]])[0][1]
        >>> max(row, key=row.get)
        'year'
        """
        names = self.classes_
        return [[dict(zip(names, row)) for row in rows.tolist()] for rows in self.marginals(xs, clamp=clamp)]

    def marginals(self, xs: Any, *, clamp: Any = None) -> list[Floats]:
        """The same as an array [tokens, labels] for each input, token labels in the order of `classes_`."""
        return segment_probabilities.marginals(*self._asked_of(xs), clamp=clamp, n_jobs=self.n_jobs)

    def log_probability(self, xs: Any, ys: Any, *, clamp: Any = None) -> Floats:
        """log p(y | x) of given token labels, -inf where they are no segmentation of the model. # [N]"""
        return segment_probabilities.log_probabilities(*self._asked_of(xs), ys, clamp=clamp, n_jobs=self.n_jobs)

    def log_partition(self, xs: Any, *, clamp: Any = None) -> Floats:
        """log Σ exp(score) over the segmentations of each input, or over those that have the clamped labels. # [N]"""
        return segment_probabilities.log_partitions(*self._asked_of(xs), clamp=clamp, n_jobs=self.n_jobs)

    def k_best(self, xs: Any, k: int, *, clamp: Any = None) -> list[list[tuple[list[Any], float]]]:
        """The token labels of the k best segmentations of each input with their scores, best first."""
        return segment_probabilities.k_best(*self._asked_of(xs), k, clamp=clamp, n_jobs=self.n_jobs)

    def sample(self, xs: Any, *, seed: int | np.random.Generator = 0, clamp: Any = None) -> list[list[Any]]:
        """The token labels of one segmentation of each input, drawn from p(y | x)."""
        rng = generator(seed)
        return segment_probabilities.samples(*self._asked_of(xs), rng, clamp=clamp, n_jobs=self.n_jobs)

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        save_segment_model(self._fitted(), path)

    @classmethod
    def load(
        cls, path: str | Path, *, function: SegmentFunction | None = None, rules: Sequence[Rule] = ()
    ) -> SegmentTagger:
        """A tagger with the model of a file, ready to predict; `function` is that of its segment features, if any.

        Rules are no part of a file, which keeps their names and the penalties that were learned: give them again.
        """
        model = load_segment_model(path, function=function)
        given = checked_rules(rules)
        with reading(path):
            learner = learner_in(model.about)
        self = cls(
            segment_features=model.segments.features,
            max_length=model.max_length,
            learner=learner,
            scheme="BIO" if model.scheme.bio else None,
            rules=given,
        )
        self.model_ = model
        self._keep_penalties(Constrained(model, given).prices() if given else [])
        return self

    @property
    def classes_(self) -> list[Any]:
        """The token labels in their order."""
        return list(self._fitted().scheme.tokens.names)


__all__ = ["SegmentTagger"]
