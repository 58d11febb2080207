"""Loading of model files, with errors for files of other kinds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sidelight.errors import ModelFileError

if TYPE_CHECKING:
    from sidelight.models.model import Model


# The use of each kind of file.
_USES = {
    "sidelight model": "sidelight predict",
    "sidelight segment model": "sidelight predict",
    "sidelight alignment model": "sidelight align apply",
    "sidelight checkpoint": "sidelight train --checkpoint, or sidelight align train --checkpoint",
}


def load(path: Path) -> Model:
    """The model in a file; raises a one-line `ModelFileError` if it cannot be read."""
    from sidelight.models.model_file import KIND, SEGMENTS, load_model

    checked_kind(path, KIND, SEGMENTS)
    return load_model(path)


def checked_kind(path: Path, *kinds: str) -> str | None:
    """The kind that a file declares; raises `ModelFileError` if it is a kind for other commands."""
    from sidelight.models.files import kind_of

    kind = kind_of(path)
    if kind in _USES and kind not in kinds:
        raise ModelFileError(f"a {kind}", file=path, remedy=f"it is for {_USES[kind]}")
    return kind
