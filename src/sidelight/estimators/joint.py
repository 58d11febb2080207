"""Joint decisions that do not form a sequence, under rules, with learning: entities and relations, fields of a form.

    ŷ = argmax_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(x, y)

(Roth and Yih 2004). Every decision is a variable with a kind and a key, which rules call `y.entity[0]` and
`y.relation[0, 1]`. Scores are passed in, or learned here: a weight for every attribute of a variable and label, and a
table for every type of pair, trained as a conditional random field or with margins (Roth and Yih 2005 compare learning
with and without inference).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from sidelight.core.checks import is_among, shown
from sidelight.core.records import Callback
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.estimators.base_estimator import labelled
from sidelight.estimators.joint_inference import JointInference, JointSolution, Output, Pairs, Scores
from sidelight.estimators.predictor import StructuredEstimator
from sidelight.evidence import Evidence, Gold
from sidelight.inference.explanation import RuleExplanation
from sidelight.inference.proofs import warn_of_unproved
from sidelight.models.model import Model
from sidelight.models.probabilities import posterior
from sidelight.parallel.place import one_each
from sidelight.recipes import Recipe
from sidelight.rules import Rule
from sidelight.specs.settings import Settings
from sidelight.structures.variable_structure import Deciding, Scored, VariableStructure
from sidelight.structures.variables import VariableReader


class Joint(StructuredEstimator, JointInference):
    """Predicts several connected decisions jointly, from scores that you pass in or that it learns.

    - labels: {kind of variable: its labels}.
    - rules: rules about outputs; `x` is the input as passed in. Soft rules have their own penalties, or penalties
      learned by `learn_penalties`, or by `fit` from Gold. Raises `DataError` if this is not a list of rules, or if a
      rule mentions a kind or a label that does not exist.
    - inference: "auto", "elimination" (exact; needs small tables), "a_star" (exact; for few variables), "ilp" (an
      integer program, exact), "lp" (its linear relaxation), "lagrangian" or "beam". "dynamic" is another name for the
      first, "program" and "relaxation" for the two programs.

    Learning needs three functions that describe an input:

    - variables(x): {kind: keys}.
    - features(x, kind, key): the features of a variable, as for `Classifier`: a dict, or a list of names.
    - pairs(x): the pairs of variables whose labels are scored together, each a (kind, key); a name before both, as in
      ("from", ("relation", (0, 1)), ("entity", 0)), separates pairs with different weights.

    The other parameters are those of `Tagger`, among them validation (of `fit`), checkpoint, partial_fit, warm_start
    and rules_in="training". learner: "jlis" (with Gold alone a structural SVM), "structural_svm", "latent_svm",
    "transductive_svm", "cllp", "mms", "perceptron", "codl", "crf" or "partial_crf" (likelihoods where elimination is
    tractable). cost: {((kind, right), (kind, predicted)): cost}; class_weight: {(kind, label): weight}. Probabilities,
    k best outputs and samples use learned scores and ignore rules.

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

    inference: Any
    rules: tuple[Rule, ...]
    variables: Any
    pairs: Any
    _counts = False  # whether the evidence had Gold for counting broken rules

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
        rules_in: str = "prediction",
    ) -> None:
        self._keep(locals())
        JointInference.__init__(self, labels, rules, inference=inference)

    def predict(  # type: ignore[override]
        self,
        xs: Sequence[Any],
        scores: Sequence[Scores] | None = None,
        *,
        pairs: Sequence[Pairs] | None = None,
        by: str = "path",
        clamp: Any = None,
    ) -> list[Output]:
        """The best output of every input, by learned scores or those passed in. See `solutions`.

        With learned scores, `by="marginals"` gives every variable its most probable label, without rules. Warns
        (`sidelight.errors.NotProved`) if the method did not prove outputs optimal.
        """
        if not is_among(by, ("path", "marginals")):
            raise ValueError(f"by is {shown(by)}; give 'path' or 'marginals'")
        if by == "marginals":
            if scores is not None or self.rules:
                raise ValueError("marginals are by learned scores and without rules; give by='path'")
            return posterior(*self._asked_of(xs), clamp=clamp, n_jobs=self.n_jobs)
        solutions = self.solutions(xs, scores, pairs=pairs, clamp=clamp)
        warn_of_unproved(solutions)
        return [one.output for one in solutions]

    def solutions(  # type: ignore[override]
        self,
        xs: Sequence[Any],
        scores: Sequence[Scores] | None = None,
        *,
        pairs: Sequence[Pairs] | None = None,
        clamp: Any = None,
    ) -> list[JointSolution]:
        """The best output of every input, given scores of its variables and, if there are any, of pairs of them.

        Without scores it uses the learned ones; `clamp` may then fix labels: {kind: {key: label}} or None for each
        input. Raises `DataError` if scores do not fit the labels or a rule fails, and `Infeasible`, which names the
        conflicting rules, if hard rules leave no output.
        """
        if scores is None:
            learned = self._learned_scores(xs, clamp)
            scores, pairs = [alone for alone, _ in learned], [both for _, both in learned]
        elif clamp is not None:
            raise ValueError("clamp is for learned scores; give -inf to labels that cannot be")
        return JointInference.solutions(self, xs, scores, pairs=pairs)

    def solved(self, inputs: Sequence[tuple[Any, Scores, Pairs]]) -> list[JointSolution]:
        place = self._place()
        if not place.remote:
            return super().solved(inputs)
        bare = JointInference(self.labels, self.rules, inference=self.inference)
        bare.penalties = self.penalties
        return one_each(place, _solved, inputs, bare, few=1)

    def explain_rules(  # type: ignore[override]
        self, x: Any, scores: Scores | None = None, *, pairs: Pairs | None = None
    ) -> RuleExplanation:
        """How each rule was applied to an input, whether the output without rules breaks it, and what it changed."""
        if scores is None:
            scores, pairs = self._learned_scores([x])[0]
        return JointInference.explain_rules(self, x, scores, pairs=pairs)

    def score(self, xs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of variables with a right label, among those whose label is known."""
        xs, ys = labelled(xs, y)
        right = [
            bool(output.get(kind, {}).get(key) == label)
            for output, y in zip(self.predict(xs), ys)
            for kind, members in y.items()
            for key, label in members.items()
        ]
        return sum(right) / max(len(right), 1)

    def load(self, path: str | Path) -> Self:  # type: ignore[override]
        """An estimator with the model of a file and its learned penalties; functions and rules are not in the file.

        Raises `ModelFileError` if the file is not such a model, or has other labels.
        """
        from sidelight.models.model_file import load_model

        model = load_model(path, structure=self._reader(checked=False))
        if not isinstance(model.structure, VariableStructure):
            remedy = f"use the estimator of {model.structure.outputs_are}"
            raise ModelFileError("not the model of a Joint", file=path, remedy=remedy)
        self.model_ = model
        learned = model.about.get("penalties", {})
        known = zip(self.rules, self.penalties)
        self.penalties = [learned.get(rule.name, price) if price is None else price for rule, price in known]
        return self

    def _keep_penalties(self, penalties: list[float]) -> None:
        self.penalties_ = penalties
        if self._counts:
            self.penalties = list(penalties)

    def _evidence(self, evidence: Any, y: Any, sample_weight: Any) -> list[Evidence]:
        pieces = super()._evidence(evidence, y, sample_weight)
        self._counts = any(isinstance(piece, Gold) for piece in pieces)
        return pieces

    def _settings(self, **others: Any) -> Settings:
        """The parameters, checked; without Gold, penalties are those that `learn_penalties` left."""
        rules = self.rules
        if not self._counts:
            known = [(rule, price) for rule, price in zip(rules, self.penalties) if price is not None]
            rules = tuple(rule.soft(price) if rule.learned else rule for rule, price in known)
        return super()._settings(**{"features": None, "labels": None, "rules": rules, **others})

    def _outputs(self) -> Deciding:
        return Deciding(self._reader())

    def _inputs(self, xs: Any) -> Any:
        self._reader()
        return super()._inputs(xs)

    def _learned_scores(self, xs: Any, clamp: Any = None) -> list[Scored]:
        model = self._fitted()
        assert isinstance(model.structure, VariableStructure)
        return list(model.structure.scored(self._inputs(xs), model.weights, clamp))

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFitted("this Joint has not been fitted; call fit first, or give scores")
        return self.model_

    def _reader(self, *, checked: bool = True) -> VariableReader:
        missing = [name for name in ("variables", "features") if getattr(self, name) is None]
        if missing and checked:
            raise DataError(
                f"to learn, Joint needs {missing[0]}", remedy=f"give {missing[0]}=, a function of the input"
            )
        return VariableReader(self.labels, self.features, self.variables, self.pairs)


def _solved(inputs: list[tuple[Any, Scores, Pairs]], bare: JointInference, n_jobs: int | None) -> list[JointSolution]:
    return bare.solved(inputs)


__all__ = ["Joint", "JointSolution"]
