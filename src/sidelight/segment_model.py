"""A trained segmenter, and its files: safetensors, versioned, without pickle."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import DataError, ModelFileError
from sidelight.features import Extractor, restore
from sidelight.features.layout import LARGEST, Layout
from sidelight.features.segment_rows import SegmentLayout
from sidelight.features.segments import SegmentExtractor, SegmentFunction
from sidelight.files import Tensors, read_tensors, write_tensors
from sidelight.model_file import about_in, check_same, label_names, stored_weights
from sidelight.objective.batch import Batch
from sidelight.objective.segment_scorer import segment_batch
from sidelight.stored import mapping_of, part_of, reading, text_of, whole_of
from sidelight.structures.labels import plain_label
from sidelight.structures.segments import SegmentScheme, Span, segment_scheme

VERSION = 1
KIND = "sidelight segment model"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentModel:
    """Predicts labelled segmentations: features and weights, nothing of how it was trained."""

    scheme: SegmentScheme
    extractor: Extractor
    segments: SegmentExtractor
    layout: SegmentLayout
    weights: Floats
    about: dict[str, Any] = field(default_factory=dict)  # how it was trained, for people

    @property
    def max_length(self) -> int:
        return self.segments.max_length

    @property
    def sequences(self) -> bool:
        """Always: single inputs have no segments."""
        return True

    def batch(self, xs: Sequence[Any], *, n_jobs: int | None = -1) -> Batch:
        """Inputs with their features and the space of their segmentations."""
        rows = self.extractor.rows(xs, n_jobs=n_jobs)
        empty = np.flatnonzero(rows.lengths == 0)
        if len(empty):
            raise DataError(f"input {int(empty[0])} has no tokens", remedy="leave empty inputs out")
        reading = self.scheme.reading(self.max_length)
        return segment_batch(rows, self.segments.rows(xs, n_jobs=n_jobs), self.layout, reading, n_jobs=n_jobs)

    def predict(self, xs: Sequence[Any], *, n_jobs: int | None = -1) -> list[list[Any]]:
        """The token labels of the best segmentation of each input."""
        xs = xs if isinstance(xs, Sized) else list(xs)
        if not len(xs):
            return []
        batch = self.batch(xs, n_jobs=n_jobs)
        names = self.scheme.tokens.decode(batch.best(self.weights).labels)
        return [names[a:b] for a, b in pairwise(batch.starts.tolist())]

    def predict_segments(self, xs: Sequence[Any], *, n_jobs: int | None = -1) -> list[list[Span]]:
        """The segments (first token, last token, label) of each input, which tile it.

        Without a scheme the pieces of a run that is longer than `max_length` are one segment.
        """
        xs = xs if isinstance(xs, Sized) else list(xs)
        if not len(xs):
            return []
        batch = self.batch(xs, n_jobs=n_jobs)
        return self.scheme.spans(batch.starts, batch.best(self.weights).labels)


def save_segment_model(model: SegmentModel, path: str | Path) -> None:
    """Write a model; zero weights take no room where most weights are zero."""
    for name in model.scheme.tokens.names:
        if not isinstance(name, (str, int, np.integer, np.bool_)):
            raise ModelFileError(f"label {name!r} is neither text nor a number", file=path, remedy="use such labels")
    spec, tensors = model.extractor.state()
    segment_spec, segment_tensors = model.segments.state()
    tensors = {f"features.{name}": array for name, array in tensors.items()}
    tensors |= {f"segments.{name}": array for name, array in segment_tensors.items()}
    filled = np.flatnonzero(model.weights)
    tensors |= {"weights.indices": filled.astype(np.uint32), "weights.values": model.weights[filled]}
    labels = [plain_label(name) for name in model.scheme.tokens.names]
    description = {
        "labels": labels,
        "scheme": "BIO" if model.scheme.bio else None,
        "layout": asdict(model.layout.tokens),
        "n_segment_attributes": model.layout.n_attributes,
        "features": spec,
        "segments": segment_spec,
        "about": model.about,
    }
    write_tensors(path, tensors, kind=KIND, version=VERSION, spec=description)


def load_segment_model(path: str | Path, *, function: SegmentFunction | None = None) -> SegmentModel:
    """Read a model; `function` is that of its segment features, if they have one.

    Raises `ModelFileError` in one line where the file is damaged, foreign or newer, `DataError` without the function.
    """
    with reading(path):
        return _model_from(*read_tensors(path, kind=KIND, version=VERSION), function)


def _model_from(spec: Any, tensors: Tensors, function: SegmentFunction | None) -> SegmentModel:
    """The model that a file describes; raises `ModelFileError` where its parts do not fit each other."""
    tokens = Layout.stored(spec, "layout")
    layout = SegmentLayout(tokens, whole_of(spec, "n_segment_attributes", high=LARGEST))
    scheme = segment_scheme(label_names(spec), None if spec.get("scheme", "") is None else text_of(spec, "scheme"))
    extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
    own = mapping_of(spec, "segments")
    segments = SegmentExtractor.restored(own, part_of(tensors, "segments."), function=function)
    check_same("segment labels", len(scheme.segments), layout.n_labels)
    check_same("features", extractor.n_attributes, tokens.n_attributes)
    check_same("dense features", extractor.n_dense, tokens.n_dense)
    check_same("segment features", segments.n_attributes, layout.n_attributes)
    if tokens.null_label or tokens.order != 1:
        raise ModelFileError("the layout of its weights is not that of segments")
    weights = stored_weights(tensors, layout.size)
    return SegmentModel(scheme, extractor, segments, layout, weights, about_in(spec))
