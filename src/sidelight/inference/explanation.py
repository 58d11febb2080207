"""The effects of rules on one input: how each was lowered, whether the output without rules breaks it, and what it
changed.

The changes of a rule are found by leaving it out: the tokens or variables whose labels with all rules differ from those
without this rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core import html
from sidelight.core.arrays import Floats
from sidelight.errors import Intractable
from sidelight.inference.methods.choose import Method, solve
from sidelight.inference.methods.lazy_clauses import solve_lazily
from sidelight.inference.problem import Clause, RuledProblem, Solution
from sidelight.inference.rule_set import RuleSet, SharedScores
from sidelight.rules import Sentence
from sidelight.rules.expr import Expr, variables
from sidelight.rules.lowering.counters import Piece
from sidelight.rules.lowering.truth import degree

ROWS = {"ilp": "linear rows", "lp": "linear rows", "lagrangian": "linear rows with multipliers"}
SAID = {"integer program": "ilp", "linear relaxation": "lp", "Lagrangian relaxation": "lagrangian"}
Variable = tuple[str, Any]  # kind and key
Lowered = Callable[[int, Solution, Solution], str]  # how rule k was applied, given the outputs without and with rules


@dataclass(frozen=True, slots=True)
class Change:
    """A token, or a variable, whose label a rule changed."""

    token: int
    word: str
    without: Any  # its label without the rule
    label: Any
    variable: Variable | None = None

    @property
    def kind(self) -> str:
        """The kind of a variable."""
        return "token" if self.variable is None else self.variable[0]

    @property
    def key(self) -> Any:
        """The key of a variable, or the number of a token."""
        return self.token if self.variable is None else self.variable[1]

    def __str__(self) -> str:
        place = f"{self.word} ({self.token})" if self.variable is None else self.word
        return f"{place}: {self.without} → {self.label}"


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """The effect of one rule on one input."""

    name: str
    penalty: float
    clauses: int  # pieces whose violations add up
    lowered: str  # how inference applied it
    before: int  # violations of the output without any rules
    after: int  # violations of the output
    changes: tuple[Change, ...]  # against the output without this rule


@dataclass(frozen=True, slots=True)
class RuleExplanation:
    """The effects of all rules on one input; `str` returns a table."""

    words: tuple[str, ...]  # words of tokens, or names of variables
    plain: tuple[Any, ...]  # labels without rules
    labels: tuple[Any, ...]  # labels with rules
    rules: tuple[RuleEffect, ...]
    solution: Solution
    variables: tuple[Variable, ...] = ()  # empty for tokens

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes by all rules together."""
        return _changes(self.words, self.variables, self.plain, self.labels)

    def __str__(self) -> str:
        rows = self._table()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [f"{cell:>{w}}" if 0 < k < 5 else f"{cell:<{w}}" for k, (cell, w) in enumerate(zip(row, widths))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, "", self._found(), *self._changed()])

    def _repr_html_(self) -> str:
        heads, *rows = self._table()
        table = html.table(heads, [(html.code(name), *cells) for name, *cells in rows])
        return html.block("What rules did", table, self._found(), *map(html.code, self._changed()))

    def _table(self) -> list[tuple[str, ...]]:
        changed = "labels changed" if self.variables else "tokens changed"
        rows: list[tuple[str, ...]] = [("rule", "penalty", "broken without rules", "broken", changed, "lowered to")]
        for effect in self.rules:
            price = "hard" if effect.penalty == np.inf else f"{effect.penalty:g}"
            counts = str(effect.before), str(effect.after), str(len(effect.changes))
            rows.append((effect.name, price, *counts, effect.lowered))
        return rows

    def _found(self) -> str:
        solution = self.solution
        proof = "exact" if solution.exact else f"not proved exact, no output is worth more than {solution.bound:g}"
        return f"{solution.method}, {proof}; value {solution.value:g}; {many(solution.taken_in, 'clause')} taken in"

    def _changed(self) -> list[str]:
        return [str(change) for change in self.changes] or ["no label was changed"]


def explain_rules(
    rules: RuleSet,
    x: Sentence,
    own: Floats,
    scores: SharedScores,
    *,
    method: Method = "auto",
    relax: float | None = None,
) -> RuleExplanation:
    """The effects of rules on one input, with its own scores; raises the errors of `RuleSet.solve`.

    >>> from sidelight.inference.rule_set import TransitionScores
    >>> from sidelight.rules import gallery
    >>> zero = TransitionScores(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> rules = RuleSet([gallery.starts_with("A"), gallery.at_most(2, "A")], ["A", "B"])
    >>> print(explain_rules(rules, Sentence("abc"), np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]), zero))
    rule         penalty  broken without rules  broken  tokens changed  lowered to
    start           hard                     1       0               2  1 label dropped at 1 token
    at_most_2_A     hard                     0       0               1  1 counter, up to 2 states
    <BLANKLINE>
    dynamic programming, exact; value 2; 2 clauses taken in
    a (0): B → A
    b (1): A → B
    """

    def best(prices: Sequence[float]) -> Solution:
        how: Method = method if any(prices) else "auto"
        return rules.with_penalties(prices).solve(x, own, scores, method=how, relax=relax)

    def lowered(k: int, plain: Solution, solution: Solution) -> str:
        used = _used(rules, x, own, scores, plain, method)
        return _counters(rules.reading(k, x).pieces, rules.penalties[k], used)

    return _explained(
        words=_words(x),
        labels=[rules.domain.labels] * len(x),
        names=rules.names,
        penalties=rules.penalties,
        clauses=[len(rules.reading(k, x).pieces) for k in range(len(rules.rules))],
        best=best,
        violations=lambda labels: rules.violations(x, labels),
        lowered=lowered,
        method=method,
    )


