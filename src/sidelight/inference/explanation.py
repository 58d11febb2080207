"""What rules did on one input: how each was lowered, whether the output without rules broke it, what it changed.

What a rule changed is found by leaving it out: the tokens whose labels are others with all rules than without this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight import html
from sidelight.arrays import Floats
from sidelight.errors import Intractable
from sidelight.inference.choose import Method
from sidelight.inference.problem import Solution
from sidelight.inference.rule_set import RuleSet, SharedScores
from sidelight.inference.settle import settle
from sidelight.rules import Sentence
from sidelight.rules.counters import Piece

ROWS = {"ilp": "linear rows", "lp": "linear rows", "lagrangian": "linear rows with multipliers"}


@dataclass(frozen=True, slots=True)
class Change:
    """A token whose label a rule changed."""

    token: int
    word: str
    without: Any  # its label without the rule
    label: Any

    def __str__(self) -> str:
        return f"{self.word} ({self.token}): {self.without} → {self.label}"


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What one rule did on one input."""

    name: str
    penalty: float
    clauses: int  # pieces whose violations add up
    lowered: str  # how inference took it in
    before: int  # violations of the output without any rules
    after: int  # violations of the output
    changes: tuple[Change, ...]  # against the output without this rule


@dataclass(frozen=True, slots=True)
class Explanation:
    """What all rules did on one input; `str` makes a table of it."""

    words: tuple[str, ...]
    plain: tuple[Any, ...]  # labels without rules
    labels: tuple[Any, ...]  # labels with rules
    rules: tuple[RuleEffect, ...]
    solution: Solution

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the rules changed together."""
        return _changes(self.words, self.plain, self.labels)

    def __str__(self) -> str:
        return told(self.rules, self.solution, self.changes, "tokens changed")

    def _repr_html_(self) -> str:
        return told_as_html(self.rules, self.solution, self.changes, "tokens changed")


def told(effects: Sequence[RuleEffect], found: Solution, changes: Sequence[Change], changed: str) -> str:
    """A table of what rules did, how the output was found, and what the rules changed together."""
    rows = _effects(effects, changed)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [f"{cell:>{w}}" if 0 < k < 5 else f"{cell:<{w}}" for k, (cell, w) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, "", _found(found), *_changed(changes)])


def told_as_html(effects: Sequence[RuleEffect], found: Solution, changes: Sequence[Change], changed: str) -> str:
    """The same for notebooks."""
    heads, *rows = _effects(effects, changed)
    table = html.table(heads, [(html.code(name), *cells) for name, *cells in rows])
    return html.block("What rules did", table, _found(found), *map(html.code, _changed(changes)))


def _effects(effects: Sequence[RuleEffect], changed: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("rule", "penalty", "broken without rules", "broken", changed, "lowered to")]
    for effect in effects:
        price = "hard" if effect.penalty == np.inf else f"{effect.penalty:g}"
        counts = str(effect.before), str(effect.after), str(len(effect.changes))
        rows.append((effect.name, price, *counts, effect.lowered))
    return rows


def _found(found: Solution) -> str:
    proof = "exact" if found.exact else f"not proved exact, no output is worth more than {found.bound:g}"
    return f"{found.method}, {proof}; value {found.value:g}; {many(found.taken_in, 'clause')} taken in"


def _changed(changes: Sequence[Change]) -> list[str]:
    return [str(change) for change in changes] or ["no label was changed"]


def explain_rules(
    rules: RuleSet,
    x: Sentence,
    own: Floats,
    scores: SharedScores,
    *,
    method: Method = "auto",
    relax: float | None = None,
) -> Explanation:
    """What the rules do on one input, with its own scores; raises what `RuleSet.solve` raises.

    >>> from sidelight.inference.rule_set import ChainScores
    >>> from sidelight.rules import gallery
    >>> zero = ChainScores(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
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
    free = rules.with_penalties([0.0] * len(rules.rules))
    plain = free.solve(x, own, scores)
    found = rules.solve(x, own, scores, method=method, relax=relax)
    before, after = rules.violations(x, plain.labels), rules.violations(x, found.labels)
    used = _used(rules, x, own, scores, plain, found, method)
    words, labels = tuple(_words(x)), _named(rules, found)
    effects = []
    for k, name in enumerate(rules.names):
        pieces = rules.said(k, x).pieces
        changes: tuple[Change, ...] = ()
        if rules.penalties[k] and pieces and found.labels != plain.labels:
            others = [0.0 if j == k else price for j, price in enumerate(rules.penalties)]
            without = rules.with_penalties(others).solve(x, own, scores, method=method, relax=relax)
            if without.value > found.value + 1e-9 * (1 + abs(found.value)):  # else another output that is as good
                changes = _changes(words, _named(rules, without), labels)
        lowered = _lowered(pieces, rules.penalties[k], used, method)
        effects.append(RuleEffect(name, rules.penalties[k], len(pieces), lowered, before[k], after[k], changes))
    return Explanation(words, _named(rules, plain), labels, tuple(effects), found)


def _used(
    rules: RuleSet,
    x: Sentence,
    own: Floats,
    scores: SharedScores,
    plain: Solution,
    found: Solution,
    method: Method,
) -> set[int] | None:
    """Identities of the pieces whose counters were taken in; None where all were."""
    if method != "auto":
        return None
    if rules.obeyed(x, plain.labels):
        return set()
    chain = rules.lattice(x, own, scores)
    needed: list[int] = []
    try:
        settle(chain, needed=needed)
    except Intractable:
        return None
    return {id(chain.pieces[k]) for k in needed}


def _lowered(pieces: Sequence[Piece], price: float, used: set[int] | None, method: Method) -> str:
    if not pieces:
        return "nothing: it says nothing of this input"
    if not price:
        return "nothing: its penalty is 0"
    if method in ROWS:
        return f"{ROWS[method]} of {many(len(pieces), 'clause')}"
    done = "dropped" if price == np.inf else "penalised"
    kinds = Counter(piece.kind for piece in pieces)
    said = []
    if kinds["constant"]:
        said.append("a constant violation")
    for kind, what in (("token", "label"), ("edge", "edge")):
        own = [piece for piece in pieces if piece.kind == kind and piece.degrees is not None]
        if own:
            number = sum(int((piece.degrees > 0).sum()) for piece in own if piece.degrees is not None)
            places = len({piece.at for piece in own})
            said.append(f"{many(number, what)} {done} at {many(places, 'token')}")
    own = [piece for piece in pieces if piece.kind == "counter"]
    taken = [piece for piece in own if used is None or id(piece) in used]
    if taken:
        states = max(piece.counter().states for piece in taken)
        said.append(f"{many(len(taken), 'counter')}, up to {many(states, 'state')}")
    if len(taken) < len(own):
        said.append(f"{many(len(own) - len(taken), 'counter')} not needed")
    return "; ".join(said)


def many(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _named(rules: RuleSet, found: Solution) -> tuple[Any, ...]:
    return tuple(rules.domain.labels[label] for label in found.labels)


def _words(x: Sentence) -> list[str]:
    try:
        return x.words
    except KeyError:  # tokens that are attributes without a word
        return [str(t) for t in x.positions]


def _changes(words: Sequence[str], before: Sequence[Any], after: Sequence[Any]) -> tuple[Change, ...]:
    return tuple(
        Change(t, word, old, new) for t, (word, old, new) in enumerate(zip(words, before, after)) if old != new
    )
