"""The command line: `sidelight --help` lists the commands; each is a file in `sidelight.commands`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sidelight.commands.shared.program import (
    INTERRUPTED,
    SETTINGS,
    TERMINATED,
    Entry,
    LazyCommands,
    Terminated,
    heed_termination,
    listed,
)

COMMANDS = (
    Entry(
        "quickstart",
        "Train a tagger of bibliographic references from 5 labelled ones, 1,000 unlabelled ones and rules.",
        "sidelight quickstart --seed 3",
    ),
    Entry(
        "train",
        "Train a model from labelled inputs and other evidence.",
        "sidelight train --gold train.txt --good adverts.txt --shuffle-good 1 --out model.sidelight",
    ),
    Entry(
        "learners",
        "List the learners and the evidence they take, or show the options of one, with values and defaults.",
        "sidelight learners crf",
    ),
    Entry(
        "structures",
        "List the structures, or show the files and options of one.",
        "sidelight structures tree",
    ),
    Entry(
        "generate",
        "Generate example files: gold, test, good and bad inputs, and answers for ranking.",
        "sidelight generate alignment --out data",
    ),
    Entry(
        "predict",
        "Label inputs with a model.",
        'sidelight predict model.sidelight new.txt --out tagged.txt, or echo "Ann sleeps" | sidelight predict '
        "model.sidelight --text",
    ),
    Entry(
        "judge",
        "Decide for each input whether it has a good structure, and show its score and best structure.",
        "sidelight judge model.sidelight pairs.tsv --out judged.tsv",
    ),
    Entry(
        "rank",
        "Rank the candidates of each query by the score of their best structure.",
        "sidelight rank model.sidelight names.tsv --all --top 3",
    ),
    Entry(
        "evaluate",
        "Score a model on labelled inputs: token accuracy, and precision, recall and F1 of spans.",
        "sidelight evaluate model.sidelight test.txt --against older.sidelight",
    ),
    Entry(
        "report",
        "Write an HTML page about a model: scores per label, confusions, training, most confident errors, rules.",
        "sidelight report model.sidelight test.txt --out report.html",
    ),
    Entry(
        "serve",
        "Serve a model over HTTP: a page to paste text into, and a JSON API.",
        "sidelight serve model.sidelight --port 8000",
    ),
    Entry(
        "export",
        "Export a model for other programs, as plain JSON or as an ONNX graph.",
        "sidelight export model.sidelight --to json --out model.json",
    ),
    Entry(
        "explain",
        "Explain the prediction for one input: the runner-up, and the weights that decide between the two.",
        'sidelight explain model.sidelight --text "Light is good"',
    ),
    Entry(
        "weights",
        "Show the highest and lowest weights of a model: features, transitions, first and last labels.",
        "sidelight weights model.sidelight --label B-NP --top 10",
    ),
    Entry(
        "describe",
        "Summarise evidence: amount, ambiguity, labels and contradictions.",
        "sidelight describe --gold train.txt --candidates dictionary.txt",
    ),
    Entry(
        "worth",
        "Measure what each kind of evidence adds to gold, by cross-validation over gold.",
        "sidelight worth --gold train.txt --candidates dictionary.txt --unlabeled raw.txt",
    ),
    Entry(
        "votes",
        "Apply labelling functions: how often they vote, conflict, and are right.",
        "sidelight votes raw.txt --functions functions.py --gold train.txt --out votes.jsonl",
    ),
    Entry(
        "align",
        "Align the words of sentences and their translations, without labelled alignments.",
        "sidelight align train --source text.en --target text.fr --out en-fr.sidelight --links text.links",
    ),
    Entry(
        "reproduce",
        "Rerun published experiments, and show the results beside the published ones.",
        "sidelight reproduce --list",
    ),
)

app = typer.Typer(
    cls=LazyCommands,
    name="sidelight",
    help="Learn to tag, classify, parse and align from labels, candidates, yes/no answers and unlabelled text. "
    "New here? Run: sidelight quickstart",
    epilog="Example: sidelight train --gold train.txt --out model.sidelight",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=SETTINGS,
)


def _version(requested: bool) -> None:
    if requested:
        from sidelight import __version__

        typer.echo(f"sidelight {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", envvar="SIDELIGHT_TRACEBACK", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


listed(app, COMMANDS)


def main() -> None:
    """The entry point of the `sidelight` program."""
    heed_termination()
    try:
        app(prog_name="sidelight")
    except KeyboardInterrupt as stop:
        sys.stderr.write("interrupted\n")
        os._exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED)
