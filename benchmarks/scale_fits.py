"""Fits of the same data in threads and by workers: seconds a round, what was sent, and a mark of the bits."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl
from benchmarks.chunking_data import load
from sidelight import recipes
from sidelight.parallel.place import ThreadPlace

TOKENS = 2_000_000
QUICK_TOKENS, QUICK_SHARD = 60_000, 8_192
PAIRS, QUICK_PAIRS = 60_000, 1_500
SHARD = 1 << 17  # tokens: 16 shards of two million


@dataclass(frozen=True)
class Timed:
    """A family's fit in one place."""

    seconds: float  # of a round, the median of all after the first
    cpu: float  # of this process, a round
    bits: str
    tokens: int
    labels: int
    weights: int
    place: dict[str, Any] | None  # the figures of the median round


@dataclass(frozen=True)
class Corpus:
    """CoNLL-2000, repeated."""

    xs: list[Any]
    ys: list[Any]
    tokens: int
    shard: int
    pairs: list[tuple[list[str], list[str]]]

    @classmethod
    def read(cls, *, quick: bool, share: float = 1.0) -> Corpus:
        """A share of the two million tokens, in as many shards; few and small ones where it is quick."""
        xs, ys = load("train")
        wanted = QUICK_TOKENS if quick else int(share * TOKENS)
        lengths = np.cumsum([len(x) for x in xs])
        times, rest = divmod(wanted, int(lengths[-1]))
        more = int(np.searchsorted(lengths, rest))
        xs, ys = xs * times + xs[:more], ys * times + ys[:more]
        shard, pairs = (QUICK_SHARD, QUICK_PAIRS) if quick else (int(share * SHARD), int(share * PAIRS))
        return cls(xs, ys, sum(map(len, xs)), shard, _pairs(pairs))


def _pairs(count: int) -> list[tuple[list[str], list[str]]]:
    folder = Path(os.environ["SIDELIGHT_DATA"]) / "hansards"
    sides = []
    for name in ("train.e.gz", "train.f.gz"):
        with gzip.open(folder / name, "rt", encoding="utf-8") as file:
            sides.append([line.split() for line, _ in zip(file, range(count))])
    return [(one, other) for one, other in zip(*sides) if one and other]


def families(data: Corpus) -> dict[str, Callable[[Any, int | None], Timed]]:
    """A fit of each family, as a function of a place and of the threads of this process."""
    gold = list(sl.gold(data.xs, data.ys))
    tenth = len(gold) // 10
    rest = data.xs[tenth : 2 * tenth]
    answers = sl.companion(rest, +1) + sl.companion(sl.shuffled(rest, seed=0), -1)
    words = [[token[0] for token in x] for x in data.xs]
    partly = [*sl.gold(words[:tenth], data.ys[:tenth]), *(sl.Unlabeled(x) for x in words[tenth:])]
    chunks: dict[str, Any] = {"features": sl.features.chunking()}
    return {
        "CRF": _tagger(gold, data, {"learner": "crf", "max_rounds": 8, **chunks}),
        "structural SVM": _tagger(gold, data, {"learner": "structural_svm", "max_rounds": 3, **chunks}),
        "J-LIS": _tagger(gold[:tenth] + list(answers), data, {"learner": "jlis", "max_rounds": 4, **chunks}),
        "HMM EM": _tagger(partly, data, {"learner": recipes.em(iterations=5)}),
        "word alignment": _aligner(data),
        "prediction": _prediction(gold[:tenth], data, chunks),
    }


def _tagger(evidence: list[Any], data: Corpus, options: dict[str, Any]) -> Callable[[Any, int | None], Timed]:
    tokens = sum(len(piece.x) for piece in evidence)

    def fit(place: Any, n_jobs: int | None) -> Timed:
        cpu = [time.process_time()]
        tagger = sl.Tagger(place=place, n_jobs=n_jobs, **options)
        tagger.callbacks = [lambda _: cpu.append(time.process_time())]
        tagger.fit(evidence)
        model = tagger.model_
        labels = len(model.labels.names)
        return _timed(tagger.rounds_, cpu, [model.weights], tokens, labels, len(model.weights))

    return fit


def _aligner(data: Corpus) -> Callable[[Any, int | None], Timed]:
    tokens = sum(len(source) for source, _ in data.pairs)

    def fit(place: Any, n_jobs: int | None) -> Timed:
        cpu = [time.process_time()]
        aligner = sl.Aligner(place=place, n_jobs=n_jobs, model1_iterations=3, hmm_iterations=3)
        aligner.callbacks = [lambda _: cpu.append(time.process_time())]
        aligner.fit(data.pairs)
        lexicon = aligner.model_.parameters.lexicon
        return _timed(aligner.rounds_[3:], cpu[3:], list(lexicon), tokens, 1, len(lexicon.forward))

    return fit


def _prediction(evidence: list[Any], data: Corpus, chunks: dict[str, Any]) -> Callable[[Any, int | None], Timed]:
    tagger = sl.Tagger(learner="perceptron", max_rounds=2, **chunks).fit(evidence)

    def predict(place: Any, n_jobs: int | None) -> Timed:
        tagger.set_params(place=place, n_jobs=n_jobs)
        tagger.predict(data.xs[:2048])  # every worker has some
        if place is not None and place.remote:
            place.figures()
        began, cpu = time.perf_counter(), time.process_time()
        found = tagger.predict(data.xs)
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
        mark = blake2b(repr(found).encode(), digest_size=8).hexdigest()
        figures = None if place is None or not place.remote else _plain(place.figures())
        return Timed(seconds, used, mark, data.tokens, len(tagger.classes_), len(tagger.model_.weights), figures)

    return predict


def _timed(rounds: list[Any], cpu: list[float], arrays: list[Any], tokens: int, labels: int, weights: int) -> Timed:
    mark = blake2b(digest_size=8)
    for array in arrays:
        mark.update(np.ascontiguousarray(array).tobytes())
    ends = [one.seconds for one in rounds]
    spans = np.diff(ends)
    middle = int(np.argsort(spans)[len(spans) // 2])
    place = rounds[middle + 1].place
    used = float(np.median(np.diff(cpu)[1:]))
    return Timed(float(spans[middle]), used, mark.hexdigest(), tokens, labels, weights, _plain(place))


def _plain(place: Any) -> dict[str, Any] | None:
    return None if place is None else {name: getattr(place, name) for name in place.__slots__}


def threads(data: Corpus) -> ThreadPlace:
    """This process, with the same shards as workers have."""
    return ThreadPlace(shard_tokens=data.shard)
