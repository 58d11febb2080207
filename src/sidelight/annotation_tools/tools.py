"""Detects the tool that wrote a file, by its name and beginning, and reads files of all tools."""

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
    """The tool named by `format`, or the tool that wrote a file; None for other files.

    A .json file with a list is from Label Studio, JSON lines with "text" and its labels are from doccano, and an .ann
    file, or a folder with .ann files, is from brat.
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
    """The first nonempty line; empty if the file cannot be read, since readers give a better error."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as lines:
            return next((line.strip().removeprefix(b"\xef\xbb\xbf").strip() for line in lines if line.strip()), b"")
    except (OSError, EOFError, zlib.error):
        return b""


def read(path: str | Path, tool: str) -> AnnotatedFile:
    """The contents of a file of a tool, read with default settings."""
    file: AnnotatedFile = TOOLS[tool].read(path)
    return file
