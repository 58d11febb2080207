"""What has been lowered, kept: by length for rules that look at nothing else, and by input for the others.

A store lives as long as the `Domain` that its labels are numbered by, so all sets of rules over one domain share it,
whatever their penalties.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from sidelight.core.arrays import Ids
from sidelight.errors import Intractable
from sidelight.rules import Domain, Labels, Rule, Sentence
from sidelight.rules.expr import Expr, pieces
from sidelight.rules.lowering.counters import lowered
from sidelight.rules.lowering.truth import degree
from sidelight.rules.output import symbolic_labels
from sidelight.rules.rule import Says
from sidelight.rules.unseen import said_of_length

OFTEN = 6  # uses of a length before all counters of its rules are made, not only of broken clauses


class Said:
    """What one rule says of one input, lowered."""

    __slots__ = ("made", "pieces", "visits")

    def __init__(self, expression: Expr, length: int, n_labels: int) -> None:
        self.pieces = [lowered(piece, length, n_labels) for piece in pieces(expression)]
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