def explain_variables(
    problem: RuledProblem,
    called: Sequence[Variable],
    *,
    labels: Sequence[Sequence[Any]],  # of each variable
    names: Sequence[str],  # of rules
    says: Sequence[Expr],  # what each rule says
    penalties: Sequence[float],
    method: Method = "auto",
) -> RuleExplanation:
    """The effects of rules on an output that is not a sequence; raises the errors of `choose.solve`."""
    of_rule = [[clause for clause in problem.clauses if clause.rule == k] for k in range(len(names))]

    def best(prices: Sequence[float]) -> Solution:
        priced = [clause for clause in problem.clauses if prices[clause.rule]]
        return solve(problem.with_clauses(priced), method=method if priced else "auto", names=names)

    return _explained(
        words=[f"{kind}[{_key(key)}]" for kind, key in called],
        variables=called,
        labels=labels,
        names=names,
        penalties=penalties,
        clauses=[len(own) for own in of_rule],
        best=best,
        violations=lambda chosen: [degree(one, chosen) for one in says],
        lowered=lambda k, _, found: _tables(of_rule[k], found),
        method=method,
    )


def _explained(
    *,
    words: Sequence[str],
    labels: Sequence[Sequence[Any]],  # of each token or variable
    names: Sequence[str],
    penalties: Sequence[float],
    clauses: Sequence[int],  # how many each rule has
    best: Callable[[Sequence[float]], Solution],  # at these penalties; 0 leaves a rule out
    violations: Callable[[Sequence[int]], Sequence[int]],
    lowered: Lowered,
    method: Method,
    variables: Sequence[Variable] = (),
) -> RuleExplanation:
    plain, ruled = best([0.0] * len(names)), best(penalties)
    before, after = violations(plain.labels), violations(ruled.labels)

    def named(solution: Solution) -> tuple[Any, ...]:
        return tuple(own[label] for own, label in zip(labels, solution.labels))

    effects = []
    for k, (name, price, count) in enumerate(zip(names, penalties, clauses)):
        changes: tuple[Change, ...] = ()
        if price and count and ruled.labels != plain.labels:
            without = best([0.0 if j == k else other for j, other in enumerate(penalties)])
            if without.value > ruled.value + 1e-9 * (1 + abs(ruled.value)):  # otherwise another output is as good
                changes = _changes(words, variables, named(without), named(ruled))
        if not price or not count:
            how = f"nothing: {'it says nothing of this input' if price else 'its penalty is 0'}"
        elif rows := ROWS.get(SAID.get(ruled.method, "") if method == "auto" else method):
            how = f"{rows} of {many(count, 'clause')}"
        else:
            how = lowered(k, plain, ruled)
        effects.append(RuleEffect(name, price, count, how, before[k], after[k], changes))
    return RuleExplanation(tuple(words), named(plain), named(ruled), tuple(effects), ruled, tuple(variables))


def _used(
    rules: RuleSet, x: Sentence, own: Floats, scores: SharedScores, plain: Solution, method: Method
) -> set[int] | None:
    """Identities of the pieces whose counters were used; None if all were used."""
    if method != "auto":
        return None
    if rules.obeyed(x, plain.labels):
        return set()
    chain = rules.lattice(x, own, scores)
    needed: list[int] = []
    try:
        solve_lazily(chain, needed=needed)
    except Intractable:
        return None
    return {id(chain.pieces[k]) for k in needed}


def _counters(pieces: Sequence[Piece], price: float, used: set[int] | None) -> str:
    done = "dropped" if price == np.inf else "penalised"
    kinds = Counter(piece.kind for piece in pieces)
    parts = []
    if kinds["constant"]:
        parts.append("a constant violation")
    for kind, what in (("token", "label"), ("edge", "edge")):
        own = [piece for piece in pieces if piece.kind == kind and piece.degrees is not None]
        if own:
            number = sum(int((piece.degrees > 0).sum()) for piece in own if piece.degrees is not None)
            places = len({piece.at for piece in own})
            parts.append(f"{many(number, what)} {done} at {many(places, 'token')}")
    own = [piece for piece in pieces if piece.kind == "counter"]
    needed = [piece for piece in own if used is None or id(piece) in used]
    if needed:
        states = max(piece.counter().states for piece in needed)
        parts.append(f"{many(len(needed), 'counter')}, up to {many(states, 'state')}")
    if len(needed) < len(own):
        parts.append(f"{many(len(own) - len(needed), 'counter')} not needed")
    return "; ".join(parts)


def _tables(clauses: Sequence[Clause], solution: Solution) -> str:
    widest = max(len(set(variables(clause.says))) for clause in clauses)
    count = many(len(clauses), "clause")
    if solution.method == "elimination":
        return f"{count} in tables over up to {many(widest, 'variable')}"
    return f"{count}, read as variables get their labels"


def many(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _words(x: Sentence) -> list[str]:
    try:
        return x.words
    except KeyError:  # tokens with attributes but without a word
        return [str(t) for t in x.positions]


def _key(key: Any) -> str:
    """A key as shown between brackets."""
    return ", ".join(map(repr, key)) if isinstance(key, tuple) and key else repr(key)


def _changes(
    words: Sequence[str], called: Sequence[Variable], before: Sequence[Any], after: Sequence[Any]
) -> tuple[Change, ...]:
    return tuple(
        Change(t, word, old, new, called[t] if called else None)
        for t, (word, old, new) in enumerate(zip(words, before, after))
        if old != new
    )
