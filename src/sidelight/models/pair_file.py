"""Two models of the same labels in one file, as co-training leaves them: safetensors, versioned, without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sidelight.core.file_contents import mapping_of, part_of, reading
from sidelight.errors import ModelFileError
from sidelight.models.files import Tensors, read_tensors, write_tensors
from sidelight.models.model import Model
from sidelight.models.model_file import VERSION, model_from, model_state

KIND = "sidelight pair of models"
PLACES = ("first", "second")


def save_pair(models: tuple[Model, Model], path: str | Path, *, spec: dict[str, Any]) -> None:
    """Write two models, and JSON values beside them."""
    tensors: Tensors = {}
    descriptions: dict[str, Any] = {}
    versions = []
    for place, model in zip(PLACES, models):
        descriptions[place], own, version = model_state(model, path)
        tensors |= {f"{place}.{name}": array for name, array in own.items()}
        versions.append(version)
    write_tensors(path, tensors, kind=KIND, version=max(versions), spec={"models": descriptions, "about": spec})


def load_pair(path: str | Path) -> tuple[tuple[Model, Model], dict[str, Any]]:
    """Two models and the values beside them.

    Raises `ModelFileError` in one line where the file is damaged, foreign or newer.
    """
    with reading(path):
        spec, tensors = read_tensors(path, kind=KIND, version=VERSION)
        both = mapping_of(spec, "models")
        one, other = (model_from(mapping_of(both, place), part_of(tensors, f"{place}.")) for place in PLACES)
        if (one.labels, one.sequences) != (other.labels, other.sequences) or one.labels.hidden:
            raise ModelFileError("its two models do not have the same labels")
        return (one, other), mapping_of(spec, "about")
