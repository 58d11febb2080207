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
        "Learn to find author, title and date in references, from 5 labelled ones, 1,000 without labels, and rules.",
        "sidelight quickstart --seed 3",
    ),
    Entry(
        "train",
        "Learn a model from labelled inputs and whatever else is known.",
        "sidelight train --gold train.txt --good adverts.txt --shuffle-good 1 --out model.sidelight",
    ),
    Entry(
        "learners",
        "List the learners with what they learn from; or show one, with its options, what they may be, and defaults.",
        "sidelight learners crf",
    ),
    Entry(
        "structures",
        "List the structures that can be learned; or show one, with its files and options.",
        "sidelight structures tree",
    ),
    Entry(
        "generate",
        "Write files that the package makes itself: gold, test, good and bad inputs, and answers to rank by.",
        "sidelight generate alignment --out data",
    ),
    Entry(
        "predict",
        "Write the inputs with the labels that the model gives them.",
        'sidelight predict model.sidelight new.txt --out tagged.txt, or echo "Ann sleeps" | sidelight predict '
        "model.sidelight --text",
    ),
    Entry(
        "judge",
        "Say of every input whether it has a good structure, how good, and which: the companion decision.",
        "sidelight judge model.sidelight pairs.tsv --out judged.tsv",
    ),
    Entry(
        "rank",
        "Put the candidates of every query in order, by how good their best structure is.",
        "sidelight rank model.sidelight names.tsv --all --top 3",
    ),
    Entry(
        "evaluate",
        "Compare a model's labels with the right ones: token accuracy, and precision, recall and F1 of spans.",
        "sidelight evaluate model.sidelight test.txt --against older.sidelight",
    ),
    Entry(
        "report",
        "Write an HTML page about a model: scores per label, confusions, training, most confident errors, rules.",
        "sidelight report model.sidelight test.txt --out report.html",
    ),
    Entry(
        "serve",
        "Answer by HTTP: a page to paste text into, and JSON for programs.",
        "sidelight serve model.sidelight --port 8000",
    ),
    Entry(
        "export",
        "Write a model for other programs: as plain JSON, or as an ONNX graph.",
        "sidelight export model.sidelight --to json --out model.json",
    ),
    Entry(
        "explain",
        "Show the prediction for one input, the runner-up, and which weights decide between the two.",
        'sidelight explain model.sidelight --text "Light is good"',
    ),
    Entry(
        "weights",
        "Show the highest and the lowest weights of a model: features, transitions, first and last labels.",
        "sidelight weights model.sidelight --label B-NP --top 10",
    ),
    Entry(
        "describe",
        "Show how much evidence there is of each kind, how ambiguous it is, its labels, and where it contradicts.",
        "sidelight describe --gold train.txt --candidates dictionary.txt",
    ),
    Entry(
        "worth",
        "Show what each kind of evidence adds to the labels, by cross-validation over these.",
        "sidelight worth --gold train.txt --candidates dictionary.txt --unlabeled raw.txt",
    ),
    Entry(
        "votes",
        "Ask labelling functions about inputs: how often they vote, contradict each other, and are right.",
        "sidelight votes raw.txt --functions functions.py --gold train.txt --out votes.jsonl",
    ),
    Entry(
        "align",
        "Find which words of two languages translate each other, from sentence pairs alone.",
        "sidelight align train --source text.en --target text.fr --out en-fr.sidelight --links text.links",
    ),
    Entry(
        "reproduce",
        "Run published experiments again and show their results beside the published ones.",
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


def _version(asked: bool) -> None:
    if asked:
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
