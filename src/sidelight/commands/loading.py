"""Model files of either kind: labels of tokens, or of segments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sidelight.model import Model
    from sidelight.segment_model import SegmentModel


def load(path: Path) -> Model | SegmentModel:
    """The model in a file; raises `ModelFileError` in one line where it cannot be read."""
    from sidelight.files import kind_of
    from sidelight.model_file import load_model
    from sidelight.segment_model import KIND, load_segment_model

    return load_segment_model(path) if kind_of(path) == KIND else load_model(path)
