"""Which tool wrote a file, by its name and how it begins, and one door for all of them."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from sidelight.annotation_tools import brat, doccano, label_studio
from sidelight.annotation_tools.annotated_file import AnnotatedFile
from sidelight.annotation_tools.doccano import TRIPLES
from sidelight.data.files import STDIN

TOOLS: dict[str, ModuleType] = {"label-studio": label_studio, "doccano": doccano, "brat": brat}


def tool_of(path: str | Path, format: str | None = None) -> str | None:
    """The tool that `format` names, or that wrote a file; None where it is a file of another kind.

    A list in a .json file is of Label Studio, JSON lines with "text" and labels of it are of doccano, and an .ann file
    or a folder with some is of brat.
    """
    if format is not None:
        return format if format in TOOLS else None
    place = Path(path)
    if str(path) == STDIN:
        return None
    if place.is_dir():
        return "brat" if any(place.rglob("*.ann")) else None
    name = place.name.lower().removesuffix(".gz")
    if name.endswith(".ann"):
        return "brat"
    if not name.endswith((".json", ".jsonl")):
        return None
    first = _first_line(place)
    if first.startswith(b"["):
        return "label-studio" if name.endswith(".json") else None
    try:
        entry = json.loads(first)
    except (ValueError, RecursionError):
        return None
    ours = isinstance(entry, dict) and isinstance(entry.get("text"), str) and not {"tokens", "features"} & entry.keys()
    return "doccano" if ours and {*TRIPLES, "entities"} & entry.keys() else None


def _first_line(path: Path) -> bytes:
    """The first line that is not empty; nothing where the file cannot be read, which readers tell better."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as lines:
            return next((line.strip().removeprefix(b"\xef\xbb\xbf").strip() for line in lines if line.strip()), b"")
    except (OSError, EOFError, zlib.error):
        return b""


def read(path: str | Path, tool: str) -> AnnotatedFile:
    """What a file of a tool says, with the tool's usual settings."""
    file: AnnotatedFile = TOOLS[tool].read(path)
    return file
