"""Files that somebody made up, with checksums that are right: every value and array of a file spoiled in many ways.

`python crafting.py FOLDER STEP KIND …` tries every STEP-th of them in a process of its own, so that a crash of a kernel
ends that process and not the tests. It writes a line of JSON for each file before it asks it anything.
"""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl
from crafting_structures import STRUCTURES
from sidelight import features
from sidelight.data import stored
from sidelight.errors import SidelightError
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.models import files
from sidelight.models.explain import explain
from sidelight.rules import gallery
from translating import made_up

RNG = np.random.default_rng(2)
WORDS = ["light", "On", "the-sea", "é", "42", "of", "dim"]
XS = [[WORDS[i] for i in RNG.integers(0, 7, RNG.integers(1, 7))] for _ in range(12)]
YS = [["B-X" if w == "light" else "I-X" if t and x[t - 1] == "light" else "O" for t, w in enumerate(x)] for x in XS]
PAIRS = [[(word, word[:1]) for word in x] for x in XS]
DICTS = [[{"word": word, "n": len(word) / 2, "tags": ["p", word[0]]} for word in x] for x in XS]
DENSE = [sl.WithDense(x, np.full((len(x), 2), 0.5)) for x in XS]
ROWS = RNG.normal(size=(30, 3))
VIEWS = itemgetter(0), itemgetter(1)
SOURCES, TARGETS, _ = made_up(20)
FEW = {"n_jobs": 1, "max_rounds": 3}


def _made(kind: str) -> Any:
    """A small estimator of a kind."""
    many = [[(word, word) for word in x] for x in XS]
    match kind:
        case "templates":
            return sl.Tagger(features=features.spelling(), **FEW).fit(XS, YS)
        case "classes":
            classes = features.word_classes(XS, min_count=1, sizes=(2, 3))
            return sl.Tagger(features=features.with_classes(features.words(), classes), **FEW).fit(XS, YS)
        case "columns":
            return sl.Tagger(features=features.chunking(), scheme="BIO", **FEW).fit(PAIRS, YS)
        case "hashing":
            return sl.Tagger(features=features.spelling(hash_bits=8), **FEW).fit(XS, YS)
        case "attributes":
            return sl.Tagger(order=2, **FEW).fit(DICTS, YS)
        case "dense":
            return sl.Tagger(states={"O": 2}, learner="latent_svm", **FEW).fit(DENSE, YS)
        case "matrix":
            matrix = sl.Matrix(dense=np.ones((sum(map(len, XS)), 2)), lengths=[len(x) for x in XS])
            return sl.Tagger(**FEW).fit(matrix, YS)
        case "two classes":
            return sl.Classifier(**FEW).fit(ROWS, [int(row.sum() > 0) for row in ROWS])
        case "three classes":
            return sl.Classifier(**FEW).fit(
                [{"a": row[0], "b": "xyz"[i % 3]} for i, row in enumerate(ROWS)], list("pqr" * 10)
            )
        case "segments":
            given = SegmentFeatures(lexicons={"known": ["the-sea", "light On"]}, min_count=1)
            return SegmentTagger(segment_features=given, scheme="BIO", max_length=3, **FEW).fit(XS, YS)
        case "hashed segments":
            given = SegmentFeatures(hash_bits=6)
            return SegmentTagger(segment_features=given, max_length=2, learner="semi_svm", **FEW).fit(XS, YS)
        case "alignment":
            return sl.Aligner(model1_iterations=1, hmm_iterations=1, n_jobs=1).fit(list(zip(SOURCES, TARGETS)))
        case _:
            both = sl.CoTraining(sl.Tagger(**FEW), sl.Tagger(**FEW), views=(_firsts, _seconds), max_rounds=1)
            return both.fit([*sl.gold(many[:8], YS[:8]), *sl.unlabeled(many[8:])])


def _firsts(x: Any) -> Any:
    return [pair[0] for pair in x]


def _seconds(x: Any) -> Any:
    return [pair[1] for pair in x]


