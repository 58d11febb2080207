"""The data of a fit larger than memory: blocks of features that stay in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.one_at_a_time import OneAtATime
from sidelight.data.stored import StoredCorpus
from sidelight.errors import DataError, ModelFileError
from sidelight.features import Attributes, extractor_of
from sidelight.features.rows import offsets_of
from sidelight.parallel.place import Held, Place
from sidelight.prepared.preparation import Preparation, prepare
from sidelight.prepared.shard import REMEDY, Shard, ShardFile, ShardFiles, shard_file
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import refuse_stored
from sidelight.specs.settings import Settings
from sidelight.structures.chain_structure import ChainStructure, chain_structure, first_closed_step, label_set
from sidelight.structures.labels.encoding import Encoded


@dataclass(frozen=True, slots=True)
class StoredRows:
    """A stand-in for the features of all inputs, which are in files."""

    preparation: Preparation

    def __len__(self) -> int:
        return sum(inputs for _, inputs, _ in self.preparation.shards)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The identity of the data: the folder is named by a fingerprint of the files."""
        return (np.frombuffer(self.preparation.folder.name.encode(), dtype=np.uint8),)


def stored_fit(settings: Settings, corpus: StoredCorpus) -> FitData:
    """The data of a fit, prepared if necessary; raises the errors of `prepare`, and errors for learners that need data
    in memory.
    """
    refuse_stored(settings.learner, list(corpus.files), settings)
    preparation = prepare(corpus, settings)
    names = preparation.names
    if settings.labels is None and not names:
        raise DataError("the evidence names no label", remedy="give labels=[…], or some Gold")
    labels = label_set(settings, names if settings.labels is None else list(settings.labels))
    structure = chain_structure(settings, labels, preparation.extractor)
    for name in names:
        if name not in labels:
            raise DataError(f"the evidence has the label {name!r}", remedy="add it to labels, or leave them out")

    _check_shards(preparation, structure)

    parts = StoredParts(settings, structure, preparation)
    return FitData(settings, (), StoredRows(preparation), _summary(preparation.shards), structure, stored=parts)


@dataclass(frozen=True, slots=True)
class StoredParts:
    """The blocks of a fit, each with the data of one shard, which is opened in this process or by the worker that holds
    it.
    """

    settings: Settings
    structure: ChainStructure
    preparation: Preparation

    def of(self, *kinds: str) -> OneAtATime[FitData]:
        """The blocks of these kinds (by default all), one after another."""
        numbers, folder = self._numbers(kinds), self.preparation.folder
        return OneAtATime(lambda k: _part(Shard.open(folder, numbers[k]), self.settings, self.structure), len(numbers))

    def held(self, place: Place, *kinds: str, lots: int | None = None) -> Held:
        """The blocks in a place, which opens them from their files: all its machines must share the folder.

        With `lots`, they form this many sequences of blocks k, k + lots, k + 2 lots, …, or fewer if there are fewer
        blocks.
        """
        folder, numbers = self.preparation.folder.resolve(), self._numbers(kinds)
        pieces: list[ShardFile | ShardFiles] = [ShardFile(folder, number) for number in numbers]
        if lots is not None:
            count = min(lots, len(numbers))
            pieces = [ShardFiles(folder, tuple(numbers[k::count])) for k in range(count)]
        files = place.hold(pieces)
        about = replace(self.settings, callbacks=(), checkpoint=None, place=None, n_jobs=files.n_jobs)
        bare = replace(self.structure, extractor=extractor_of(Attributes()))  # without a vocabulary
        return files.derive(_part if lots is None else _parts, about, bare)

    def _numbers(self, kinds: tuple[str, ...]) -> list[int]:
        return [k for k, (kind, _, _) in enumerate(self.preparation.shards) if not kinds or kind in kinds]


def _parts(shards: OneAtATime[Shard], settings: Settings, structure: ChainStructure) -> OneAtATime[FitData]:
    return shards.map(lambda shard: _part(shard, settings, structure))


def _part(shard: Shard, settings: Settings, structure: ChainStructure) -> FitData:
    return FitData(settings, (), shard.rows, shard.encoded(structure.labels), structure)


def _summary(shards: Sequence[tuple[str, int, int]]) -> Encoded:
    """The evidence of each kind, without its tokens."""
    kinds = [kind for kind, inputs, _ in shards for _ in range(inputs)]
    count = len(kinds)
    return Encoded.of_kinds(kinds, np.ones(count), offsets_of([0] * count), np.empty(0, dtype=np.int32))


def _check_shards(preparation: Preparation, structure: ChainStructure) -> None:
    """Check all shards: raises `ModelFileError` if one does not fit the index, and `DataError` for the first input
    whose labels cannot follow each other.
    """
    for number, (kind, inputs, tokens) in enumerate(preparation.shards):
        shard, path = Shard.open(preparation.folder, number), shard_file(preparation.folder, number)
        if (shard.kind, len(shard.rows), shard.rows.n_tokens) != (kind, inputs, tokens):
            raise ModelFileError("it has other inputs than the index says", file=path, remedy=REMEDY)
        rows, layout = shard.rows, structure.layout
        if shard.n_attributes > layout.n_attributes or rows.dense.shape[1] != layout.n_dense:
            raise ModelFileError("it has features that the vocabulary does not have", file=path, remedy=REMEDY)
        if not set(shard.names) <= set(preparation.names):
            raise ModelFileError("it has labels that the index does not have", file=path, remedy=REMEDY)
        if structure.allowed is None:
            continue
        encoded = shard.encoded(structure.labels)
        step = first_closed_step(structure, shard.rows, encoded)
        if step is not None:
            i, problem = step
            file, line = shard.place(i)
            remedy = "correct the labels, or leave scheme and allowed out"
            raise DataError(problem, file=file, line=line, remedy=remedy)
