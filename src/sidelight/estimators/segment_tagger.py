"""`SegmentTagger`: labels segments instead of tokens, with a scikit-learn interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import number_of, reading, text_of, whole_of
from sidelight.core.records import Callback
from sidelight.errors import ModelFileError
from sidelight.estimators.constrained import Constrained
from sidelight.estimators.taggers import LearningEstimator
from sidelight.evaluate.schemes import SchemeName
from sidelight.features import FeatureSet
from sidelight.features.segments.segment_sources import SegmentFeatures, SegmentFunction
from sidelight.models import probabilities
from sidelight.recipes import LEARNERS, Recipe, codl, recipe_of
from sidelight.rules import Rule
from sidelight.rules.rule import checked_rules
from sidelight.specs.settings import Settings
from sidelight.structures.segment_structure import Segmenting, SegmentStructure
from sidelight.structures.segments import Span


class SegmentTagger(LearningEstimator):
    """Cuts a sequence into labelled segments with a semi-Markov model (Sarawagi and Cohen 2004).

    The score of a segmentation has features of tokens, features of segments, and transitions between neighbouring
    segments. All parameters are keywords:

    - features: features of tokens, as for `Tagger`; None chooses by the inputs.
    - segment_features: features of segments (`SegmentFeatures`); None takes all ready-made families, or only the length
      for inputs without words.
    - max_length: the maximum number of tokens in a segment; None takes that of the longest gold segment. Time grows
      with it.
    - learner: "semi_crf" (a conditional random field; "partial_crf" over segments), "semi_svm" (margins; "latent_svm"
      over segments), or another learner that only needs best outputs or sums over them: "jlis", "structural_svm",
      "transductive_svm", "self_training", "cllp", "mms", "naive", "crf". `recipes.codl(base="semi_crf")` learns from
      rules and unlabelled inputs; a round is then a cycle. Other learners are refused, with the reason.
    - loss, prices, cost, class_weight, metric, size, patience, warm_start, freeze_vocabulary, checkpoint: as for
      `Tagger`. Costs and class weights refer to token labels.
    - labels: all token labels, in case some are missing from the evidence; any other label is an error.
    - scheme: "BIO": B-X begins a segment X, I-X continues it, and O is a segment of one token; segments longer than
      max_length are refused in training and never predicted. None: a segment is a run of one label; a run longer than
      max_length counts as pieces of max_length tokens and a remainder, and comes back as one segment.
    - bias: weights for first labels.
    - tolerance: for margin learners the relative duality gap at which to stop; for likelihoods half the squared
      gradient, which bounds the gap, over the objective. violation: ε of new cuts.
    - decrease, max_completions, max_rounds: as for `Tagger`.
    - n_jobs: the number of threads, -1 for all cores; the same seed gives the same bits for any number; place: as for
      `Tagger`.
    - callbacks: functions of a `Round`; verbose: as for `Tagger`.
    - rules: what predictions must or should obey (`sidelight.rules`), in terms of token labels. Penalties marked as
      learned are estimated by counting on Gold; codl updates them from completed outputs.
    - rules_in: "prediction", or "training": margin learners then also search for segmentations under the rules during
      training.
    - inference: how to find the best segmentation under rules: "auto", or "dynamic", "a_star", "beam", "ilp", "lp",
      "lagrangian" (see docs/rules.md).

    Where labels leave the segmentation open, semi_crf sums over segmentations and semi_svm completes with the best one.
    Companion answers, unlabelled inputs and votes are used as by the same learners of `Tagger`. "cllp" and "mms" look
    separately at each token that may leave its candidates, so their time grows with the square of the length.

    >>> tagger = SegmentTagger(max_rounds=20)
    >>> xs, ys = [["ed", "holt", "1994"], ["al", "1995"]], [["name", "name", "year"], ["name", "year"]]
    >>> tagger.fit(xs, ys).predict_segments([["al", "holt", "1994"]])
    [[(0, 1, 'name'), (2, 2, 'year')]]
    """

    _chooses = False

    def __init__(
        self,
        *,
        features: FeatureSet | None = None,
        segment_features: SegmentFeatures | None = None,
        max_length: int | None = None,
        learner: str | Recipe = "semi_crf",
        loss: str = "squared_hinge",
        prices: Mapping[str, float] | None = None,
        cost: Mapping[tuple[Any, Any], float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        labels: Sequence[Any] | None = None,
        scheme: SchemeName | None = None,
        metric: str | None = None,
        size: str | Callable[[Any], float] | None = None,
        bias: bool = True,
        tolerance: float = 0.01,
        violation: float = 1e-3,
        decrease: float | None = None,
        max_rounds: int | None = None,
        max_completions: int | None = None,
        patience: int = 5,
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

    def _settings(self, **others: Any) -> Settings:
        """The parameters, checked; what chains have besides is as usual."""
        parameters = {**self.get_params(), **others}
        outputs = Segmenting(parameters.pop("segment_features"), parameters.pop("max_length"))
        usual: dict[str, Any] = {"order": 1, "states": None, "allowed": None, "random_ties": False}
        parameters["learner"] = recipe_of(parameters["learner"])
        return Settings(sequences=True, outputs=outputs, **usual, **parameters)

    def predict_segments(self, xs: Any, *, clamp: Any = None, rules: Sequence[Rule] | None = None) -> list[list[Span]]:
        """The segments of each input as (first token, last token, label), in order, with the last token included.

        Options as for `predict`.
        """
        return self._fitted().segmental.scheme.spans_of(self.predict(xs, clamp=clamp, rules=rules))

    def marginals(self, xs: Any, *, clamp: Any = None) -> list[Floats]:
        """`predict_marginals` as an array [tokens, labels] for each input, token labels in the order of `classes_`."""
        return probabilities.marginals(*self._asked_of(xs), clamp=clamp, n_jobs=self.n_jobs)

    @classmethod
    def load(
        cls, path: str | Path, *, function: SegmentFunction | None = None, rules: Sequence[Rule] = ()
    ) -> SegmentTagger:
        """A tagger with the model of a file, ready to predict; `function` is the function of its segment features, if
        any.

        A file does not contain rules, only their names and learned penalties: pass the rules again.
        """
        from sidelight.models.model_file import load_model

        model = load_model(path, function=function)
        if not isinstance(model.structure, SegmentStructure):
            other = "Tagger" if model.sequences else "Classifier"
            raise ModelFileError("not the model of a SegmentTagger", file=path, remedy=f"use {other}.load")
        rules_in_order = checked_rules(rules)
        with reading(path):
            learner = _learner_in(model.about)
        self = cls(
            segment_features=model.structure.segments.features,
            max_length=model.structure.max_length,
            learner=learner,
            scheme="BIO" if model.structure.scheme.bio else None,
            rules=rules_in_order,
        )
        self.model_ = model
        self._keep_penalties(Constrained(model, rules_in_order).prices() if rules_in_order else [])
        return self


def _learner_in(about: Mapping[str, Any]) -> str | Recipe:
    """The learner described in a model file.

    >>> _learner_in({"learner": "codl", "base": "semi_crf", "beta": 0.5, "cycles": 3}).cycles
    3
    """
    if "base" not in about:
        return text_of(about, "learner", among=tuple(LEARNERS))
    beta = None if about.get("beta", 0.0) is None else number_of(about, "beta")
    return codl(base=text_of(about, "base", among=tuple(LEARNERS)), beta=beta, cycles=whole_of(about, "cycles", low=1))


__all__ = ["SegmentTagger"]
