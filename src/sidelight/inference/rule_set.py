"""Inference for many inputs under the same rules: decode first, check the rules on the result, and lower them only if
one is broken.

A rule read on a known output folds to a number without a symbolic tree. So inputs whose best output breaks no rule cost
little more than Viterbi; since penalties are not negative, this output is the best. Rules that use only the length of
an input are lowered once per length.

Lowered rules are cached: by length for rules that use nothing else, and by input for the others. A store lives as long
as the `Domain` of its labels, so all sets of rules over one domain share it, with any penalties.
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
from sidelight.rules.lowering.counters import Piece, lowered
from sidelight.rules.lowering.truth import degree
from sidelight.rules.output import symbolic_labels
from sidelight.rules.rule import Says
from sidelight.rules.trials import said_of_length
from sidelight.spaces.chains.chain_kernels import viterbi

OFTEN = 6  # uses of a length before all counters of its rules are made, not only those of broken clauses


class RuleReading:
    """One rule for one input, lowered."""

    __slots__ = ("made", "pieces", "visits")

    def __init__(self, expression: Expr, length: int, n_labels: int) -> None:
        self.pieces = [lowered(piece, length, n_labels) for piece in pieces(expression)]
        self.visits = 0
        self.made = False  # whether all of its counters have been made

    def degree(self, labels: Ids) -> int:
        """The violations of the rule by a known output; makes no counter."""
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
        """Count a use; after many uses, all counters are made, unless one is too large."""
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
    """A cache of lowered rules."""

    __slots__ = ("of_input", "of_length", "symbols")

    def __init__(self) -> None:
        self.of_length: dict[tuple[Says, int], RuleReading | None] = {}  # None if a rule uses more than the length
        self.of_input: WeakKeyDictionary[Sentence, dict[Says, RuleReading]] = WeakKeyDictionary()
        self.symbols: dict[int, Labels] = {}  # by length

    def reading(self, rule: Rule, x: Sentence, domain: Domain, *, example: int | None = None) -> RuleReading:
        """A rule lowered for an input; made if it is not in the cache."""
        length, size = len(x), len(domain.labels)
        key = (rule.says, length)
        if key not in self.of_length:
            expression = said_of_length(rule, length, domain)
            self.of_length[key] = None if expression is None else RuleReading(expression, length, size)
        stored = self.of_length[key]
        if stored is not None:
            stored.visit()
            return stored
        own = self.of_input.setdefault(x, {})
        if rule.says not in own:
            if length not in self.symbols:
                self.symbols[length] = symbolic_labels(length, domain)
            own[rule.says] = RuleReading(rule.on(x, self.symbols[length], example=example), length, size)
        return own[rule.says]

    def known(self, rule: Rule, x: Sentence) -> RuleReading | None:
        """A rule lowered for an input, if it is in the cache."""
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
    """Scores that all inputs share; together with those of one input they form a problem."""

    def problem(self, own: Floats, clauses: tuple[Clause, ...] = ()) -> RuledProblem:
        """The problem of an input."""
        ...

    def plain(self, own: Sequence[Floats]) -> list[Solution | None]:
        """The best output of every input without rules; None if there is none, or if this is not faster."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TransitionScores:
    """For chains: scores of transitions, first and last labels; an input's own scores are its tokens' [T, L]."""

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
    """Best outputs of a batch without rules; None for an input without output."""
    every = labels.tolist()
    return [
        None if value == -math.inf else Solution(tuple(every[lo:hi]), value, value, True, "viterbi")
        for lo, hi, value in zip(starts[:-1].tolist(), starts[1:].tolist(), values.tolist())
    ]


class RuleSet:
    """Rules and their penalties over one set of labels.

    `penalties` are one number per rule, infinite for hard rules; by default the rules' own. Raises `DataError` if a
    rule mentions a label that does not exist, or has no penalty.

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
        """The same rules with other penalties; the cache is kept."""
        return RuleSet(self.rules, self.domain, penalties=penalties, beam_width=self.beam_width)

    def reading(self, rule: int, x: Sentence, *, example: int | None = None) -> RuleReading:
        """A rule lowered for an input; cached as long as the input exists, or for all inputs of its length."""
        return self._store.reading(self.rules[rule], x, self.domain, example=example)

    def violations(self, x: Sentence, labels: Sequence[int], *, example: int | None = None) -> list[int]:
        """How often a known output breaks each rule. # [rules]"""
        return list(self._degrees(range(len(self.rules)), x, labels, example))

    def obeyed(self, x: Sentence, labels: Sequence[int], *, example: int | None = None) -> bool:
        """Whether a known output breaks no rule with a penalty."""
        priced = [k for k, price in enumerate(self.penalties) if price]
        return not any(self._degrees(priced, x, labels, example))

    def _degrees(self, rules: Iterable[int], x: Sentence, labels: Sequence[int], example: int | None) -> Iterator[int]:
        """The violations of some rules by a known output, from lowered rules or by reading the rules on it."""
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
        """The problem of an input: its scores and all rules."""
        clauses = tuple(
            Clause(k, piece.says, price)
            for k, price in enumerate(self.penalties)
            if price
            for piece in self.reading(k, x, example=example).pieces
        )
        return scores.problem(own, clauses)

    def lattice(self, x: Sentence, own: Floats, scores: SharedScores, *, example: int | None = None) -> Lattice:
        """As `problem`, for dynamic programming."""
        new_pieces: list[Piece] = []
        rules: list[int] = []
        prices: list[float] = []
        for k, price in enumerate(self.penalties):
            if price:
                new = self.reading(k, x, example=example).pieces
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
        """The best output of one input; `plain` is the one without rules, if known.

        Raises `Infeasible` with the conflicting rules if no output is legal; with `relax`, hard rules get this penalty
        instead on such an input.
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
            return solve(problem, method=method, names=self.names, folding=chain, beam_width=self.beam_width)
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
        """The best output of every input; `own` are the scores of each input ([T, L] for chains). See `solve`.

        Errors refer to inputs by their numbers, or by those in `examples`.
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
