"""Clauses for dynamic programming over a chain.

A clause is lowered according to its variables:

    nothing           a constant degree
    one token         a degree per label, added to the token's scores: a hard one drops labels
    two neighbours    a degree per pair of labels at one place: a hard one drops edges
    anything else     a *counter*: a finite automaton that reads (previous label, label) token by token and charges
                      degrees as they become unavoidable

Degrees are whole numbers, without penalties, so lowered clauses remain valid while penalties are learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ids, Ints
from sidelight.core.kernels import inline_kernel, kernel
from sidelight.errors import Intractable
from sidelight.rules.expr import Every, Expr
from sidelight.rules.lowering.residuals import DONE, Reading, Root, Signs, State, Sum
from sidelight.rules.lowering.tables import local_degrees, span

FREE = 1 << 40  # the state of sums that can no longer miss a bound
NEVER = 1 << 41  # a missing bound, with its sign


@inline_kernel
def _settle(total: int, low: int, high: int, least: int, most: int) -> tuple[int, int]:
    """The state of a sum if the rest is between `least` and `most`, and the unavoidable degree."""
    degree = 0
    if low > -NEVER and low - total > most:
        degree = low - total - most
        total = low - most
    if high < NEVER and high - total < least:
        degree = least - (high - total)
        total = high - least
    if (low == -NEVER or low - total <= least) and (high == NEVER or high - total >= most):
        total = FREE
    return total, degree


@kernel
def sum_states(
    values: Ints,  # [T, C] the gain of each class, rising
    counts: Ints,  # [T] how many classes there are
    low: int,
    high: int,
    following: Ids,  # out [T, N, C]
    degrees: Ids,  # out [T, N, C]
    sizes: Ints,  # out [T + 1]
) -> bool:
    """The states of low ≤ Σ_t gain_t(previous label, label) ≤ high; returns whether N of them were enough.

    They are the states of `residuals.Sum`: the sum so far (once a violation is unavoidable, moved to the nearest value
    that the rest can repair), and one state for all sums that can no longer miss a bound.
    """
    length = counts.shape[0]
    room = following.shape[1]
    least = np.zeros(length, np.int64)
    most = np.zeros(length, np.int64)
    for t in range(length - 1, 0, -1):
        least[t - 1] = least[t] + values[t, 0]
        most[t - 1] = most[t] + values[t, counts[t] - 1]
    now = np.zeros(room, np.int64)
    after = np.zeros(room, np.int64)
    slots = 4
    while slots < 2 * room:
        slots *= 2
    place = np.zeros(slots, np.int64)  # position of a sum among the states, by its hash
    stamp = np.full(slots, -1, np.int64)  # the token at which a position was written
    sizes[0] = 1
    for t in range(length):
        size = 0
        for s in range(sizes[t]):
            for c in range(counts[t]):
                if now[s] == FREE:
                    total, degree = FREE, 0
                else:
                    total, degree = _settle(now[s] + values[t, c], low, high, least[t], most[t])
                slot = (total ^ (total >> 11) ^ (total >> 23)) & (slots - 1)
                while stamp[slot] == t and after[place[slot]] != total:
                    slot = (slot + 1) & (slots - 1)
                if stamp[slot] != t:
                    if size == room:
                        return False
                    stamp[slot], place[slot], after[size] = t, size, total
                    size += 1
                following[t, s, c] = place[slot]
                degrees[t, s, c] = degree
        sizes[t + 1] = size
        for k in range(size):
            now[k] = after[k]
    return True


Classes = NDArray[np.int16]
Kind = Literal["constant", "token", "edge", "counter"]

MOST_STATES = 4096  # of one counter after one token
MOST_CELLS = 1 << 26  # of one counter: tokens times states times classes, eight bytes each


@kernel
def charged(classes: Classes, which: Ids, following: Ids, degrees: Ids, labels: Ids) -> int:
    """The degree that an automaton charges on a known path."""
    state = 0
    total = 0
    previous = 0
    for t in range(labels.shape[0]):
        c = classes[which[t], previous, labels[t]]
        total += degrees[t, state, c]
        state = following[t, state, c]
        previous = labels[t]
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """An automaton over a chain; it has one state, 0, before the first token and after the last one."""

    classes: Classes  # [K, L, L] the class of (previous label, label), by table
    which: Ids  # [T] the table of each token; at token 0 its rows are alike
    following: Ids  # [T, N, C] the next state, by state and class
    degrees: Ids  # [T, N, C] the violation that becomes unavoidable
    sizes: Ints  # [T + 1] how many states there are before token t
    widths: Ids  # [T] how many classes there are
    gains: Ints | None = None  # [T, C] what each class adds, where the clause is a bound on one sum

    @property
    def states(self) -> int:
        """The maximum number of states at one position."""
        return int(self.sizes.max())

    def degree(self, labels: Ids) -> int:
        """The violation of a known output."""
        return charged(self.classes, self.which, self.following, self.degrees, labels)

    def read(self, labels: tuple[int, ...] | list[int]) -> list[int]:
        """The violation charged up to each token. # [T]"""
        state = total = previous = 0
        totals = []
        for t, label in enumerate(labels):
            kind = self.classes[self.which[t], previous, label]
            total += int(self.degrees[t, state, kind])
            state = int(self.following[t, state, kind])
            previous = label
            totals.append(total)
        return totals


