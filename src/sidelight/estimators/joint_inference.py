"""Joint decisions that do not form a sequence, under rules: entities and relations, the fields of a form.

    ŷ = argmax_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(x, y)

(Roth and Yih 2004). Every decision is a variable with a kind and a key, which rules call `y.entity[0]` and
`y.relation[0, 1]`. Scores are passed in, from classifiers of this library or from others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import amount, is_hashable, is_listed, real_numbers, shown
from sidelight.errors import DataError, Infeasible
from sidelight.inference.explanation import RuleExplanation, explain_variables
from sidelight.inference.methods.choose import Method, check_method, solve
from sidelight.inference.problem import VariableProblem, clauses_of
from sidelight.inference.proofs import warn_of_unproved
from sidelight.inference.ruled_variables import groups_of, symbolic_groups
from sidelight.rules import Domain, Rule
from sidelight.rules.expr import Expr
from sidelight.rules.lowering.penalties import SMOOTHING, counted_penalties
from sidelight.rules.rule import checked_rules
from sidelight.rules.stand_in_input import try_rules

Scores = Mapping[str, Mapping[Any, Any]]  # by kind and key: the scores of a variable's labels, in their order
Pairs = Mapping[tuple[tuple[str, Any], tuple[str, Any]], Any]  # by two (kind, key): scores [labels, labels]
Output = dict[str, dict[Any, Any]]  # by kind and key: a label


@dataclass(frozen=True, slots=True)
class JointSolution:
    """The best output of an input, its value, and how it was found."""

    output: Output
    value: float  # score minus penalties
    exact: bool  # whether it is proved to be the best
    method: str


class JointInference:
    """Joint decisions under rules, from scores of single decisions: `Joint` without learning."""

    def __init__(
        self, labels: Mapping[str, Sequence[Any]], rules: Sequence[Rule] | None = (), *, inference: str = "auto"
    ) -> None:
        self.inference: Method = check_method(inference)
        if not isinstance(labels, Mapping) or not all(map(_are_labels, labels.values())):
            raise DataError(f"labels is {labels!r}", remedy="give a list of labels for each kind: {'entity': [...]}")
        self.labels = {kind: tuple(names) for kind, names in labels.items()}
        self.rules = tuple(dict.fromkeys(checked_rules(rules)))
        self.penalties: list[float | None] = [rule.penalty for rule in self.rules]
        self._domains = {kind: Domain(names) for kind, names in self.labels.items()}
        known = [name for names in self.labels.values() for name in names]
        for kind, names in self.labels.items():
            if not names or len(set(names)) < len(names):
                raise DataError(f"{kind} has no labels, or one of them twice", remedy="give every label once")
        for rule in self.rules:
            rule.check(known)
        try_rules(self.rules, self._domains)

    def learn_penalties(self, xs: Sequence[Any], ys: Sequence[Output], *, smoothing: float = SMOOTHING) -> Self:
        """Learn penalties by counting how often right outputs break the rules (Algorithm 7).

        Raises `DataError` if an output has a kind or a label that does not exist.
        """
        amount("smoothing", smoothing)
        _check_numbers(inputs=xs, outputs=ys)
        broken = [0.0] * len(self.rules)
        variables = 0
        for i, (x, y) in enumerate(zip(xs, ys)):
            for k, often in enumerate(self._broken(x, y, i)):
                broken[k] += often
            variables += sum(len(members) for members in y.values())
        self.penalties = [*counted_penalties(self.rules, broken, float(variables), smoothing=smoothing)]
        return self

    def predict(
        self, xs: Sequence[Any], scores: Sequence[Scores], *, pairs: Sequence[Pairs] | None = None
    ) -> list[Output]:
        """The best output of every input. See `solutions`.

        Warns (`sidelight.errors.NotProved`) if the method did not prove outputs optimal.
        """
        solutions = self.solutions(xs, scores, pairs=pairs)
        warn_of_unproved(solutions)
        return [one.output for one in solutions]

    def solutions(
        self, xs: Sequence[Any], scores: Sequence[Scores], *, pairs: Sequence[Pairs] | None = None
    ) -> list[JointSolution]:
        """The best output of every input, given the scores of its variables and, if any, of pairs of them.

        Raises `DataError` if scores do not fit the labels or a rule fails, and `Infeasible`, which names the
        conflicting rules, if hard rules leave no output.
        """
        _check_numbers(inputs=xs, scores=scores)
        both = [{}] * len(scores) if pairs is None else pairs
        _check_numbers(inputs=xs, scores=scores, pairs=both)
        return self.solved(list(zip(xs, scores, both)))

    def solved(self, inputs: Sequence[tuple[Any, Scores, Pairs]]) -> list[JointSolution]:
        """`solutions` of inputs with their scores."""
        return [self._solution(i, *one) for i, one in enumerate(inputs)]

    def violations(self, xs: Sequence[Any], ys: Sequence[Output]) -> list[dict[str, int]]:
        """For each output, the violations of each rule by name; obeyed rules are left out.

        Raises `DataError` as `learn_penalties`.
        """
        _check_numbers(inputs=xs, outputs=ys)
        violations = []
        for i, (x, y) in enumerate(zip(xs, ys)):
            broken: Counter[str] = Counter()
            for rule, often in zip(self.rules, self._broken(x, y, i)):
                broken[rule.name] += often
            violations.append({name: often for name, often in broken.items() if often})
        return violations

    def explain_rules(self, x: Any, scores: Scores, *, pairs: Pairs | None = None) -> RuleExplanation:
        """How each rule was applied to an input, whether the output without rules breaks it, and what it changed.

        >>> from sidelight.rules import rule
        >>> alike = rule(name="alike")(lambda x, y: y.field[0] == y.field[1])
        >>> joint = JointInference({"field": ["a", "b"]}, [alike])
        >>> print(joint.explain_rules("x", {"field": {0: [2.0, 0.0], 1: [0.0, 1.0]}}))
        rule   penalty  broken without rules  broken  labels changed  lowered to
        alike     hard                     1       0               1  1 clause in tables over up to 2 variables
        <BLANKLINE>
        elimination, exact; value 2; 1 clause taken in
        field[1]: b → a
        """
        called, problem, says = self._problem(0, x, scores, {} if pairs is None else pairs)
        return explain_variables(
            problem,
            called,
            labels=[self.labels[kind] for kind, _ in called],
            names=[rule.name for rule in self.rules],
            says=says,
            penalties=self._prices(),
            method=self.inference,
        )

    def _solution(self, i: int, x: Any, scores: Scores, pairs: Pairs) -> JointSolution:
        variables, problem, _ = self._problem(i, x, scores, pairs)
        names = [rule.name for rule in self.rules]
        try:
            solution = solve(problem, method=self.inference, names=names)
        except Infeasible as error:
            raise Infeasible(f"example {i}: {error}", example=i, rules=error.rules) from None
        output: Output = {kind: {} for kind in scores}
        for (kind, key), label in zip(variables, solution.labels):
            output[kind][key] = self.labels[kind][label]
        return JointSolution(output, solution.value, solution.exact, solution.method)

    def _problem(
        self, i: int, x: Any, scores: Scores, pairs: Pairs
    ) -> tuple[list[tuple[str, Any]], VariableProblem, list[Expr]]:
        """The variables of an input, its inference problem, and each rule as read on it."""
        if not isinstance(scores, Mapping) or not all(isinstance(members, Mapping) for members in scores.values()):
            remedy = "give {kind: {key: scores}}, with one number per label"
            raise DataError(f"example {i}: the scores are {scores!r}", remedy=remedy)
        variables = [(kind, key) for kind, members in scores.items() for key in members]
        own = tuple(self._checked(i, kind, key, scores[kind][key]) for kind, key in variables)
        between = _pair_tables(i, variables, own, pairs)
        y = symbolic_groups(variables, self._domains)
        says = [rule.on(x, y, example=i) for rule in self.rules]
        return variables, VariableProblem(own, *between, clauses_of(says, self._prices())), says

    def _prices(self) -> list[float]:
        return [self._price(k) for k in range(len(self.rules))]

    def _price(self, rule: int) -> float:
        price = self.penalties[rule]
        if price is None:
            remedy = "call learn_penalties with right outputs, or give one with soft(…)"
            raise DataError(f"the rule {self.rules[rule].name} has no penalty yet", remedy=remedy)
        return price

    def _broken(self, x: Any, y: Output, i: int) -> Iterator[int]:
        if not isinstance(y, Mapping) or not all(isinstance(members, Mapping) for members in y.values()):
            raise DataError(f"example {i}: the output is {shown(y)}", remedy="give {kind: {key: label}}")
        for kind, members in y.items():
            for key, label in members.items():
                self._check_label(i, kind, key, label)
        known = groups_of({kind: y.get(kind, {}) for kind in self.labels})
        return (rule.violations(x, known, example=i) for rule in self.rules)

    def _check_label(self, i: int, kind: str, key: Any, label: Any) -> None:
        self._check_kind(i, kind)
        try:
            self._domains[kind].number(label)
        except DataError as error:
            raise DataError(f"example {i}: {kind}[{key!r}]: {error.problem}", remedy=error.remedy) from None

    def _check_kind(self, i: int, kind: str) -> None:
        if kind not in self.labels:
            remedy = f"there are {', '.join(map(str, self.labels))}"
            raise DataError(f"example {i}: there is no kind of variable {kind!r}", remedy=remedy)

    def _checked(self, i: int, kind: str, key: Any, values: Any) -> Floats:
        self._check_kind(i, kind)
        array = real_numbers(f"example {i}: {kind}[{key!r}]", values)
        labels = self.labels[kind]
        if array.shape != (len(labels),):
            problem = f"example {i}: {kind}[{key!r}] has scores of shape {array.shape} for {len(labels)} labels"
            raise DataError(problem, remedy="give one number per label")
        if np.isnan(array).any() or array.max() in (math.inf, -math.inf):
            raise DataError(f"example {i}: {kind}[{key!r}] has no finite score", remedy="give finite numbers, or -inf")
        return array


def _are_labels(names: Any) -> bool:
    return is_listed(names) and all(map(is_hashable, names))


def _check_numbers(**values: Sequence[Any]) -> None:
    for what, items in values.items():
        if isinstance(items, str | bytes) or not isinstance(items, Sized) or getattr(items, "shape", None) == ():
            raise DataError(
                f"the {what} are a {type(items).__name__}", remedy="give a list, in the order of the inputs"
            )
    sizes = {what: len(items) for what, items in values.items()}
    if len(set(sizes.values())) > 1:
        sizes_in_words = ", ".join(f"{size} {what}" for what, size in sizes.items())
        raise DataError(f"there are {sizes_in_words}", remedy="give equal numbers of each, in the same order")


def _pair_tables(
    i: int, variables: Sequence[tuple[str, Any]], own: Sequence[Floats], pairs: Pairs
) -> tuple[tuple[tuple[int, int], ...], tuple[Floats, ...]]:
    """Pairs of variables by their numbers, the lower one first, and their tables."""
    number = {variable: v for v, variable in enumerate(variables)}
    tables: dict[tuple[int, int], Floats] = {}
    if not isinstance(pairs, Mapping) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        remedy = "give {((kind, key), (kind, key)): [scores of their labels]}"
        raise DataError(f"example {i}: the pairs are {shown(pairs)}", remedy=remedy)
    for (one, other), numbers in pairs.items():
        if one not in number or other not in number or one == other:
            problem = f"example {i}: the pair {one!r}, {other!r} is not of two variables with scores"
            raise DataError(problem, remedy="give (kind, key) of each")
        first, second = number[one], number[other]
        table = real_numbers(f"example {i}: the table of a pair", numbers)
        if table.shape != (len(own[first]), len(own[second])):
            problem = f"example {i}: the pair {one!r}, {other!r} has scores of shape {table.shape}"
            raise DataError(problem, remedy=f"make it {(len(own[first]), len(own[second]))}")
        if np.isnan(table).any() or np.isposinf(table).any():
            problem = f"example {i}: the scores of the pair {one!r}, {other!r} have nan or inf among them"
            raise DataError(problem, remedy="give finite numbers, or -inf")
        place, table = ((first, second), table) if first < second else ((second, first), table.T)
        tables[place] = tables[place] + table if place in tables else table
    return tuple(tables), tuple(tables.values())


__all__ = ["JointInference", "JointSolution"]
