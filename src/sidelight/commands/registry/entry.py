"""Registry entries: what the command line needs to know about a structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.data.items import Item, Read, Write
from sidelight.errors import DataError
from sidelight.evaluate.parts import Measure


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A file format: how items are read and written, and the endings of file names."""

    read: Read
    write: Write
    endings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureEntry:
    """A structure: its class, its files, its scores."""

    name: str
    line: str  # what it finds
    example: str  # a line of a file, or a few
    structure: Any  # the class, a frozen dataclass whose fields are options
    formats: Mapping[str, FileFormat]  # by name, the default first
    # from a structure and an item: its output in the form of Gold, Partial or Candidates
    output: Callable[[Any, Item, str], Any]
    item_output: Callable[[Any], Any]  # an output in the form of items
    measures: Callable[[Any], tuple[Measure, ...]]  # of a structure, or None for all; the first one is used for choices
    # inputs without a good structure, made from good ones with a seed
    spoil: Callable[[Sequence[Any], int], list[Any]]
    generate: Callable[[int, int], list[Item]]  # generated items, by count and seed, with outputs
    picture: Callable[[Item, Item], Mapping[str, Any]]  # from the right output and a model's, for `report.pictures`
    query: Callable[[Any], str] | None = None  # the first of the two sides of an input, as text; None without sides
    hidden: tuple[str, ...] = ("n_jobs",)  # fields that are not options
    from_data: Callable[[Sequence[Item]], dict[str, Any]] = lambda items: {}  # defaults of options, from the data
    rules_text: str | None = None  # a file of rules that generated items obey
    ruled: bool = False  # whether it has a field `rules` for rules about its outputs
    lenient: bool = False  # whether gold that `encode` refuses is left out with a note instead of an error
    left_out: str = ""  # why gold may contain outputs that are not of the structure; empty if that is an error

    def format_of(self, path: Path, format: str | None) -> FileFormat:
        """The format of a file, by its name or by the file's name; raises `DataError` for an unknown format."""
        if format is not None:
            if format not in self.formats:
                there = " or ".join(self.formats)
                raise DataError(f"{self.name} has no files of format {format!r}", remedy=f"give --format {there}")
            return self.formats[format]
        name = path.name.lower().removesuffix(".gz")
        fitting = (one for one in self.formats.values() if name.endswith(one.endings))
        return next(fitting, next(iter(self.formats.values())))


def at_line(item: Item, make: Callable[[], Any]) -> Any:
    """The result of `make`; an error names the line of the item."""
    try:
        return make()
    except DataError as error:
        raise DataError(error.problem, file=item.origin.file, line=item.place.line, remedy=error.remedy) from None
