"""Penalties of rules, learned by counting (Chang 2011, Algorithm 7).

Over labelled sequences with T tokens in all, a rule k that is broken v_k times has

    P(Ψ_k) = (v_k + s) / (T + 2 s)        ρ_k = log (1 − P(Ψ_k)) / P(Ψ_k)

The thesis has no smoothing s; without it, a rule that no labelled sequence breaks would become hard by accident. A rule
that is broken more often than not has penalty 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from sidelight.rules.output import Labels, Sentence
from sidelight.rules.rule import Rule

SMOOTHING = 1.0


def violation_counts(
    rules: Sequence[Rule], xs: Iterable[Any], ys: Iterable[Sequence[Any]], *, weights: Iterable[float] | None = None
) -> tuple[list[float], float]:
    """The number of violations of each rule by known outputs, and the number of tokens; both weighted.

    >>> from sidelight.rules.gallery import starts_with
    >>> violation_counts([starts_with("A")], [["x", "y"], ["z"]], [["B", "A"], ["A"]])
    ([1.0], 3.0)
    """
    broken = [0.0] * len(rules)
    tokens = 0.0
    shares = iter(weights) if weights is not None else None
    for example, (x, y) in enumerate(zip(xs, ys)):
        weight = 1.0 if shares is None else next(shares)
        sentence, labels = Sentence(x), Labels(y)
        tokens += weight * len(sentence)
        for k, rule in enumerate(rules):
            broken[k] += weight * rule.violations(sentence, labels, example=example)
    return broken, tokens


def penalty_of(broken: float, tokens: float, *, smoothing: float = SMOOTHING) -> float:
    """ρ of a rule with this number of violations.

    >>> round(penalty_of(0, 98), 3), penalty_of(9, 10)
    (4.595, 0.0)
    """
    if smoothing < 0:
        raise ValueError(f"smoothing is {smoothing}; give a number that is not negative")
    share = (broken + smoothing) / (tokens + 2.0 * smoothing) if tokens + smoothing > 0 else 0.5
    if share <= 0.0:
        return math.inf
    return max(0.0, math.log1p(-share) - math.log(share)) if share < 1.0 else 0.0


def penalties_of(
    rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Sequence[Any]], *, smoothing: float = SMOOTHING
) -> list[float]:
    """The penalty of every rule: its own, or the one learned from labelled sequences."""
    if not any(rule.learned for rule in rules):
        return [math.inf if rule.penalty is None else rule.penalty for rule in rules]
    if not len(xs):
        raise ValueError("the penalty of a soft rule is learned from labelled sequences, and there are none")
    return counted_penalties(rules, *violation_counts(rules, xs, ys), smoothing=smoothing)


def counted_penalties(
    rules: Sequence[Rule], broken: Sequence[float], tokens: float, *, smoothing: float = SMOOTHING
) -> list[float]:
    """The penalty of every rule: its own, or the one learned from these counts."""
    return [
        penalty_of(count, tokens, smoothing=smoothing) if rule.penalty is None else rule.penalty
        for rule, count in zip(rules, broken)
    ]


def mixed(first: Sequence[float], second: Sequence[float], beta: float) -> list[float]:
    """The mixture of two penalties, β and 1 − β, if both are finite (Algorithm 8, line 8)."""
    return [a if math.isinf(a) or math.isinf(b) else float(beta * a + (1.0 - beta) * b) for a, b in zip(first, second)]
