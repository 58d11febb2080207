"""The values of `--structure`: one file for each structure, which says how its files are read, written and scored.

To add a structure, write a file like the others with an `ENTRY`, and add its name here. Chains and segments of token
labels have their own file formats (`sidelight.data.load`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sidelight.commands.registry.entry import StructureEntry
    from sidelight.models.model import Model

NAMES = ("alignment", "letters", "graph", "tree", "relations")  # files of this folder
CHAIN, SEGMENTS = LABELS = ("chain", "segments")  # labels of tokens, or of whole inputs


def entry_named(name: str) -> StructureEntry:
    """A structure by its name."""
    entry: StructureEntry = import_module(f"sidelight.commands.registry.{name}").ENTRY
    return entry


def entry_of(model: Model) -> StructureEntry | None:
    """The structure of a model; None for labels."""
    from sidelight.structures.own_structure import OwnStructure

    if not isinstance(model.structure, OwnStructure):
        return None
    kind = type(model.structure.plain)
    return next((entry for entry in map(entry_named, NAMES) if entry.structure is kind), None)
