"""Small fits of many learners, and what they predict; run as a script, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numba

import sidelight as sl
from sidelight.rules import count, rule

X = [["the", "light", "is", "on"], ["a", "light"], ["on", "the", "light"], ["it", "is", "a", "light"]]
Y = [["D", "N", "V", "P"], ["D", "N"], ["P", "D", "N"], ["N", "V", "D", "N"]]


@rule
def one_noun(x: Any, y: Any) -> Any:
    return count(y[t] == "N" for t in x.positions) <= 1


def fitted(evidence: Any = None, **options: Any) -> sl.Tagger:
    tagger = sl.Tagger(n_jobs=1, **{"max_rounds": 3, **options})
    return tagger.fit(X, Y) if evidence is None else tagger.fit([*sl.gold(X, Y), *evidence])


def outputs() -> dict[str, Any]:
    """What was predicted, by name."""
    sets = [[[label, "N"] for label in y] for y in Y]
    good_and_bad = [*sl.companion(X, +1), *sl.companion(sl.shuffled(X, seed=0), -1)]
    taggers = {
        "crf": fitted(learner="crf"),
        "sgd": fitted(learner=sl.recipes.crf(solver="sgd")),
        "hashed": fitted(learner="crf", features=sl.features.spelling(hash_bits=10)),
        "jlis": fitted(good_and_bad, learner="jlis"),
        "order 2": fitted(learner="structural_svm", order=2),
        "perceptron": fitted(learner="perceptron"),
        "mira": fitted(learner="mira"),
        "arow": fitted(learner="arow"),
        "partial_crf": fitted(sl.partial(X, [[None] * len(y) for y in Y]), learner="partial_crf"),
        "cllp": fitted(sl.candidates(X, sets), learner="cllp", max_completions=2),
        "em": fitted(sl.unlabeled(X), learner="em"),
        "rules": fitted(learner="crf", rules=[one_noun.soft(5.0)]),
    }
    crf = taggers["crf"]
    pairs = [(["a", "b"], ["c", "d"]), (["a"], ["c"])]
    return {
        **{name: tagger.predict(X) for name, tagger in taggers.items()},
        "compiled": not numba.config.DISABLE_JIT,
        "marginals": crf.predict(X, by="marginals"),
        "samples": crf.sample(X, seed=1),
        "second best": [y for y, _ in crf.k_best(X[:1], 2)[0]],
        "segments": sl.SegmentTagger(max_rounds=3, n_jobs=1).fit(X, Y).predict_segments(X),
        "classes": sl.Classifier(n_jobs=1).fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"]).predict([{"b": 1.0}]),
        "alignment": sl.Aligner(n_jobs=1).fit(pairs).align(pairs),
    }


if __name__ == "__main__":
    print(json.dumps(outputs()))  # noqa: T201