def _ask(kind: str, path: Path) -> None:
    """Everything that a file lets people ask."""
    if kind == "alignment":
        aligner = sl.Aligner.load(path)
        aligner.n_jobs = 1
        aligner.align(list(zip(SOURCES[:5], TARGETS[:5])))
        aligner.translations(SOURCES[0][0])
        return
    if kind in PREPARED:
        _fit_again(kind, path)
        return
    if kind in STRUCTURES:
        STRUCTURES[kind].ask(path)
        return
    if kind == "pair":
        sl.CoTraining.load(path, views=(_firsts, _seconds)).predict([[(w, w) for w in x] for x in XS[:4]])
        return
    if kind in ("two classes", "three classes"):
        xs = ROWS[:4] if kind == "two classes" else [{"a": 1.0, "b": "x"}, {"b": "q"}]
        classifier = sl.Classifier.load(path)
        classifier.n_jobs = 1
        classifier.predict(xs), classifier.predict_proba(xs)
        return
    xs: Any = {"columns": PAIRS, "attributes": DICTS, "dense": DENSE}.get(kind, XS)[:6]
    if kind == "matrix":
        xs = sl.Matrix(dense=np.ones((4, 2)), lengths=[3, 1])
    tagger: Any = (SegmentTagger if "segments" in kind else sl.Tagger).load(path)
    tagger.n_jobs = 1
    tagger.predict(xs), tagger.predict_marginals(xs), tagger.sample(xs)
    if kind != "dense":  # it has hidden states
        tagger.k_best(xs, 2)
    if kind in ("templates", "segments"):
        explain(tagger.model_, xs[0])


MODELS = ["templates", "classes", "columns", "hashing", "attributes", "dense", "matrix", "two classes", "three classes"]
MODELS += ["segments", "hashed segments", "alignment", "pair"]
PREPARED = {"shard": "shard-00000.sidelight", "index": "index.sidelight"}  # features of files larger than memory


def _corpus(folder: Path) -> Any:
    """Files whose features are prepared in a folder."""
    text = "".join("".join(f"{word} {y}\n" for word, y in zip(x, ys)) + "\n" for x, ys in zip(XS, YS))
    folder.mkdir(exist_ok=True)
    Path(folder, "train.txt").write_text(text, encoding="utf-8")
    return stored(gold=folder / "train.txt", folder=folder / "prepared")


def _prepare(kind: str, path: Path) -> None:
    """Write one of the files of a preparation, and leave the others beside it."""
    folder = path.parent / f"{kind} and others"
    sl.Tagger(features=features.spelling(), learner="perceptron", **FEW).fit(_corpus(folder))
    (found,) = folder.glob(f"prepared/*/{PREPARED[kind]}")
    path.write_bytes(found.read_bytes())


def _fit_again(kind: str, path: Path) -> None:
    """A fit that finds this file where it was written."""
    folder = path.parent / f"{kind} and others"
    (found,) = folder.glob(f"prepared/*/{PREPARED[kind]}")
    found.unlink()  # what is mapped is not written over
    found.write_bytes(path.read_bytes())
    sl.Tagger(features=features.spelling(), learner="perceptron", **FEW).fit(_corpus(folder)).predict(XS[:4])
    sl.Tagger(features=features.spelling(), learner="crf", **FEW).fit(_corpus(folder)).predict(XS[:4])


SVM = sl.recipes.structural_svm
LEARNERS: dict[str, dict[str, Any]] = {  # those that have checkpoints of different kinds
    "jlis": {},
    "hinge": {"learner": "structural_svm", "loss": "hinge"},
    "restarts": {"learner": sl.recipes.jlis(restarts=3)},
    "self_training": {"learner": "self_training"},
    "one_slack": {"learner": SVM(solver="one_slack"), "loss": "hinge"},
    "n_slack": {"learner": SVM(solver="n_slack_qp"), "loss": "hinge"},
    "frank_wolfe": {"learner": SVM(solver="frank_wolfe", average="weighted"), "loss": "hinge"},
    "subgradient": {"learner": SVM(solver="subgradient"), "loss": "hinge"},
    "dual": {"learner": SVM(solver="exponentiated_gradient"), "loss": "hinge"},
    "mira": {"learner": "mira"},
    "arow": {"learner": "arow"},
    "perceptron": {"learner": "perceptron"},
    "crf": {"learner": "crf"},
    "sgd": {"learner": sl.recipes.crf(solver="sgd")},
    "em": {"learner": "em"},
    "cllp": {"learner": "cllp"},
    "cllp by cuts": {"learner": sl.recipes.cllp(solver="dual_coordinate"), "loss": "hinge"},
    "one_against_rest": {"learner": "one_against_rest"},
    "naive_bayes": {"learner": "naive_bayes"},
    "codl": {"learner": sl.recipes.codl(base="crf"), "rules": [gallery.changes_after_punctuation()]},
    "posterior": {"learner": sl.recipes.posterior_regularization(base="crf")},
    "votes": {"learner": "partial_crf"},
    "contrastive": {"learner": "contrastive"},
}
ALIGNMENT = "checkpoint alignment"
CHECKPOINTS = [*(f"checkpoint {name}" for name in LEARNERS), ALIGNMENT]


