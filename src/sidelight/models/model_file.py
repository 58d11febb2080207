"""Model files: safetensors, versioned, without pickle, with one model, or with the two models of co-training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import array_of, list_of, mapping_of, number_of, part_of, reading, text_of
from sidelight.errors import ModelFileError
from sidelight.features import restore
from sidelight.features.segments.segment_features import SegmentFunction
from sidelight.models.files import Tensors, kind_of, read_tensors, write_tensors
from sidelight.models.model import HEAVIEST, Model, history_in
from sidelight.rules.taken import LEFT_OUT, SOFT
from sidelight.structures.chain_structure import restored_chain
from sidelight.structures.own_structure import restored_own
from sidelight.structures.segment_structure import restored_segments
from sidelight.structures.structure import Structure
from sidelight.structures.variable_structure import restored_variables

# since 2 layouts have an order, since 3 labels may have states, since 4 companion decisions a temperature, since 5
# there may be segments, since 6 variables and structures of one's own, since 7 decisions weights of their own; what a
# model does not use is not written
VERSION = 7
KIND = "sidelight model"
PAIR = "sidelight pair of models"
PLACES = ("first", "second")  # of the two
DECISION = "decision."  # arrays of the weights of companion decisions
SEGMENTS = "sidelight segment model"  # the kind of older files of segment models, version 1
VARIABLES = "sidelight joint model"  # and of models of variables


def save_model(model: Model, path: str | Path) -> None:
    """Write a model. If most weights are zero, only the others are stored."""
    if not isinstance(model, Model):
        raise ValueError(f"the model is a {type(model).__name__}; give the model_ of a fitted Tagger or Classifier")
    description, tensors, version = model_state(model, path)
    write_tensors(path, tensors, kind=KIND, version=version, spec=description)


def load_model(path: str | Path, *, function: SegmentFunction | None = None, structure: Any = None) -> Model:
    """Read a model; `function` is that of its segment features, if they have one.

    `structure` supplies what the files of `Joint` and `Predictor` do not contain; their `load` passes it. Raises
    `ModelFileError` if the file is damaged, foreign or newer, and `DataError` if the function is missing.
    """
    about_structure = function if structure is None else structure
    with reading(path):
        kind = kind_of(path)
        if kind in (SEGMENTS, VARIABLES):
            return model_from(*read_tensors(path, kind=kind, version=1), about_structure)
        return model_from(*read_tensors(path, kind=KIND, version=VERSION), about_structure)


def model_state(model: Model, path: str | Path) -> tuple[dict[str, Any], Tensors, int]:
    """A model as JSON values, arrays and the oldest version that can read it; `path` is its file."""
    try:
        own = model.structure.state()
    except ModelFileError as error:
        raise ModelFileError(error.problem, file=path, remedy=error.remedy) from None
    description: dict[str, Any] = {**own.values, "size_by": model.size_by, "about": model.about}
    tensors = {**own.arrays, **weight_tensors(model.weights)}
    version = own.version
    extractor = getattr(model.structure, "extractor", None)
    if extractor is not None:
        description["features"], arrays = extractor.state()
        tensors |= {f"features.{name}": array for name, array in arrays.items()}
    if model.temperature > 0:
        description["temperature"], version = model.temperature, max(version, 4)
    if model.decision is not None:
        tensors |= {f"{DECISION}{name}": array for name, array in weight_tensors(model.decision).items()}
        version = VERSION
    return description, tensors, version


def model_from(spec: Any, tensors: Tensors, supplied: Any = None) -> Model:
    """The model described by `model_state`; raises `ModelFileError` if its parts do not fit each other."""
    structure = _structure_from(spec, tensors, supplied)
    return Model(
        structure,
        stored_weights(tensors, structure.size),
        text_of(spec, "size_by", among=("tokens", "one", "function")) if "size_by" in spec else "tokens",
        about_in(spec),
        number_of(spec, "temperature", low=0.0) if "temperature" in spec else 0.0,
        stored_weights(own, structure.size) if (own := part_of(tensors, DECISION)) else None,
    )


def _structure_from(spec: Any, tensors: Tensors, supplied: Any) -> Structure:
    """The structure of the model; `supplied` has what a file does not contain."""
    if "own" in spec:
        return restored_own(spec, tensors, supplied)
    extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
    if "types" in spec:
        return restored_variables(spec, extractor, supplied)
    if "n_segment_attributes" in spec:
        return restored_segments(spec, tensors, extractor, supplied)
    return restored_chain(spec, tensors, extractor)


def weight_tensors(weights: NDArray[np.float64]) -> Tensors:
    """Weights as arrays; zeros are left out if most weights are zero."""
    filled = np.flatnonzero(weights)
    if len(filled) * 12 < len(weights) * 8:
        return {"weights.indices": filled.astype(np.uint32), "weights.values": weights[filled]}
    return {"weights": weights}


def stored_weights(tensors: Tensors, size: int) -> NDArray[np.float64]:
    """The weights in a file, in which zeros may be left out."""
    if "weights" in tensors:
        return array_of(tensors, "weights", np.float64, [size], low=-HEAVIEST, high=HEAVIEST)
    values = array_of(tensors, "weights.values", np.float64, [None], low=-HEAVIEST, high=HEAVIEST)
    indices = array_of(tensors, "weights.indices", np.uint32, [len(values)], high=size - 1)
    weights = np.zeros(size)
    weights[indices] = values
    return weights


def about_in(spec: Any) -> dict[str, Any]:
    """The description of a model's training in a file; the parts used in prediction are checked."""
    about = mapping_of(spec, "about")
    if "penalties" in about:
        prices = mapping_of(about, "penalties")
        for name in prices:
            number_of(prices, name, low=0.0, finite=False)
    for key in ("rules", LEFT_OUT, SOFT):
        for name in list_of(about, key) if key in about else ():
            text_of({key: name}, key)
    history_in(about)
    return about


def save_pair(models: tuple[Model, Model], path: str | Path, *, spec: dict[str, Any]) -> None:
    """Write two models, and further JSON values."""
    tensors: Tensors = {}
    descriptions: dict[str, Any] = {}
    versions = []
    for place, model in zip(PLACES, models):
        descriptions[place], own, version = model_state(model, path)
        tensors |= {f"{place}.{name}": array for name, array in own.items()}
        versions.append(version)
    write_tensors(path, tensors, kind=PAIR, version=max(versions), spec={"models": descriptions, "about": spec})


def load_pair(path: str | Path) -> tuple[tuple[Model, Model], dict[str, Any]]:
    """Two models and the further values.

    Raises a one-line `ModelFileError` if the file is damaged, foreign or newer.
    """
    with reading(path):
        spec, tensors = read_tensors(path, kind=PAIR, version=VERSION)
        both = mapping_of(spec, "models")
        one, other = (model_from(mapping_of(both, place), part_of(tensors, f"{place}.")) for place in PLACES)
        if (one.labels, one.sequences) != (other.labels, other.sequences) or one.labels.hidden:
            raise ModelFileError("its two models do not have the same labels")
        return (one, other), mapping_of(spec, "about")
