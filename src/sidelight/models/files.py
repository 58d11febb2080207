"""Tensor files: safetensors with a checked, versioned header, written under a temporary name and then renamed.

Checkpoints are such files: interrupted training resumes from its last finished round.
"""

from __future__ import annotations

import json
import math
import mmap
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.atomic_files import write_atomically
from sidelight.core.checks import file_name
from sidelight.core.file_contents import mapping_of, reading, text_of
from sidelight.errors import ModelFileError

Tensors = dict[str, NDArray[Any]]


def write_tensors(path: str | Path, tensors: Mapping[str, NDArray[Any]], *, kind: str, version: int, spec: Any) -> None:
    """Write arrays and JSON values; readers see the old or the new file, never a part."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    text = json.dumps(spec)
    header = {"kind": kind, "version": version, "spec": text, "check": _check(arrays, text)}
    # one key: safetensors does not keep the order of keys
    data = save(arrays, metadata={"sidelight": json.dumps(header)})
    write_atomically(path, data)


def kind_of(path: str | Path) -> str | None:
    """The kind of file that it declares; None if it has no such header."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("sidelight", "{}"))
    except (SafetensorError, OSError, ValueError, RecursionError):
        return None
    kind = header.get("kind") if isinstance(header, dict) else None
    return kind if isinstance(kind, str) else None


def read_tensors(
    path: str | Path, *, kind: str, version: int, mapped: bool = False, checked: bool = True
) -> tuple[Any, Tensors]:
    """JSON values and arrays of a file; raises a one-line `ModelFileError` if it is damaged, foreign or newer.

    `mapped` arrays stay in the file and are loaded on access; changes to them are not saved. A file whose checksum was
    verified before need not be `checked` again.
    """
    from safetensors import SafetensorError, safe_open

    file_name(path)
    try:
        with safe_open(str(path), framework="numpy") as file:
            header = mapping_of({"sidelight": json.loads((file.metadata() or {}).get("sidelight", "{}"))}, "sidelight")
            if header.get("kind") != kind:
                raise _foreign(path, header.get("kind"), kind)
            if header["version"] > version:
                raise ModelFileError(
                    f"written by a newer version (format {header['version']}, this one reads up to {version})",
                    file=path,
                    remedy="upgrade sidelight",
                )
            names = list(file.keys())
            tensors: Tensors = _mapped(path) if mapped else {name: file.get_tensor(name) for name in names}
            text = text_of(header, "spec")
    except FileNotFoundError:
        raise ModelFileError("no such file", file=path, remedy="check the path") from None
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, ModelFileError):
            raise
        if _is_text(path):
            remedy = "give the file of a trained model" if "model" in kind else "delete it, or give another name"
            raise ModelFileError(
                f"this is text, not a {'model' if 'model' in kind else kind}", file=path, remedy=remedy
            ) from None
        raise ModelFileError("damaged or truncated", file=path, remedy="write it again, or take a copy") from None
    if checked and _check(tensors, text) != header.get("check"):
        raise ModelFileError("damaged: its contents do not match their checksum", file=path, remedy="take a copy")
    return json.loads(text), tensors


def _mapped(path: str | Path) -> Tensors:
    """The arrays of a file with a valid header, memory-mapped: freed when they are no longer referenced."""
    with open(path, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    begin = 8 + int.from_bytes(pages[:8], "little")
    tensors: Tensors = {}
    for name, one in json.loads(pages[8:begin]).items():
        if name != "__metadata__":
            kind, shape, at = np.dtype(_DTYPES[one["dtype"]]), one["shape"], begin + one["data_offsets"][0]
            array = np.frombuffer(pages, kind, math.prod(shape), at) if math.prod(shape) else np.empty(0, kind)
            tensors[name] = array.reshape(shape)
    return tensors


_DTYPES = {f"{sort.upper()}{8 * size}": f"{sort}{size}" for sort in "fiu" for size in (1, 2, 4, 8)} | {"BOOL": "?"}


def _foreign(path: str | Path, kind: Any, expected: str) -> ModelFileError:
    """The error for a file of another kind, which may be one of Sidelight's."""
    loaders = {
        "sidelight model": "Tagger.load, Classifier.load or load_model",
        "sidelight segment model": "SegmentTagger.load",
        "sidelight alignment model": "Aligner.load",
        "sidelight pair of models": "CoTraining.load",
    }
    if kind in loaders:
        return ModelFileError(f"a {kind}, not a {expected}", file=path, remedy=f"{loaders[kind]} reads it")
    return ModelFileError(f"not a {expected} file", file=path, remedy="give a file that sidelight wrote")


def _is_text(path: str | Path) -> bool:
    """Whether a file begins like text; our files begin with a length in eight bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError:
        return False
    return bool(head) and b"\x00" not in head


def _check(tensors: Mapping[str, NDArray[Any]], text: str) -> int:
    total = zlib.crc32(text.encode())
    for name in sorted(tensors):
        total = zlib.crc32(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode(), total)
        total = zlib.crc32(raw_bytes(tensors[name]), total)
    return total


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, without a copy if it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


VERSION = 2
KIND = "sidelight checkpoint"
REMEDY = "delete it, or give another name"


def fingerprint(settings: Mapping[str, str], labels: Sequence[str], arrays: Sequence[NDArray[Any]]) -> str:
    """A digest of everything that determines the course of training."""
    digest = blake2b(json.dumps([sorted(settings.items()), list(labels)]).encode(), digest_size=16)
    for array in arrays:
        digest.update(raw_bytes(array))
    return digest.hexdigest()


def save_checkpoint(path: str | Path, mark: str, state: tuple[dict[str, Any], dict[str, NDArray[Any]]]) -> None:
    """Write the state of a learner after a round."""
    values, arrays = state
    write_tensors(path, arrays, kind=KIND, version=VERSION, spec={"fingerprint": mark, "values": values})


def load_checkpoint(path: str | Path, mark: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """The state in the file, or None if there is no file; raises `ModelFileError` if it belongs to another training."""
    if not Path(path).exists():
        return None
    with reading(path, remedy=REMEDY):
        spec, arrays = read_tensors(path, kind=KIND, version=VERSION)
        if text_of(spec, "fingerprint") != mark:
            raise ModelFileError("the checkpoint is of other data or settings", file=path, remedy=REMEDY)
        return mapping_of(spec, "values"), arrays
