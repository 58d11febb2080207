"""Fits of the same data in threads and by workers: seconds a round, what was sent, and a mark of the bits."""

from __future__ import annotations

import gzip
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl
from benchmarks.chunking_data import load
from sidelight import recipes
from sidelight.commands.shared.streams import LabelledPiece, Labelling
from sidelight.core.atomic_files import write_atomically
from sidelight.core.journal import START
from sidelight.data import write_columns
from sidelight.parallel.place import ThreadPlace

TOKENS = 2_000_000
QUICK_TOKENS, QUICK_SHARD = 60_000, 8_192
PAIRS, QUICK_PAIRS = 60_000, 1_500
SHARD = 1 << 17  # tokens: 16 shards of two million


@dataclass(frozen=True)
class Timed:
    """A family's fit in one place."""

    seconds: float  # of a round, the median of all after the first
    cpu: float  # of this process, a round; seconds
    bits: str
    tokens: int
    labels: int
    weights: int
    place: dict[str, Any] | None  # the figures of the median round
    rounds: list[list[float]]  # seconds of CPU of every round: the main thread, those beside it, and each worker
    in_turn: bool = False  # whether the next piece goes to whoever is idle

    @property
    def path(self) -> float:
        """Seconds of CPU of a round that come after one another: those of this process and of the busiest worker.

        That of the shortest round, since others on a busy machine can only add to it. Without workers it is the main
        thread's and half of what the two beside it took; where pieces go to whoever is idle, workers share evenly, as
        they would on a quiet machine.
        """
        return min(self._path(*one) for one in self.rounds)

    def _path(self, main: float, beside: float, *workers: float) -> float:
        if not workers:
            return main + beside / 2
        return main + beside + (sum(workers) / len(workers) if self.in_turn else max(workers))


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


class Clock:
    """Seconds of CPU between marks, of this process and of every worker."""

    def __init__(self, place: Any) -> None:
        self._pids = place.team().pids() if place is not None and place.remote else []
        self._marks: list[list[float]] = []
        self.mark()

    def mark(self, _: Any = None) -> None:
        main = time.thread_time()
        self._marks.append([main, time.process_time() - main, *map(_seconds_of, self._pids)])

    def since(self, first: int) -> tuple[float, list[list[float]]]:
        """The median of this process, and all rounds, from a mark on."""
        rounds = np.diff(self._marks[first:], axis=0)
        return float(np.median(rounds[:, :2].sum(axis=1))), rounds.tolist()


def _seconds_of(pid: int) -> float:
    """Seconds of CPU that a process has taken, as Linux counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
        "prediction of a file": _file_prediction(gold[:tenth], data, chunks),
    }


def _tagger(evidence: list[Any], data: Corpus, options: dict[str, Any]) -> Callable[[Any, int | None], Timed]:
    tokens = sum(len(piece.x) for piece in evidence)

    def fit(place: Any, n_jobs: int | None) -> Timed:
        clock = Clock(place)
        tagger = sl.Tagger(place=place, n_jobs=n_jobs, callbacks=[clock.mark], **options)
        tagger.fit(evidence)
        model = tagger.model_
        labels = len(model.labels.names)
        return _timed(tagger.rounds_, clock, [model.weights], tokens, labels, len(model.weights))

    return fit


def _aligner(data: Corpus) -> Callable[[Any, int | None], Timed]:
    tokens = sum(len(source) for source, _ in data.pairs)

    def fit(place: Any, n_jobs: int | None) -> Timed:
        clock = Clock(place)
        aligner = sl.Aligner(place=place, n_jobs=n_jobs, model1_iterations=3, hmm_iterations=3)
        aligner.callbacks = [clock.mark]
        aligner.fit(data.pairs)
        lexicon = aligner.model_.parameters.lexicon
        return _timed(aligner.rounds_, clock, list(lexicon), tokens, 1, len(lexicon.forward), first=3)

    return fit


def _prediction(evidence: list[Any], data: Corpus, chunks: dict[str, Any]) -> Callable[[Any, int | None], Timed]:
    tagger = _quick(evidence, chunks)

    def predict(place: Any, n_jobs: int | None) -> Timed:
        tagger.set_params(place=place, n_jobs=n_jobs)
        tagger.predict(data.xs)  # so that all is loaded where it is needed
        return _once(place, partial(tagger.predict, data.xs), data.tokens, tagger)

    return predict


def _file_prediction(evidence: list[Any], data: Corpus, chunks: dict[str, Any]) -> Callable[[Any, int | None], Timed]:
    """As `sidelight predict`, which reads a file and writes another."""
    tagger = _quick(evidence, chunks)

    def predict(place: Any, n_jobs: int | None) -> Timed:
        with tempfile.TemporaryDirectory() as folder:
            file, out = Path(folder, "new.txt"), Path(folder, "tagged.txt")
            file.write_text("".join("\n".join(map("\t".join, x)) + "\n\n" for x in data.xs), encoding="utf-8")
            for _ in range(2):  # once so that all is loaded where it is needed
                labelling = Labelling(tagger.model_, file, None, None, _tagged_text)
                timed = _once(place, partial(_written, labelling, place, n_jobs, out), data.tokens, tagger)
        return timed

    return predict


def _written(labelling: Labelling, place: Any, n_jobs: int | None, out: Path) -> str:
    texts = labelling.texts(place, lambda xs: labelling.model.predict(xs, n_jobs=n_jobs), START, whole=True)
    write_atomically(out, (text.encode() for text, _ in texts))
    return out.read_text(encoding="utf-8")


def _tagged_text(found: LabelledPiece) -> str:
    return write_columns(found.corpus.xs, found.predicted)


def _quick(evidence: list[Any], chunks: dict[str, Any]) -> sl.Tagger:
    return sl.Tagger(learner="perceptron", max_rounds=2, **chunks).fit(evidence)


def _once(place: Any, run: Callable[[], Any], tokens: int, tagger: sl.Tagger) -> Timed:
    """One run as a round."""
    if place is not None and place.remote:
        place.figures()
    clock, began = Clock(place), time.perf_counter()
    found = run()
    seconds = time.perf_counter() - began
    clock.mark()
    used, rounds = clock.since(0)
    mark = blake2b(repr(found).encode(), digest_size=8).hexdigest()
    figures = None if place is None or not place.remote else _plain(place.figures())
    return Timed(seconds, used, mark, tokens, len(tagger.classes_), len(tagger.model_.weights), figures, rounds, True)


def _timed(
    rounds: list[Any], clock: Clock, arrays: list[Any], tokens: int, labels: int, weights: int, *, first: int = 0
) -> Timed:
    """The median of all rounds after the first."""
    mark = blake2b(digest_size=8)
    for array in arrays:
        mark.update(np.ascontiguousarray(array).tobytes())
    spans = np.diff([one.seconds for one in rounds[first:]])
    middle = int(np.argsort(spans)[len(spans) // 2])
    place = _plain(rounds[first + middle + 1].place)
    used, told = clock.since(first + 1)
    return Timed(float(spans[middle]), used, mark.hexdigest(), tokens, labels, weights, place, told)


def _plain(place: Any) -> dict[str, Any] | None:
    return None if place is None else {name: getattr(place, name) for name in place.__slots__}


def threads(data: Corpus) -> ThreadPlace:
    """This process, with the same shards as workers have."""
    return ThreadPlace(shard_tokens=data.shard)