class Piece:
    """A clause as dynamic programming takes it."""

    __slots__ = ("_counter", "at", "degrees", "kind", "length", "n_labels", "says")

    def __init__(self, says: Expr, length: int, n_labels: int) -> None:
        self.says = says
        self.length = length
        self.n_labels = n_labels
        self._counter: Counter | None = None
        self.degrees: Ints | None = None  # [1, L] of a token, [L, L] of an edge, [1, 1] constant
        first, last = span(says)
        self.at = max(last, 0)
        if last < 0 or last - first <= 1:
            self.degrees = local_degrees(says, self.at, n_labels)
            self.kind: Kind = "constant" if last < 0 else "token" if len(self.degrees) == 1 else "edge"
        else:
            self.kind = "counter"

    def degree(self, labels: Ids) -> int:
        """The violation of a known output."""
        if self.degrees is None:
            return self.counter().degree(labels)
        row = self.degrees[labels[self.at - 1] if self.kind == "edge" else 0]
        return int(row[labels[self.at]])

    @property
    def is_made(self) -> bool:
        """Whether its counter has already been made."""
        return self._counter is not None

    def counter(self, *, name: str = "a rule", most_states: int = MOST_STATES) -> Counter:
        """The automaton of this clause, made on first use; raises `Intractable` with the name of the rule."""
        if self._counter is None:
            self._counter = counter(self.says, self.length, self.n_labels, name=name, most_states=most_states)
        return self._counter


def counter(
    expression: Expr, length: int, n_labels: int, *, name: str = "a rule", most_states: int = MOST_STATES
) -> Counter:
    """The automaton of a clause; raises `Intractable`, with the name of the rule, if it has more than `most_states`
    states.

    >>> from sidelight.rules.words import count
    >>> from sidelight.rules.output import Domain, symbolic_labels
    >>> y = symbolic_labels(9, Domain("AB"))
    >>> counter(count(y[t] == "A" for t in range(9)) <= 2, 9, 2).states
    3
    """
    if isinstance(expression, Every):
        raise TypeError("a conjunction is not one clause: take its pieces")
    reading = Reading(n_labels)
    root = Root(expression, reading)
    summed = root.summed
    if summed is not None and not summed.parts and not summed.crossed:
        result = _counter_of_sum(summed, _alphabet(reading, length), most_states)
    else:
        result = _counter_of_root(root, _alphabet(reading, length), most_states)
    if isinstance(result, int):
        raise Intractable(
            f"the rule {name} needs more than {result} states at one token, with {length} tokens: "
            "use integer programming, or say it with fewer far-apart parts"
        )
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Alphabet:
    """The classes of label pairs that a clause distinguishes at each token."""

    classes: Classes  # [K, L, L]
    which: Ids  # [T] the table of each token
    signs: list[list[Signs]]  # [K][class]

    @property
    def widths(self) -> Ids:
        """The number of classes. # [T]"""
        return np.array([len(signs) for signs in self.signs], dtype=np.int32)[self.which]


def _alphabet(reading: Reading, length: int) -> _Alphabet:
    size = reading.n_labels
    numbers: dict[tuple[bytes, ...], int] = {}
    classes: list[Classes] = []
    signs: list[list[Signs]] = []
    which = np.zeros(length, dtype=np.int32)
    for t in range(length):
        tables = reading.tables.get(t, [])
        key = tuple(bytes(table.shape) + table.tobytes() for table in tables)
        if key not in numbers:
            numbers[key] = len(classes)
            classes.append(np.zeros((size, size), dtype=np.int16))
            signs.append(_sort_pairs(tables, classes[-1]))
        which[t] = numbers[key]
    return _Alphabet(np.stack(classes), which, signs)


