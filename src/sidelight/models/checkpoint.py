"""Training that was interrupted goes on from its last finished round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sidelight.core.file_contents import mapping_of, reading, text_of
from sidelight.errors import ModelFileError
from sidelight.models.files import raw_bytes, read_tensors, write_tensors

VERSION = 2
KIND = "sidelight checkpoint"
REMEDY = "delete it, or give another name"


def fingerprint(settings: Mapping[str, str], labels: Sequence[str], arrays: Sequence[NDArray[Any]]) -> str:
    """A digest of everything that decides the course of training."""
    digest = blake2b(json.dumps([sorted(settings.items()), list(labels)]).encode(), digest_size=16)
    for array in arrays:
        digest.update(raw_bytes(array))
    return digest.hexdigest()


def save_checkpoint(path: str | Path, mark: str, state: tuple[dict[str, Any], dict[str, NDArray[Any]]]) -> None:
    """Write the state of a learner after a round."""
    values, arrays = state
    write_tensors(path, arrays, kind=KIND, version=VERSION, spec={"fingerprint": mark, "values": values})


def load_checkpoint(path: str | Path, mark: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """The state in the file, or None if there is no file; raises `ModelFileError` if it is of another training."""
    if not Path(path).exists():
        return None
    with reading(path, remedy=REMEDY):
        spec, arrays = read_tensors(path, kind=KIND, version=VERSION)
        if text_of(spec, "fingerprint") != mark:
            raise ModelFileError("the checkpoint is of other data or settings", file=path, remedy=REMEDY)
        return mapping_of(spec, "values"), arrays
