"""Initial labels from HMMs that use only the dictionary (the starts of CLLP's Table 1).

    auto-supervised    EM, then a supervised HMM on the tags that it gives (Garrette and Baldridge 2012)
    + emission         the same, with EM begun from the dictionary's shares of each word
    MinGreedy          EM with few pairs of tags, and with few tags of words, in turn; then a supervised HMM likewise

All of them put words seen once into spelling classes, which also represent unseen words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sidelight import recipes
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Candidates
from sidelight.features import emissions

AUTO, EMISSION, MIN_GREEDY = "auto-supervised", "auto-supervised + emission", "MinGreedy with extensions"
STARTS = {AUTO: "em", EMISSION: "emission_em", MIN_GREEDY: "min_greedy"}
CHANCE = (AUTO,)  # begin with noise, so that draws differ
EXTRAS = (0.05, 0.005, 0.0005)  # what may be added to the count of each word with each tag
NOISE = 0.01


def tagger_of(
    evidence: Sequence[Candidates], labels: Sequence[str], *, way: str, seed: int, extra: float = EXTRAS[0]
) -> Tagger:
    """The HMM of one of the ways above."""
    learner = recipes.hard_em(
        start=STARTS[way],
        iterations=1,
        noise=NOISE,
        emission="additive",
        emission_amount=extra,
        vocabulary=0,
        rare=1,
    )
    features = emissions(classes="signature")
    return Tagger(features=features, labels=labels, learner=learner, n_jobs=1, seed=seed).fit(evidence)


def begun(
    evidence: Sequence[Candidates], labels: Sequence[str], *, way: str, seed: int, extra: float = EXTRAS[0]
) -> list[Candidates]:
    """The evidence with the labels that the HMM gives it within its candidates."""
    model = tagger_of(evidence, labels, way=way, seed=seed, extra=extra).model_
    batch = model.batch([piece.x for piece in evidence], n_jobs=1)
    masks = np.array([model.labels.mask(options) for piece in evidence for options in piece.y], dtype=np.uint8)
    names = model.labels.decode(replace(batch, space=batch.space.inside(masks)).best(model.weights).labels)
    bounds = pairwise(batch.starts.tolist())
    return [replace(piece, initial=names[first:last]) for piece, (first, last) in zip(evidence, bounds)]
