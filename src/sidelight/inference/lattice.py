"""A problem as dynamic programming sees it: scores with all local clauses added, and counters for the others.

Clauses about one token or two neighbours cost nothing, so all of them are folded into the scores. The others are kept
as pieces whose counters are made when they are asked for. What a structure has of its own (chains, segmentations) is
its dynamic programs: a lattice of each kind brings them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.inference.lattice_kernels import joint_classes
from sidelight.inference.machines import Machines
from sidelight.rules.counters import Classes, Counter, Piece
from sidelight.rules.truth import degree

Node = tuple[int, ...]  # where a prefix stands, counters apart; the label of its last token is the last number
MOST_CODES = 1 << 61  # codes of joint states, places and labels share 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Clauses that are taken into account together."""

    clauses: tuple[int, ...]
    machines: Machines
    most_codes: int  # more than the code of any joint state

    @property
    def states(self) -> int:
        """An upper bound of the joint states at one place."""
        return self.most_codes - 1 if self.clauses else 1

    def zero_bonus(self) -> Floats:
        """Nothing for any state of any counter. # [M, T, N]"""
        return np.zeros(self.machines.following.shape[:3])


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """What guides a search: for every prefix, an upper bound of what is left."""

    future: Floats  # the best completions, by the places of the structure
    bonus: Floats  # [M, T, N] what counters can still bring after token t, by state; 0 where completions alone bound
    bound: float  # of every whole output


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """What a search came to."""

    came: int  # FOUND, NONE or TOO_MANY
    value: float
    bound: float  # no output that was given up is worth more
    nodes: int
    labels: Ids  # [T]


def possible(scores: Floats) -> Floats:
    """0 where something is possible, −inf where not."""
    return np.where(scores > -np.inf, 0.0, -np.inf)


class Lattice(ABC):
    """The folded scores of one input and the clauses that need counters.

    Values of the dynamic programs (`frontier`, `a_star`, `tighten`, `best_with`) are without `constant`.
    """

    __slots__ = ("constant", "counters", "edges", "future", "names", "pieces", "prices", "rules", "tokens")

    future: Floats  # the best completions without counters

    def __init__(
        self,
        tokens: Floats,
        edges: Floats,
        pieces: Sequence[Piece],
        rules: Sequence[int],
        prices: Sequence[float],
        *,
        names: Sequence[str] = (),
        fold: bool = True,
    ) -> None:
        self.pieces, self.rules, self.prices, self.names = pieces, rules, prices, names
        self.tokens = tokens  # [T, L] of labels, written to
        self.edges = edges  # [T, L, L] of a label after another, written to; those of token 0 are not read
        self.constant = 0.0  # penalties that no output avoids
        self.counters: list[int] = []  # clauses that were not folded
        for k, (piece, price) in enumerate(zip(pieces, prices)):
            if piece.kind == "counter" or not fold:
                self.counters.append(k)
            else:
                self._fold(piece, price)

    @property
    @abstractmethod
    def places(self) -> int:
        """How many kinds of nodes there are after one token, counters apart."""

    @abstractmethod
    def best(self) -> tuple[Ids, float]:
        """The best output without counters."""

    @abstractmethod
    def best_with(self, tokens: Floats, edges: Floats | None = None, *, scored: bool = True) -> tuple[Ids, float]:
        """The best output without counters, with [T, L] and [T, L, L] added to its scores.

        Where not `scored`, its own scores only say what is possible.
        """

    @abstractmethod
    def path_value(self, labels: Ids) -> float:
        """What an output scores, −inf where it is not possible."""

    @abstractmethod
    def frontier(self, taken: Taken, guide: Guide, *, floor: float, width: int, most_nodes: int) -> Searched:
        """Dynamic programming over layers, exact or with the best `width` nodes of each (see `frontier_kernels`)."""

    @abstractmethod
    def a_star(self, taken: Taken, guide: Guide, *, most_nodes: int) -> Searched:
        """Best-first search (see `a_star_kernels`)."""

    @abstractmethod
    def moves(self, t: int, node: Node, *, look_ahead: bool = True) -> list[tuple[Node, float, float]]:
        """The nodes of token t that can follow one of the token before, () before the first.

        With each what it adds to the score, and the best that can follow it (0 without `look_ahead`).
        """

    @abstractmethod
    def tighten(self, taken: Taken, *, floor: float, steps: int) -> Guide:
        """Completions that know what counters want (see `tighten_kernels`)."""

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

    def name(self, clause: int) -> str:
        """The name of the rule that a clause belongs to."""
        rule = self.rules[clause]
        return self.names[rule] if rule < len(self.names) else f"number {rule}"

    def counter(self, clause: int) -> Counter:
        """The counter of a clause."""
        return self.pieces[clause].counter(name=self.name(clause))

    def plain(self) -> tuple[Ids, float]:
        """The best output without counters, and its value, which bounds every output's."""
        labels, value = self.best()
        return labels, value - self.constant

    def folded(self, labels: Ids) -> float:
        """The value of an output without counters."""
        return self.path_value(labels) - self.constant

    def broken(self, labels: Ids, among: Sequence[int]) -> dict[int, int]:
        """Which of some clauses with counters an output breaks, and how much."""
        known = labels.tolist()
        found: dict[int, int] = {}
        for k in among:
            piece = self.pieces[k]
            much = piece.counter().degree(labels) if piece.is_made else degree(piece.says, known)
            if much:
                found[k] = much
        return found

    def value(self, labels: Ids) -> float:
        """The score less all penalties."""
        broken = self.broken(labels, self.counters)
        return self.folded(labels) - sum(self.prices[k] * much for k, much in broken.items())

    def take(self, clauses: Sequence[int]) -> Taken:
        """Some clauses as joint counters; raises `Intractable` where their states cannot be numbered."""
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
