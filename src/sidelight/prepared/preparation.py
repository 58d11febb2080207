"""Converts files of evidence, piece by piece, to shards in a folder: written once, and reused by later fits.

The folder of a preparation is named by a fingerprint of the files' contents and the features. All files are written
under a temporary name, which is changed when the last one is written: a preparation exists completely or not at all.
Templates with a vocabulary are counted in one pass over the text, which stores the numbers of strings at every token;
in a second step, rows of features are looked up in these. Hashed templates and attributes need no second step.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.core.atomic_files import locked
from sidelight.core.file_contents import list_of, mapping_of, part_of, reading, text_of, whole_of
from sidelight.core.progress import present
from sidelight.data.files import add_contents
from sidelight.data.single import single_labels
from sidelight.data.stored import KINDS, StoredCorpus
from sidelight.data.text_pieces import TextPiece, placed
from sidelight.errors import DataError, ModelFileError
from sidelight.evidence import Evidence
from sidelight.features import Attributes, Extractor, Templates, extractor_of, restore
from sidelight.features.feature_counts import FeatureCounts
from sidelight.features.rows import Rows, offsets_of, stack_rows
from sidelight.features.vocabulary import TemplateExtractor
from sidelight.features.words.stored_templates import class_tensors, to_json
from sidelight.models.files import raw_bytes, read_tensors, write_tensors
from sidelight.prepared.shard import REMEDY, VERSION, Shard, names_in
from sidelight.structures.labels.encoding import Encoded, encode, labels_in
from sidelight.structures.labels.label_sets import LabelSet
from sidelight.structures.labels.token_labels import features_of

INDEX, INDEX_KIND = "index.sidelight", "sidelight prepared features"
SHARD_TOKENS = 1 << 17  # or a few more


@dataclass(frozen=True, slots=True)
class Preparation:
    """The contents of a folder of shards."""

    folder: Path
    extractor: Extractor
    names: tuple[Any, ...]  # labels in order of appearance
    shards: tuple[tuple[str, int, int], ...]  # kind, inputs and tokens of each


def prepare(corpus: StoredCorpus, settings: Any) -> Preparation:
    """The shards of some files for the features of a fit: existing ones, or new ones.

    Raises `DataError` if the evidence cannot be used, if the folder cannot be written to, and while another process
    prepares the same data, and `ModelFileError` if existing shards are damaged.
    """
    features = _features(corpus, settings)
    folder = corpus.folder / _fingerprint(corpus, settings, features)
    if folder.is_dir():
        return _found(folder)
    if corpus.folder.exists() and not corpus.folder.is_dir():
        raise DataError("this is a file", file=corpus.folder, remedy="name a folder for the prepared features")
    with _writing(corpus.folder):
        corpus.folder.mkdir(parents=True, exist_ok=True)
    part = corpus.folder / f".{folder.name}.part"
    with locked(corpus.folder / f".{folder.name}.lock", held=f"{folder} is being prepared by another process"):
        if folder.is_dir():
            return _found(folder)
        shutil.rmtree(part, ignore_errors=True)  # of a preparation that was killed
        try:
            part.mkdir()
            _Writer(corpus, settings, extractor_of(features), part).write()
            os.rename(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return _found(folder)


def _found(folder: Path) -> Preparation:
    path = folder / INDEX
    with reading(path, remedy=REMEDY):
        try:
            spec, tensors = read_tensors(path, kind=INDEX_KIND, version=VERSION)
        except ModelFileError as error:
            raise ModelFileError(error.problem, file=path, remedy=REMEDY) from None
        extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
        shards = tuple(
            (text_of(one, "kind", among=KINDS), whole_of(one, "inputs", low=1), whole_of(one, "tokens", low=1))
            for one in list_of(spec, "shards")
        )
        if not shards:
            raise ModelFileError("there are no shards")
        return Preparation(folder, extractor, names_in(spec), shards)


def _features(corpus: StoredCorpus, settings: Any) -> Any:
    """The features as set, or those for the kind of the first inputs; raises `DataError` for features that need all
    inputs.
    """
    kind, path = corpus.paths[0]
    _, evidence = next(corpus.pieces(kind, path))
    features = features_of(settings, _inputs(evidence, settings))
    if isinstance(features, Attributes) and features.min_count > 1:
        problem = f"attributes with min_count {features.min_count} are counted in memory"
        raise DataError(problem, remedy="give min_count 1, or templates, or train in memory")
    if not isinstance(features, Attributes | Templates):
        raise DataError("rows of a matrix have no files", remedy="train in memory")
    return features


def _inputs(evidence: list[Evidence], settings: Any) -> list[Any]:
    return [piece.x if settings.sequences else [piece.x] for piece in evidence]


def _fingerprint(corpus: StoredCorpus, settings: Any, features: Any) -> str:
    """A fingerprint of the files' contents, how they are read, and the features."""
    if isinstance(features, Templates):
        about: Any = to_json(features)
        tensors = class_tensors(features)
    else:
        about, tensors = [features.min_count, features.transitions], {}
    parts = [VERSION, corpus.format, corpus.label_column, settings.sequences, about]
    digest = blake2b(json.dumps(parts).encode(), digest_size=12)
    for name in sorted(tensors):
        digest.update(raw_bytes(tensors[name]))
    for kind, path in corpus.paths:
        digest.update(f"{kind} {path.suffix}".encode())
        add_contents(digest, path)
    return digest.hexdigest()