def _counter_of_sum(summed: Sum, alphabet: _Alphabet, most_states: int) -> Counter | int:
    """The automaton, or how many states were too few."""
    length = len(alphabet.which)
    counts = alphabet.widths.astype(np.int64)
    values = np.zeros((len(alphabet.signs), int(counts.max())), dtype=np.int64)
    for k, signs in enumerate(alphabet.signs):
        values[k, : len(signs)] = [sum(sign) for sign in signs]
    low = -NEVER if summed.low is None else summed.low
    high = NEVER if summed.high is None else summed.high
    sizes = np.zeros(length + 1, dtype=np.int64)
    most_states = max(1, min(most_states, MOST_CELLS // (length * values.shape[1])))
    room = min(8, most_states)
    while True:
        following = np.zeros((length, room, values.shape[1]), dtype=np.int32)
        degrees = np.zeros_like(following)
        if sum_states(values[alphabet.which], counts, low, high, following, degrees, sizes):
            most = int(sizes.max())
            following, degrees = following[:, :most].copy(), degrees[:, :most].copy()
            gains = values[alphabet.which]
            return Counter(alphabet.classes, alphabet.which, following, degrees, sizes, alphabet.widths, gains)
        if room == most_states:
            return most_states
        room = min(8 * room, most_states)


def _counter_of_root(root: Root, alphabet: _Alphabet, most_states: int) -> Counter | int:
    """The automaton, or how many states were too few."""
    most_states = max(1, min(most_states, MOST_CELLS // len(alphabet.which)))
    rows: list[list[list[tuple[int, int]]]] = []  # [T][state][class] -> (next, degree)
    sizes = [1]
    states: list[State] = [root.initial()]
    for t, k in enumerate(alphabet.which.tolist()):
        signs = alphabet.signs[k]
        if signs == [()]:  # no part uses this token: states do not change
            rows.append([[(i, 0)] for i in range(len(states))])
            sizes.append(len(states))
            continue
        numbers: dict[State, int] = {}
        layer: list[list[tuple[int, int]]] = []
        for state in states:
            row = []
            for sign in signs:
                new, degree = (DONE, 0) if state is DONE else root.advance(state, t, sign)
                row.append((numbers.setdefault(new, len(numbers)), degree))
            layer.append(row)
        states = list(numbers)
        if len(states) > most_states:
            return most_states
        rows.append(layer)
        sizes.append(len(states))
    most_classes = max(len(layer[0]) for layer in rows)
    following = np.zeros((len(rows), max(sizes), most_classes), dtype=np.int32)
    degrees = np.zeros_like(following)
    for t, layer in enumerate(rows):
        table = np.array(layer, dtype=np.int32)  # [states, classes, 2]
        following[t, : table.shape[0], : table.shape[1]] = table[:, :, 0]
        degrees[t, : table.shape[0], : table.shape[1]] = table[:, :, 1]
    sized = np.array(sizes, dtype=np.int64)
    return Counter(alphabet.classes, alphabet.which, following, degrees, sized, alphabet.widths)


def _sort_pairs(tables: list[Ints], classes: Classes) -> list[Signs]:
    """Equivalent pairs of labels get one class; returns the signs of each class, sorted."""
    if not tables:
        return [()]
    if len(tables) == 1:
        least, most = int(tables[0].min()), int(tables[0].max())
        if most - least <= 1:
            classes[:] = tables[0] - least
            return [(value,) for value in range(least, most + 1)]
    stacked = np.stack([np.broadcast_to(table, classes.shape).ravel() for table in tables], axis=1)  # [L L, tables]
    rows, inverse = np.unique(stacked, axis=0, return_inverse=True)
    classes[:] = inverse.reshape(classes.shape)
    return [tuple(int(value) for value in row) for row in rows]


def lowered(expression: Expr, length: int, n_labels: int) -> Piece:
    """A clause as dynamic programming takes it.

    >>> from sidelight.rules.expr import KnownValue, OneOf, Same
    >>> [lowered(e, 9, 3).kind for e in (OneOf(2, (0,)), Same(2, 3), Same(2, 5), KnownValue(1))]
    ['token', 'edge', 'counter', 'constant']
    """
    return Piece(expression, length, n_labels)
