"""A corpus of bibliographic references that the package writes itself, so that a first run needs no download."""

from __future__ import annotations

from sidelight.corpus.references import FIELDS, Reference, references
from sidelight.corpus.tokens import parse

__all__ = ["FIELDS", "Reference", "parse", "references"]
