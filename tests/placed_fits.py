"""Small fits of every family of learners that workers share, and what they come to as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sidelight as sl
from sidelight import recipes
from sidelight.rules import gallery

TOKENS = 150  # of a shard
WORDS = [f"w{k}" for k in range(60)]


def _sentences(count: int, rng: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    xs, ys = [], []
    for _ in range(count):
        numbers = rng.integers(0, len(WORDS), int(rng.integers(2, 9))).tolist()
        xs.append([WORDS[i] for i in numbers])
        ys.append(["ABC"[i % 3] if rng.random() < 0.9 else "O" for i in numbers])
    return xs, ys


def _pairs(count: int, rng: np.random.Generator) -> list[tuple[list[str], list[str]]]:
    drawn = [rng.integers(0, 40, int(rng.integers(2, 8))) for _ in range(count)]
    return [([f"a{i}" for i in one], [f"b{i}" for i in rng.permutation(one)]) for one in drawn]


_rng = np.random.default_rng(0)
XS, YS = _sentences(120, _rng)
GOLD = list(sl.gold(XS, YS))
UNLABELED = [sl.Unlabeled(x) for x in _sentences(70, _rng)[0]]
ANSWERS = [sl.Companion(x, +1) for x in _sentences(40, _rng)[0]]
ANSWERS += [sl.Companion(_rng.permutation(WORDS)[:5].tolist(), -1) for _ in range(40)]
CANDIDATES = [sl.Candidates(x, [{y, "A"} for y in labels]) for x, labels in zip(XS, YS)]
VOTED = [
    sl.Voted(x, {"mostly": labels, "seldom": [None if k % 3 else "A" for k in range(len(x))]})
    for x, labels in zip(XS[40:], YS[40:])
]
PAIRS = _pairs(100, _rng)
SOME = GOLD[:50] + UNLABELED
SOFT, HARD = [gallery.at_most(1, "A").soft()], [gallery.at_most(1, "A")]

FITS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "crf": (GOLD, {"learner": "crf", "max_rounds": 5}),
    "partial_crf": (GOLD[:60] + CANDIDATES[60:] + ANSWERS, {"learner": "partial_crf", "max_rounds": 4}),
    "votes": (GOLD[:40] + VOTED, {"learner": "partial_crf", "max_rounds": 3}),
    "structural_svm": (GOLD, {"learner": "structural_svm", "max_rounds": 2}),
    "one_slack": (GOLD, {"learner": recipes.structural_svm(solver="one_slack"), "loss": "hinge", "max_rounds": 5}),
    "jlis": (GOLD[:60] + UNLABELED + ANSWERS, {"learner": "jlis", "max_rounds": 5}),
    "cllp": (CANDIDATES, {"learner": "cllp", "max_rounds": 4}),
    "em": (SOME, {"learner": recipes.em(iterations=4)}),
    "unified_em": (SOME, {"learner": recipes.unified_em(gamma=1.0, iterations=3), "rules": HARD}),
    "posterior_regularization": (
        SOME[:80],
        {"learner": recipes.posterior_regularization(base="crf", iterations=3), "rules": HARD},
    ),
    "codl": (SOME, {"learner": recipes.codl(base="hmm", cycles=3), "rules": SOFT}),
    "perceptron": (GOLD, {"learner": recipes.perceptron(shards=3), "max_rounds": 3}),
    "transductive_svm": (SOME, {"learner": "transductive_svm", "max_rounds": 3}),
    "lclr": (ANSWERS, {"learner": "lclr", "labels": ["A", "B"], "max_rounds": 3}),
}


def _tagged(
    evidence: list[Any], options: dict[str, Any], *, make: Callable[..., Any] = sl.Tagger
) -> Callable[[Any], list[np.ndarray]]:
    def fit(place: Any) -> list[np.ndarray]:
        tagger = make(place=place, n_jobs=1, **options).fit(evidence)
        told = [np.nan if one.objective is None else one.objective for one in tagger.rounds_]
        return [tagger.model_.weights, np.array(told)]

    return fit


def unfitted(family: str, **options: Any) -> tuple[Any, list[Any]]:
    """An estimator of a family of `FITS`, or an aligner, and what it learns from."""
    if family == "alignment":
        return sl.Aligner(**{"n_jobs": 1, "model1_iterations": 3, "hmm_iterations": 2, **options}), PAIRS
    evidence, own = FITS[family]
    return sl.Tagger(**{"n_jobs": 1, **own, **options}), evidence


def _aligned(place: Any) -> list[np.ndarray]:
    aligner = unfitted("alignment", place=place)[0].fit(PAIRS)
    parameters = aligner.model_.parameters
    told = np.array([one.objective for one in aligner.rounds_])
    return [*parameters.lexicon, parameters.forward.weights, parameters.backward.weights, told]


FAMILIES = {
    **{name: _tagged(*told) for name, told in FITS.items()},
    "semi_crf": _tagged(GOLD, {"learner": "semi_crf", "max_rounds": 3}, make=sl.SegmentTagger),
    "alignment": _aligned,
}
