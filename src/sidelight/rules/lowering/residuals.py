"""The residual of a clause after each token: the states of its counter.

A clause is read token by token. Parts about one token or two neighbours are decided immediately, since dynamic
programming knows both labels. What remains is a small value on which the rest depends:

    count, low ≤ Σ w_i [e_i] ≤ high   the bounds minus the count so far; dropped once they cannot be missed
    some, every                       the residuals of the open parts; none once one of them decides it
    y_s = y_t, far apart              the label of s

Equal values are one state. The degree of an unavoidable violation is charged at once and the bound is moved. So `count
≤ k` needs k + 1 states, and not one per possible count.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.rules.expr import Between, Every, Expr, Not, Same, Some
from sidelight.rules.lowering.tables import local_degrees, local_truths, span

State = Any  # hashable; True and False mean decided
DONE = True
Signs = tuple[int, ...]  # the values, at a token's pair of labels, of the tables that parts use there


class Reading:
    """The tables used by the parts of one clause, by token."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.tables: defaultdict[int, list[Ints]] = defaultdict(list)  # token -> tables [L or 1, L or 1]

    def listen(self, t: int, table: Ints) -> int:
        """Register a table at a token; returns its position among the signs."""
        self.tables[t].append(table)
        return len(self.tables[t]) - 1

    def part(self, expression: Expr) -> Part:
        """The part for an expression that is not local."""
        if isinstance(expression, Same):
            return FarSame(expression, self)
        if isinstance(expression, Not):
            return Negated(self.part(expression.part))
        if isinstance(expression, (Some, Every)):
            return Junction(expression, self)
        if isinstance(expression, Between):
            return Sum(expression, self)
        raise TypeError(f"not a part that needs a state: {expression!r}")


class Part:
    """A part that is decided over several tokens, from `first` to `last`."""

    first: int
    last: int

    def initial(self) -> State:
        raise NotImplementedError

    def step(self, state: State, t: int, signs: Signs) -> State:
        """The residual after token t, or True or False once it is decided."""
        raise NotImplementedError


class Negated(Part):
    """The negation of a part."""

    def __init__(self, part: Part) -> None:
        self.inner = part
        self.first, self.last = part.first, part.last

    def initial(self) -> State:
        return self.inner.initial()

    def step(self, state: State, t: int, signs: Signs) -> State:
        outcome = self.inner.step(state, t, signs)
        return not outcome if outcome is True or outcome is False else outcome


class FarSame(Part):
    """Two tokens that are not neighbours have the same label."""

    def __init__(self, expression: Same, reading: Reading) -> None:
        self.first, self.last = expression.first, expression.second
        own = np.arange(reading.n_labels)[None, :]
        self.places = {t: reading.listen(t, own) for t in (self.first, self.last)}

    def initial(self) -> State:
        return ()

    def step(self, state: State, t: int, signs: Signs) -> State:
        if t == self.first:
            return (signs[self.places[t]],)  # not a plain number: 1 and True would be the same state
        return state == (signs[self.places[t]],) if t == self.last else state


class Junction(Part):
    """Some or every: `stop` is the truth of a part that decides it."""

    def __init__(self, expression: Some | Every, reading: Reading) -> None:
        self.stop = isinstance(expression, Some)
        settled: dict[int, Ints] = {}
        self.parts: list[Part] = []
        for part in expression.parts:
            first, last = span(part)
            if last - first <= 1:  # about one token, two neighbours, or none
                t = max(last, 0)
                table = local_truths(part, t, reading.n_labels) == self.stop
                settled[t] = (settled[t] | table) if t in settled else table
            else:
                self.parts.append(reading.part(part))
        self.places = {t: reading.listen(t, table.astype(np.int64)) for t, table in settled.items()}
        self.first = min([*self.places, *(part.first for part in self.parts)])
        self.last = max([*self.places, *(part.last for part in self.parts)])

    def initial(self) -> State:
        return tuple(part.initial() for part in self.parts)

    def step(self, state: State, t: int, signs: Signs) -> State:
        place = self.places.get(t)
        if place is not None and signs[place]:
            return self.stop
        if self.parts:
            left = []
            for part, old in zip(self.parts, state):
                new = old
                if old is not True and old is not False and part.first <= t <= part.last:
                    new = part.step(old, t, signs)
                    if new is self.stop:
                        return self.stop
                left.append(new)
            state = tuple(left)
        return (not self.stop) if t >= self.last else state


