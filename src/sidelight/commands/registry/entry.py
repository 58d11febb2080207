"""What the command line knows of a structure."""

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
    """How items are read and written, and how names of such files end."""

    read: Read
    write: Write
    endings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureEntry:
    """A structure: its class, its files, its scores."""

    name: str
    line: str  # what it finds
    example: str  # a line of a file, or a few
    structure: Any  # the class, a frozen dataclass: its fields are options
    formats: Mapping[str, FileFormat]  # by name, the usual one first
    output: Callable[[Any, Item, str], Any]  # of a structure: what an item says, as Gold, Partial or Candidates have it
    said: Callable[[Any], Any]  # an output as items say it
    measures: Callable[[Any], tuple[Measure, ...]]  # of a structure, or None for all; the first is what choices go by
    spoiled: Callable[[Sequence[Any], int], list[Any]]  # inputs that have no good structure, made of good ones by seed
    made: Callable[[int, int], list[Item]]  # so many items of a seed, with outputs
    picture: Callable[[Item, Item], Mapping[str, Any]]  # of the right output and a model's, for `report.pictures`
    query: Callable[[Any], str] | None = None  # the first of the two sides of an input, in words; None without sides
    hidden: tuple[str, ...] = ("n_jobs",)  # fields that are no options
    from_data: Callable[[Sequence[Item]], dict[str, Any]] = lambda items: {}  # options that are not given
    rules_text: str | None = None  # a file of rules that what is `made` obeys
    ruled: bool = False  # whether it has rules about its outputs, as a field `rules`
    lenient: bool = False  # whether gold that `encode` refuses is left out with a note, and is no error
    left_out: str = ""  # why outputs of gold may not be those of the structure; empty where that is an error

    def format_of(self, path: Path, format: str | None) -> FileFormat:
        """The format of a file, by name or by the name of the file; raises `DataError` for one that there is not."""
        if format is not None:
            if format not in self.formats:
                there = " or ".join(self.formats)
                raise DataError(f"{self.name} has no files of format {format!r}", remedy=f"give --format {there}")
            return self.formats[format]
        name = path.name.lower().removesuffix(".gz")
        fitting = (one for one in self.formats.values() if name.endswith(one.endings))
        return next(fitting, next(iter(self.formats.values())))


def at_line(item: Item, make: Callable[[], Any]) -> Any:
    """What `make` gives; an error names the line of the item."""
    try:
        return make()
    except DataError as error:
        raise DataError(error.problem, file=item.origin.file, line=item.place.line, remedy=error.remedy) from None
