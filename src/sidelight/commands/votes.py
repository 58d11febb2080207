"""`sidelight votes`: applies labelling functions to inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import check_alike, read_inputs, read_labelled
from sidelight.commands.shared.options import among, in_evidence, in_output
from sidelight.commands.shared.outputs import check_writable, write, write_json

InputFile = Annotated[Path, typer.Argument(metavar="FILE", help="Unlabelled inputs.")]
FunctionsFile = Annotated[
    Path,
    typer.Option(
        "--functions",
        metavar="FILE.py",
        help="A Python file of functions of a sentence (a list of words, or of tuples if the file has more columns) "
        "that return a label, a set of labels or None per token, or spans (first, last, label). Uses the list "
        "FUNCTIONS if there is one, otherwise every function in the file. The file is executed.",
    ),
]
GoldFile = Annotated[
    Path | None,
    in_evidence(
        "--gold",
        metavar="FILE",
        help="Labelled inputs on which to measure accuracy. Their votes are written after the others.",
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        callback=among("--scheme", "BIO"),
        metavar="BIO",
        help="Read spans of X as B-X, I-X. If no function ever votes O, tokens without votes are O.",
    ),
]
ByLabel = Annotated[bool, typer.Option("--by-label", help="Show a line per function and label.")]
Out = Annotated[Path | None, in_output("--out", metavar="FILE.jsonl", help="Write the votes here, for train --votes.")]
Json = Annotated[Path | None, in_output("--json", metavar="FILE", help="Write the table here.")]


def command(
    file: InputFile,
    functions: FunctionsFile,
    gold: GoldFile = None,
    scheme: Scheme = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    by_label: ByLabel = False,
    out: Out = None,
    json: Json = None,
) -> None:
    """Apply labelling functions: how often they vote, conflict, and are right."""
    from sidelight.data.json_lines.votes import votes_as_lines
    from sidelight.voting import votes
    from sidelight.voting.functions import read_functions

    check_writable(out, json, reads=[file, functions, gold])
    functions_of_file = read_functions(functions)
    corpus = read_inputs(file, format=format, label_column=None)
    labelled = [] if gold is None else read_labelled(gold, format=format, label_column=label_column)
    check_alike([*zip(corpus.xs, corpus.origins), *((piece.x, piece.origin) for piece in labelled)])
    judged = [replace(piece, x=_as_words(piece.x)) for piece in labelled]
    voted = votes([_as_words(x) for x in corpus.xs], functions_of_file, gold=judged, scheme=scheme)
    if out is not None:
        write(votes_as_lines(voted), out)
    write_json(voted.table.as_dict(), json)
    write(f"{voted.table.by_label() if by_label else voted}\n", None)


def _as_words(x: Any) -> Any:
    """A sentence as a list of words if tokens have one column."""
    return [token[0] for token in x] if isinstance(x, list) and isinstance(x[0], tuple) and len(x[0]) == 1 else x