class Sum(Part):
    """low ≤ Σ weight · [part] ≤ high; a state is (low and high minus the count, residuals of open parts)."""

    def __init__(self, expression: Between, reading: Reading) -> None:
        self.low, self.high = expression.low, expression.high
        self.crossed = self.low is not None and self.high is not None and self.low > self.high  # cannot be met
        gains: dict[int, Ints] = {}
        self.parts: list[tuple[int, Part]] = []
        for weight, part in expression.terms:
            first, last = span(part)
            if last - first <= 1:
                t = max(last, 0)
                table = weight * local_truths(part, t, reading.n_labels)
                gains[t] = gains[t] + table if t in gains else table
            else:
                self.parts.append((weight, reading.part(part)))
        self.places = {t: reading.listen(t, table) for t, table in gains.items()}
        self.first = min([*self.places, *(part.first for _, part in self.parts)])
        self.last = max([*self.places, *(part.last for _, part in self.parts)])
        # what the tokens after t can still add: [last + 1]
        self.least, self.most = [0] * (self.last + 1), [0] * (self.last + 1)
        for t in range(self.last, 0, -1):
            self.least[t - 1] = self.least[t] + (int(gains[t].min()) if t in gains else 0)
            self.most[t - 1] = self.most[t] + (int(gains[t].max()) if t in gains else 0)

    def initial(self) -> State:
        return self.low, self.high, tuple(part.initial() for _, part in self.parts)

    def _count(self, state: State, t: int, signs: Signs) -> tuple[int | None, int | None, State, int, int]:
        """The bounds and open parts after token t, and the least and the most that can still be added."""
        low, high, left = state
        place = self.places.get(t)
        gained = 0 if place is None else signs[place]
        least, most = self.least[t], self.most[t]
        if self.parts:
            counts = []
            for (weight, part), old in zip(self.parts, left):
                new = old
                if old is not False and part.first <= t <= part.last:
                    new = part.step(old, t, signs)
                    if new is True:
                        gained += weight
                        new = False  # counted
                if new is not False:
                    least += min(weight, 0)
                    most += max(weight, 0)
                counts.append(new)
            left = tuple(counts)
        return None if low is None else low - gained, None if high is None else high - gained, left, least, most

    def step(self, state: State, t: int, signs: Signs) -> State:
        low, high, left, least, most = self._count(state, t, signs)
        if (low is not None and low > most) or (high is not None and high < least):
            return False
        low = None if low is None or low <= least else low
        high = None if high is None or high >= most else high
        return True if low is None and high is None else (low, high, left)

    def advance(self, state: State, t: int, signs: Signs) -> tuple[State, int]:
        """As `step`, with degrees: the residual, and the unavoidable degree."""
        low, high, left, least, most = self._count(state, t, signs)
        if self.crossed:  # both bounds may be missed: wait for the total
            assert low is not None and high is not None
            return ((low, high, left), 0) if t < self.last else (DONE, max(low, -high))
        degree = 0
        if low is not None and low > most:
            degree, low = low - most, most
        if high is not None and high < least:
            degree, high = least - high, least
        low = None if low is None or low <= least else low
        high = None if high is None or high >= most else high
        return (DONE if low is None and high is None else (low, high, left)), degree


class Root:
    """The whole clause: the residual after a token, and the degree charged there."""

    def __init__(self, expression: Expr, reading: Reading) -> None:
        first, last = span(expression)
        self.local = last - first <= 1
        self.summed: Sum | None = None
        if self.local:
            self.first = self.last = max(last, 0)
            reading.listen(self.last, local_degrees(expression, self.last, reading.n_labels))
        else:
            self.part = reading.part(expression)
            self.summed = self.part if isinstance(self.part, Sum) else None
            self.first, self.last = self.part.first, self.part.last

    def initial(self) -> State:
        return (0,) if self.local else self.part.initial()

    def advance(self, state: State, t: int, signs: Signs) -> tuple[State, int]:
        if self.local:
            return DONE, signs[0]
        if self.summed is not None:
            return self.summed.advance(state, t, signs)
        outcome = self.part.step(state, t, signs)
        if outcome is True or outcome is False:
            return DONE, 0 if outcome else 1
        return outcome, 0


class RuleProgress:
    """A clause read token by token without making its counter, for searches that visit few prefixes.

    >>> from sidelight.rules.words import count
    >>> from sidelight.rules.output import Domain, symbolic_labels
    >>> y = symbolic_labels(9, Domain("AB"))
    >>> progress = RuleProgress(count(y[t] == "A" for t in range(9)) <= 1, 2)
    >>> state, degree = progress.advance(progress.initial(), 0, 0, 0)
    >>> progress.advance(state, 1, 0, 0)[1]
    1
    """

    def __init__(self, expression: Expr, n_labels: int) -> None:
        reading = Reading(n_labels)
        self._root = Root(expression, reading)
        shape = n_labels, n_labels
        self._tables = {t: [np.broadcast_to(one, shape).tolist() for one in own] for t, own in reading.tables.items()}

    def initial(self) -> State:
        """The state before the first token."""
        return self._root.initial()

    def advance(self, state: State, t: int, previous: int, label: int) -> tuple[State, int]:
        """The residual after token t, and the violation that becomes unavoidable there."""
        tables = self._tables.get(t)
        if tables is None or state is DONE:
            return state, 0
        return self._root.advance(state, t, tuple(table[previous][label] for table in tables))
