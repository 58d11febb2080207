"""Many inputs under the same rules: decode first, read the rules on what came out, lower them only where one is broken.

A rule that is read on a known output folds to a number without a symbolic tree, so inputs whose best output breaks
nothing cost little more than Viterbi; penalties are not negative, so that output is the best. Rules that look at
nothing but the length of an input are lowered once per length.

What has been lowered is kept: by length for rules that look at nothing else, and by input for the others. A store lives
as long as the `Domain` that its labels are numbered by, so all sets of rules over one domain share it, whatever their
penalties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.inference.folded_problem import WIDTH
from sidelight.inference.folding import lattice_with
from sidelight.inference.lattices.lattice import Lattice, LoweredClauses
from sidelight.inference.legal import no_output
from sidelight.inference.methods.choose import ON_FOLDED, Method, check_method, solve
from sidelight.inference.methods.lazy_clauses import solve_lazily
from sidelight.inference.problem import ChainProblem, Clause, RuledProblem, Solution
from sidelight.rules import Domain, Labels, Rule, Sentence
from sidelight.rules.expr import Expr, KnownValue, pieces
from sidelight.rules.lowering.counters import Piece
from sidelight.rules.lowering.truth import degree
from sidelight.rules.output import symbolic_labels
from sidelight.rules.rule import Says
from sidelight.rules.trials import said_of_length
from sidelight.spaces.chains.chain_kernels import viterbi

OFTEN = 6  # uses of a length before all counters of its rules are made, not only of broken clauses


class Said:
    """What one rule says of one input, lowered."""

    __slots__ = ("made", "pieces", "visits")

    def __init__(self, expression: Expr, length: int, n_labels: int) -> None:
        self.pieces = [Piece(piece, length, n_labels) for piece in pieces(expression)]
        self.visits = 0
        self.made = False  # whether all of its counters are there

    def degree(self, labels: Ids) -> int:
        """How often a known output breaks the rule; no counter is made for it."""
        total = 0
        known: list[int] | None = None
        for piece in self.pieces:
            if piece.kind != "counter" or piece.is_made:
                total += piece.degree(labels)
            else:
                known = labels.tolist() if known is None else known
                total += degree(piece.says, known)
        return total

    def visit(self) -> None:
        """Count a use; what is used often is worth all of its counters, unless one is too large."""
        self.visits += 1
        if self.visits == OFTEN:
            try:
                for piece in self.pieces:
                    if piece.kind == "counter":
                        piece.counter()
            except Intractable:
                return
            self.made = True


class Store:
    """What rules say, lowered."""

    __slots__ = ("of_input", "of_length", "symbols")

    def __init__(self) -> None:
        self.of_length: dict[tuple[Says, int], Said | None] = {}  # None where a rule looks at more than the length
        self.of_input: WeakKeyDictionary[Sentence, dict[Says, Said]] = WeakKeyDictionary()
        self.symbols: dict[int, Labels] = {}  # by length

    def said(self, rule: Rule, x: Sentence, domain: Domain, *, example: int | None = None) -> Said:
        """What a rule says of an input; made where it is not there yet."""
        length, size = len(x), len(domain.labels)
        key = (rule.says, length)
        if key not in self.of_length:
            expression = said_of_length(rule, length, domain)
            self.of_length[key] = None if expression is None else Said(expression, length, size)
        stored = self.of_length[key]
        if stored is not None:
            stored.visit()
            return stored
        own = self.of_input.setdefault(x, {})
        if rule.says not in own:
            if length not in self.symbols:
                self.symbols[length] = symbolic_labels(length, domain)
            own[rule.says] = Said(rule.on(x, self.symbols[length], example=example), length, size)
        return own[rule.says]

    def known(self, rule: Rule, x: Sentence) -> Said | None:
        """What a rule says of an input, if that has been lowered already."""
        stored = self.of_length.get((rule.says, len(x)))
        if stored is not None:
            return stored
        own = self.of_input.get(x)
        return None if own is None else own.get(rule.says)


_STORES: WeakKeyDictionary[Domain, Store] = WeakKeyDictionary()


def store_of(domain: Domain) -> Store:
    """The store of a domain."""
    return _STORES.setdefault(domain, Store())


class SharedScores(Protocol):
    """Scores that all inputs share; with those of one input they make a problem."""

    def problem(self, own: Floats, clauses: tuple[Clause, ...] = ()) -> RuledProblem:
        """The problem of an input."""
        ...

    def plain(self, own: Sequence[Floats]) -> list[Solution | None]:
        """The best output of every input without rules; None where there is none, or where that is not quicker."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TransitionScores:
    """Of chains: scores of transitions, of the first and the last label; an input's own are those of tokens [T, L]."""

    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    triple: Floats | None = None  # [L, L, L] for second order

    def problem(self, own: Floats, clauses: tuple[Clause, ...] = ()) -> ChainProblem:
        """The problem of an input."""
        return ChainProblem(own, self.transition, self.start, self.end, clauses, self.triple)

    def plain(self, own: Sequence[Floats]) -> list[Solution | None]:
        """The best outputs of first-order chains."""
        if self.triple is not None or not len(own):
            return [None] * len(own)
        starts = np.zeros(len(own) + 1, dtype=np.int64)
        starts[1:] = np.cumsum([len(tokens) for tokens in own])
        labels: Ids = np.empty(int(starts[-1]), dtype=np.int32)
        values = np.empty(len(own))
        flat = np.ascontiguousarray(np.concatenate(own), dtype=np.float64)
        shared = self.transition, self.start, self.end
        transition, start, end = (np.ascontiguousarray(one, dtype=np.float64) for one in shared)
        viterbi(starts, 0, len(own), flat, transition, start, end, labels, values)
        return viterbi_solutions(starts, labels, values)


