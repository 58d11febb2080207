"""A made-up language: text and its translation, with the links that are right."""

from __future__ import annotations

import numpy as np


def made_up(pairs, *, seed=0, words=40):
    """Sentences whose translations swap some neighbours and have a word here and there that has no counterpart."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(2, words + 2)
    sources, targets, links = [], [], []
    for _ in range(pairs):
        source = rng.choice(words, size=rng.integers(2, 9), p=weights / weights.sum())
        order = list(range(len(source)))
        for k in range(len(order) - 1):
            if rng.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        target, found = [], set()
        for i in order:
            if rng.random() < 0.1:
                target.append("eh")
            found.add((i, len(target)))
            target.append(f"T{source[i]}")
        sources.append([f"s{n}" for n in source])
        targets.append(target)
        links.append(frozenset(found))
    return sources, targets, links
