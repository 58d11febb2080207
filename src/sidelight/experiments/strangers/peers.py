"""The results of other libraries on the same labelled sentences; a peer that is not installed has no rows.

python-crfsuite learns from Gold alone, with its own defaults and the very features that a `Tagger` of this library has
by default, as strings. skweak's HMM aggregates the votes, and a partially labelled CRF of this library learns from the
result and Gold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Gold
from sidelight.experiments.strangers.corpora import StrangersCorpus
from sidelight.experiments.strangers.kinds import labelled_of, raw_inputs
from sidelight.experiments.strangers.knowledge import functions_of
from sidelight.experiments.strangers.skweak_votes import aggregated
from sidelight.features import Extractor, extractor_of, features_for

CRFSUITE, SKWEAK = "python-crfsuite", "skweak"
MODULES = {CRFSUITE: "pycrfsuite", SKWEAK: "skweak"}


def installed() -> tuple[str, ...]:
    """The installed peers."""
    return tuple(name for name, module in MODULES.items() if find_spec(module) is not None)


def labels_by(
    peer: str, corpus: StrangersCorpus, *, size: int, draw: int, indirect: int, xs: Sequence[Any]
) -> list[list[str]]:
    """The labels that a peer finds for inputs, after the labelled sentences of a draw."""
    labelled = labelled_of(corpus, size=size, draw=draw)
    if peer == CRFSUITE:
        return crfsuite(labelled, xs)
    raw = raw_inputs(corpus, draw=draw, indirect=indirect)["votes"]
    voted = aggregated(corpus, raw, functions_of(corpus.name))
    tagger = Tagger(learner="partial_crf", labels=corpus.labels, n_jobs=1, seed=draw).fit([*labelled, *voted])
    return list(tagger.predict(xs))


def attribute_names(extractor: Extractor, xs: Sequence[Any]) -> list[list[list[str]]]:
    """The names of the attributes of every token, unknown ones left out."""
    rows = extractor.rows(xs, n_jobs=1)
    named: dict[int, str] = {}
    tokens = []
    for t in range(rows.n_tokens):
        numbers = rows.indices[rows.indptr[t] : rows.indptr[t + 1]].tolist()
        tokens.append([named.setdefault(n, extractor.name(n)) for n in numbers])
    return [tokens[a:b] for a, b in zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist())]


def crfsuite(labelled: Sequence[Gold], xs: Sequence[Any]) -> list[list[str]]:
    """Train on labelled sentences, and label others."""
    import pycrfsuite

    inputs = [piece.x for piece in labelled]
    extractor = extractor_of(features_for(inputs))
    extractor.grow(inputs, n_jobs=1)
    trainer = pycrfsuite.Trainer(verbose=False)
    for piece, attributes in zip(labelled, attribute_names(extractor, inputs)):
        trainer.append(attributes, list(piece.y))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        results = [tagger.tag(attributes) for attributes in attribute_names(extractor, xs)]
        tagger.close()
    return results
