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
from sidelight.stored import array_of, flag_of, list_of, mapping_of, number_of, part_of, reading, text_of, whole_of
from sidelight.structures import LabelSet, StateSet, with_states
from sidelight.structures.labels import plain_label

# since 2 layouts have an order, since 3 labels may have states, since 4 companion decisions a temperature; what a model
# does not use is not written
VERSION = 4
KIND = "sidelight model"
HEAVIEST = 1e100  # sums of weights beyond this would not be numbers


def save_model(model: Model, path: str | Path) -> None:
    """Write a model; zero weights take no room where most weights are zero."""
    if not isinstance(model, Model):
        raise ValueError(f"the model is a {type(model).__name__}; give the model_ of a fitted Tagger or Classifier")
    description, tensors, version = model_state(model, path)
    write_tensors(path, tensors, kind=KIND, version=version, spec=description)


def load_model(path: str | Path) -> Model:
    """Read a model; raises `ModelFileError` in one line where the file is damaged, foreign or newer."""
    with reading(path):
        return model_from(*read_tensors(path, kind=KIND, version=VERSION))


def model_state(model: Model, path: str | Path) -> tuple[dict[str, Any], Tensors, int]:
    """A model as JSON values, arrays and the oldest version that can read it; `path` is where it will be written."""
    names = model.labels.classes
    if not all(isinstance(name, (str, int, np.integer, np.bool_)) for name in names):
        odd = next(name for name in names if not isinstance(name, (str, int, np.integer, np.bool_)))
        raise ModelFileError(f"label {odd!r} is neither text nor a number", file=path, remedy="use such labels")
    spec, tensors = model.extractor.state()
    tensors = {f"features.{name}": array for name, array in tensors.items()}
    tensors |= weight_tensors(model.weights)
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
    if model.temperature > 0:
        description["temperature"] = model.temperature
        version = 4
    return description, tensors, version


def model_from(spec: Any, tensors: Tensors) -> Model:
    """The model that `model_state` described; raises `ModelFileError` where its parts do not fit each other."""
    layout = Layout.stored(spec, "layout")
    labels = LabelSet(label_names(spec))
    if "states" in spec:
        counts = list_of(spec, "states", count=len(labels))
        each = [whole_of({"states": count}, "states", low=1, high=layout.n_labels) for count in counts]
        check_same("labels and their states", sum(each), layout.n_labels)
        labels = with_states(labels, dict(zip(labels.names, each)))
    extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
    sequences = flag_of(spec, "sequences")
    check_same("labels", len(labels), layout.n_labels)
    check_same("features", extractor.n_attributes, layout.n_attributes)
    check_same("dense features", extractor.n_dense, layout.n_dense)
    if layout.chain != (sequences and extractor.transitions) or layout.null_label != (
        not sequences and layout.n_labels == 2
    ):
        raise ModelFileError("the layout of its weights is not that of such labels and features")
    return Model(
        labels,
        extractor,
        layout,
        stored_weights(tensors, layout.size),
        sequences,
        _allowed(tensors, layout) if sequences else None,
        text_of(spec, "size_by", among=("tokens", "one", "function")),
        about_in(spec),
        number_of(spec, "temperature", low=0.0) if "temperature" in spec else 0.0,
    )


def label_names(spec: Any) -> tuple[str | int, ...]:
    """The labels in a file: different texts, whole numbers or truths, one at least."""
    names = list_of(spec, "labels")
    if not names or not all(isinstance(name, str | int) for name in names):
        raise ModelFileError("its labels are not texts, whole numbers or truths")
    return tuple(names)


def weight_tensors(weights: NDArray[np.float64]) -> Tensors:
    """Weights as arrays; zeros are left out where most of them are zero."""
    filled = np.flatnonzero(weights)
    if len(filled) * 12 < len(weights) * 8:
        return {"weights.indices": filled.astype(np.uint32), "weights.values": weights[filled]}
    return {"weights": weights}


def stored_weights(tensors: Tensors, size: int) -> NDArray[np.float64]:
    """The weights in a file, where zeros may have been left out."""
    if "weights" in tensors:
        return array_of(tensors, "weights", np.float64, [size], low=-HEAVIEST, high=HEAVIEST)
    values = array_of(tensors, "weights.values", np.float64, [None], low=-HEAVIEST, high=HEAVIEST)
    indices = array_of(tensors, "weights.indices", np.uint32, [len(values)], high=size - 1)
    weights = np.zeros(size)
    weights[indices] = values
    return weights


def about_in(spec: Any) -> dict[str, Any]:
    """How a model was trained, as a file tells it; what prediction looks at is checked."""
    about = mapping_of(spec, "about")
    if "penalties" in about:
        prices = mapping_of(about, "penalties")
        for name in prices:
            number_of(prices, name, low=0.0, finite=False)
    if "rules" in about:
        for name in list_of(about, "rules"):
            text_of({"rules": name}, "rules")
    return about


def check_same(what: str, found: int, expected: int) -> None:
    """Refuse parts of a file that contradict each other."""
    if found != expected:
        raise ModelFileError(f"there are {found:,} {what}, and weights for {expected:,}")


def _allowed(tensors: Tensors, layout: Layout) -> Transitions | None:
    if "allowed.between" not in tensors:
        return None
    size = layout.n_labels
    return Transitions(
        array_of(tensors, "allowed.between", np.uint8, [size, size]),
        array_of(tensors, "allowed.start", np.uint8, [size]),
        array_of(tensors, "allowed.end", np.uint8, [size]),
    )