def viterbi_solutions(starts: Ints, labels: Ids, values: Floats) -> list[Solution | None]:
    """Best outputs of a batch without rules; None where there is none."""
    every = labels.tolist()
    return [
        None if value == -math.inf else Solution(tuple(every[lo:hi]), value, value, True, "viterbi")
        for lo, hi, value in zip(starts[:-1].tolist(), starts[1:].tolist(), values.tolist())
    ]


class RuleSet:
    """Rules and their penalties over one set of labels.

    `penalties` are one number per rule, infinite for hard ones; where they are left out, the rules' own. Raises
    `DataError` where a rule speaks of a label that does not exist or has no penalty.

    >>> from sidelight.rules import gallery
    >>> rules = RuleSet([gallery.starts_with("A"), gallery.at_most(1, "A").soft(2.0)], ["A", "B"])
    >>> scores = TransitionScores(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> found = rules.decode([Sentence("abc")], [np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0]])], scores)
    >>> found[0].labels, found[0].value, found[0].method
    ((0, 1, 0), 1.0, 'dynamic programming')
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        labels: Sequence[object] | Domain,
        *,
        penalties: Sequence[float] | None = None,
        beam_width: int = WIDTH,
    ) -> None:
        self.beam_width = beam_width
        self.rules = tuple(rules)
        self.domain = labels if isinstance(labels, Domain) else Domain(labels)
        self.names = [rule.name for rule in self.rules]
        for rule in self.rules:
            rule.check(self.domain.labels)
        prices = [rule.penalty for rule in self.rules] if penalties is None else penalties
        self.penalties = self._checked(prices)
        self._store = store_of(self.domain)

    def _checked(self, penalties: Sequence[float | None]) -> list[float]:
        if len(penalties) != len(self.rules):
            problem = f"{len(penalties)} penalties for {len(self.rules)} rules"
            raise DataError(problem, remedy="give every rule one")
        prices = []
        for rule, price in zip(self.rules, penalties):
            if price is None:
                remedy = "learn it from labelled examples, or give one with soft(…)"
                raise DataError(f"the rule {rule.name} has no penalty yet", remedy=remedy)
            if not price >= 0:
                raise DataError(f"the penalty of {rule.name} is {price}", remedy="a penalty is not negative")
            prices.append(float(price))
        return prices

    def with_penalties(self, penalties: Sequence[float]) -> RuleSet:
        """The same rules at other prices; what has been lowered is kept."""
        return RuleSet(self.rules, self.domain, penalties=penalties, beam_width=self.beam_width)

    def said(self, rule: int, x: Sentence, *, example: int | None = None) -> Said:
        """What a rule says of an input, lowered; kept as long as the input, or for all inputs of its length."""
        return self._store.said(self.rules[rule], x, self.domain, example=example)

    def violations(self, x: Sentence, labels: Sequence[int], *, example: int | None = None) -> list[int]:
        """How often a known output breaks each rule. # [rules]"""
        return list(self._degrees(range(len(self.rules)), x, labels, example))

    def obeyed(self, x: Sentence, labels: Sequence[int], *, example: int | None = None) -> bool:
        """Whether a known output breaks no rule that has a price."""
        priced = [k for k, price in enumerate(self.penalties) if price]
        return not any(self._degrees(priced, x, labels, example))

    def _degrees(self, rules: Iterable[int], x: Sentence, labels: Sequence[int], example: int | None) -> Iterator[int]:
        """How often a known output breaks each of some rules: from what has been lowered, or read as it stands."""
        names = Labels([self.domain.labels[label] for label in labels])
        numbers = np.array(labels, dtype=np.int32)
        for k in rules:
            lowered = self._store.known(self.rules[k], x)
            if lowered is not None:
                yield lowered.degree(numbers)
                continue
            value = self.rules[k].on(x, names, example=example)
            if not isinstance(value, KnownValue):
                problem = f"the rule {self.names[k]} is open on a known output"
                raise DataError(problem, remedy="compare y[…] with labels or with each other only")
            yield value.degree

    def problem(self, x: Sentence, own: Floats, scores: SharedScores, *, example: int | None = None) -> RuledProblem:
        """All that the rules say of an input, with its scores."""
        clauses = tuple(
            Clause(k, piece.says, price)
            for k, price in enumerate(self.penalties)
            if price
            for piece in self.said(k, x, example=example).pieces
        )
        return scores.problem(own, clauses)

    def lattice(self, x: Sentence, own: Floats, scores: SharedScores, *, example: int | None = None) -> Lattice:
        """As `problem`, for dynamic programming."""
        new_pieces: list[Piece] = []
        rules: list[int] = []
        prices: list[float] = []
        for k, price in enumerate(self.penalties):
            if price:
                new = self.said(k, x, example=example).pieces
                new_pieces += new
                rules += [k] * len(new)
                prices += [price] * len(new)
        return lattice_with(scores.problem(own), LoweredClauses(new_pieces, rules, prices, self.names))

    def solve(
        self,
        x: Sentence,
        own: Floats,
        scores: SharedScores,
        *,
        method: Method = "auto",
        relax: float | None = None,
        example: int | None = None,
        plain: Solution | None = None,
    ) -> Solution:
        """The best output of one input; `plain` is the one without rules, where it is known.

        Raises `Infeasible`, naming the rules in conflict, where no output is legal; unless `relax` is the penalty that
        hard rules are to have on such an input.
        """
        try:
            return self._solve(x, own, scores, method=method, example=example, plain=plain)
        except Infeasible as error:
            if relax is None:
                if example is None:
                    raise
                raise Infeasible(f"example {example}: {error}", example=example, rules=error.rules) from None
        softer = self.with_penalties([min(price, relax) for price in self.penalties])
        solution = softer._solve(x, own, scores, method=method, example=example, plain=plain)
        return replace(solution, method=f"{solution.method}, hard rules at {relax:g}")

    def _solve(
        self,
        x: Sentence,
        own: Floats,
        scores: SharedScores,
        *,
        method: Method,
        example: int | None,
        plain: Solution | None,
    ) -> Solution:
        if not len(x):
            return self._nothing(x, example)
        if check_method(method) != "auto":
            chain = self.lattice(x, own, scores, example=example) if method in ON_FOLDED else None
            problem = self.problem(x, own, scores, example=example)
            return solve(problem, method=method, names=self.names, given=chain, beam_width=self.beam_width)
        if plain is None:
            plain = solve_lazily(lattice_with(scores.problem(own), LoweredClauses((), (), ())))
        if plain is not None and self.obeyed(x, plain.labels, example=example):
            return plain
        try:
            solution = solve_lazily(self.lattice(x, own, scores, example=example))
        except Intractable:
            return solve(self.problem(x, own, scores, example=example), method="ilp", names=self.names)
        if solution is None:
            raise no_output(self.problem(x, own, scores, example=example), self.names)
        return solution

    def _nothing(self, x: Sentence, example: int | None) -> Solution:
        """The only output of an input without tokens."""
        broken = {k: often for k, often in enumerate(self.violations(x, (), example=example)) if often}
        hard = [k for k in broken if self.penalties[k] == math.inf]
        if hard:
            problem = f"the input has no tokens, and the rule {self.names[hard[0]]} requires some"
            raise Infeasible(f"{problem}; leave empty inputs out", rules=hard)
        value = -sum(self.penalties[k] * often for k, often in broken.items())
        return Solution((), value, value, True, "no tokens")

    def decode(
        self,
        xs: Sequence[Sentence],
        own: Sequence[Floats],
        scores: SharedScores,
        *,
        method: Method = "auto",
        relax: float | None = None,
        examples: Sequence[int] | None = None,
    ) -> list[Solution]:
        """The best output of every input; `own` are the scores of each, [T, L] of chains. See `solve`.

        Errors call inputs by their numbers, or by those in `examples`.
        """
        plain: list[Solution | None] = [None] * len(xs)
        if method == "auto":
            some = [i for i, x in enumerate(xs) if len(x)]
            for i, best in zip(some, scores.plain([own[i] for i in some])):
                plain[i] = best
        numbers = range(len(xs)) if examples is None else examples
        return [
            self.solve(x, its, scores, method=method, relax=relax, example=i, plain=best)
            for i, x, its, best in zip(numbers, xs, own, plain)
        ]