def _capitals(x: Any) -> list[Any]:
    return ["O" if word.istitle() else None for word in x]


def _lights(x: Any) -> list[Any]:
    return ["B-X" if word == "light" else None for word in x]


def _evidence(name: str) -> list[Any]:
    """What a learner can learn from, with something to complete where it completes."""
    if name in ("jlis", "restarts"):
        return [*sl.gold(XS[:4], YS[:4]), *sl.companion(XS[4:8], 1), *sl.companion(XS[8:], -1), *sl.unlabeled(XS[6:9])]
    if name in ("self_training", "em", "codl", "contrastive"):
        return [*sl.gold(XS[:6], YS[:6]), *sl.unlabeled(XS[6:])]
    if name == "posterior":
        rules = [gallery.at_most(1, "B-X")]
        return [*sl.gold(XS[:6], YS[:6]), *sl.unlabeled(XS[6:], rules=rules)]
    if name == "votes":
        return [*sl.gold(XS[:6], YS[:6]), *sl.votes(XS, {"first": _capitals, "second": _lights})]
    if name.startswith("cllp"):
        return sl.candidates(XS, [[{y, "O"} for y in ys] for ys in YS])
    return sl.gold(XS, YS)


def _resume(kind: str, path: Path, rounds: int = 5) -> None:
    """Training that goes on from a file."""
    if kind == ALIGNMENT:
        _align_on(path)
        return
    name = kind.removeprefix("checkpoint ")
    settings = {"features": features.words(), "n_jobs": 1, "max_rounds": rounds, **LEARNERS[name]}
    tagger = sl.Tagger(checkpoint=path, **settings).fit(_evidence(name))
    tagger.predict(XS[:4])


def _align_on(path: Path, most: int = 99) -> None:
    """The same for word alignment, of which so many iterations are made."""
    seen: list[Any] = []

    def stop(record: Any) -> None:
        seen.append(record)
        if len(seen) == most:
            raise KeyboardInterrupt

    pairs = list(zip(SOURCES, TARGETS))
    aligner = sl.Aligner(model1_iterations=1, hmm_iterations=3, n_jobs=1, checkpoint=path, callbacks=[stop])
    with suppress(KeyboardInterrupt):
        aligner.fit(pairs).align(pairs[:4])


def original(kind: str, path: Path) -> None:
    """Write a file of a kind that is as it should be."""
    if kind == ALIGNMENT:
        _align_on(path, 2)
    elif kind in CHECKPOINTS:
        _resume(kind, path, 2)
    elif kind in PREPARED:
        _prepare(kind, path)
    else:
        (STRUCTURES[kind].made() if kind in STRUCTURES else _made(kind)).save(path)


# Ways to spoil what a file holds ---------------------------------------------------------------------------------

VALUES: list[Any] = [-1, 0, 1, 7, 2**31 - 1, 2**31, 2**63, 10**400, 0.5, float("nan"), float("inf"), -1e308, "x", ""]
VALUES += ["{0.__class__}", None, True, False, [], {}, [[]], [-1], {"x": 1}]
Spoil = Callable[[Any], Any]


def _value_spoils(value: Any) -> Iterator[tuple[str, Spoil]]:
    for other in VALUES:
        yield f"to {str(other)[:20]}", lambda _, other=other: other
    if isinstance(value, list) and value:
        yield "reversed", lambda found: found[::-1]
        yield "shorter", lambda found: found[:-1]
        yield "longer", lambda found: [*found, *found]
    if isinstance(value, int) and not isinstance(value, bool):
        yield "one more", lambda found: found + 1
        yield "one less", lambda found: found - 1