@dataclass(slots=True)
class _Block:
    """Pieces of one kind that become a shard."""

    kind: str
    lengths: list[Any] = field(default_factory=list)
    # rows, or the strings that templates see, which are counted first
    features: list[Any] = field(default_factory=list)
    encoded: list[Encoded] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    tokens: int = 0

    def joined(self, name: str) -> Any:
        """An array of all pieces, joined."""
        return np.concatenate([getattr(one, name) for one in self.encoded])


class _Writer:
    """One pass over the text, and the shards that it fills."""

    def __init__(self, corpus: StoredCorpus, settings: Any, extractor: Extractor, folder: Path) -> None:
        self.corpus, self.settings, self.extractor, self.folder = corpus, settings, extractor, folder
        self.counts = FeatureCounts(extractor, folder) if isinstance(extractor, TemplateExtractor) else None
        self.names: dict[Any, None] = dict.fromkeys(settings.labels or ())
        self.files = tuple(str(path) for _, path in corpus.paths)
        self.shards: list[dict[str, Any]] = []
        self.size = sum(path.stat().st_size for _, path in corpus.paths)

    def write(self) -> None:
        """Write all shards, and last the index."""
        block: _Block | None = None
        for number, kind, piece, evidence in self._evidence():
            if block is not None and (block.kind != kind or block.tokens >= SHARD_TOKENS):
                self._end(block)
                block = None
            block = _Block(kind) if block is None else block
            with placed(piece), _writing(self.folder):
                self._add(block, number, piece.first, evidence)
        assert block is not None
        self._end(block)
        if self.counts is not None:
            self._rows_of_drafts(self.counts)
        for run in self.folder.glob("run-*.npy"):
            run.unlink()
        spec, tensors = self.extractor.state()
        spec = {"features": spec, "names": list(self.names), "shards": self.shards}
        tensors = {f"features.{name}": array for name, array in tensors.items()}
        write_tensors(self.folder / INDEX, tensors, kind=INDEX_KIND, version=VERSION, spec=spec)

    def _evidence(self) -> Iterator[tuple[int, str, TextPiece, list[Evidence]]]:
        """The evidence of all files, piece by piece, each with the number of its file; reports progress."""
        before = 0
        for number, (kind, path) in enumerate(self.corpus.paths):
            for piece, evidence in self.corpus.pieces(kind, path):
                yield number, kind, piece, evidence
                self._tell(f"preparing {path}", before + min(piece.end, path.stat().st_size))
            before += path.stat().st_size

    def _tell(self, text: str, done: int) -> None:
        if (shown := present()) is not None:
            shown.say(text, done=done, total=self.size)

    def _add(self, block: _Block, number: int, before: int, evidence: list[Evidence]) -> None:
        """Add some inputs of a file, which come after `before` lines of it."""
        sequences, xs = self.settings.sequences, _inputs(evidence, self.settings)
        if not sequences:
            evidence = list(single_labels(evidence))
        if self.settings.labels is None:
            self.names.update(dict.fromkeys(labels_in(evidence, sequences=sequences)))
        lengths = [len(x) for x in xs]
        labels = LabelSet(tuple(self.names))
        block.encoded.append(encode(evidence, labels, offsets_of(lengths), sequences=sequences))
        if self.counts is None:
            block.features.append(self.extractor.grow(xs, n_jobs=self.settings.n_jobs))
        else:
            block.features.append(self.counts.add(xs)[1])
        block.lengths += lengths
        block.tokens += sum(lengths)
        block.places += [[number, before + (piece.origin.line(0) if piece.origin else 0)] for piece in evidence]

    def _end(self, block: _Block) -> None:
        """Write a shard, or a draft of it while features are counted."""
        number = len(self.shards)
        self.shards.append({"kind": block.kind, "inputs": len(block.lengths), "tokens": block.tokens})
        known = {name: block.joined(name) for name in ("targets", "weights")}
        known["places"] = np.array(block.places, dtype=np.int64)
        if self.counts is None:
            self._shard(number, stack_rows(block.features, n_dense=self.extractor.n_dense), known)
        else:
            starts, views = offsets_of(block.lengths), np.concatenate(block.features, axis=1)
            with _writing(self._draft(number)):
                np.savez(self._draft(number), starts=starts, views=views, **known)

    def _rows_of_drafts(self, counts: FeatureCounts) -> None:
        extractor = counts.finish()
        for number in range(len(self.shards)):
            with np.load(self._draft(number)) as draft:
                rows = extractor.rows_of(draft["starts"], draft["views"], n_jobs=self.settings.n_jobs)
                self._shard(number, rows, {name: draft[name] for name in ("targets", "weights", "places")})
            self._draft(number).unlink()
            self._tell("writing features", self.size * (number + 1) // len(self.shards))

    def _shard(self, number: int, rows: Rows, known: dict[str, Any]) -> None:
        names, attributes = tuple(self.names), int(rows.indices.max(initial=-1)) + 1
        about = known["targets"], known["weights"], names, attributes, known["places"], self.files
        Shard(self.shards[number]["kind"], rows, *about).write(self.folder, number)

    def _draft(self, number: int) -> Path:
        return self.folder / f"draft-{number:05}.npz"


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Context manager: an error in writing becomes a `DataError` that names the file or its folder."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        remedy = "make room on the disk, or name another folder"
        raise DataError(problem, file=error.filename or path, remedy=remedy) from error
