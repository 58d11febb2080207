"""One part of the benchmark `strangers`, in a process of its own: prints CPU seconds as JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import sidelight as sl
from sidelight.experiments.draws import read_words

TEST = 2000  # sentences to tag
WARM = 50  # sentences that compile
REPEATS = 5  # of tagging


def main() -> None:
    part, count, iterations = json.loads(sys.argv[1])
    news = read_words(Path(os.environ["SIDELIGHT_DATA"]) / "conll2003" / "eng.train.gz")
    xs, ys = list(news.xs), list(news.ys)
    if part == "peer_strings":
        result = _peer_strings(xs[:count], ys[:count], iterations)
    elif part in ("dicts", "peer_dicts"):
        made = [[_features(x, t) for t in range(len(x))] for x in xs[: count + TEST]]
        given = made[:count], ys[:count], made[count:], iterations
        result = _dicts(*given) if part == "dicts" else _peer_dicts(*given)
    else:
        _tagger(part).fit(xs[:WARM], ys[:WARM])
        began = time.process_time()
        tagger = _tagger(part).fit(xs[:count], ys[:count])
        result = {"train": time.process_time() - began, "rounds": len(tagger.rounds_)}
    print(json.dumps(result))


def _tagger(learner: str) -> sl.Tagger:
    return sl.Tagger(learner=learner)


def _features(words: Any, t: int) -> dict[str, Any]:
    """As sklearn-crfsuite's tutorial has them."""
    word = words[t]
    found: dict[str, Any] = {"bias": 1.0, "lower": word.lower(), "length": min(len(word), 8) / 8}
    found |= {"last3": word[-3:], "last2": word[-2:], "first3": word[:3], "first2": word[:2]}
    found |= {"upper": word.isupper(), "title": word.istitle(), "digit": word.isdigit()}
    for offset in (-1, 1):
        if 0 <= t + offset < len(words):
            near = words[t + offset]
            found[f"{offset}:lower"], found[f"{offset}:last3"] = near.lower(), near[-3:]
            found[f"{offset}:title"], found[f"{offset}:upper"] = near.istitle(), near.isupper()
            found[f"{offset}:digit"] = near.isdigit()
        else:
            found[f"{offset}:edge"] = True
    return found


def _dicts(xs: Any, ys: Any, test: Any, iterations: int) -> dict[str, float]:
    sl.Tagger(learner="crf", max_rounds=2).fit(xs[:WARM], ys[:WARM]).predict(xs[:WARM])
    began = time.process_time()
    tagger = sl.Tagger(learner="crf", max_rounds=iterations).fit(xs, ys)
    train = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(Path(folder) / "model")
        times = _times(lambda: sl.Tagger.load(Path(folder) / "model"), lambda loaded: loaded.predict(test))
    items = sum(len(token) for x in xs for token in x) / sum(map(len, xs))
    return {"train": train, "items": items, **times}


def _peer_dicts(xs: Any, ys: Any, test: Any, iterations: int) -> dict[str, float]:

    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        began = time.process_time()
        _train_peer(xs, ys, iterations, model)
        train = time.process_time() - began
        times = _times(lambda: _opened(model), lambda tagger: [tagger.tag(x) for x in test])
    return {"train": train, **times}


def _opened(model: str) -> Any:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger


def _peer_strings(xs: Any, ys: Any, iterations: int) -> dict[str, float]:
    """The names of the features that Sidelight finds; making them is not in the time, handing them over is."""
    extractor = sl.features.extractor_of(sl.features.standard())
    rows = extractor.grow(xs)
    names = [str(attribute) for attribute in rows.indices.tolist()]
    bounds = rows.indptr.tolist()
    tokens = [names[a:b] for a, b in pairwise(bounds)]
    made = [tokens[a:b] for a, b in pairwise(rows.starts.tolist())]
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        _train_peer(made, ys, iterations, str(Path(folder) / "model"))
        return {"train": time.process_time() - began}


def _train_peer(xs: Any, ys: Any, iterations: int, model: str) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params({"c2": 0.5, "max_iterations": iterations, "feature.possible_transitions": True})
    for x, y in zip(xs, ys):
        trainer.append(x, y)
    trainer.train(model)


def _times(loaded: Callable[[], Any], tag: Callable[[Any], Any]) -> dict[str, float]:
    """The least CPU time of tagging with a model that was just loaded, and of doing it again, of several repeats."""
    found: dict[str, list[float]] = {"first": [], "again": []}
    for _ in range(REPEATS):
        model = loaded()
        for times in found.values():
            began = time.process_time()
            tag(model)
            times.append(time.process_time() - began)
    return {name: min(times) for name, times in found.items()}


if __name__ == "__main__":
    main()