KINDS = ["int8", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64", "bool"]
NUMBERS = [-1, 0, 1, 100, 2**31 - 1, -(2**31), 2**62, np.nan, np.inf, -np.inf, 1e308, -1e308]


def _set(where: int, number: float) -> Spoil:
    def spoil(array: Any) -> Any:
        out = array.copy()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = np.asarray(number).astype(out.dtype)
        out.reshape(-1)[min(where, out.size - 1) if where >= 0 else -1] = one
        return out

    return spoil


def _array_spoils(array: Any) -> Iterator[tuple[str, Spoil]]:
    with np.errstate(all="ignore"):
        for kind in KINDS:
            if array.dtype != kind:
                yield f"as {kind}", lambda found, kind=kind: found.astype(kind)
    yield "flat", lambda found: found.reshape(-1)
    yield "deeper", lambda found: found[None]
    yield "turned", lambda found: np.ascontiguousarray(found.T)
    yield "none", lambda found: found[:0] if found.ndim else found.reshape(0)
    if array.size:
        yield "alone", lambda found: found.reshape(-1)[:1]
        yield "bare", lambda found: found.reshape(-1)[0]
        yield "shorter", lambda found: found[:-1]
        yield "longer", lambda found: np.concatenate([found, found[-1:]])
        yield "twice", lambda found: np.concatenate([found, found])
        yield "backwards", lambda found: np.ascontiguousarray(found[::-1])
        yield "all alike", lambda found: np.full_like(found, found.reshape(-1)[0])
        for number in NUMBERS:
            if array.dtype.kind == "f" or (array.dtype.kind in "iu" and np.isfinite(number) and abs(number) < 2**63):
                for where in (0, 1, -1):
                    yield f"[{where}] to {number}", _set(where, number)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values are, down to the leaves; of long lists the first two."""
    if at:
        yield at
    if isinstance(value, dict):
        for name in value:
            yield from _places(value[name], (*at, name))
    elif isinstance(value, list):
        for i in range(min(2, len(value))):
            yield from _places(value[i], (*at, i))


def _at(value: Any, at: tuple[Any, ...]) -> Any:
    for part in at:
        value = value[part]
    return value


def crafted(path: Path, kind: str, version: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every way to spoil one thing of a file: its name, values and arrays."""
    spec, arrays = files.read_tensors(path, kind=kind, version=version)
    for at in _places(spec):
        if at[:1] == ("fingerprint",):
            continue  # another one is another training, and refused at once
        for name, spoil in (*_value_spoils(_at(spec, at)), ("left out", None)):
            other = copy.deepcopy(spec)
            holder = _at(other, at[:-1])
            if spoil is None:
                del holder[at[-1]]
            else:
                holder[at[-1]] = spoil(holder[at[-1]])
            yield f"{'.'.join(map(str, at))} {name}", other, arrays
    for own in arrays:
        for name, spoil in _array_spoils(arrays[own]):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield f"{own} {name}", spec, {**arrays, own: spoil(arrays[own])}
        yield f"{own} left out", spec, {k: v for k, v in arrays.items() if k != own}
        yield f"{own} besides", spec, {**arrays, own + "x": arrays[own]}
        for another in arrays:
            if another != own and arrays[another].dtype == arrays[own].dtype:
                yield f"{own} is {another}", spec, {**arrays, own: arrays[another]}


def try_all(kind: str, path: Path, step: int) -> None:
    """Ask some of the crafted files; tells what it is about to do, and what came of it."""
    original(kind, path)
    header = json.loads(_metadata(path))
    ask = _resume if kind in CHECKPOINTS else _ask
    as_it_is, spoiled = path.read_bytes(), path.with_suffix(".spoiled")
    ask(kind, path)  # as it is, it is fine
    path.write_bytes(as_it_is)
    for number, (name, spec, arrays) in enumerate(crafted(path, header["kind"], header["version"])):
        if number % step:
            continue
        _tell({"file": f"{kind}, {number}: {name}"})
        files.write_tensors(spoiled, arrays, kind=header["kind"], version=header["version"], spec=spec)
        outcome = "accepted"
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ask(kind, spoiled)
        except SidelightError as error:
            outcome = f"more than a line: {error}" if "\n" in str(error) else type(error).__name__
        except Exception as error:
            outcome = f"raw {type(error).__name__}: {error}"
        _tell({"outcome": outcome})


def _tell(record: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def _metadata(path: Path) -> str:
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        return str(file.metadata()["sidelight"])


if __name__ == "__main__":
    for one in sys.argv[3:]:
        try_all(one, Path(sys.argv[1], one), int(sys.argv[2]))
