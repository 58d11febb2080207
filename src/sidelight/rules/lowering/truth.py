"""Truth and violation of an expression, for a completely or partially known output.

`labels[v]` is the number of the label of variable v, or −1 if it is open. Open variables lead to intervals: an
expression is between false and true, a total between two numbers. A bound on the degree of a prefix never decreases as
the prefix grows, as required by beam search and A*.
"""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some

OPEN = -1


def truth(expression: Expr, labels: Sequence[int]) -> tuple[bool, bool]:
    """(surely true, possibly true)."""
    if isinstance(expression, OneOf):
        label = labels[expression.variable]
        if label == OPEN:
            return False, True
        holds = label in expression.labels
        return holds, holds
    if isinstance(expression, Same):
        first, second = labels[expression.first], labels[expression.second]
        if first == OPEN or second == OPEN:
            return False, True
        return first == second, first == second
    if isinstance(expression, KnownValue):
        return bool(expression), bool(expression)
    if isinstance(expression, Not):
        surely, possibly = truth(expression.part, labels)
        return not possibly, not surely
    if isinstance(expression, Every):
        surely = possibly = True
        for part in expression.parts:
            sure, may = truth(part, labels)
            if not may:
                return False, False
            surely &= sure
        return surely, possibly
    if isinstance(expression, Some):
        surely = possibly = False
        for part in expression.parts:
            sure, may = truth(part, labels)
            if sure:
                return True, True
            possibly |= may
        return surely, possibly
    if isinstance(expression, Between):
        least, most = bounds(expression, labels)
        low, high = expression.low, expression.high
        surely = (low is None or least >= low) and (high is None or most <= high)
        return surely, (low is None or most >= low) and (high is None or least <= high)
    raise TypeError(f"not an expression: {expression!r}")


def bounds(expression: Between, labels: Sequence[int]) -> tuple[int, int]:
    """The minimum and the maximum of a total."""
    least = most = 0
    for weight, part in expression.terms:
        surely, possibly = truth(part, labels)
        if surely:
            least += weight
            most += weight
        elif possibly:
            least += min(weight, 0)
            most += max(weight, 0)
    return least, most


def degree(expression: Expr, labels: Sequence[int]) -> int:
    """The violation that no completion of the output can avoid; for a known output its violation."""
    if isinstance(expression, KnownValue):
        return expression.degree
    if isinstance(expression, Every):
        return sum(degree(part, labels) for part in expression.parts)
    if isinstance(expression, Between):
        least, most = bounds(expression, labels)
        below = 0 if expression.low is None else expression.low - most
        above = 0 if expression.high is None else least - expression.high
        return max(0, below, above)
    return 0 if truth(expression, labels)[1] else 1
