"""Options that several commands have, and the library's own defaults."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands.shared.checks import at_least, threads
from sidelight.estimators.taggers import Tagger

DEFAULTS: dict[str, Any] = {name: p.default for name, p in inspect.signature(Tagger.__init__).parameters.items()}

EVIDENCE, READING, FEATURES, LEARNING, OUTPUT = "Evidence", "Reading", "Features", "Learning", "Output"


def _files(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="FILE", help=help, rich_help_panel=EVIDENCE)


Files = list[Path] | None
GoldFiles = Annotated[Files, _files("--gold", "Inputs with all their labels.")]
PartialFiles = Annotated[Files, _files("--partial", "Inputs with some labels; _ where one is not known.")]
CandidateFiles = Annotated[Files, _files("--candidates", "Inputs with the labels that may be right: A|B, or _.")]
GoodFiles = Annotated[Files, _files("--good", "Inputs without labels that have a good structure.")]
BadFiles = Annotated[Files, _files("--bad", "Inputs without labels that have no good structure.")]
CompanionFiles = Annotated[Files, _files("--companion", 'JSON lines that each say whether they are "good".')]
UnlabeledFiles = Annotated[Files, _files("--unlabeled", "Inputs of which nothing else is known.")]
VoteFiles = Annotated[Files, _files("--votes", "JSON lines with the votes of functions, as sidelight votes writes.")]
ShuffleGood = Annotated[
    int,
    typer.Option(
        "--shuffle-good",
        metavar="K",
        help="Add K copies of each good input, its tokens in random order, as bad ones.",
        rich_help_panel=EVIDENCE,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="How the files are written: columns, jsonl, attributes or parquet; label-studio, doccano or brat; or as "
        "sidelight structures NAME says. By default their names tell (.jsonl, .crfsuite, .parquet, .ann), and how a "
        ".json file begins; else columns.",
        rich_help_panel=READING,
    ),
]
LabelColumn = Annotated[
    int,
    typer.Option(
        "--label-column",
        metavar="N",
        help="The column of the labels, from 0; -1 is the last one.",
        rich_help_panel=READING,
    ),
]
InputLabelColumn = Annotated[
    int | None,
    typer.Option(
        "--label-column",
        metavar="N",
        help="The column that holds right labels, from 0, or -1 for the last: it is kept but not looked at.",
        rich_help_panel=READING,
    ),
]
Labelled = Annotated[
    bool,
    typer.Option(
        "--labelled",
        help="The file has right labels: for columns the same as --label-column -1.",
        rich_help_panel=READING,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.", rich_help_panel=OUTPUT)]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        metavar="",
        help="Tell how training begins and ends, on the standard error; -vv also every round.",
        rich_help_panel=OUTPUT,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result, bit for bit.")]
Jobs = Annotated[
    int, typer.Option("--jobs", callback=threads("--jobs"), help="Threads to work with; -1 takes all cores.")
]
PlaceName = Annotated[
    str | None,
    typer.Option(
        "--place",
        metavar="threads|ray|ADDRESS",
        help="Where to work: this process, workers on this machine, or those of a Ray cluster.",
    ),
]
AllPairs = Annotated[
    bool,
    typer.Option("--all", help="Candidates of every left side are the right sides of all inputs; its own is right."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        callback=at_least("--seconds", 0),
        help="So much time for every input, where a program finds the structure (graphs): what was found by then is "
        "taken, and marked as not proven.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that sidelight train wrote.")]
