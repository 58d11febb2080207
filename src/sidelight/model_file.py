"""Models in files: safetensors, versioned, without pickle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import ModelFileError
from sidelight.features import restore
from sidelight.features.layout import Layout
from sidelight.files import Tensors, read_tensors, write_tensors
from sidelight.model import Model
from sidelight.spaces import Transitions
from sidelight.structures import LabelSet, StateSet, with_states
from sidelight.structures.labels import plain_label

VERSION = 3  # since 2 layouts have an order, since 3 labels may have states; what a model does not use is not written
KIND = "sidelight model"


def save_model(model: Model, path: str | Path) -> None:
    """Write a model; zero weights take no room where most weights are zero."""
    if not isinstance(model, Model):
        raise ValueError(f"the model is a {type(model).__name__}; give the model_ of a fitted Tagger or Classifier")
    description, tensors, version = model_state(model, path)
    write_tensors(path, tensors, kind=KIND, version=version, spec=description)


def load_model(path: str | Path) -> Model:
    """Read a model; raises `ModelFileError` in one line where the file is damaged, foreign or newer."""
    return model_from(*read_tensors(path, kind=KIND, version=VERSION))


def model_state(model: Model, path: str | Path) -> tuple[dict[str, Any], Tensors, int]:
    """A model as JSON values, arrays and the oldest version that can read it; `path` is where it will be written."""
    names = model.labels.classes
    if not all(isinstance(name, (str, int, np.integer, np.bool_)) for name in names):
        odd = next(name for name in names if not isinstance(name, (str, int, np.integer, np.bool_)))
        raise ModelFileError(f"label {odd!r} is neither text nor a number", file=path, remedy="use such labels")
    spec, tensors = model.extractor.state()
    tensors = {f"features.{name}": array for name, array in tensors.items()}
    filled = np.flatnonzero(model.weights)
    if len(filled) * 12 < len(model.weights) * 8:
        tensors["weights.indices"] = filled.astype(np.uint32)
        tensors["weights.values"] = model.weights[filled]
    else:
        tensors["weights"] = model.weights
    if model.allowed is not None:
        tensors |= {f"allowed.{part}": getattr(model.allowed, part) for part in ("between", "start", "end")}
    description: dict[str, Any] = {
        "labels": [plain_label(name) for name in names],
        "layout": {name: value for name, value in asdict(model.layout).items() if name != "order" or value != 1},
        "features": spec,
        "sequences": model.sequences,
        "size_by": model.size_by,
        "about": model.about,
    }
    version = 2 if model.layout.order == 2 else 1  # the oldest that can read it
    if isinstance(model.labels, StateSet):
        description["states"] = list(model.labels.counts)
        version = 3
    return description, tensors, version


def model_from(spec: dict[str, Any], tensors: Tensors) -> Model:
    """The model that `model_state` described."""
    layout = Layout(**spec["layout"])
    prefix = "features."
    features = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    allowed = None
    if "allowed.between" in tensors:
        allowed = Transitions(tensors["allowed.between"], tensors["allowed.start"], tensors["allowed.end"])
    labels = LabelSet(tuple(spec["labels"]))
    if "states" in spec:
        labels = with_states(labels, dict(zip(labels.names, spec["states"])))
    return Model(
        labels,
        restore(spec["features"], features),
        layout,
        _weights(tensors, layout),
        spec["sequences"],
        allowed,
        spec["size_by"],
        spec["about"],
    )


def _weights(tensors: Tensors, layout: Layout) -> NDArray[np.float64]:
    if "weights" in tensors:
        return tensors["weights"]
    weights = np.zeros(layout.size)
    weights[tensors["weights.indices"]] = tensors["weights.values"]
    return weights
