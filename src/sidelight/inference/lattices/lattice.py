"""A problem in the form for dynamic programming: scores with all local clauses added, and counters for the others.

Clauses about one token or two neighbours are free, so all of them are folded into the scores. The others are kept as
pieces whose counters are made on first use. Chains and segmentations differ only in their dynamic programs, which each
kind of lattice provides.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded, Reached
from sidelight.inference.lattices import searches
from sidelight.inference.lattices.lattice_kernels import joint_classes
from sidelight.inference.lattices.machines import Guide, Machines, Node, Searched, Taken
from sidelight.rules.columns import InputColumns, chain_columns
from sidelight.rules.lowering.counters import Classes, Counter, Piece
from sidelight.rules.lowering.truth import degree

MOST_CODES = 1 << 61  # codes of joint states, places and labels share 64 bits


def possible(scores: Floats) -> Floats:
    """0 for finite scores, −inf for others."""
    return np.where(scores > -np.inf, 0.0, -np.inf)


class LoweredClauses(NamedTuple):
    """Pieces of rules that have been lowered, with the rule and the price of each."""

    pieces: Sequence[Piece]
    rules: Sequence[int]
    prices: Sequence[float]
    names: Sequence[str] = ()  # of rules
    fold: bool = True  # otherwise local ones become counters too


class Lattice(Folded):
    """The folded scores of one input and the clauses that need counters.

    Values of the dynamic programs (`frontier`, `a_star`, `tighten`) are without `constant`.
    """

    __slots__ = ("_columns", "edges", "future", "pieces", "tokens")

    future: Floats  # the best completions without counters

    def __init__(self, tokens: Floats, edges: Floats, clauses: LoweredClauses) -> None:
        pieces, rules, prices, names, fold = clauses
        super().__init__([piece.says for piece in pieces], rules, prices, names)
        self.pieces = pieces
        self.tokens = tokens  # [T, L] of labels, written to
        self.edges = edges  # [T, L, L] of a label after another, written to; those of token 0 are not read
        self._columns: InputColumns | None = None
        for k, (piece, price) in enumerate(zip(pieces, prices)):
            if piece.kind == "counter" or not fold:
                self.counters.append(k)
            else:
                self._fold(piece, price)

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of nodes after one token, without counters."""

    @abstractmethod
    def best_added(self, tokens: Floats, edges: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        """The best output without counters, with [T, L] and [T, L, L] added to its scores.

        If not `scored`, its own scores are only used to exclude impossible outputs.
        """

    @abstractmethod
    def frontier(self, taken: Taken, guide: Guide, *, floor: float, width: int, most_nodes: int) -> Searched:
        """Dynamic programming over layers, exact or with the best `width` nodes of each (see `frontier_kernels`)."""

    @abstractmethod
    def a_star(self, taken: Taken, guide: Guide, *, most_nodes: int) -> Searched:
        """Best-first search (see `a_star_kernels`)."""

    @abstractmethod
    def moves(self, t: int, node: Node, *, look_ahead: bool = True) -> list[tuple[Node, float, float]]:
        """The nodes of token t that can follow a node of the previous token; () before the first token.

        Each comes with its score, and with the value of the best completion (0 without `look_ahead`).
        """

    @abstractmethod
    def tighten(self, taken: Taken, *, floor: float, steps: int) -> Guide:
        """Completions that take counters into account (see `tighten_kernels`)."""

    def _fold(self, piece: Piece, price: float) -> None:
        degrees = piece.degrees
        assert degrees is not None
        if piece.kind == "constant":
            broken = int(degrees[0, 0])
            self.constant += price * broken if broken else 0.0
            return
        cost = np.where(degrees > 0, np.inf, 0.0) if price == math.inf else price * degrees
        if piece.kind == "token":
            self.tokens[piece.at] -= cost[0]
        else:
            self.edges[piece.at] -= cost

    @property
    def length(self) -> int:
        return len(self.tokens)

    def counter(self, clause: int) -> Counter:
        """The counter of a clause."""
        return self.pieces[clause].counter(name=self.name(clause))

    def broken(self, labels: Ids, among: Sequence[int]) -> dict[int, int]:
        """The clauses with counters that an output breaks, with degrees."""
        known = labels.tolist()
        degrees: dict[int, int] = {}
        for k in among:
            piece = self.pieces[k]
            much = piece.counter().degree(labels) if piece.is_made else degree(piece.says, known)
            if much:
                degrees[k] = much
        return degrees

    @property
    def columns(self) -> InputColumns:
        if self._columns is None:
            self._columns = chain_columns(*self.tokens.shape)
        return self._columns

    def tables(self) -> tuple[Sequence[Floats], Mapping[tuple[int, int], Floats]]:
        return list(self.tokens), {(t - 1, t): self.edges[t] for t in range(1, self.length)}

    def best_with(self, bonus: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        edges = np.zeros_like(self.edges)
        edges[1:] = bonus[self.tokens.size :].reshape(edges[1:].shape)
        return self.best_added(bonus[: self.tokens.size].reshape(self.tokens.shape), edges, scored=scored)

    def maximum(self, bonus: Floats) -> tuple[Ids, float, Ints]:
        labels, value = self.best_with(bonus)
        length, size = self.tokens.shape
        moves = np.arange(length - 1) * size * size + labels[:-1] * size + labels[1:]
        return labels, value, np.concatenate([np.arange(length) * size + labels, self.tokens.size + moves])

    def under(self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None) -> Reached:
        most_nodes = searches.MOST_NODES if most_nodes is None else most_nodes
        return searches.best_under(self, self.take(clauses), floor=floor, most_nodes=most_nodes)

    def best_first(
        self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None, tighten: int = 0
    ) -> tuple[Reached, bool]:
        program, guide = self.take(clauses), None
        if tighten and self.constant < math.inf:
            guide = searches.tight_guide(self, program, floor=floor, steps=tighten)
        most_nodes = searches.MOST_PUT if most_nodes is None else most_nodes
        return searches.best_first(self, program, guide=guide, most_nodes=most_nodes)

    def beam(self, *, width: int, look_ahead: bool = True) -> tuple[Reached, str]:
        try:
            reached = searches.beam_over(self, self.take(self.counters), width=width, look_ahead=look_ahead)
            method = "beam search"
        except Intractable:  # too many states to list: clauses are read along each prefix instead
            reached = searches.prefix_beam(self, width=width, look_ahead=look_ahead)
            method = "beam search over prefixes"
        return replace(reached, lost=searches.beam_bound(self, reached, look_ahead=look_ahead)), method

    def take(self, clauses: Sequence[int]) -> Taken:
        """Some clauses as joint counters; raises `Intractable` if their states cannot be numbered."""
        length, size = self.tokens.shape
        counters = [self.counter(k) for k in clauses]
        codes = np.ones(length + 1)
        for one in counters:
            codes *= one.sizes
        if float(codes.max()) * length * self.places > MOST_CODES:
            names = ", ".join(dict.fromkeys(self.name(k) for k in clauses))
            raise Intractable(f"the joint states of {len(clauses)} clauses cannot be numbered (rules: {names})")
        classes, which, following, degrees, sizes = _packed(counters, length, size)
        ids = np.empty((length, size, size), dtype=np.int32)
        members = np.zeros((length, _most_joint(counters, size), len(counters)), dtype=np.int32)
        places = np.empty(length, dtype=np.int32)
        count = joint_classes(classes, which, ids, members, places)
        prices = np.array([self.prices[k] for k in clauses], dtype=np.float64)
        gains = np.zeros((len(counters), length, following.shape[3]))
        for m, one in enumerate(counters):
            if one.gains is not None:
                gains[m, :, : one.gains.shape[1]] = one.gains
        machines = Machines(
            places=places,
            ids=ids[:count],
            members=members[:count],
            following=following,
            degrees=degrees,
            sizes=sizes,
            widths=np.array([one.widths for one in counters], dtype=np.int32).reshape(len(counters), length),
            gains=gains,
            sums=np.array([one.gains is not None for one in counters], dtype=np.bool_),
            prices=prices,
        )
        return Taken(tuple(clauses), machines, int(codes.max()) + 1)


def _most_joint(counters: Sequence[Counter], size: int) -> int:
    """A bound on the number of joint classes at one token."""
    most = 1
    for one in counters:
        most *= one.following.shape[2]
        if most >= size * size:
            return size * size
    return most


def _packed(counters: Sequence[Counter], length: int, size: int) -> tuple[Classes, Ids, Ids, Ids, Ints]:
    """Of several counters: classes [K, L, L], which [M, T], next states and degrees [M, T, N, C], sizes [M, T + 1]."""
    if not counters:
        none = np.zeros((0, length, 1, 1), dtype=np.int32)
        classes = np.zeros((0, size, size), dtype=np.int16)
        which = np.zeros((0, length), dtype=np.int32)
        return classes, which, none, none, np.zeros((0, length + 1), dtype=np.int64)
    states = max(one.following.shape[1] for one in counters)
    most = max(one.following.shape[2] for one in counters)
    following = np.zeros((len(counters), length, states, most), dtype=np.int32)
    degrees = np.zeros_like(following)
    which = np.empty((len(counters), length), dtype=np.int32)
    first = 0
    for m, one in enumerate(counters):
        _, n, c = one.following.shape
        following[m, :, :n, :c] = one.following
        degrees[m, :, :n, :c] = one.degrees
        which[m] = one.which + first
        first += len(one.classes)
    classes = np.concatenate([one.classes for one in counters])
    return classes, which, following, degrees, np.stack([one.sizes for one in counters])
