"""The three corpora of CLLP's artificial candidates: chunks, names in biomedical text, parts of speech."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sidelight.data.columns import read_columns
from sidelight.estimators.taggers import Tagger
from sidelight.evaluate import evaluate
from sidelight.evidence import Candidates, Evidence
from sidelight.experiments.cllp.candidate_grid import CandidateSetting
from sidelight.experiments.cllp.candidate_sets import (
    initial_labels,
    labels_with_error,
    random_sets,
    shares_of,
    specified_sets,
)
from sidelight.experiments.draws import folder_of, labels_of, part, read_words
from sidelight.experiments.grid import LabelledExamples
from sidelight.features.words.templates import Templates, parse_templates
from sidelight.recipes import Recipe

TRAIN, DEV, TEST = 500, 300, 1000  # sentences; every draw has its own training sentences

CHUNK_FEATURES = "\n".join(
    ["U00:bias"]
    + [f"U1{k}:%x[{offset},0]" for k, offset in enumerate(range(-1, 2))]
    + [f"U2{k}:%x[{offset},1]" for k, offset in enumerate(range(-2, 3))]
    + ["B"]
)
WORD_FEATURES = "\n".join(
    ["U00:bias", *(f"U1{k}:%x[{offset},0]" for k, offset in enumerate(range(-1, 2)))]
    + [f"U2{n}:%suffix{n}[0,0]" for n in (1, 2, 3)]
    + [f"U3{n}:%prefix{n}[0,0]" for n in (1, 2, 3)]
    + ["U40:%capitalized[0,0]", "U41:%hyphen[0,0]", "U42:%digit[0,0]", "B"]
)

FEATURE_NOTES = (
    "features, which the paper does not say: for chunks the words up to one and the given tags up to two tokens away; "
    "for names and tags the words up to one token away, prefixes and suffixes of up to 3 letters, capital, hyphen, "
    "digit; transitions; no bigrams of words",
    f"every draw has {TRAIN} training sentences of its own, taken at random, {DEV} for development and {TEST:,} for "
    "testing the same for all draws; the paper has 8,936 (chunks), some 18,500 (names) and its own part of the Wall "
    "Street Journal (tags)",
    "all methods have the plain hinge and the same solver, as in the paper's SVM-HMM; eight trials each to choose "
    "prices, ratios and thresholds, on the development sentences, with the first draw of a setting",
)

Generation = Literal["random", "specified", "error"]


@dataclass(frozen=True)
class Sentences:
    """A corpus, and how candidates are made from it.

    The level of a setting is the number of doublings ("random"), the size of every set ("specified"), or the share of
    wrong labels to begin with, in sets of `size` ("error").
    """

    pool: LabelledExamples
    dev: LabelledExamples
    test: LabelledExamples
    labels: list[str]
    features: str
    generation: Generation
    spans: bool
    size: int = 5
    train: int = TRAIN
    thresholds: tuple[float, float] = (0.5, 3.0)  # the ends of the paper's grid
    unit: float = 1.0

    def gold(self, setting: CandidateSetting, draw: int) -> Sequence[Evidence]:
        return part(self.pool, self._which(draw))

    def candidates(self, setting: CandidateSetting, draw: int) -> list[Candidates]:
        rng = np.random.default_rng([draw, 2, round(1000 * setting.level)])
        sentences = part(self.pool, self._which(draw))
        shares = shares_of(piece.y for piece in sentences)
        out = []
        for piece in sentences:
            if self.generation == "random":
                sets = random_sets(piece.y, int(setting.level), shares, rng)
            else:
                size = int(setting.level) if self.generation == "specified" else self.size
                sets = specified_sets(piece.y, size, self.labels, rng)
            if self.generation == "error":
                initial = labels_with_error(piece.y, sets, setting.level, rng)
            else:
                initial = initial_labels(sets, rng)
            out.append(Candidates(piece.x, sets, initial=initial))
        return out

    def estimator(self, learner: Recipe, price: float, draw: int) -> Tagger:
        features: Templates = parse_templates(self.features)
        return Tagger(
            features=features,
            labels=self.labels,
            learner=learner,
            loss="hinge",
            prices={"gold": price, "candidates": price},
            n_jobs=1,
            seed=draw,
        )

    def scores(self, right: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        result = evaluate(right, predicted)
        return {"accuracy": result.accuracy, "F1": result.f1} if self.spans else {"accuracy": result.accuracy}

    def _which(self, draw: int) -> Any:
        return np.random.default_rng([draw, 1]).permutation(len(self.pool.xs))[: self.train]


def chunks(data: Path, generation: Generation) -> Sentences:
    """Chunks of CoNLL-2000: words with given tags."""
    folder = folder_of(data, "conll2000")
    read = [read_columns(folder / f"{name}.txt.gz") for name in ("train", "test")]
    train, test = (LabelledExamples(corpus.xs, corpus.ys or []) for corpus in read)
    return _sentences(train, test, CHUNK_FEATURES, generation, spans=True)


def names(data: Path, generation: Generation) -> Sentences:
    """Names of JNLPBA."""
    folder = folder_of(data, "jnlpba")
    train, test = (read_words(folder / f"{name}.iob2.gz") for name in ("train", "eval"))
    return _sentences(train, test, WORD_FEATURES, generation, spans=True)


def tags(data: Path, generation: Generation) -> Sentences:
    """Parts of speech of the Wall Street Journal sample; the last sentences, being of other files, are for testing."""
    whole = read_words(folder_of(data, "ptb_sample") / "ptb_sample.tsv.gz")
    cut = len(whole.xs) - TEST
    train, test = LabelledExamples(whole.xs[:cut], whole.ys[:cut]), LabelledExamples(whole.xs[cut:], whole.ys[cut:])
    return _sentences(train, test, WORD_FEATURES, generation, spans=False)


def with_all_sentences(study: Sentences) -> Sentences:
    """The same corpus, with all training sentences in every draw."""
    return replace(study, train=len(study.pool.xs))


def _sentences(
    train: LabelledExamples, test: LabelledExamples, features: str, generation: Generation, *, spans: bool
) -> Sentences:
    rng = np.random.default_rng(2014)
    mixed = rng.permutation(len(train.xs))
    tested = np.sort(rng.permutation(len(test.xs))[:TEST])
    labels = labels_of(LabelledExamples([], [*train.ys, *test.ys]))
    return Sentences(
        pool=_part(train, mixed[DEV:]),
        dev=_part(train, mixed[:DEV]),
        test=_part(test, tested),
        labels=labels,
        features=features,
        generation=generation,
        spans=spans,
    )


def _part(examples: LabelledExamples, which: Any) -> LabelledExamples:
    return LabelledExamples([examples.xs[i] for i in which], [examples.ys[i] for i in which])
