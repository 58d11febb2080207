"""Candidate labels made from right ones, as in section 5.3 of CLLP, and labels to begin with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

Label = str
Sets = list[list[Label]]  # the candidates of each token, in order


def shares_of(ys: Iterable[Sequence[Label]]) -> dict[Label, float]:
    """How often each label occurs.

    >>> shares_of([["A", "B"], ["A", "A"]])
    {'A': 0.75, 'B': 0.25}
    """
    counts = Counter(label for y in ys for label in y)
    total = sum(counts.values())
    return {label: counts[label] / total for label in sorted(counts)}


def random_sets(y: Sequence[Label], doublings: int, shares: Mapping[Label, float], rng: np.random.Generator) -> Sets:
    """Random generation: so many times, a token chosen at random doubles the size of its set.

    A token may be chosen more than once. The other labels of a set are drawn one after another by the label
    distribution, none of them twice; a set never has more labels than there are.

    >>> sets = random_sets(["A", "B"], 1, {"A": 0.5, "B": 0.4, "C": 0.1}, np.random.default_rng(0))
    >>> sorted(map(len, sets)), "A" in sets[0] and "B" in sets[1]
    ([1, 2], True)
    """
    labels = np.array(sorted(shares))
    weights = np.array([shares[label] for label in labels])
    draws = Counter(rng.integers(0, len(y), size=doublings).tolist())
    sets: Sets = []
    for t, label in enumerate(y):
        size = min(2 ** draws[t], len(shares)) - 1
        drawn: list[Label] = []
        if size:
            others = np.where(labels == label, 0.0, weights)
            drawn = rng.choice(labels, size=size, replace=False, p=others / others.sum()).tolist()
        sets.append(sorted([label, *drawn]))
    return sets


def specified_sets(y: Sequence[Label], size: int, labels: Sequence[Label], rng: np.random.Generator) -> Sets:
    """Specified generation: `size` different labels for every token, one of them right, the others at random.

    >>> [len(labels) for labels in specified_sets(["A", "B"], 2, "ABC", np.random.default_rng(0))]
    [2, 2]
    """
    others = {label: [other for other in labels if other != label] for label in dict.fromkeys(y)}
    return [sorted([label, *rng.permutation(others[label])[: size - 1].tolist()]) for label in y]


def initial_labels(sets: Sets, rng: np.random.Generator) -> list[Label]:
    """One label of each set at random."""
    return [labels[rng.integers(len(labels))] for labels in sets]


def labels_with_error(y: Sequence[Label], sets: Sets, error: float, rng: np.random.Generator) -> list[Label]:
    """The right label, or with probability `error` another label of its set at random (where it has another)."""
    out = []
    for label, labels in zip(y, sets):
        others = [other for other in labels if other != label]
        wrong = rng.random() < error and others
        out.append(others[rng.integers(len(others))] if wrong else label)
    return out
