"""Options shared by several commands, and the library's defaults.

Values are checked when they are read, so that errors refer to options and not to the library.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.data.load import KINDS
from sidelight.estimators.taggers import Tagger


def at_least(flag: str, least: float) -> Callable[[Any], Any]:
    """A callback of an option that is missing or a number of at least `least`.

    >>> at_least("--max-rounds", 1)(0)
    Traceback (most recent call last):
        ...
    ValueError: --max-rounds is 0; give a number from 1 on
    """
    return _checked(flag, lambda value: value >= least, f"give a number from {least:g} on")


def between(flag: str, least: int, most: int) -> Callable[[Any], Any]:
    """A callback of an option that is missing or a number from `least` to `most`."""
    return _checked(flag, lambda value: least <= value <= most, f"give a number from {least} to {most}")


def among(flag: str, *choices: object) -> Callable[[Any], Any]:
    """A callback of an option that is missing or one of some values."""
    others = "" if len(choices) > 1 else ", or leave it out"
    return _checked(flag, lambda value: value in choices, f"give {' or '.join(map(str, choices))}{others}")


def threads(flag: str) -> Callable[[Any], Any]:
    """A callback of an option that is a number of threads."""
    return _checked(flag, lambda value: value != 0, "give a positive number, or -1 for all cores")


def _checked(flag: str, good: Callable[[Any], bool], remedy: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value is not None and not good(value):
            raise ValueError(f"{flag} is {value!r}; {remedy}")
        return value

    return check


DEFAULTS: dict[str, Any] = {name: p.default for name, p in inspect.signature(Tagger.__init__).parameters.items()}

EVIDENCE, READING, FEATURES, LEARNING, OUTPUT = "Evidence", "Reading", "Features", "Learning", "Output"


def panel(name: str) -> Callable[..., Any]:
    """A function that makes options shown under a heading of --help."""
    return functools.partial(typer.Option, rich_help_panel=name)


in_evidence, in_reading, in_features, in_learning, in_output = map(
    panel, (EVIDENCE, READING, FEATURES, LEARNING, OUTPUT)
)


def _files(flag: str, help: str) -> Any:
    return in_evidence(flag, metavar="FILE", help=help)


def evidence_in(arguments: Mapping[str, Any]) -> dict[str, list[Path] | None]:
    """The files of each kind of evidence among a command's arguments."""
    return {kind: arguments[kind] for kind in KINDS}


Files = list[Path] | None
GoldFiles = Annotated[Files, _files("--gold", "Inputs with all their labels.")]
PartialFiles = Annotated[Files, _files("--partial", "Inputs with some labels; _ where one is not known.")]
CandidateFiles = Annotated[Files, _files("--candidates", "Inputs with the labels that may be right: A|B, or _.")]
GoodFiles = Annotated[Files, _files("--good", "Unlabelled inputs that have a good structure.")]
BadFiles = Annotated[Files, _files("--bad", "Unlabelled inputs that have no good structure.")]
CompanionFiles = Annotated[Files, _files("--companion", 'JSON lines, each with "good": true or false.')]
UnlabeledFiles = Annotated[Files, _files("--unlabeled", "Inputs without labels.")]
VoteFiles = Annotated[Files, _files("--votes", "JSON lines with the votes of functions, as sidelight votes writes.")]
ShuffleGood = Annotated[
    int,
    in_evidence(
        "--shuffle-good", metavar="K", help="Add K copies of each good input with shuffled tokens as bad inputs."
    ),
]
Format = Annotated[
    str | None,
    in_reading(
        "--format",
        metavar="NAME",
        help="The file format: columns, jsonl, attributes or parquet; label-studio, doccano or brat; or one of "
        "sidelight structures NAME. By default the extension (.jsonl, .crfsuite, .parquet, .ann) or the content of "
        "a .json file decides; otherwise columns.",
    ),
]
LabelColumn = Annotated[
    int, in_reading("--label-column", metavar="N", help="The label column, counted from 0; -1 is the last.")
]
InputLabelColumn = Annotated[
    int | None,
    in_reading(
        "--label-column",
        metavar="N",
        help="The column of gold labels, counted from 0, or -1 for the last; it is kept but not used.",
    ),
]
Labelled = Annotated[
    bool, in_reading("--labelled", help="The file has gold labels: for column files the same as --label-column -1.")
]
Quiet = Annotated[bool, in_output("--quiet", help="Print errors only.")]
Verbose = Annotated[
    int,
    in_output(
        "--verbose",
        "-v",
        count=True,
        metavar="",
        help="Report training on stderr; -vv reports every round.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The random seed; the same seed gives bit-identical results.")]
Jobs = Annotated[
    int, typer.Option("--jobs", callback=threads("--jobs"), help="The number of threads; -1 uses all cores.")
]
PlaceName = Annotated[
    str | None,
    typer.Option(
        "--place",
        metavar="threads|ray|ADDRESS",
        help="Where to run: this process, workers on this machine, or a Ray cluster.",
    ),
]
AllPairs = Annotated[
    bool,
    typer.Option("--all", help="Rank each left side against the right sides of all inputs; its own is correct."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        callback=at_least("--seconds", 0),
        help="A time limit per input, for structures found by integer programs (graphs). Outputs found by then are "
        "used, and marked as not proven.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file written by sidelight train.")]
LabelledFile = Annotated[Path, typer.Argument(metavar="FILE", help="Labelled inputs; - reads stdin.")]
OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The output file; stdout by default.")]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write everything to a JSON file.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Continue an interrupted run that also used --resume; for large files."),
]
