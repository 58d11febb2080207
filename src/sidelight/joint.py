"""Decisions that are no sequence, taken together under rules, and learned: entities and relations, fields of a form.

    ŷ = argmax_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(x, y)

(Roth and Yih 2004). Every decision is a variable with a kind and a key, which rules call `y.entity[0]` and
`y.relation[0, 1]`. Scores come from whoever has them, or are learned here: a weight for every attribute of a variable
and label, and a table for every type of pair (a conditional random field or a margin over it; Roth and Yih 2005 compare
learning with and without inference).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.evidence import Evidence, gold
from sidelight.fit_log import FitLog, check_verbose, counted, in_words
from sidelight.inference.explanation import RuleExplanation
from sidelight.inference.proofs import warn_of_unproved
from sidelight.joint_inference import JointInference, JointSolution, Output, Pairs, Scores
from sidelight.joint_model import JointModel, load_joint, save_joint
from sidelight.joint_training import JointTraining, check_pieces
from sidelight.recipes import Recipe, recipe_of
from sidelight.records import Round
from sidelight.rules import Rule
from sidelight.settings import Settings
from sidelight.spaces import sums
from sidelight.structures.variables import VariableReader, decode_variables


class Joint(JointInference):
    """Takes decisions together, by scores that are handed in or learned.

    - labels: those of every kind of variable.
    - rules: about outputs; `x` is the input as it is given. The penalties of soft rules are their own, or learned by
      `learn_penalties`, or by `fit` from Gold. Raises `DataError` for what is no list of rules, and where one speaks of
      a kind or a label that does not exist.
    - inference: "auto", or one of "elimination" (exact; tables must stay small), "a_star" (exact; for few variables),
      "ilp" (an integer program, exact), "lp" (its linear relaxation), "lagrangian", "beam". "dynamic" is another name
      of the first, "program" and "relaxation" of the two programs.

    To learn, three functions say what there is to learn of an input:

    - variables(x): {kind: keys}.
    - features(x, kind, key): attributes of a variable, as `Classifier` takes them: a dict, or a list of names.
    - pairs(x): pairs of variables whose labels are scored together, each a (kind, key); a name before both, as in
      ("from", ("relation", (0, 1)), ("entity", 0)), tells pairs apart that have weights of their own.

    The others are as for `Tagger`: learner ("jlis", with Gold alone a structural SVM, "structural_svm", "latent_svm",
    "transductive_svm", "cllp", "mms", "perceptron", "crf", "partial_crf"; likelihoods where elimination is tractable),
    loss, prices, cost {((kind, right), (kind, predicted)): cost}, class_weight {(kind, label): weight}, size,
    tolerance, violation, decrease, max_rounds, max_completions, n_jobs, seed, callbacks, verbose.

    >>> from sidelight.rules import every, implies, rule
    >>> @rule
    ... def people_live_in_places(x, y):
    ...     '''Who lives in what is a person, and what a place.'''
    ...     typed = [(r == "lives_in", y.entity[a] == "person", y.entity[b] == "place")
    ...              for (a, b), r in y.relation.items()]
    ...     return every(implies(r, every(one, other)) for r, one, other in typed)
    >>> joint = Joint({"entity": ["person", "place"], "relation": ["none", "lives_in"]}, [people_live_in_places])
    >>> scores = {"entity": {0: [1.0, 0.0], 1: [0.2, 0.0]}, "relation": {(0, 1): [0.0, 0.5]}}
    >>> joint.predict(["Ann lives in Paris"], [scores])
    [{'entity': {0: 'person', 1: 'place'}, 'relation': {(0, 1): 'lives_in'}}]
    """

    def __init__(
        self,
        labels: Mapping[str, Sequence[Any]],
        rules: Sequence[Rule] | None = (),
        *,
        inference: str = "auto",
        variables: Callable[[Any], Mapping[str, Iterable[Any]]] | None = None,
        features: Callable[[Any, str, Any], Any] | None = None,
        pairs: Callable[[Any], Iterable[Sequence[Any]]] | None = None,
        learner: str | Recipe = "jlis",
        loss: str = "squared_hinge",
        prices: Mapping[str, float] | None = None,
        cost: Mapping[tuple[Any, Any], float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        size: str | Callable[[Any], float] | None = None,
        tolerance: float = 0.01,
        violation: float = 1e-3,
        decrease: float | None = None,
        max_rounds: int | None = None,
        max_completions: int | None = None,
        n_jobs: int | None = -1,
        seed: int = 0,
        callbacks: Sequence[Callable[[Round], Any]] = (),
        verbose: int = 0,
    ) -> None:
        super().__init__(labels, rules, inference=inference)
        self.variables, self.features, self.pairs = variables, features, pairs
        self.learner, self.loss, self.prices = learner, loss, prices
        self.cost, self.class_weight, self.size = cost, class_weight, size
        self.tolerance, self.violation, self.decrease = tolerance, violation, decrease
        self.max_rounds, self.max_completions = max_rounds, max_completions
        self.n_jobs, self.seed, self.callbacks, self.verbose = n_jobs, seed, callbacks, verbose

    def fit(self, evidence: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn from evidence of any kinds, or from inputs and outputs {kind: {key: label}}.

        Partial leaves keys out, or has None for their labels; Candidates has collections of labels in their place.
        Rules limit outputs in prediction, not here. Raises `DataError` where the evidence cannot be used, `ValueError`
        where the learner needs what variables do not have, `Intractable` for sums that are too large for elimination.
        """
        pieces: list[Evidence] = list(evidence)
        if y is not None:
            pieces = list(gold(pieces, y, weight=1.0 if sample_weight is None else sample_weight))
        elif sample_weight is not None:
            raise ValueError("sample_weight goes with fit(xs, ys); evidence has weights of its own")
        check_pieces(pieces)
        self.rounds_: list[Round] = []
        log = FitLog(
            "Joint",
            learner=self.learner if isinstance(self.learner, str) else self.learner.name,
            given=in_words(counted(pieces)),
            verbose=check_verbose(self.verbose),
            total=self.max_rounds,
        )
        with log:
            training = JointTraining(self._settings(), pieces, self._reader())
            for record in training.rounds():
                self.rounds_.append(record)
                log.round(record)
                for callback in self.callbacks:
                    callback(record)
            self.model_ = training.model()
        right = [piece for piece in pieces if piece.kind == "gold"]
        if right and any(rule.learned for rule in self.rules):
            self.learn_penalties([piece.x for piece in right], [piece.y for piece in right])  # type: ignore[attr-defined]
        return self

    def predict(
        self, xs: Sequence[Any], scores: Sequence[Scores] | None = None, *, pairs: Sequence[Pairs] | None = None
    ) -> list[Output]:
        """The best output of every input, by learned scores unless others are given. See `solutions`.

        Warns (`sidelight.errors.NotProved`) where the method did not prove that outputs are the best.
        """
        found = self.solutions(xs, scores, pairs=pairs)
        warn_of_unproved(found)
        return [one.output for one in found]

    def solutions(
        self, xs: Sequence[Any], scores: Sequence[Scores] | None = None, *, pairs: Sequence[Pairs] | None = None
    ) -> list[JointSolution]:
        """The best output of every input, given the scores of its variables, and of pairs of them where there are any.

        Without scores, by those that were learned. Raises `DataError` where scores do not fit the labels or a rule
        fails, `Infeasible`, naming the rules in conflict, where hard rules leave no output.
        """
        if scores is None:
            learned = self._fitted().scores(self._reader(), xs)
            scores, pairs = [alone for alone, _ in learned], [both for _, both in learned]
        return super().solutions(xs, scores, pairs=pairs)

    def explain_rules(self, x: Any, scores: Scores | None = None, *, pairs: Pairs | None = None) -> RuleExplanation:
        """How each rule was taken in for an input, whether the output without rules breaks it, and what it changed."""
        if scores is None:
            scores, pairs = self._fitted().scores(self._reader(), [x])[0]
        return super().explain_rules(x, scores, pairs=pairs)

    def predict_marginals(self, xs: Sequence[Any]) -> list[dict[str, dict[Any, dict[Any, float]]]]:
        """For every variable a dict from label to probability, by learned scores and without rules.

        Raises `Intractable` where elimination takes too much.
        """
        model = self._fitted()
        batch, called = model.batch(self._reader(), xs)
        rows = iter(sums.token_marginals(batch.space, batch.scores(model.weights)).tolist())
        names = self._reader().choices.names
        outputs: list[dict[str, dict[Any, dict[Any, float]]]] = []
        for own in called:
            outputs.append({})
            for kind, key in own:
                chances = {label: chance for (of, label), chance in zip(names, next(rows)) if of == kind}
                outputs[-1].setdefault(kind, {})[key] = chances
        return outputs

    def k_best(self, xs: Sequence[Any], k: int) -> list[list[tuple[Output, float]]]:
        """The k best outputs of each input with their scores, best first, by learned scores and without rules."""
        model = self._fitted()
        batch, called = model.batch(self._reader(), xs)
        labels, values = sums.k_best(batch.space, batch.scores(model.weights), k)
        ranked = [decode_variables(called, numbers, self._reader().choices) for numbers in labels]
        found = [[(ranked[r][i], float(values[r, i])) for r in range(k)] for i in range(len(batch))]
        return [[(output, value) for output, value in own if value > -np.inf] for own in found]

    def sample(self, xs: Sequence[Any], *, seed: int | np.random.Generator = 0) -> list[Output]:
        """One output of each input, drawn from p(y | x), by learned scores and without rules."""
        model = self._fitted()
        batch, called = model.batch(self._reader(), xs)
        drawn = sums.sample(batch.space, batch.scores(model.weights), np.random.default_rng(seed))
        return decode_variables(called, drawn, self._reader().choices)

    def judge(self, xs: Sequence[Any]) -> Floats:
        """The companion decision for each input: above 0 means that it has a good output. # [N]"""
        model = self._fitted()
        batch, _ = model.batch(self._reader(), xs)
        sizes = batch.lengths.astype(np.float64)
        if self.size == "one":
            sizes = np.ones(len(batch))
        elif callable(self.size):
            sizes = np.array([float(self.size(x)) for x in xs])
        return np.asarray(batch.best(model.weights).values / sizes + model.weights[0])

    def score(self, xs: Sequence[Any], ys: Sequence[Output]) -> float:
        """The share of variables that are labelled right."""
        right = [
            bool(found.get(kind, {}).get(key) == label)
            for found, y in zip(self.predict(xs), ys)
            for kind, members in y.items()
            for key, label in members.items()
        ]
        return sum(right) / max(len(right), 1)

    def save(self, path: str | Path) -> None:
        """Write the model to a file; functions and rules are no part of it."""
        save_joint(self._fitted(), path)

    def load(self, path: str | Path) -> Self:
        """Take the model of a file; raises `ModelFileError` where the file is none, or has other labels."""
        model = load_joint(path)
        if model.labels != self.labels:
            raise ModelFileError("its labels are others", file=path, remedy="give Joint the labels it was trained with")
        self.model_ = model
        return self

    def _fitted(self) -> JointModel:
        if not hasattr(self, "model_"):
            raise NotFitted("this Joint has not been fitted; call fit first, or give scores")
        return self.model_

    def _reader(self) -> VariableReader:
        if self.variables is None or self.features is None:
            missing = "variables" if self.variables is None else "features"
            raise DataError(f"to learn, Joint needs {missing}", remedy=f"give {missing}=, a function of the input")
        return VariableReader(self.labels, self.features, self.variables, self.pairs)

    def _settings(self) -> Settings:
        return Settings(
            sequences=True,
            features=None,
            learner=recipe_of(self.learner),
            variables=True,
            loss=self.loss,
            prices=self.prices,
            cost=self.cost,
            class_weight=self.class_weight,
            labels=None,
            scheme=None,
            metric=None,
            allowed=None,
            size=self.size,
            bias=True,
            order=1,
            states=None,
            tolerance=self.tolerance,
            violation=self.violation,
            decrease=self.decrease,
            max_rounds=self.max_rounds,
            max_completions=self.max_completions,
            patience=1,
            random_ties=False,
            warm_start=False,
            freeze_vocabulary=False,
            n_jobs=self.n_jobs,
            seed=self.seed,
            callbacks=self.callbacks,
            verbose=self.verbose,
            checkpoint=None,
            rules=(),
            rules_in="prediction",
            inference=self.inference,
        )


__all__ = ["Joint", "JointSolution"]
