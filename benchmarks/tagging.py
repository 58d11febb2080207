"""Tagging CoNLL-2000's test part: tokens per second from strings, and on prepared features."""

from __future__ import annotations

import tempfile
from pathlib import Path

import sidelight as sl
from benchmarks.chunking_data import feature_strings, load
from benchmarks.measure import Row, seconds

REPEAT = 7


def run() -> list[Row]:
    import pycrfsuite

    xs, ys = load("train")
    test, _ = load("test")
    tokens = sum(len(x) for x in test)
    ours = sl.Tagger(features=sl.features.chunking(), learner="perceptron", max_rounds=5).fit(xs, ys)
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(xs, ys):
        trainer.append(feature_strings(x), y)
    trainer.select("ap")
    trainer.set_params({"max_iterations": 5})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        from_strings, _ = seconds(lambda: [tagger.tag(feature_strings(x)) for x in test], repeat=3)
        sequences = [pycrfsuite.ItemSequence(feature_strings(x)) for x in test]
        prepared, _ = seconds(lambda: [tagger.tag(sequence) for sequence in sequences], repeat=3)
    our_strings, _ = seconds(lambda: ours.predict(test), repeat=REPEAT)
    rows = ours.prepare(test)
    our_prepared, _ = seconds(lambda: ours.predict(rows), repeat=REPEAT)
    return [
        _rate("tagging from strings", tokens / our_strings, tokens / from_strings),
        _rate("tagging prepared features", tokens / our_prepared, tokens / prepared),
    ]


def _rate(what: str, ours: float, peer: float) -> Row:
    ratio = ours / peer
    return Row("tagging", what, ours, "tokens/s", peer, "python-crfsuite", ratio, "at least 8 times", ratio >= 8)
