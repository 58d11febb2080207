"""Shards: the features and labels of some inputs of one kind in one file, whose arrays stay on the disk.

A shard is opened by its folder and number. Labels are numbers of names, in order of appearance over all shards. Each
file has the names known when it was written, which include all of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import LARGEST
from sidelight.core.file_contents import array_of, list_of, offsets_of, reading, text_of, whole_of
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.data.stored import KINDS
from sidelight.errors import DataError, ModelFileError
from sidelight.features.rows import Rows
from sidelight.models.files import read_tensors, write_tensors
from sidelight.structures.labels.encoding import Encoded
from sidelight.structures.labels.label_sets import LabelSet

FILE_KIND, VERSION = "sidelight shard", 1
REMEDY = "delete the folder that it is in: it is prepared again"
_checked: set[tuple[str, int, int]] = set()  # files that this process has verified, with their state at that time


@dataclass(frozen=True, slots=True)
class Shard:
    """Some inputs of one kind; arrays are views of the file, or of the data in memory before it is written."""

    kind: str
    rows: Rows
    targets: Ids  # [T] places in `names`, -1 where the label is not known
    weights: Floats  # [N]
    names: tuple[Any, ...]
    n_attributes: int  # one more than the largest
    places: Ints  # [N, 2] file and line where each input begins
    files: tuple[str, ...]

    @classmethod
    def open(cls, folder: str | Path, number: int) -> Shard:
        """The shard in a file; verified when this process opens it for the first time.

        Raises `ModelFileError`, with the name of the file, if it is damaged or its contents are invalid.
        """
        path = shard_file(folder, number)
        with reading(path, remedy=REMEDY):
            known = _state_of(path)
            fresh = known not in _checked
            try:
                spec, arrays = read_tensors(path, kind=FILE_KIND, version=VERSION, mapped=True, checked=fresh)
            except ModelFileError as error:
                raise ModelFileError(error.problem, file=path, remedy=REMEDY) from None
            shard = _sound(spec, arrays) if fresh else _plain(spec, arrays)
            if known is not None:
                _checked.add(known)
            return shard

    def write(self, folder: Path, number: int) -> None:
        """Write the file, completely or not at all."""
        rows = self.rows
        arrays: dict[str, NDArray[Any]] = {
            "starts": rows.starts,
            "indptr": rows.indptr,
            "indices": rows.indices,
            "values": rows.values,
        }
        arrays |= {"dense": rows.dense, "targets": self.targets, "weights": self.weights, "places": self.places}
        spec = {"kind": self.kind, "names": self.names, "attributes": self.n_attributes, "files": self.files}
        write_tensors(shard_file(folder, number), arrays, kind=FILE_KIND, version=VERSION, spec=spec)

    def place(self, i: int) -> tuple[str, int]:
        """The file and the line where an input begins."""
        file, line = self.places[i].tolist()
        return self.files[file], line

    def encoded(self, labels: LabelSet) -> Encoded:
        """The evidence of the inputs, with the label numbers of a fit; raises `DataError` for other labels."""
        numbers = np.array([labels.number.get(name, -2) for name in self.names] + [-1], dtype=np.int32)
        targets = numbers[self.targets]
        if np.any(targets == -2):
            raise ModelFileError("it has labels that the fit does not have", remedy=REMEDY)
        admitted: Bytes | None = None
        if self.kind == "partial":
            admitted = np.ones((self.rows.n_tokens, len(labels)), dtype=np.uint8)
            known = np.flatnonzero(targets >= 0)
            admitted[known] = 0
            admitted[known, targets[known]] = 1
        return Encoded.of_kinds([self.kind] * len(self.rows), self.weights, self.rows.starts, targets, admitted)


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A shard by its folder and number, to be opened where it is used."""

    folder: Path  # an absolute path
    number: int

    def load(self) -> Shard:
        """The shard; raises the errors of `Shard.open`, and `DataError` on a machine without this folder."""
        if not self.folder.is_dir():
            problem = f"{gethostname()} has no folder to read shard {self.number} from"
            raise DataError(problem, file=self.folder, remedy="prepare the data in a folder that all machines share")
        return Shard.open(self.folder, self.number)


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """Several shards of a folder, each opened on access."""

    folder: Path
    numbers: tuple[int, ...]

    def load(self) -> OneAtATime[Shard]:
        """The shards; see `ShardFile`."""
        return OneAtATime(lambda k: ShardFile(self.folder, self.numbers[k]).load(), len(self.numbers))


def shard_file(folder: str | Path, number: int) -> Path:
    """The file of a shard."""
    return Path(folder, f"shard-{number:05}.sidelight")


def _state_of(path: Path) -> tuple[str, int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return str(path.resolve()), state.st_mtime_ns, state.st_size


def names_in(spec: Any) -> tuple[Any, ...]:
    """Labels in order of appearance."""
    names = list_of(spec, "names")
    if not all(isinstance(name, str | int) for name in names) or len(set(names)) != len(names):
        raise ModelFileError("'names' are not labels")
    return tuple(names)


def _sound(spec: Any, arrays: dict[str, NDArray[Any]]) -> Shard:
    """A verified shard, so that kernels can trust its numbers."""
    names, kind = names_in(spec), text_of(spec, "kind", among=KINDS)
    attributes = whole_of(spec, "attributes", high=2**31 - 1)
    entries = array_of(arrays, "indices", np.int32, [None], low=0, high=attributes - 1).shape[0]
    values = array_of(arrays, "values", np.float64, [None], low=-LARGEST, high=LARGEST).shape[0]
    if values not in (0, entries):
        raise ModelFileError(f"there are {values} values of {entries} features")
    tokens = array_of(arrays, "targets", np.int32, [None], low=-1, high=len(names) - 1).shape[0]
    if kind == "gold" and arrays["targets"].min(initial=0) < 0:
        raise ModelFileError("a token of gold has no label")
    count = array_of(arrays, "weights", np.float64, [None], low=0.0, high=LARGEST).shape[0]
    offsets_of(arrays, "indptr", count=tokens, total=entries)
    starts = offsets_of(arrays, "starts", count=count, total=tokens)
    if not count or np.any(np.diff(starts) < 1):
        raise ModelFileError("an input has no tokens")
    array_of(arrays, "dense", np.float32, [tokens, None])
    files = list_of(spec, "files")
    array_of(arrays, "places", np.int64, [count, 2], low=0)
    if not all(isinstance(name, str) for name in files) or arrays["places"][:, 0].max() >= len(files):
        raise ModelFileError("an input is of no file")
    return _plain(spec, arrays)


def _plain(spec: Any, arrays: dict[str, NDArray[Any]]) -> Shard:
    parts = (arrays[name] for name in ("starts", "indptr", "indices", "values", "dense"))
    names, files = tuple(spec["names"]), tuple(spec["files"])
    about = arrays["targets"], arrays["weights"], names, spec["attributes"], arrays["places"], files
    return Shard(spec["kind"], Rows(*parts), *about)
