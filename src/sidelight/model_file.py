"""Models in files: safetensors, versioned, without pickle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import ModelFileError
from sidelight.features import Extractor, restore
from sidelight.features.layout import LARGEST, Layout
from sidelight.features.segment_rows import SegmentLayout
from sidelight.features.segments import SegmentExtractor, SegmentFunction
from sidelight.files import Tensors, kind_of, read_tensors, write_tensors
from sidelight.model import Model
from sidelight.spaces import Transitions
from sidelight.stored import array_of, flag_of, list_of, mapping_of, number_of, part_of, reading, text_of, whole_of
from sidelight.structure import ChainStructure, FeaturedStructure, SegmentStructure
from sidelight.structures import LabelSet, StateSet, with_states
from sidelight.structures.labels import plain_label
from sidelight.structures.segments import segment_scheme

# since 2 layouts have an order, since 3 labels may have states, since 4 companion decisions a temperature, since 5
# there may be segments; what a model does not use is not written
VERSION = 5
KIND = "sidelight model"
SEGMENTS = "sidelight segment model"  # what files of segments were before, of version 1
HEAVIEST = 1e100  # sums of weights beyond this would not be numbers


def save_model(model: Model, path: str | Path) -> None:
    """Write a model; zero weights take no room where most weights are zero."""
    if not isinstance(model, Model):
        raise ValueError(f"the model is a {type(model).__name__}; give the model_ of a fitted Tagger or Classifier")
    description, tensors, version = model_state(model, path)
    write_tensors(path, tensors, kind=KIND, version=version, spec=description)


def load_model(path: str | Path, *, function: SegmentFunction | None = None) -> Model:
    """Read a model; `function` is that of its segment features, if they have one.

    Raises `ModelFileError` in one line where the file is damaged, foreign or newer, `DataError` without the function.
    """
    with reading(path):
        if kind_of(path) == SEGMENTS:
            return model_from(*read_tensors(path, kind=SEGMENTS, version=1), function)
        return model_from(*read_tensors(path, kind=KIND, version=VERSION), function)


def model_state(model: Model, path: str | Path) -> tuple[dict[str, Any], Tensors, int]:
    """A model as JSON values, arrays and the oldest version that can read it; `path` is where it will be written."""
    names = model.labels.classes
    if not all(isinstance(name, (str, int, np.integer, np.bool_)) for name in names):
        odd = next(name for name in names if not isinstance(name, (str, int, np.integer, np.bool_)))
        raise ModelFileError(f"label {odd!r} is neither text nor a number", file=path, remedy="use such labels")
    spec, tensors = model.extractor.state()
    tensors = {f"features.{name}": array for name, array in tensors.items()}
    tensors |= weight_tensors(model.weights)
    description: dict[str, Any] = {
        "labels": [plain_label(name) for name in names],
        "features": spec,
        "size_by": model.size_by,
        "about": model.about,
    }
    version = 1  # the oldest that can read it
    if isinstance(model.labels, StateSet):
        description["states"] = list(model.labels.counts)
        version = 3
    if model.temperature > 0:
        description["temperature"] = model.temperature
        version = 4
    own, more, oldest = _structure_state(model.structure)
    return {**description, **own}, {**tensors, **more}, max(version, oldest)


def _structure_state(structure: FeaturedStructure) -> tuple[dict[str, Any], Tensors, int]:
    """What a structure adds: JSON values, arrays, and the oldest version that can read them."""
    if isinstance(structure, SegmentStructure):
        spec, tensors = structure.segments.state()
        description = {
            "scheme": "BIO" if structure.scheme.bio else None,
            "layout": asdict(structure.layout.tokens),
            "n_segment_attributes": structure.layout.n_attributes,
            "segments": spec,
        }
        return description, {f"segments.{name}": array for name, array in tensors.items()}, 5
    assert isinstance(structure, ChainStructure)
    layout = {name: value for name, value in asdict(structure.layout).items() if name != "order" or value != 1}
    allowed = structure.allowed
    arrays: Tensors = {}
    if allowed is not None:
        arrays = {f"allowed.{part}": getattr(allowed, part) for part in ("between", "start", "end")}
    return {"layout": layout, "sequences": structure.sequences}, arrays, structure.layout.order


def model_from(spec: Any, tensors: Tensors, function: SegmentFunction | None = None) -> Model:
    """The model that `model_state` described; raises `ModelFileError` where its parts do not fit each other."""
    extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
    labels: LabelSet
    structure: FeaturedStructure
    if "n_segment_attributes" in spec:
        segments = _segments_from(spec, tensors, extractor, function)
        labels, structure = segments.scheme.tokens, segments
    else:
        labels, structure = _chain_from(spec, tensors, extractor)
    return Model(
        labels,
        structure,
        stored_weights(tensors, structure.layout.size),
        text_of(spec, "size_by", among=("tokens", "one", "function")) if "size_by" in spec else "tokens",
        about_in(spec),
        number_of(spec, "temperature", low=0.0) if "temperature" in spec else 0.0,
    )


def _chain_from(spec: Any, tensors: Tensors, extractor: Extractor) -> tuple[LabelSet, ChainStructure]:
    layout = Layout.stored(spec, "layout")
    labels = LabelSet(label_names(spec))
    if "states" in spec:
        counts = list_of(spec, "states", count=len(labels))
        each = [whole_of({"states": count}, "states", low=1, high=layout.n_labels) for count in counts]
        check_same("labels and their states", sum(each), layout.n_labels)
        labels = with_states(labels, dict(zip(labels.names, each)))
    sequences = flag_of(spec, "sequences")
    check_same("labels", len(labels), layout.n_labels)
    check_same("features", extractor.n_attributes, layout.n_attributes)
    check_same("dense features", extractor.n_dense, layout.n_dense)
    if layout.chain != (sequences and extractor.transitions) or layout.null_label != (
        not sequences and layout.n_labels == 2
    ):
        raise ModelFileError("the layout of its weights is not that of such labels and features")
    return labels, ChainStructure(extractor, layout, sequences, _allowed(tensors, layout) if sequences else None)


def _segments_from(
    spec: Any, tensors: Tensors, extractor: Extractor, function: SegmentFunction | None
) -> SegmentStructure:
    tokens = Layout.stored(spec, "layout")
    layout = SegmentLayout(tokens, whole_of(spec, "n_segment_attributes", high=LARGEST))
    scheme = segment_scheme(label_names(spec), None if spec.get("scheme", "") is None else text_of(spec, "scheme"))
    own = mapping_of(spec, "segments")
    segments = SegmentExtractor.restored(own, part_of(tensors, "segments."), function=function)
    check_same("segment labels", len(scheme.segments), layout.n_labels)
    check_same("features", extractor.n_attributes, tokens.n_attributes)
    check_same("dense features", extractor.n_dense, tokens.n_dense)
    check_same("segment features", segments.n_attributes, layout.n_attributes)
    if tokens.null_label or tokens.order != 1:
        raise ModelFileError("the layout of its weights is not that of segments")
    return SegmentStructure(scheme, extractor, segments, layout)


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
